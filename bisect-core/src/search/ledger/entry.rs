//! One trial in the ledger: why it is asked, and the results of its runs.

use alloc::{sync::Arc, vec, vec::Vec};

use crate::search::model::{
    rank::Rank,
    ranked,
    selection::Selection,
    trial::{Observation, Outcome, Question, Trial, TrialId},
};

/// A question with its selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::search) struct Asked {
    pub(in crate::search) question: Question,
    pub(in crate::search) selection: Selection,
    /// The stage of the procedure that asks: the same question in a later stage is another one. 0 if no procedure, or
    /// that of several tests, asks.
    pub(in crate::search) stage: usize,
}

impl Asked {
    /// Returns a question that is asked in no stage.
    pub(in crate::search) fn at_any_time(question: Question, selection: Selection) -> Self {
        Self { question, selection, stage: 0 }
    }
}

/// The reason why a trial is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) enum Why {
    /// The trial answers the question of each of its tests, or will probably answer it later.
    Answer,
    /// The trial advances the guesses of several tests.
    Guess,
    /// The trial checks if tests are reliable.
    Check(Check),
    /// The trial is evidence for tests whose runs are weighed.
    Evidence,
}

/// A check in a search that is not split. After a split, its fields have their default values: each test knows which
/// outcome it expects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::search) struct Check {
    /// The earlier trial with the same selection, if there is one.
    pub(super) of: Option<TrialId>,
    /// The outcome of the run if the target is reliable. `None`: that of the earlier trial.
    pub(super) expected: Option<Outcome>,
    /// True if the search makes no other runs until this one has ended.
    pub(super) is_due: bool,
}

/// A trial, its runs and their results.
#[derive(Clone, Debug)]
pub(in crate::search) struct Entry {
    pub(in crate::search) trial: Trial,
    pub(in crate::search) why: Why,
    /// The stage in which the question was asked.
    pub(in crate::search) stage: usize,
    /// Number of runs that the trial takes.
    wanted: usize,
    /// Number of runs that were started and not cancelled.
    started: usize,
    /// True if the trial counts as one that was begun.
    pub(super) is_begun: bool,
    /// The results for each of the trial's tests.
    results: Vec<Results>,
}

/// The results of a trial for one of its tests.
#[derive(Clone, Debug)]
struct Results {
    /// The outcomes of the runs that have ended.
    outcomes: Vec<Outcome>,
    /// The changes that they reported, in order, without duplicates, while the answer is useful.
    reported: Arc<[Rank]>,
    /// True if the answer may still be useful.
    is_open: bool,
}

impl Entry {
    pub(super) fn new(id: TrialId, asked: Asked, tests: Vec<usize>, why: Why, wanted: usize) -> Self {
        let Asked { question, selection, stage } = asked;
        let results = Results { outcomes: Vec::new(), reported: Arc::new([]), is_open: why != Why::Evidence };
        let results = vec![results; tests.len()];
        Self {
            trial: Trial { id, question, selection, tests },
            why,
            stage,
            wanted,
            started: 0,
            is_begun: false,
            results,
        }
    }

    /// Returns the question.
    pub(in crate::search) fn asked(&self) -> Asked {
        let Trial { question, ref selection, .. } = self.trial;
        Asked { question, selection: selection.clone(), stage: self.stage }
    }

    /// Returns true if the runs of the trial are evidence for a test.
    pub(in crate::search) fn is_evidence_for(&self, test: usize) -> bool {
        self.why == Why::Evidence && self.trial.tests.contains(&test)
    }

    /// Returns the number of runs that the trial takes.
    pub(in crate::search) fn wanted(&self) -> usize {
        self.wanted.max(self.outcomes().len())
    }

    /// Returns true if another run may be started.
    pub(in crate::search) fn may_start(&self) -> bool {
        self.started < self.wanted
    }

    /// Returns true if a run was started and not cancelled.
    pub(in crate::search) fn is_started(&self) -> bool {
        self.started > 0
    }

    pub(in crate::search) fn in_flight(&self) -> usize {
        self.started - self.outcomes().len()
    }

    /// Returns true if all runs have ended.
    pub(in crate::search) fn is_complete(&self) -> bool {
        self.outcomes().len() >= self.wanted
    }

    pub(super) fn start(&mut self) {
        self.started += 1;
        self.is_begun = true;
    }

    /// Takes back the start of a run. If no other run was started, the trial counts as begun only if `is_begun`.
    pub(super) fn cancel(&mut self, is_begun: bool) {
        assert!(self.in_flight() > 0, "trial {} has no run in flight", self.trial.id.0);
        self.started -= 1;
        self.is_begun = self.is_started() || is_begun;
    }

    /// Takes the results of one run, one for each of the tests.
    ///
    /// # Panics
    /// If no run of the trial is in flight.
    pub(in crate::search) fn record(&mut self, observations: Vec<Observation>) {
        assert!(self.in_flight() > 0, "trial {} has no run in flight", self.trial.id.0);
        for (results, observation) in self.results.iter_mut().zip(observations) {
            results.outcomes.push(observation.outcome);
            if results.is_open {
                let mut reported = observation.reported;
                ranked::sort(&mut reported);
                ranked::merge(&mut reported, &results.reported);
                results.reported = reported.into();
            }
        }
    }

    /// Makes the search wait for this trial, if it is a check.
    pub(in crate::search) fn wait(&mut self) {
        if let Why::Check(check) = &mut self.why {
            check.is_due = true;
        }
    }

    /// Returns the outcomes for the first test.
    pub(in crate::search) fn outcomes(&self) -> &[Outcome] {
        &self.results[0].outcomes
    }

    /// Returns the outcomes for a test; none if the trial is not for this test.
    pub(in crate::search) fn outcomes_of(&self, test: usize) -> &[Outcome] {
        self.trial.tests.binary_search(&test).map_or(&[], |index| &self.results[index].outcomes)
    }

    /// Returns the changes that runs reported for the first test, in order.
    pub(in crate::search) fn reported(&self) -> &Arc<[Rank]> {
        &self.results[0].reported
    }

    /// Returns true if the runs so far have the same outcome for the test at this index.
    pub(in crate::search) fn agree(&self, index: usize) -> bool {
        self.results[index].outcomes.windows(2).all(|pair| pair[0] == pair[1])
    }

    /// Returns the outcome for the test at this index and all reported changes, in order, if all runs have ended and
    /// agree, and the answer is useful.
    pub(in crate::search) fn answer(&self, index: usize) -> Option<(Outcome, &Arc<[Rank]>)> {
        let results = &self.results[index];
        let is_known = results.is_open && self.is_complete() && self.agree(index);
        is_known.then(|| (results.outcomes[0], &results.reported))
    }

    /// Returns the indices and the numbers of the tests to which the answer may be useful.
    pub(in crate::search) fn open_tests(&self) -> impl Iterator<Item = (usize, usize)> {
        let open = self.trial.tests.iter().copied().enumerate().zip(&self.results);
        open.filter(|(_, results)| results.is_open).map(|(test, _)| test)
    }

    pub(in crate::search) fn is_open_for(&self, test: usize) -> bool {
        self.trial.tests.binary_search(&test).is_ok_and(|index| self.results[index].is_open)
    }

    /// Marks the answer as no longer useful to the test at this index, and drops the reports.
    pub(in crate::search) fn close(&mut self, index: usize) {
        self.results[index].is_open = false;
        self.results[index].reported = Arc::new([]);
    }
}
