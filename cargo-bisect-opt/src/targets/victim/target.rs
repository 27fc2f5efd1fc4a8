//! A victim as a target: it judges runs, counts failures, and words the answer.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bisect_core::{
    ChangeId,
    search::{Mode, Order, Outcome, Trial},
};

use super::{
    options::VictimOptions,
    runner::{Required, VictimRun, VictimRunner, spare_variables},
    suite::Suite,
    way::{Thing, Way},
};
use crate::{
    cargo::libtest,
    lab::target::{Judge, Judgement, Reproduction, Target},
    output::terms::Terms,
    process::shell,
    report::{content::Report, kind::ChangeKind, scan::Reports},
    run::{
        error::RunError,
        result::{Failed, Notes, RunResult},
        spec::Choice,
        target_kind::TargetKind,
    },
    units::{listed, plural},
};

/// The terms of a search for tests. A run reports all other tests that it runs.
const TERMS: Terms =
    Terms { axis: "victim", change: "test", reported: None, if_none_reported: Some("there is no other test") };
/// Another test.
const KIND: ChangeKind = ChangeKind::own("test", "test", "this test");

/// A test whose failures depend on others.
#[derive(Debug)]
pub(crate) struct VictimTarget {
    runner: Arc<VictimRunner>,
    /// The other tests of each run that shows whether the victim fails, and true if it failed.
    observed: Vec<(BTreeSet<usize>, bool)>,
    /// The reason why the last run was unresolved, if it was.
    unresolved: Option<String>,
    /// The other test that ended the process of the last run before the victim ran, if one did.
    blocker: Option<String>,
    /// The other tests that were running when the process of the last run ended with the victim.
    crash: Option<Vec<String>>,
    /// The maximum number of executions in a run, if runs are made only to see whether the victim ever fails.
    chance: Option<usize>,
    notes: Notes,
}

impl VictimTarget {
    /// Returns the test at this position of a suite, with the other tests that can matter if they run in this way: one
    /// after the other, those that precede it; otherwise all others.
    pub(crate) fn new(suite: &Arc<Suite>, victim: usize, way: Way, options: VictimOptions) -> Self {
        let others = match way {
            Way::Serial => suite.tests[..victim].to_vec(),
            _ => suite.tests[..victim].iter().chain(&suite.tests[victim + 1..]).cloned().collect(),
        };
        let victim = suite.tests[victim].clone();
        let variables = spare_variables();
        Self::of(VictimRunner {
            suite: suite.clone(),
            victim,
            others,
            required: Required::default(),
            way,
            renewed: None,
            variables,
            options,
        })
    }

    /// Returns the target whose runs have a new thing each.
    pub(crate) fn renewing(self, thing: Thing) -> Self {
        Self::of(VictimRunner { renewed: Some(thing), ..(*self.runner).clone() })
    }

    /// Returns the victim without other tests.
    pub(crate) fn alone(&self) -> Self {
        Self::of(VictimRunner { others: Vec::new(), ..(*self.runner).clone() })
    }

    fn of(runner: VictimRunner) -> Self {
        Self {
            runner: Arc::new(runner),
            observed: Vec::new(),
            unresolved: None,
            blocker: None,
            crash: None,
            chance: None,
            notes: Notes::default(),
        }
    }

    /// Returns the victim with only these other tests, in another way.
    pub(crate) fn with(&self, changes: &[ChangeId], way: Way) -> Self {
        Self::of(VictimRunner { others: self.names(changes), way, ..(*self.runner).clone() })
    }

    /// Returns the target whose runs include these of the other tests, because the victim needs them. They set state in
    /// the process or outside, if that is known.
    pub(crate) fn requiring(&self, tests: Vec<String>, sets_process_state: Option<bool>) -> Self {
        let others = self.runner.others.iter().filter(|other| !tests.contains(other)).cloned().collect();
        let required = Required { tests, sets_process_state };
        Self::of(VictimRunner { others, required, ..(*self.runner).clone() })
    }

    /// Returns true if the victim can run in a process of its own: if it needs tests, it must be known whether they run in
    /// that process.
    pub(crate) fn can_run_apart(&self) -> bool {
        self.runner.required.tests.is_empty() || self.runner.required.sets_process_state.is_some()
    }

    /// Returns the names of the tests that are these changes.
    pub(crate) fn names(&self, changes: &[ChangeId]) -> Vec<String> {
        positions(changes).map(|at| self.runner.others[at].clone()).collect()
    }

    /// Returns the target whose new environments lack these variables.
    pub(crate) fn lacking(self, variables: &[OsString]) -> Self {
        Self::of(VictimRunner { variables: variables.to_vec(), ..(*self.runner).clone() })
    }

    /// Returns the variables that a new environment lacks.
    pub(crate) fn variables(&self) -> &[OsString] {
        &self.runner.variables
    }

    /// Returns the thing that is new in each run.
    pub(crate) fn renewed(&self) -> Option<Thing> {
        self.runner.renewed
    }

    /// Returns the target for runs of this number of executions, which are made only to see whether the victim ever
    /// fails.
    pub(crate) fn for_a_chance(self, executions: usize) -> Self {
        Self { chance: Some(executions), ..self }
    }

    /// Returns the name of the victim.
    pub(crate) fn victim(&self) -> &str {
        &self.runner.victim
    }

    /// Returns true if the tests run at once.
    pub(crate) fn is_parallel(&self) -> bool {
        self.runner.is_parallel()
    }

    /// Returns the reason why the last run was unresolved, if it was.
    pub(crate) fn unresolved(&self) -> Option<&str> {
        self.unresolved.as_deref()
    }

    /// Returns the other test that ended the process of the last run before the victim ran, if one did.
    pub(crate) fn blocker(&self) -> Option<&str> {
        self.blocker.as_deref()
    }

    /// Returns the other tests that were probably running when the process of the last run ended with the victim, if it
    /// ended so. The tests ran in parallel.
    pub(crate) fn crash(&self) -> Option<&[String]> {
        self.crash.as_deref()
    }

    /// Returns the number of other tests.
    pub(crate) fn others(&self) -> usize {
        self.runner.others.len()
    }

    /// Returns the names of the tests that run in each run, for a message.
    fn required(&self) -> Option<String> {
        let tests = &self.runner.required.tests;
        (!tests.is_empty()).then(|| listed(tests.iter().map(|test| format!("`{test}`"))))
    }

    /// Returns how often the victim failed with all of the other tests, or with none: the numbers of failures and of
    /// executions.
    pub(crate) fn failures_at_end(&self, all: bool) -> (usize, usize) {
        let number = if all { self.others() } else { 0 };
        let at_end = self.observed.iter().filter(|(tests, _)| tests.len() == number);
        at_end.fold((0, 0), |(failed, all), (_, fails)| (failed + usize::from(*fails), all + 1))
    }

    /// Returns how often the victim failed in runs in which this culprit can make it fail, and in runs in which no
    /// culprit can: the numbers of failures and of runs. Tests that make the victim fail can do so if all of them run;
    /// tests that it needs, if none of them runs.
    pub(crate) fn rates(&self, culprit: &[ChangeId], all: &[&[ChangeId]], mode: Mode) -> [(usize, usize); 2] {
        let breaks = |set: &[ChangeId], tests: &BTreeSet<usize>| match mode {
            Mode::Enable => positions(set).all(|at| tests.contains(&at)),
            Mode::Disable => !positions(set).any(|at| tests.contains(&at)),
        };
        let count = |runs: &mut dyn Iterator<Item = &(BTreeSet<usize>, bool)>| {
            runs.fold((0, 0), |(failed, all), (_, fails)| (failed + usize::from(*fails), all + 1))
        };
        let with = count(&mut self.observed.iter().filter(|(tests, _)| breaks(culprit, tests)));
        let without = |(tests, _): &&(BTreeSet<usize>, bool)| !all.iter().any(|set| breaks(set, tests));
        [with, count(&mut self.observed.iter().filter(without))]
    }
}

impl Judge for VictimTarget {
    type Runner = VictimRunner;

    fn runner(&self) -> Arc<VictimRunner> {
        self.runner.clone()
    }

    fn brief(&self) -> Arc<()> {
        Arc::new(())
    }

    fn learn(&mut self, _: &Trial, shown: &VictimRun) -> Result<(), RunError> {
        self.notes.add(shown.notes.iter().cloned());
        for &(outcome, _) in &shown.executions {
            if !matches!(outcome, Outcome::Unresolved(_)) {
                self.observed.push((shown.chosen.iter().copied().collect(), outcome == Outcome::Fail));
            }
        }
        Ok(())
    }

    fn judge(&mut self, _: &Trial, shown: VictimRun) -> Judgement<VictimRun> {
        let outcomes: Vec<_> = shown.executions.iter().map(|&(outcome, _)| outcome).collect();
        let decisive = shown.repetition.decisive(&outcomes);
        let (outcome, ref reason) = shown.executions[decisive];
        self.blocker.clone_from(&shown.blocker);
        self.crash.clone_from(&shown.crash);
        self.unresolved = matches!(outcome, Outcome::Unresolved(_)).then(|| reason.clone());
        let failed = (outcome == Outcome::Fail).then(|| self.runner.victim.clone());
        let cause = shown.cause.as_ref().filter(|cause| failed.is_some() && !cause.is_unknown());
        Judgement::Ready(vec![RunResult {
            outcome,
            reason: reason.clone(),
            failures: cause.map(|cause| Failed::new(failed.clone(), cause)).into_iter().collect(),
            failed_tests: failed.into_iter().collect(),
            duration: shown.duration,
            executions: shown.executions.len(),
            extra_outcomes: shown.repetition.also(&outcomes).to_vec(),
            build_time: Duration::ZERO,
            reports: shown.reports,
        }])
    }

    fn reports<'a>(&self, shown: &'a VictimRun) -> Vec<&'a Reports> {
        vec![&shown.reports]
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.notes.take()
    }
}

impl Target for VictimTarget {
    fn kind(&self) -> TargetKind {
        TargetKind::Program
    }

    fn describe(&self) -> String {
        format!("{}, in {}", self.runner.suite.command_line, self.runner.suite.name)
    }

    fn root(&self) -> &Path {
        &self.runner.suite.root
    }

    fn terms(&self) -> Terms {
        TERMS
    }

    fn order(&self) -> Order {
        Order::Given
    }

    fn subject(&self) -> Option<String> {
        if let Some(executions) = self.chance {
            let times = if executions > 1 { format!(", up to {executions} times") } else { String::new() };
            return Some(format!("with all tests, {} at once{times}", self.runner.threads()));
        }
        let (others, victim) = (plural(self.others(), "test"), self.victim());
        let run = if self.others() == 1 { "runs" } else { "run" };
        let renewed = self.renewed().map(|thing| format!(", with a new {}", thing.name())).unwrap_or_default();
        if self.others() == 0 && !matches!(self.runner.way, Way::Apart(_)) {
            return Some(format!("alone{renewed}"));
        }
        Some(match self.runner.way {
            Way::Serial => {
                let required = match self.required() {
                    Some(tests) => format!(", with {tests}"),
                    None => String::new(),
                };
                format!("{others} that {run} before `{victim}`, one after the other{required}{renewed}")
            }
            Way::Parallel(_) => {
                format!("{others} that {run} beside `{victim}`, {} at once", self.runner.threads())
            }
            Way::Apart(apart) => match (apart.thing, apart.is_shared) {
                (None, _) => "in another process".to_owned(),
                (Some(thing), true) => format!("both with a new {}", thing.name()),
                (Some(thing), false) => format!("with its own {}", thing.name()),
            },
        })
    }

    fn headline(&self, tests: usize, mode: Mode) -> Option<String> {
        let (victim, one) = (self.victim(), tests == 1);
        let which = if one { "this test" } else { "these tests" };
        let run = if one { "runs" } else { "run" };
        let place = if self.runner.way == Way::Serial { "before it" } else { "beside it" };
        Some(match mode {
            Mode::Enable => {
                let required = match self.required() {
                    Some(tests) => format!(", even together with {tests}"),
                    None => String::new(),
                };
                format!("`{victim}` fails if {which} {run} {place}{required}")
            }
            Mode::Disable if one => format!("`{victim}` needs {which}: it fails unless {which} {run} {place}"),
            // No smaller set makes it fail where all others run.
            Mode::Disable => format!("`{victim}` needs one of {which}: it fails unless one of them runs {place}"),
        })
    }

    fn needs_text_run(&self) -> bool {
        false
    }

    fn change(&self, report: Report, _: Mode) -> Report {
        let name = positions(&[report.id]).next().and_then(|at| self.runner.others.get(at)).cloned();
        let name = name.unwrap_or_default();
        Report { kind: KIND, text: vec![name.clone()], name, ..report }
    }

    fn short_line(&self, ids: &[ChangeId], mode: Mode) -> Option<String> {
        let runner = &self.runner;
        if runner.renewed.is_some() || matches!(runner.way, Way::Apart(_)) {
            return None;
        }
        // A test that needs others fails alone.
        let others: Vec<_> = if mode == Mode::Enable { positions(ids).collect() } else { Vec::new() };
        let tests = runner.tests(&others, true);
        let threads = runner.more_threads().map(|threads| format!("{}={threads} ", libtest::THREADS));
        Some(threads.unwrap_or_default() + &runner.suite.cargo_line(&tests, !runner.is_parallel()))
    }

    fn reproduce(&self, again: &Reproduction<'_>) -> String {
        let choice = Choice::of(Order::Given, again.selection);
        let runner = &self.runner;
        let variables = runner.suite.needed_variables();
        let variables = variables.iter().map(|(name, value)| format!("{name}={} ", shell::quote(value)));
        let words = runner.suite.launch.words().iter().cloned();
        let chosen = runner.chosen(&choice);
        let has_failed = |tests: &[usize]| self.observed.iter().any(|(run, fails)| *fails && run.iter().eq(tests));
        // A test that needs others fails alone, too.
        let fails_alone_too = choice.is_inverted() && has_failed(&chosen) && has_failed(&[]);
        let chosen = if fails_alone_too { Vec::new() } else { chosen };
        let words = words.chain(runner.arguments(&chosen, true));
        let directory = match runner.renewed {
            Some(Thing::Directory) => "\"$(mktemp -d)\"".to_owned(),
            _ => shell::quote(PathBuf::from(runner.suite.directory())),
        };
        let home = if runner.renewed == Some(Thing::Home) { "HOME=\"$(mktemp -d)\" " } else { "" };
        let more_threads = runner.more_threads().map(|threads| format!("{}={threads} ", libtest::THREADS));
        let words = again.limit(runner.options.timeout).into_iter().map(OsString::from).chain(words);
        format!(
            "cd {directory} && {home}{}{}{}{}",
            more_threads.unwrap_or_default(),
            variables.collect::<String>(),
            again.reader.before_program(),
            shell::line(words)
        )
    }
}

/// Returns the positions of changes.
fn positions(changes: &[ChangeId]) -> impl Iterator<Item = usize> {
    changes.iter().filter_map(|id| usize::try_from(id.0).ok())
}
