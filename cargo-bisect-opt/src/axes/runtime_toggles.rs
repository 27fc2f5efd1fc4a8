//! Run-time toggles: the program reads the pattern from `BISECT_PATTERN`.

use std::{collections::BTreeSet, path::Path};

use bisect_core::{protocol::names, search::Mode};

use super::{Application, Axis, Files, facts::AxisFacts};
use crate::{
    cargo::toggles::{self, Toggle},
    output::terms::Terms,
    report::content::Report,
    run::{error::RunError, spec::Choice},
};

/// The run-time toggles as an axis.
#[derive(Debug)]
pub(crate) struct RuntimeToggles {
    toggles: BTreeSet<Toggle>,
    /// The names of the searched toggles; empty: all toggles.
    names: Vec<String>,
}

impl RuntimeToggles {
    /// Returns the axis of the toggles with these names, among all toggles of a target; no names: of all toggles.
    pub(crate) fn new(toggles: BTreeSet<Toggle>, names: Vec<String>) -> Self {
        Self { toggles, names }
    }
}

impl Axis for RuntimeToggles {
    fn facts(&self) -> AxisFacts {
        AxisFacts::of(Terms::TOGGLES)
    }

    fn subject(&self) -> Option<String> {
        let runtime = self.toggles.iter().filter(|toggle| toggle.build.is_none());
        Some(toggles::subject(runtime, &self.names, "run-time toggle"))
    }

    fn apply(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        let value = value(&self.names, choice);
        Ok(Application { variables: [(names::PATTERN, value)].into(), ..Application::default() })
    }

    fn change(&self, report: Report, _: &Path, _: Mode) -> Report {
        Report { kind: toggles::kind(&self.toggles, &report), ..report }
    }
}

/// Returns the value of `BISECT_PATTERN` that enables these changes of the toggles with these names; no names: of all
/// toggles.
pub(super) fn value(names: &[String], choice: &Choice) -> String {
    if names.is_empty() {
        return choice.to_string();
    }
    names.iter().map(|name| format!("{name}={choice}")).collect::<Vec<_>>().join(";")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_is_for_all_toggles_or_for_each_that_is_named() {
        let files = Files { directory: Path::new(""), stem: "", report_file: None };
        for (names, expected) in [(&[] as &[&str], "x12"), (&["a", "b"], "a=x12;b=x12")] {
            let names = names.iter().map(|&name| name.to_owned()).collect();
            let axis = RuntimeToggles::new(BTreeSet::new(), names);
            let application = axis.apply(&Choice::Hashes("x12".parse().unwrap()), &files).unwrap();
            assert_eq!(application.variables, [(names::PATTERN, expected)].into());
            assert!(application.build.is_none());
        }
    }
}
