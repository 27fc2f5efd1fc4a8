//! The command lines of cargo that a user would type for a project.

use std::ffi::OsString;

use super::{BuildOverrides, Executable, Project, Subcommand, feature_options};
use crate::process;

impl Project {
    /// Returns the command line that a user would type.
    pub(crate) fn command_line(&self) -> String {
        process::shell::line(self.command_words(&BuildOverrides::default(), &[], &self.target_arguments))
    }

    /// Returns the words of a command line for a user that builds and runs, with the settings and features of these
    /// overrides, more options, and these arguments after `--`.
    pub(crate) fn command_words(
        &self,
        with: &BuildOverrides,
        options: &[OsString],
        target_arguments: &[OsString],
    ) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["cargo".into(), self.subcommand.name().into()];
        words.extend((self.subcommand == Subcommand::Nextest).then(|| "run".into()));
        let typed = &self.arguments.typed;
        words.extend(match &with.features {
            Some(features) => feature_options::replaced(self.subcommand, typed, features),
            None => typed.clone(),
        });
        words.extend(options.iter().cloned());
        // The last value of a setting counts.
        words.extend(with.settings.iter().flat_map(|setting| ["--config".into(), setting.into()]));
        if !target_arguments.is_empty() {
            words.push("--".into());
            words.extend(target_arguments.iter().cloned());
        }
        words
    }

    /// Returns the options with which the user's command line would run only this executable; none if the user has chosen
    /// targets, or several packages, because cargo adds those of further options.
    pub(crate) fn options_for_only(&self, executable: &Executable) -> Vec<OsString> {
        let is_glob = |package: &OsString| package.to_string_lossy().contains(['*', '?', '[']);
        match self.arguments.packages.as_slice() {
            _ if self.arguments.chooses_targets() => Vec::new(),
            [] => [executable.package_options(), executable.options()].concat(),
            [package] if !is_glob(package) => executable.options(),
            _ => Vec::new(),
        }
    }
}
