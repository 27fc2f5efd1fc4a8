//! Cargo's settings of the terminal: the variables `CARGO_TERM_…`, and `[term]` in its configuration files.

use std::{ffi::OsString, path::Path};

use cargo_config2::ResolveOptions;

/// The beginning of the names of their variables.
const PREFIX: &str = "CARGO_TERM_";

/// Cargo's settings of the terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TermSettings {
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    /// The use of colour, in cargo's words.
    pub(crate) color: Option<String>,
    /// Set if progress is shown always, or never.
    pub(crate) has_progress: Option<bool>,
    /// The width of the progress.
    pub(crate) width: Option<u16>,
}

impl TermSettings {
    /// Returns the settings for cargo in a directory, with this environment. A variable has precedence over the files. A
    /// file that cannot be read sets nothing: cargo reports it when it builds.
    pub(crate) fn load(directory: &Path, environment: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let is_ours = |(name, _): &(OsString, OsString)| name.to_string_lossy().starts_with(PREFIX);
        let (ours, others): (Vec<_>, Vec<_>) = environment.into_iter().partition(is_ours);
        let options = ResolveOptions::default().env(others);
        let files = cargo_config2::Config::load_with_options(directory, options).map(|config| config.term);
        let files = files.unwrap_or_default();
        let variable = |name: &str| {
            let name = format!("{PREFIX}{name}");
            let (_, value) = ours.iter().find(|(other, value)| *other == *name && !value.is_empty())?;
            Some(value.to_string_lossy().into_owned())
        };
        let is_true = |name: &str| variable(name).map(|value| value == "true");
        let (quiet, verbose) = match (is_true("QUIET"), is_true("VERBOSE")) {
            (Some(true), _) => (true, false),
            (_, Some(true)) => (false, true),
            (quiet, verbose) => {
                let quiet = quiet.or(files.quiet).unwrap_or(false);
                (quiet, !quiet && verbose.or(files.verbose).unwrap_or(false))
            }
        };
        let when = variable("PROGRESS_WHEN").or_else(|| files.progress.when.map(|when| when.as_str().to_owned()));
        let width = variable("PROGRESS_WIDTH").map(|width| width.parse().ok());
        let width = width.unwrap_or_else(|| files.progress.width.and_then(|width| width.try_into().ok()));
        Self {
            quiet,
            verbose,
            color: variable("COLOR").or_else(|| files.color.map(|color| color.as_str().to_owned())),
            has_progress: match when.as_deref() {
                Some("always") => Some(true),
                Some("never") => Some(false),
                _ => None,
            },
            width: width.filter(|width| *width > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the settings for a configuration file and variables.
    fn settings(file: &str, variables: &[(&str, &str)]) -> TermSettings {
        let dir = tempfile::tempdir().unwrap();
        fs_err::create_dir(dir.path().join(".cargo")).unwrap();
        fs_err::write(dir.path().join(".cargo/config.toml"), file).unwrap();
        let home = ("CARGO_HOME".into(), dir.path().join("home").into());
        let given = variables.iter().map(|(name, value)| (format!("{PREFIX}{name}").into(), value.into()));
        TermSettings::load(dir.path(), given.chain([home]))
    }

    #[test]
    fn files_are_read_and_variables_precede_them() {
        let quiet = TermSettings { quiet: true, ..TermSettings::default() };
        let verbose = TermSettings { verbose: true, ..TermSettings::default() };
        let file = "[term]\nquiet = true\n";
        assert_eq!(settings(file, &[]), quiet);
        assert_eq!(settings(file, &[("QUIET", "false")]), TermSettings::default());
        assert_eq!(settings(file, &[("QUIET", "")]), quiet);
        // Together, cargo refuses them.
        assert_eq!(settings(file, &[("VERBOSE", "true")]), verbose);
        assert_eq!(settings("[term]\nverbose = true\n", &[]), verbose);
        assert_eq!(settings("[term]\nverbose = true\n", &[("QUIET", "true")]), quiet);

        let file = "[term]\ncolor = 'never'\nprogress = { when = 'always', width = 70 }\n";
        let all = TermSettings {
            color: Some("never".to_owned()),
            has_progress: Some(true),
            width: Some(70),
            ..TermSettings::default()
        };
        assert_eq!(settings(file, &[]), all);
        let variables = [("COLOR", "always"), ("PROGRESS_WHEN", "never"), ("PROGRESS_WIDTH", "50")];
        let other =
            TermSettings { color: Some("always".to_owned()), has_progress: Some(false), width: Some(50), ..all };
        assert_eq!(settings(file, &variables), other);
        let auto = TermSettings { has_progress: None, ..other };
        assert_eq!(settings(file, &[variables[0], ("PROGRESS_WHEN", "auto"), variables[2]]), auto);
    }

    #[test]
    fn a_file_that_cannot_be_read_sets_nothing() {
        let quiet = TermSettings { quiet: true, ..TermSettings::default() };
        assert_eq!(settings("[term\n", &[("QUIET", "true")]), quiet);
    }
}
