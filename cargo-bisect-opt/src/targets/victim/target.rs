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
    search::{Mode, Outcome, Trial},
};

use super::{
    arrangement::{Arrangement, OwnResource},
    options::VictimOptions,
    other_tests::{OtherTests, Required, positions},
    runner::{VictimRun, VictimRunner, spare_variables},
    suite::Suite,
};
use crate::{
    axes::Axis,
    cargo::libtest,
    lab::target::{Judge, Judgement, Reproduction, Target},
    process::shell,
    report::scan::Reports,
    run::{
        error::RunError,
        result::{Failed, Notes, RunResult},
        target_kind::TargetKind,
    },
};

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
    notes: Notes,
}

impl VictimTarget {
    /// Returns the test at this position of a suite, with the other tests that can matter if they run in this way: one
    /// after the other, those that precede it; otherwise all others.
    pub(crate) fn new(suite: &Arc<Suite>, victim: usize, way: Arrangement, options: VictimOptions) -> Self {
        let others = match way {
            Arrangement::Serial => suite.tests[..victim].to_vec(),
            _ => suite.tests[..victim].iter().chain(&suite.tests[victim + 1..]).cloned().collect(),
        };
        let victim = suite.tests[victim].clone();
        let variables = spare_variables();
        let (suite, required) = (suite.clone(), Required::default());
        let axis = OtherTests { suite, victim, others, required, way, renewed: None, chance: None };
        Self::of(VictimRunner { axis, variables, options })
    }

    /// Returns the target whose runs have a new thing each.
    pub(crate) fn renewing(self, thing: OwnResource) -> Self {
        self.searched_by(OtherTests { renewed: Some(thing), ..self.other_tests().clone() })
    }

    /// Returns the victim without other tests.
    pub(crate) fn alone(&self) -> Self {
        self.searched_by(OtherTests { others: Vec::new(), ..self.other_tests().clone() })
    }

    fn other_tests(&self) -> &OtherTests {
        &self.runner.axis
    }

    /// Returns the same victim, with other tests.
    fn searched_by(&self, axis: OtherTests) -> Self {
        Self::of(VictimRunner { axis, ..(*self.runner).clone() })
    }

    fn of(runner: VictimRunner) -> Self {
        Self {
            runner: Arc::new(runner),
            observed: Vec::new(),
            unresolved: None,
            blocker: None,
            crash: None,
            notes: Notes::default(),
        }
    }

    /// Returns the victim with only these other tests, in another way.
    pub(crate) fn with(&self, changes: &[ChangeId], way: Arrangement) -> Self {
        self.searched_by(OtherTests { others: self.names(changes), way, ..self.other_tests().clone() })
    }

    /// Returns the target whose runs include these of the other tests, because the victim needs them. They set state in
    /// the process or outside, if that is known.
    pub(crate) fn requiring(&self, tests: Vec<String>, sets_process_state: Option<bool>) -> Self {
        let others = self.other_tests().others.iter().filter(|other| !tests.contains(other)).cloned().collect();
        let required = Required { tests, sets_process_state };
        self.searched_by(OtherTests { others, required, ..self.other_tests().clone() })
    }

    /// Returns true if the victim can run in a process of its own: if it needs tests, it must be known whether they run in
    /// that process.
    pub(crate) fn can_run_apart(&self) -> bool {
        self.other_tests().required.tests.is_empty() || self.other_tests().required.sets_process_state.is_some()
    }

    /// Returns the names of the tests that are these changes.
    pub(crate) fn names(&self, changes: &[ChangeId]) -> Vec<String> {
        positions(changes).map(|at| self.other_tests().others[at].clone()).collect()
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
    pub(crate) fn renewed(&self) -> Option<OwnResource> {
        self.other_tests().renewed
    }

    /// Returns the target for runs of this number of executions, which are made only to see whether the victim ever
    /// fails.
    pub(crate) fn for_a_chance(self, executions: usize) -> Self {
        self.searched_by(OtherTests { chance: Some(executions), ..self.other_tests().clone() })
    }

    /// Returns the name of the victim.
    pub(crate) fn victim(&self) -> &str {
        &self.other_tests().victim
    }

    /// Returns true if the tests run at once.
    pub(crate) fn is_parallel(&self) -> bool {
        self.other_tests().is_parallel()
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
        self.other_tests().others.len()
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

    fn known_failures(&self) -> Arc<()> {
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
        let failed = (outcome == Outcome::Fail).then(|| self.other_tests().victim.clone());
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
    fn axis(&self) -> &dyn Axis {
        self.other_tests()
    }

    fn kind(&self) -> TargetKind {
        TargetKind::Program
    }

    fn describe(&self) -> String {
        format!("{}, in {}", self.other_tests().suite.command_line, self.other_tests().suite.name)
    }

    fn root(&self) -> &Path {
        &self.other_tests().suite.root
    }

    fn reproduce(&self, again: &Reproduction<'_>) -> String {
        let axis = self.other_tests();
        let choice = axis.numbering().choice(again.selection);
        let variables = axis.suite.needed_variables();
        let variables = variables.iter().map(|(name, value)| format!("{name}={} ", shell::quote(value)));
        let words = axis.suite.launch.words().iter().cloned();
        let chosen = axis.chosen(&choice);
        let has_failed = |tests: &[usize]| self.observed.iter().any(|(run, fails)| *fails && run.iter().eq(tests));
        // A test that needs others fails alone, too.
        let fails_alone_too = choice.is_inverted() && has_failed(&chosen) && has_failed(&[]);
        let chosen = if fails_alone_too { Vec::new() } else { chosen };
        let words = words.chain(axis.arguments(&chosen, true));
        let directory = match axis.renewed {
            Some(OwnResource::Directory) => "\"$(mktemp -d)\"".to_owned(),
            _ => shell::quote(PathBuf::from(axis.suite.directory())),
        };
        let home = if axis.renewed == Some(OwnResource::Home) { "HOME=\"$(mktemp -d)\" " } else { "" };
        let more_threads = axis.more_threads().map(|threads| format!("{}={threads} ", libtest::THREADS));
        let words = again.limit(self.runner.options.timeout).into_iter().map(OsString::from).chain(words);
        format!(
            "cd {directory} && {home}{}{}{}{}",
            more_threads.unwrap_or_default(),
            variables.collect::<String>(),
            again.reader.before_program(),
            shell::line(words)
        )
    }
}
