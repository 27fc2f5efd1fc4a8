//! Moments of a watched condition: the program is asked to search, or to evaluate at one moment.
//!
//! The program itself searches as far as it can, so this axis has no patterns and no sets of changes. All moments stand
//! for a search, and the moments up to one stand for an evaluation at that one.

use std::path::Path;

use bisect_core::{
    ChangeId,
    protocol::names,
    search::{Mode, Order},
};

use super::{
    Application, Axis, Files,
    facts::{AxisFacts, Reporter},
};
use crate::{
    output::terms::Terms,
    process::{debugger::Debugger, variables::Variables},
    report::{
        content::Report,
        kind::{ChangeKind, ShownSource},
    },
    run::{
        error::RunError,
        moment::{is_described, is_stop, moment_of},
        numbering::Numbering,
        spec::Choice,
    },
};

/// The terms of this axis.
const TERMS: Terms = Terms {
    axis: "watch",
    change: "moment",
    reported: None,
    if_none_reported: Some("it passes no moment with this name"),
};
/// A moment.
const KIND: ChangeKind =
    ChangeKind { name: "moment", noun: "moment of", label: "at this moment", source: ShownSource::Moment };

/// A watched condition.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    /// The name of the condition.
    name: String,
    /// True if no copies of the process are made.
    reruns: bool,
    /// True if the target is tests. Moments are counted over the whole process, so they must not run side by side.
    is_test: bool,
    /// The debugger that stops at a moment, for the command line that reproduces it.
    debugger: Option<Debugger>,
}

impl Watch {
    /// Returns the axis of the condition with this name.
    ///
    /// # Errors
    /// If it is no name.
    pub(crate) fn new(name: &str, is_test: bool, reruns: bool, debugger: Option<Debugger>) -> Result<Self, String> {
        if name.is_empty() || name.contains([';', '@', '\n', '\0']) {
            return Err(format!(
                "`{name}` is not the name of a condition: it must not be empty, nor contain `;` or `@`"
            ));
        }
        Ok(Self { name: name.to_owned(), reruns, is_test, debugger })
    }

    fn request(&self, choice: &Choice) -> String {
        let Some(moment) = moment_of(choice) else {
            return if self.reruns { format!("{};rerun", self.name) } else { self.name.clone() };
        };
        let option = match (is_stop(choice), is_described(choice)) {
            (true, _) => ";stop",
            (false, true) => ";describe",
            (false, false) => "",
        };
        format!("{}@{moment}{option}", self.name)
    }
}

impl Axis for Watch {
    fn facts(&self) -> AxisFacts {
        AxisFacts { reporter: Reporter::Answers, ..AxisFacts::of(TERMS) }
    }

    fn subject(&self) -> Option<String> {
        Some(format!("the first moment at which `{}` is false", self.name))
    }

    fn numbering(&self) -> Numbering {
        Numbering::of(Order::Counter)
    }

    fn apply(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        let before = self
            .debugger
            .iter()
            .filter(|_| is_stop(choice))
            .flat_map(|debugger| debugger.words().iter().cloned())
            .collect();
        let mut variables = Variables::from([(names::WATCH, self.request(choice))]);
        variables.extend(self.is_test.then_some(("RUST_TEST_THREADS", "1")));
        Ok(Application { variables, before, ..Application::default() })
    }

    fn change(&self, report: Report, _: &Path, _: Mode) -> Report {
        let ChangeId(moment) = report.id;
        let name = if report.name.is_empty() { self.name.clone() } else { report.name.clone() };
        Report { kind: KIND, text: vec![format!("{}@{moment}", self.name)], name, ..report }
    }
}

#[cfg(test)]
mod tests {
    use bisect_core::search::Selection;

    use super::*;
    use crate::process::variables::Variable;
    use crate::run::moment::{at, describe, search, stop_at};

    #[test]
    fn requests_are_values_of_the_variable() {
        let files = Files { directory: Path::new(""), stem: "", report_file: None };
        let watch = Watch::new("acyclic", false, false, Some(Debugger::parse("gdb").unwrap())).unwrap();
        let request = |watch: &Watch, selection: &Selection| {
            let application = watch.apply(&Choice::of(Order::Counter, selection), &files).unwrap();
            let request = application.variables.get("BISECT_WATCH").cloned();
            (request.unwrap(), application.before.first().cloned())
        };
        let variable = |value: &str| Variable::Set(value.into());
        assert_eq!(request(&watch, &search()), (variable("acyclic"), None));
        assert_eq!(request(&watch, &at(212_003)), (variable("acyclic@212003"), None));
        assert_eq!(request(&watch, &describe(7)), (variable("acyclic@7;describe"), None));
        assert_eq!(request(&watch, &stop_at(7)), (variable("acyclic@7;stop"), Some("gdb".to_owned())));
        let reruns = Watch::new("acyclic", true, true, None).unwrap();
        assert_eq!(request(&reruns, &search()), (variable("acyclic;rerun"), None));
        for name in ["", "a;b", "a@1"] {
            assert!(Watch::new(name, false, false, None).is_err());
        }
    }
}
