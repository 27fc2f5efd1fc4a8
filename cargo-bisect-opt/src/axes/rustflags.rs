//! Compiler flags that contain `PATTERN`: the compiler, or a program that replaces it, applies and reports changes.

use std::io;

use bisect_core::protocol::names;

use super::{AfterBuild, Application, Axis, Files, facts::AxisFacts};
use crate::{
    cargo::{BuildCounts, BuildOverrides},
    output::terms::Terms,
    report::scan::Reports,
    run::{error::RunError, spec::Choice},
};

/// The word that the pattern replaces.
const PATTERN: &str = "PATTERN";

/// The changes of a compiler that gets the pattern in its flags.
#[derive(Debug)]
pub(crate) struct Rustflags {
    text: String,
}

/// A reason why flags cannot be searched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RustflagsError {
    /// The flags lack `PATTERN`, so the compiler would not get the pattern.
    #[error(
        "the word PATTERN must stand in --rustflags, where the compiler expects the pattern; for example: \
         --rustflags -Zmy-pass=PATTERN"
    )]
    NoPattern,
    /// The user asked for two axes.
    #[error(
        "--toggle and --rustflags cannot be searched together, because each needs the pattern for itself: leave out one of them"
    )]
    WithToggles,
}

impl Rustflags {
    /// Returns the axis for the value of `--rustflags`. `toggles` are the values of `--toggle`.
    ///
    /// # Errors
    /// If the flags cannot be searched.
    pub(crate) fn new(text: &str, toggles: &[String]) -> Result<Self, RustflagsError> {
        if !text.contains(PATTERN) {
            return Err(RustflagsError::NoPattern);
        }
        if !toggles.is_empty() {
            return Err(RustflagsError::WithToggles);
        }
        Ok(Self { text: text.to_owned() })
    }
}

/// The terms of this axis.
const TERMS: Terms = Terms {
    axis: "rustflags",
    change: "change",
    reported: Some("reported"),
    if_none_reported: Some("the compiler reported no change: does it accept these flags?"),
};

impl Axis for Rustflags {
    fn facts(&self) -> AxisFacts {
        AxisFacts { builds: true, ..AxisFacts::of(TERMS) }
    }

    fn subject(&self) -> Option<String> {
        Some(format!("what the compiler reports for {}", self.text))
    }

    fn apply(&self, choice: &Choice, files: &Files<'_>) -> Result<Application, RunError> {
        let filled = self.text.replace(PATTERN, &choice.to_string());
        let flags = filled.split_whitespace().map(str::to_owned).collect();
        let report_file = files.report_file.map(|path| (names::REPORT, path));
        let variables = report_file.into_iter().collect();
        Ok(Application {
            build: Some(BuildOverrides { variables, flags, ..BuildOverrides::default() }),
            ..Application::default()
        })
    }

    /// Reads the compiler's messages. Cargo repeats them for crates that it did not compile again.
    fn collect(&self, _: &Choice, built: &AfterBuild<'_>, reports: &mut Reports) -> io::Result<()> {
        reports.read_file(built.log)
    }

    fn summary(&self, builds: BuildCounts) -> Option<String> {
        Some(builds.summary())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::process::variables::Variables;

    use super::*;

    #[test]
    fn the_pattern_is_filled_in_and_reports_go_to_the_file() {
        let axis = Rustflags::new("--cfg x -Zpass=vPATTERN,PATTERN", &[]).unwrap();
        let files = Files { directory: Path::new(""), stem: "", report_file: Some(Path::new("r")) };
        let application = axis.apply(&Choice::Hashes("y-01".parse().unwrap()), &files).unwrap();
        let build = application.build.unwrap();
        assert_eq!(build.flags, ["--cfg", "x", "-Zpass=v-01,-01"]);
        assert_eq!(build.variables, [("BISECT_REPORT", "r")].into());
        assert_eq!(application.variables, Variables::default(), "nothing that is executed gets a pattern");
    }

    #[test]
    fn flags_without_a_pattern_or_with_toggles_are_refused() {
        assert!(Rustflags::new("-Zx=PATTERN", &[]).is_ok());
        let no_pattern = Rustflags::new("-Zx=pattern", &[]).unwrap_err().to_string();
        assert!(no_pattern.starts_with("the word PATTERN must stand in --rustflags, where the compiler expects"));
        let toggles = ["a".to_owned()];
        let with_toggles = Rustflags::new("-Zx=PATTERN", &toggles).unwrap_err().to_string();
        assert!(with_toggles.starts_with("--toggle and --rustflags cannot be searched together"), "{with_toggles}");
    }
}
