//! A target without processes: changes with names, a formula for the sets that fail, and several kinds of misbehaviour.

use std::collections::BTreeSet;

use bisect_core::{
    ChangeId, Field,
    search::{Observation, Options, Outcome, Question, Rank, Search, Selection, Step, Trial, Verdict},
};

/// Returns the change that is named by the hash of these fields.
pub(crate) fn change(fields: &[Field<'_>]) -> Rank {
    Rank::of(ChangeId::of(fields))
}

/// The run that a target sees: its selection, and its number, from 1.
pub(crate) struct Run<'a> {
    pub(crate) number: usize,
    pub(crate) selection: &'a Selection,
}

impl Run<'_> {
    /// Returns true if the pattern enables this change.
    pub(crate) fn enabled(&self, id: Rank) -> bool {
        self.selection.contains(id) != self.selection.inverted
    }

    /// Returns the changes in `ids` that a correct target reports.
    pub(crate) fn reported(&self, ids: impl IntoIterator<Item = Rank>) -> Vec<Rank> {
        ids.into_iter().filter(|&id| self.selection.contains(id)).collect()
    }
}

/// A search that has ended, with the result of each of its trials.
pub(crate) struct Finished {
    pub(crate) search: Search,
    pub(crate) verdict: Verdict,
    pub(crate) trials: Vec<(Trial, Observation)>,
}

impl Finished {
    /// Returns the sets that were found, each without its order.
    pub(crate) fn sets(&self) -> Vec<BTreeSet<Rank>> {
        self.search.test(0).found().iter().map(|culprit| culprit.changes.iter().copied().collect()).collect()
    }

    /// Returns true if a trial asked for exactly this set, and failed.
    pub(crate) fn failed_alone(&self, set: &BTreeSet<Rank>) -> bool {
        self.trials.iter().any(|(trial, seen)| {
            let forced: BTreeSet<_> = trial.selection.forced.iter().copied().collect();
            trial.question == Question::FoundAlone && forced == *set && seen.outcome == Outcome::Fail
        })
    }
}

/// Searches a target, one run at a time.
///
/// # Panics
/// If the search takes more than `bound` runs.
pub(crate) fn search(options: Options, bound: usize, mut target: impl FnMut(Run<'_>) -> Observation) -> Finished {
    let mut search = Search::new(options);
    let mut trials = Vec::new();
    loop {
        match search.step() {
            Step::Run(trial) => {
                assert!(search.progress().runs() <= bound, "more than {bound} runs");
                let seen = target(Run { number: search.progress().runs(), selection: &trial.selection });
                search.record(trial.id, [seen.clone()]);
                trials.push((trial, seen));
            }
            Step::Wait => panic!("nothing is in flight, yet the search waits"),
            Step::Done(verdict) => return Finished { search, verdict, trials },
        }
    }
}
