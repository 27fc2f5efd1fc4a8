//! The other tests of an executable as changes: an enabled one runs in a process with the victim, or before it.

use std::{collections::HashSet, ffi::OsString, path::Path, sync::Arc};

use bisect_core::{ChangeId, search::Mode};

use super::{
    arrangement::{Arrangement, OwnResource, Threads},
    suite::Suite,
};
use crate::{
    axes::{Application, Axis, CulpritChanges, CulpritWords, Files, Words, facts::AxisFacts},
    cargo::libtest,
    output::terms::Terms,
    report::{content::Report, kind::ChangeKind},
    run::{
        error::RunError,
        numbering::{Numbering, id, position},
        spec::Choice,
    },
    units::{listed, plural},
};

/// The terms of a search for tests. The axis reports the tests that a run executes.
const TERMS: Terms =
    Terms { axis: "victim", change: "test", reported: None, if_none_reported: Some("there is no other test") };
/// Another test.
const KIND: ChangeKind = ChangeKind::own("test", "test", "this test");

/// The other tests that run in a way with the victim.
#[derive(Clone, Debug)]
pub(super) struct OtherTests {
    pub(super) suite: Arc<Suite>,
    pub(super) victim: String,
    /// The other tests, in the order of the harness: the changes.
    pub(super) others: Vec<String>,
    pub(super) required: Required,
    pub(super) way: Arrangement,
    /// A thing that is new in each run.
    pub(super) renewed: Option<OwnResource>,
    /// The maximum number of executions in a run, if runs are made only to see whether the victim ever fails.
    pub(super) chance: Option<usize>,
}

/// The tests that run in each run, because the victim needs them.
#[derive(Clone, Debug, Default)]
pub(super) struct Required {
    /// Their names.
    pub(super) tests: Vec<String>,
    /// True if what they set is state in the process, false if it is outside; `None` if that is not known.
    pub(super) sets_process_state: Option<bool>,
}

impl OtherTests {
    /// Returns the positions of the tests that a choice enables.
    pub(super) fn chosen(&self, choice: &Choice) -> Vec<usize> {
        (0..self.others.len()).filter(|&at| choice.enables(id(at))).collect()
    }

    /// Returns the tests that the victim needs and that run in its process, or else in the process before it.
    ///
    /// If they set state in the process, they run with the victim. If not, they run with the others, so that the order
    /// of the tests stays the same.
    pub(super) fn required(&self, with_victim: bool) -> &[String] {
        let is_here = match self.way {
            Arrangement::Serial | Arrangement::Parallel(_) => true,
            Arrangement::Apart(_) => self.required.sets_process_state.unwrap_or(true) == with_victim,
        };
        if is_here { &self.required.tests } else { &[] }
    }

    /// Returns the arguments for one process with these tests, and the victim if it runs with them.
    pub(super) fn arguments(&self, chosen: &[usize], with_victim: bool) -> Vec<OsString> {
        self.suite.arguments_for(&self.tests(chosen, with_victim), !self.is_parallel())
    }

    /// Returns the tests of one process with these tests, and the victim if it runs with them.
    pub(super) fn tests(&self, chosen: &[usize], with_victim: bool) -> Vec<&str> {
        let mut tests: Vec<_> = chosen.iter().map(|&at| self.others[at].as_str()).collect();
        tests.extend(self.required(with_victim).iter().map(String::as_str));
        tests.extend(with_victim.then_some(self.victim.as_str()));
        tests
    }

    /// Returns true if the tests of one process run at once.
    pub(super) fn is_parallel(&self) -> bool {
        matches!(self.way, Arrangement::Parallel(_))
    }

    /// Returns the number of tests that run at once in the process of the victim.
    pub(super) fn threads(&self) -> usize {
        match self.way {
            Arrangement::Parallel(Threads::Usual) => self.suite.threads,
            Arrangement::Parallel(Threads::More) => self.more_threads().unwrap_or(self.suite.threads),
            Arrangement::Serial | Arrangement::Apart(_) => 1,
        }
    }

    /// Returns the number of tests at once that the harness does not choose by itself, if there is one.
    pub(super) fn more_threads(&self) -> Option<usize> {
        self.suite.more_threads.filter(|_| self.way == Arrangement::Parallel(Threads::More))
    }

    /// Returns the chosen tests and the victim, in the order in which the harness starts them.
    pub(super) fn in_order(&self, chosen: &[usize]) -> Vec<&str> {
        let tests: HashSet<_> = chosen.iter().map(|&at| self.others[at].as_str()).chain([&*self.victim]).collect();
        self.suite.tests.iter().map(String::as_str).filter(|test| tests.contains(test)).collect()
    }

    /// Returns the names of the tests that run in each run, for a message.
    fn required_names(&self) -> Option<String> {
        let tests = &self.required.tests;
        (!tests.is_empty()).then(|| listed(tests.iter().map(|test| format!("`{test}`"))))
    }

    /// Returns the headline of a culprit with this number of tests.
    fn headline(&self, tests: usize, mode: Mode) -> String {
        let (victim, one) = (&self.victim, tests == 1);
        let which = if one { "this test" } else { "these tests" };
        let run = if one { "runs" } else { "run" };
        let place = if self.way == Arrangement::Serial { "before it" } else { "beside it" };
        match mode {
            Mode::Enable => {
                let required = match self.required_names() {
                    Some(tests) => format!(", even together with {tests}"),
                    None => String::new(),
                };
                format!("`{victim}` fails if {which} {run} {place}{required}")
            }
            Mode::Disable if one => format!("`{victim}` needs {which}: it fails unless {which} {run} {place}"),
            // No smaller set makes it fail where all others run.
            Mode::Disable => format!("`{victim}` needs one of {which}: it fails unless one of them runs {place}"),
        }
    }

    /// Returns cargo's command line that runs the tests of a culprit and the victim.
    fn short_line(&self, ids: &[ChangeId], mode: Mode) -> Option<String> {
        if self.renewed.is_some() || matches!(self.way, Arrangement::Apart(_)) {
            return None;
        }
        // A test that needs others fails alone.
        let others: Vec<_> = if mode == Mode::Enable { positions(ids).collect() } else { Vec::new() };
        let tests = self.tests(&others, true);
        let threads = self.more_threads().map(|threads| format!("{}={threads} ", libtest::THREADS));
        Some(threads.unwrap_or_default() + &self.suite.cargo_line(&tests, !self.is_parallel()))
    }
}

impl Axis for OtherTests {
    fn facts(&self) -> AxisFacts {
        AxisFacts::of_known_changes(TERMS)
    }

    fn subject(&self) -> Option<String> {
        if let Some(executions) = self.chance {
            let times = if executions > 1 { format!(", up to {executions} times") } else { String::new() };
            return Some(format!("with all tests, {} at once{times}", self.threads()));
        }
        let (others, victim) = (plural(self.others.len(), "test"), &self.victim);
        let run = if self.others.len() == 1 { "runs" } else { "run" };
        let renewed = self.renewed.map(|thing| format!(", with a new {}", thing.name())).unwrap_or_default();
        if self.others.is_empty() && !matches!(self.way, Arrangement::Apart(_)) {
            return Some(format!("alone{renewed}"));
        }
        Some(match self.way {
            Arrangement::Serial => {
                let required = match self.required_names() {
                    Some(tests) => format!(", with {tests}"),
                    None => String::new(),
                };
                format!("{others} that {run} before `{victim}`, one after the other{required}{renewed}")
            }
            Arrangement::Parallel(_) => {
                format!("{others} that {run} beside `{victim}`, {} at once", self.threads())
            }
            Arrangement::Apart(apart) => match (apart.thing, apart.is_shared) {
                (None, _) => "in another process".to_owned(),
                (Some(thing), true) => format!("both with a new {}", thing.name()),
                (Some(thing), false) => format!("with its own {}", thing.name()),
            },
        })
    }

    fn numbering(&self) -> Numbering {
        Numbering::of_list(self.others.len())
    }

    fn apply(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        let arguments = self.arguments(&self.chosen(choice), true);
        Ok(Application { words: Some(Words::Arguments(arguments)), ..Application::default() })
    }

    fn change(&self, report: Report, _: &Path, _: Mode) -> Report {
        let name = positions(&[report.id]).next().and_then(|at| self.others.get(at)).cloned();
        let name = name.unwrap_or_default();
        Report { kind: KIND, text: vec![name.clone()], name, ..report }
    }

    fn words(&self, culprit: &CulpritChanges<'_>) -> CulpritWords {
        CulpritWords {
            headline: Some(self.headline(culprit.ids.len(), culprit.mode)),
            short_line: self.short_line(culprit.ids, culprit.mode),
            ..CulpritWords::default()
        }
    }
}

/// Returns the positions of changes.
pub(super) fn positions(changes: &[ChangeId]) -> impl Iterator<Item = usize> {
    changes.iter().filter_map(|&id| position(id))
}
