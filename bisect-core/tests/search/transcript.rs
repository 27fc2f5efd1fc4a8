//! A whole search as text: one line for each run, each culprit, and each switch to a noisy search.

use std::{collections::BTreeSet, fmt::Write, num::NonZeroUsize};

use bisect_core::search::{
    Certainty, Culprit, Observation, Outcome, Question, Rank, Search, Selection, Step, Trial, Verdict,
};

use crate::golden::Scenario;

/// Number of runs after which a search counts as endless.
const TOO_MANY: usize = 1_000;

/// Returns the transcript of the search of a scenario, one run at a time.
pub(crate) fn transcript(scenario: &Scenario) -> String {
    let mut transcript = Transcript {
        scenario,
        search: Search::new(scenario.options.clone()),
        before: Selection { inverted: true, ..Selection::all() },
        is_split: false,
        found: Vec::new(),
        noisy: BTreeSet::new(),
        text: String::new(),
    };
    loop {
        let step = transcript.search.step();
        transcript.write_turns();
        match step {
            Step::Run(trial) => transcript.run(&trial),
            Step::Wait => panic!("nothing is in flight, yet the search waits"),
            Step::Done(verdict) => {
                transcript.write_end(&verdict);
                return transcript.text;
            }
        }
    }
}

struct Transcript<'a> {
    scenario: &'a Scenario,
    search: Search,
    /// The selection of the run before; at first, one of no change.
    before: Selection,
    is_split: bool,
    /// The present lines about culprits.
    found: Vec<String>,
    /// The tests whose runs are only evidence.
    noisy: BTreeSet<usize>,
    text: String,
}

impl Transcript<'_> {
    fn line(&mut self, line: &str) {
        writeln!(self.text, "{line}").expect("a string takes everything");
    }

    /// Makes a run of a trial.
    fn run(&mut self, trial: &Trial) {
        let number = self.search.progress().runs();
        assert!(number < TOO_MANY, "it does not end:\n{}", self.text);
        let tests: Vec<_> = trial.tests.iter().map(|&test| self.is_split.then_some(test)).collect();
        let observe = |&test: &Option<usize>| self.scenario.observe(test, number, &trial.selection, &self.before);
        let seen: Vec<_> = tests.iter().map(observe).collect();
        let question = word(trial.question);
        let asked = match trial.question {
            Question::FoundAlone => self.name(&trial.selection.forced),
            _ => trial.pattern().to_string(),
        };
        let again = if self.search.trial_state(trial.id).repeats().is_some() { " again" } else { "" };
        let changes: BTreeSet<_> = seen.iter().flat_map(|seen| &seen.reported).collect();
        let outcomes: Vec<_> = tests.iter().zip(&seen).map(|(&test, seen)| self.outcome(test, seen)).collect();
        let (trial_number, outcomes, changes) = (trial.id.0 + 1, outcomes.join(", "), changes.len());
        self.line(&format!("{trial_number:>3} {question}{again} {asked}: {outcomes}, {changes} changes"));
        self.search.record(trial.id, seen);
        self.before = trial.selection.clone();
        let tests = self.scenario.behaviour.tests().len();
        if tests > 1 && !self.is_split && self.search.can_split() {
            self.search.split(NonZeroUsize::new(tests).expect("several"));
            self.is_split = true;
            self.line("from here on, for each test");
        }
    }

    fn outcome(&self, test: Option<usize>, seen: &Observation) -> String {
        let outcome = match seen.outcome {
            Outcome::Pass => "pass",
            Outcome::Fail => "FAIL",
            Outcome::Unresolved(_) => "unresolved",
        };
        test.map(|test| format!("{} ", self.scenario.behaviour.tests()[test])).unwrap_or_default() + outcome
    }

    /// Writes the changes since the last call: culprits, and switches to a noisy search.
    fn write_turns(&mut self) {
        for test in 0..self.search.progress().tests() {
            let is_noisy =
                if self.is_split { self.search.test(test).is_noisy() } else { self.search.progress().is_noisy() };
            if is_noisy && self.noisy.insert(test) {
                let of = self.of_test(test);
                self.line(&format!("runs{of} are only evidence"));
            }
        }
        let tests = 0..self.search.progress().tests();
        let found: Vec<_> = tests.flat_map(|test| (0..self.culprits(test).len()).map(move |i| (test, i))).collect();
        let found: Vec<_> = found.into_iter().map(|(test, i)| self.found_line(test, i)).collect();
        let before = std::mem::replace(&mut self.found, found.clone());
        for line in before.iter().filter(|line| !found.contains(line)) {
            self.line(&format!("taken back: {line}"));
        }
        for line in found.iter().filter(|line| !before.contains(line)) {
            self.line(line);
        }
    }

    fn culprits(&self, test: usize) -> &[Culprit] {
        if self.is_split { self.search.test(test).found() } else { self.search.test(0).found() }
    }

    fn found_line(&self, test: usize, index: usize) -> String {
        let culprit = &self.culprits(test)[index];
        let (mode, names, of) = (culprit.mode, self.name(&culprit.changes), self.of_test(test));
        let certainty =
            if self.is_split { self.search.test(test).certainty(index) } else { self.search.test(0).certainty(index) };
        format!("found{of} ({mode:?}): {names}{}", certainty.map(sure).unwrap_or_default())
    }

    fn of_test(&self, test: usize) -> String {
        if self.is_split { format!(" for {}", self.scenario.behaviour.tests()[test]) } else { String::new() }
    }

    fn write_end(&mut self, verdict: &Verdict) {
        let scenario = self.scenario;
        let tests = if self.is_split { scenario.behaviour.tests() } else { Vec::new() };
        for (test, name) in tests.into_iter().enumerate() {
            let verdict = self.search.test(test).verdict().expect("the search has ended").clone();
            self.line(&format!("{name}: {}", with_ids(&verdict)));
        }
        self.line(&format!("{} after {} runs", with_ids(verdict), self.search.progress().runs()));
    }

    fn name(&self, changes: &[Rank]) -> String {
        changes.iter().map(|change| self.scenario.behaviour.name(change.id())).collect::<Vec<_>>().join(" ")
    }
}

/// Returns the certainty of a culprit as text, rounded only as far as that hides nothing important.
fn sure(certainty: Certainty) -> String {
    let Certainty { confidence, without, with } = certainty;
    format!(", {confidence:.3} sure, fails {:.2} of runs, {:.2} without", with.mean, without.mean)
}

/// Returns the word for a question in the texts.
fn word(question: Question) -> &'static str {
    match question {
        Question::AllOn => "all",
        Question::AllOff => "none",
        Question::Prefix => "prefix",
        Question::FoundAlone => "exactly",
        Question::AllButFound => "rest",
        Question::Baseline => "without",
    }
}

/// Returns a verdict as text, with changes by their IDs.
fn with_ids(verdict: &Verdict) -> String {
    let text = format!("{verdict:?}");
    let mut parts = text.split("Rank(");
    let first = parts.next().expect("there is a first part").to_owned();
    parts.fold(first, |text, part| {
        let (rank, rest) = part.split_once(')').expect("a rank ends");
        format!("{text}{:?}{rest}", Rank(rank.parse().expect("a rank is a number")).id())
    })
}
