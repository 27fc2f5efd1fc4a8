//! The ledger of a search: each trial, the reason why it is asked, and the results of its runs.
//!
//! Trials are never removed. The provers, the guesses and the views read it, and a test that changes its prover reads it again
//! from the start. Reports are dropped when no test can use them any more: a run may report a million changes.

mod entry;
mod run;

use alloc::{collections::BTreeMap, vec, vec::Vec};
use core::ops::{Index, IndexMut};

pub(super) use entry::{Asked, Check, Entry, Why};
pub(super) use run::{Run, names_exactly};

use super::model::{
    selection::Prefix,
    trial::{Outcome, Trial, TrialId},
};

/// All trials of a search, numbered from 0 in the order in which they were first wanted, and all runs.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    entries: Vec<Entry>,
    /// The trials of a search that is not split whose answers may still be taken, by the prefixes of their selections. With
    /// many runs in flight, a search wants thousands of trials, and each guess about the next outcomes looks one up.
    open: BTreeMap<Prefix, Vec<TrialId>>,
    /// The checks of a search that is not split.
    checks: Vec<TrialId>,
    /// For each test, the resolved runs as this test sees them, in the order in which they were recorded.
    runs: Vec<Vec<Run>>,
    /// Number of runs that were started, also outside the search.
    pub(super) started: usize,
    /// The number of the first trial after the split; 0 if there was no split.
    split_at: usize,
}

impl Ledger {
    /// Returns the ledger of a search for one test.
    pub(super) fn new() -> Self {
        Self {
            entries: Vec::new(),
            open: BTreeMap::new(),
            checks: Vec::new(),
            runs: vec![Vec::new()],
            started: 0,
            split_at: 0,
        }
    }

    /// Begins the search over this number of tests. No earlier run is a run of one of them.
    pub(super) fn split(&mut self, tests: usize) {
        self.split_at = self.entries.len();
        self.open.clear();
        self.checks.clear();
        self.runs = vec![Vec::new(); tests];
    }

    /// Adds a trial of one test, to answer a question. It is open until [`end`](Self::end) closes it.
    pub(super) fn ask(&mut self, asked: Asked, runs: usize) -> TrialId {
        let prefix = asked.selection.prefix;
        let id = self.add(asked, vec![0], Why::Answer, runs);
        self.open.entry(prefix).or_default().push(id);
        id
    }

    /// Adds a trial that takes this number of runs.
    pub(super) fn add(&mut self, asked: Asked, tests: Vec<usize>, why: Why, runs: usize) -> TrialId {
        let id = self.next_id();
        self.entries.push(Entry::new(id, asked, tests, why, runs));
        id
    }

    /// Returns the number of the next trial.
    pub(super) fn next_id(&self) -> TrialId {
        TrialId(self.entries.len())
    }

    /// Returns the open trial that answers a question, in a search that is not split.
    pub(super) fn find(&self, asked: &Asked) -> Option<&Entry> {
        let open = self.open.get(&asked.selection.prefix)?;
        let is_of = |entry: &&Entry| {
            let Asked { question, selection, stage } = asked;
            entry.trial.question == *question && entry.stage == *stage && entry.trial.selection == *selection
        };
        open.iter().map(|&id| &self[id]).find(is_of)
    }

    /// Closes the open trials for which `is_over` returns true: the answer was taken, or will never be asked for.
    pub(super) fn end(&mut self, is_over: impl Fn(&Entry) -> bool) {
        let entries = &mut self.entries;
        self.open.retain(|_, open| {
            open.retain(|&id| {
                let entry = &mut entries[id.0];
                let is_over = is_over(entry);
                if is_over {
                    entry.close(0);
                }
                !is_over
            });
            !open.is_empty()
        });
    }

    /// Starts a run of a trial.
    pub(super) fn start(&mut self, id: TrialId) -> Trial {
        self.started += 1;
        self[id].start();
        self[id].trial.clone()
    }

    /// Adds a resolved run as a test sees it.
    pub(super) fn add_run(&mut self, test: usize, run: Run) {
        self.runs[test].push(run);
    }

    /// Returns the resolved runs of a test.
    pub(super) fn runs(&self, test: usize) -> &[Run] {
        &self.runs[test]
    }

    /// Takes back the start of a run.
    ///
    /// # Panics
    /// If no run of the trial is in flight.
    pub(super) fn cancel(&mut self, id: TrialId) {
        // Where another trial asks the same again, the cancelled one still counts.
        let is_begun = !self.is_before_split(id) && (self.split_at > 0 || self[id].why == Why::Evidence);
        self[id].cancel(is_begun);
    }

    /// Returns true if a trial was made before the search was split.
    pub(super) fn is_before_split(&self, id: TrialId) -> bool {
        id.0 < self.split_at
    }

    /// Iterates over the trials since the split.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries[self.split_at..].iter()
    }

    /// Iterates over the trials since the split.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.entries[self.split_at..].iter_mut()
    }

    /// Returns all trials that have runs in flight.
    pub(super) fn in_flight(&self) -> impl Iterator<Item = TrialId> {
        self.entries.iter().filter(|entry| entry.in_flight() > 0).map(|entry| entry.trial.id)
    }

    /// Returns the number of trials begun, without checks that only repeat another trial.
    pub(super) fn begun(&self) -> usize {
        let is_repeat = |entry: &&Entry| entry.is_begun && self.repeated(entry.trial.id).is_some();
        let begun = self.entries.iter().filter(|entry| entry.is_begun);
        begun.count() - self.entries.iter().filter(is_repeat).count()
    }
}

/// The checks of a search that is not split.
impl Ledger {
    /// Adds a check: a separate trial, whose answer the procedure does not use. With an expected outcome, it is run before anything
    /// else; without one, beside the trial with the same selection.
    pub(super) fn check(&mut self, asked: Asked, expected: Option<Outcome>) -> TrialId {
        let of = self.entries.iter().find(|entry| entry.trial.selection == asked.selection);
        let of = of.map(|entry| entry.trial.id);
        let id = self.add(asked, vec![0], Why::Check(Check { of, expected, is_due: expected.is_some() }), 1);
        self[id].close(0);
        self.checks.push(id);
        id
    }

    fn checks(&self) -> impl Iterator<Item = (&Entry, Check)> {
        self.checks.iter().filter_map(|&id| match &self[id] {
            entry @ Entry { why: Why::Check(check), .. } => Some((entry, *check)),
            _ => None,
        })
    }

    /// Returns the trials of the due checks that have no outcome yet.
    pub(super) fn checks_due(&self) -> impl Iterator<Item = TrialId> {
        let due = self.checks().filter(|(entry, check)| check.is_due && entry.outcomes().is_empty());
        due.map(|(entry, _)| entry.trial.id)
    }

    /// Returns true if a check has ended as expected, is unresolved, or has no outcome yet.
    fn agrees(&self, entry: &Entry, check: Check) -> bool {
        let mut outcomes = entry.outcomes().to_vec();
        match check.expected {
            Some(expected) => outcomes.push(expected),
            None => outcomes.extend(check.of.iter().flat_map(|&of| self[of].outcomes())),
        }
        !differ(&outcomes)
    }

    /// Returns true if a trial has both passed and failed, or a check ended differently from its expected outcome.
    pub(super) fn is_contradictory(&self) -> bool {
        self.iter().any(|entry| differ(entry.outcomes()))
            || self.checks().any(|(entry, check)| !self.agrees(entry, check))
    }

    /// Returns the earlier trial that this check repeats, unless the check ended differently from its expected outcome.
    pub(super) fn repeated(&self, id: TrialId) -> Option<TrialId> {
        let entry = &self[id];
        let Why::Check(check) = entry.why else { return None };
        check.of.filter(|_| self.agrees(entry, check))
    }
}

/// Returns true if runs of the same changes have passed and failed.
fn differ(outcomes: &[Outcome]) -> bool {
    outcomes.contains(&Outcome::Pass) && outcomes.contains(&Outcome::Fail)
}

impl Index<TrialId> for Ledger {
    type Output = Entry;

    fn index(&self, id: TrialId) -> &Entry {
        &self.entries[id.0]
    }
}

impl IndexMut<TrialId> for Ledger {
    fn index_mut(&mut self, id: TrialId) -> &mut Entry {
        &mut self.entries[id.0]
    }
}
