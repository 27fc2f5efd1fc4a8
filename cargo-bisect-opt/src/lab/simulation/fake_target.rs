//! A simulated target without processes.
//!
//! A text defines its changes, tests and failures, and a logical clock determines when its runs end.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bisect_core::{
    ChangeId, Matcher, Pattern,
    search::{Mode, Outcome, Trial},
};

use serde::{Deserialize, Serialize};

use super::{
    behaviour::{Behaviour, Moment, Settings},
    clock::{Cancelled, Clock, Steps},
};
use crate::{
    axes::{Application, Axis, Files, crates, facts::AxisFacts, gated, passes},
    lab::target::{Judge, Judgement, Reproduction, Runner, Target},
    output::terms::Terms,
    process::{ReadAlong as _, interrupt::Interrupt},
    report::{content::Report, scan::Reports},
    run::{
        error::RunError,
        pasting::{LineResult, Pasting},
        repetition::Repetition,
        result::{Failed, RunResult},
        spec::{Choice, EndState, RunSpec, Surroundings},
        stored_outcome,
        target_kind::TargetKind,
    },
    vcs::blame::LastChange,
};

/// The duration of a logical step, as it is shown. A search of a thousand steps is too short for the hint about
/// parallel runs, which depends on the load of the machine.
const STEP: Duration = Duration::from_millis(1);

/// A runner that simulates runs.
pub(super) struct FakeRunner {
    behaviour: Behaviour,
    clock: Clock,
    /// The number of the run in which the simulated user stops the search.
    interrupted_in: Option<usize>,
    interrupt: Interrupt,
    /// True if all changes are reported, whatever the pattern selects.
    reports_everything: bool,
    /// Changes that are reported with a call stack.
    stacks: BTreeSet<String>,
    /// The pattern of each run, by its number.
    sent: Mutex<BTreeMap<usize, Pattern>>,
}

/// A simulated target.
pub(super) struct FakeTarget {
    runner: Arc<FakeRunner>,
    /// A function that returns true if the search continues for each of this number of failing tests.
    splits: fn(usize) -> bool,
    axis: FakeAxis,
    /// The tests that failed with everything enabled, and with everything disabled, as far as runs were made.
    ends: [Option<BTreeSet<usize>>; 2],
    /// True if no other run at an end state will come.
    is_settled: bool,
    /// The tests for each of which the search continues.
    searched: Arc<Vec<usize>>,
    notes: Vec<String>,
}

/// An axis whose runs are simulated.
#[derive(Debug)]
struct FakeAxis {
    terms: Terms,
    subject: Option<String>,
}

/// The observations of a run.
#[derive(Serialize, Deserialize)]
pub(super) struct Observations {
    /// One part for each test that was run separately; otherwise one part for all tests together.
    parts: Vec<Part>,
    repetition: Repetition,
    duration: Duration,
}

#[derive(Serialize, Deserialize)]
struct Part {
    /// The outcome of each execution, and the tests that failed in it.
    #[serde(with = "stored_outcome::list")]
    executions: Vec<(Outcome, Vec<usize>)>,
    reports: Reports,
}

impl Part {
    /// Removes the failures of these tests.
    fn forgive(&mut self, broken: &BTreeSet<usize>) {
        for (outcome, failed) in self.executions.iter_mut().filter(|(_, failed)| !failed.is_empty()) {
            failed.retain(|test| !broken.contains(test));
            if failed.is_empty() {
                *outcome = Outcome::Pass;
            }
        }
    }

    fn failed(&self) -> impl Iterator<Item = usize> {
        self.executions.iter().flat_map(|(_, failed)| failed).copied()
    }
}

impl FakeTarget {
    /// Returns the target that the settings describe. The simulated user raises `interrupt` to stop the search.
    pub(super) fn parse(settings: &mut Settings<'_>, interrupt: &Interrupt) -> Self {
        let behaviour = Behaviour::parse(settings);
        let stacks = settings.take("stacks").unwrap_or_default();
        let notes = settings.take("note").into_iter().map(str::to_owned).collect();
        let runner = FakeRunner {
            clock: Clock::new(Steps::parse(settings.take("steps"), behaviour.seed())),
            interrupted_in: settings.number("interrupt in run"),
            interrupt: interrupt.clone(),
            reports_everything: settings.take("reports").is_some_and(|reports| reports == "everything"),
            stacks: stacks.split_whitespace().map(str::to_owned).collect(),
            sent: Mutex::default(),
            behaviour,
        };
        Self {
            runner: Arc::new(runner),
            splits: match settings.take("per test") {
                None => |tests| tests > 1,
                Some("always") => |tests| tests > 0,
                Some("never") => |_| false,
                Some(other) => panic!("per test: {other}"),
            },
            axis: FakeAxis::parse(settings),
            ends: [None, None],
            is_settled: false,
            searched: Arc::default(),
            notes,
        }
    }

    pub(super) fn seed(&self) -> u64 {
        self.runner.behaviour.seed()
    }

    /// Returns the patterns of the runs, in the order of their numbers.
    pub(super) fn sent(&self) -> Vec<String> {
        self.runner.sent().values().map(ToString::to_string).collect()
    }

    /// Returns the tests that fail at both end states, if they are known: their failures do not count.
    fn broken(&self) -> Option<BTreeSet<usize>> {
        match &self.ends {
            [Some(all), Some(none)] => Some(all & none),
            _ if self.is_settled => Some(BTreeSet::new()),
            _ => None,
        }
    }
}

impl FakeRunner {
    fn sent(&self) -> MutexGuard<'_, BTreeMap<usize, Pattern>> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns all tests. The whole target counts as one test if it has none.
    fn all(&self) -> Vec<usize> {
        (0..self.behaviour.tests().len().max(1)).collect()
    }

    fn names(&self, tests: impl IntoIterator<Item = usize>) -> Vec<String> {
        let names = self.behaviour.tests();
        tests.into_iter().filter_map(|test| names.get(test).map(|&name| name.to_owned())).collect()
    }

    /// Executes these tests as one process would, and returns its observations.
    fn execute(&self, tests: &[usize], spec: &RunSpec, log: &mut String) -> Part {
        let now = Matcher::new(spec.choice.pattern()).expect("a search sends no empty pattern");
        let before = self.sent().get(&(spec.number - 1)).and_then(Matcher::new);
        let is_on = |id| now.should_enable(id);
        let was_on = |id| before.as_ref().is_some_and(|before| before.should_enable(id));
        let at = Moment { number: spec.number, is_on: &is_on, was_on: &was_on };
        let mut executions = Vec::new();
        for execution in 0..spec.repetition.times() {
            let outcomes: Vec<_> = tests.iter().map(|&test| self.behaviour.outcome(test, execution, &at)).collect();
            let failed = tests.iter().zip(&outcomes).filter(|(_, outcome)| **outcome == Outcome::Fail);
            let failed: Vec<_> = failed.map(|(&test, _)| test).collect();
            let outcome = if failed.is_empty() { outcomes[0] } else { Outcome::Fail };
            writeln!(log, "execution {}: {outcome:?} {}", execution + 1, self.names(failed.clone()).join(" ")).unwrap();
            executions.push((outcome, failed));
            if spec.repetition.ends_with(outcome) {
                break;
            }
        }
        let reached = |id: &ChangeId| tests.iter().any(|&test| self.behaviour.reaches(test, *id));
        let is_reported = |id: &ChangeId| self.reports_everything || now.should_report(*id);
        let reported = self.behaviour.ids().filter(is_reported).filter(reached);
        let text: String = reported.map(|id| self.report(id, now.verbose())).collect();
        let mut reports = Reports::new(now.verbose());
        let mut scanner = reports.scanner();
        scanner.read(text.as_bytes());
        scanner.end();
        log.push_str(&text);
        Part { executions, reports }
    }

    /// Returns the lines that a run prints about a change.
    fn report(&self, id: ChangeId, is_verbose: bool) -> String {
        let name = self.behaviour.name(id);
        let line = self.behaviour.ids().position(|other| other == id).expect("it is ours") + 1;
        let lines = match is_verbose {
            false => vec![String::new()],
            true if self.stacks.contains(name) => vec![
                "src/lib.rs:1:1 toggle ".to_owned(),
                "  simulated::toggle at src/lib.rs:1:1 ".to_owned(),
                format!("  simulated::{name} at src/main.rs:8:5 "),
                "  simulated::main at src/main.rs:4:5 ".to_owned(),
                "  core::ops::function::FnOnce::call_once ".to_owned(),
                "  std::rt::lang_start ".to_owned(),
                "  _start ".to_owned(),
            ],
            true => vec![format!("src/lib.rs:{line}:1 {name} ")],
        };
        let marked = |line: String| line + &format!("[bisect-match {id}]\n");
        lines.into_iter().map(marked).collect()
    }

    fn runs(&self, shown: Observations) -> Vec<RunResult> {
        let how = (shown.repetition, shown.duration);
        shown.parts.into_iter().map(|part| self.run_of(part, how)).collect()
    }

    fn run_of(&self, part: Part, shown: (Repetition, Duration)) -> RunResult {
        let (repetition, duration) = shown;
        let outcomes: Vec<_> = part.executions.iter().map(|(outcome, _)| *outcome).collect();
        let decisive = repetition.decisive(&outcomes);
        let (outcome, failed) = &part.executions[decisive];
        let failed_tests = self.names(failed.iter().copied());
        let how = |test: &String| {
            let how = format!("panic at tests/{test}.rs:5:9");
            Failed { test: Some(test.clone()), how, place: None, message: None }
        };
        RunResult {
            outcome: *outcome,
            reason: match outcome {
                Outcome::Pass => String::new(),
                Outcome::Fail => "exit status 101".to_owned(),
                Outcome::Unresolved(_) => "exit status 125".to_owned(),
            },
            failures: failed_tests.iter().map(how).collect(),
            failed_tests,
            duration,
            executions: part.executions.len(),
            extra_outcomes: repetition.also(&outcomes).to_vec(),
            build_time: Duration::ZERO,
            reports: part.reports,
        }
    }
}

impl Runner for FakeRunner {
    type KnownFailures = Vec<usize>;
    type Observations = Observations;

    fn run(
        &self,
        spec: &RunSpec,
        searched: &Vec<usize>,
        surroundings: &Surroundings<'_>,
    ) -> Result<Observations, RunError> {
        self.sent().insert(spec.number, spec.choice.pattern().clone());
        let steps = self.clock.run(spec.number, surroundings.interrupt).map_err(|Cancelled| RunError::Interrupted)?;
        let tests = spec.tests.as_ref();
        let parts =
            tests.map_or_else(|| vec![self.all()], |tests| tests.iter().map(|&test| vec![searched[test]]).collect());
        let mut log = String::new();
        let parts: Vec<_> = parts.into_iter().map(|tests| self.execute(&tests, spec, &mut log)).collect();
        fs_err::write(&spec.log, log)?;
        let executions = parts.iter().map(|part| part.executions.len()).max().unwrap_or_default();
        let duration = STEP * u32::try_from(steps).expect("few steps") * u32::try_from(executions).expect("few");
        Ok(Observations { parts, repetition: spec.repetition, duration })
    }

    fn loop_waits(&self, in_flight: usize) {
        let is_time = |run| self.clock.is_running(run, in_flight);
        if self.interrupted_in.is_some_and(is_time) && !self.interrupt.requested() {
            self.interrupt.raise();
        } else {
            self.clock.end_one(in_flight);
        }
    }

    fn loop_left(&self) {
        self.clock.end_all();
    }

    fn paste(&self, line: &Pasting<'_>) -> LineResult {
        // `(for run in $(seq N); do (simulate …) || exit; done)`
        let words: Vec<_> = line.line.split([' ', '(', ')', ';']).filter(|word| !word.is_empty()).collect();
        let after = |word| words.iter().position(|&other| other == word).and_then(|at| words.get(at + 1));
        let executions = after("seq").map_or(1, |times| times.parse().expect("a number"));
        let pattern = after("simulate").expect("a line of this target").parse::<Pattern>().expect("a valid pattern");
        let matcher = Matcher::new(&pattern).expect("a pattern that is not empty");
        let is_on = |id| matcher.should_enable(id);
        let at = Moment { number: 0, is_on: &is_on, was_on: &|_| false };
        let tests = self.all();
        let named = |&test: &usize| self.names([test]).iter().all(|name| words.contains(&name.as_str()));
        let chosen: Vec<_> = tests.iter().copied().filter(named).collect();
        let chosen = if chosen.is_empty() { tests } else { chosen };
        let fails =
            |execution| chosen.iter().any(|&test| self.behaviour.outcome(test, execution, &at) == Outcome::Fail);
        if (0..executions).any(fails) { LineResult::Fail } else { LineResult::Pass }
    }
}

impl Judge for FakeTarget {
    type Runner = FakeRunner;

    fn runner(&self) -> Arc<FakeRunner> {
        self.runner.clone()
    }

    fn known_failures(&self) -> Arc<Vec<usize>> {
        self.searched.clone()
    }

    fn learn(&mut self, trial: &Trial, shown: &Observations) -> Result<(), RunError> {
        if let (Some(end), true) = (EndState::of(trial.question), self.searched.is_empty()) {
            let failed = shown.parts.iter().flat_map(Part::failed);
            self.ends[usize::from(end == EndState::AllOff)].get_or_insert_default().extend(failed);
        }
        Ok(())
    }

    fn judge(&mut self, _trial: &Trial, mut shown: Observations) -> Judgement<Observations> {
        let failed = shown.parts.iter().any(|part| part.failed().next().is_some());
        // As with cargo's tests, both end states determine which failures count.
        match self.broken() {
            None if failed => return Judgement::Pending(shown),
            Some(broken) if !self.runner.behaviour.tests().is_empty() => {
                shown.parts.iter_mut().for_each(|part| part.forgive(&broken));
            }
            _ => {}
        }
        Judgement::Ready(self.runner.runs(shown))
    }

    fn reports<'a>(&self, shown: &'a Observations) -> Vec<&'a Reports> {
        shown.parts.iter().map(|part| &part.reports).collect()
    }

    fn assume_no_more_ends(&mut self) {
        self.is_settled = true;
    }

    fn tests(&mut self) -> Option<Vec<String>> {
        let [Some(all), Some(none)] = &self.ends else { return None };
        let failing: Vec<_> = all.symmetric_difference(none).copied().collect();
        if self.runner.behaviour.tests().is_empty() || !(self.splits)(failing.len()) {
            return None;
        }
        self.searched = Arc::new(failing.clone());
        Some(self.runner.names(failing))
    }

    fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }
}

impl FakeAxis {
    fn parse(settings: &mut Settings<'_>) -> Self {
        let terms = match settings.take("axis") {
            None => Terms::TOGGLES,
            Some("crates") => crates::TERMS,
            Some("functions") => gated::FUNCTIONS,
            Some("passes") => passes::TERMS,
            Some(other) => panic!("axis: {other}"),
        };
        Self { terms, subject: settings.take("subject").map(str::to_owned) }
    }
}

impl Axis for FakeAxis {
    fn facts(&self) -> AxisFacts {
        AxisFacts::of(self.terms)
    }

    fn subject(&self) -> Option<String> {
        self.subject.clone()
    }

    fn apply(&self, _: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        Ok(Application::default())
    }

    fn change(&self, report: Report, _: &Path, _: Mode) -> Report {
        let kind = match self.terms.axis {
            "crates" => crates::KIND,
            "functions" => gated::FUNCTION,
            "passes" => passes::KIND,
            _ => report.kind,
        };
        Report { kind, ..report }
    }
}

impl Target for FakeTarget {
    fn axis(&self) -> &dyn Axis {
        &self.axis
    }

    fn kind(&self) -> TargetKind {
        TargetKind::Program
    }

    fn describe(&self) -> String {
        "a simulated target".to_owned()
    }

    fn root(&self) -> &Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/simulated"))
    }

    /// The sources of this target are those of the driver, so what git says changes.
    fn last_change(&self, change: &Report) -> Option<LastChange> {
        (!change.frames.is_empty()).then_some(LastChange { commit: None })
    }

    fn reproduce(&self, again: &Reproduction<'_>) -> String {
        let choice = self.axis.numbering().choice(again.selection);
        [&["simulate".to_owned(), choice.to_string()], again.tests].concat().join(" ")
    }
}
