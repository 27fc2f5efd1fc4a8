//! Runs that pass as far as the searched failure is concerned, and fail as at the other end of the search.
//!
//! A target may fail at both ends in different ways. If it does so without a culprit, too, the culprit replaces one
//! failure by the other; if it passes there, both failures have nothing to do with each other.

use std::collections::HashMap;

use bisect_core::search::{Outcome, Prefix, Question, Rank, Selection, Trial, TrialId};

use crate::run::result::RunResult;

/// The runs that passed, by their selections.
#[derive(Debug, Default)]
pub(super) struct UsualFailures {
    seen: HashMap<Selection, Passed>,
}

/// The ways in which runs with one selection passed.
#[derive(Clone, Copy, Debug)]
struct Passed {
    /// The first trial with this selection.
    first: TrialId,
    /// True if the selection leaves out the culprits and nothing else.
    is_without_culprits: bool,
    /// True if nothing failed.
    cleanly: bool,
    /// True if something failed that does so at the end that passes.
    as_usual: bool,
}

impl UsualFailures {
    /// Learns the results of a trial.
    pub(super) fn learn(&mut self, trial: &Trial, runs: &[RunResult]) {
        let passed: Vec<_> = runs.iter().filter(|run| run.outcome == Outcome::Pass).collect();
        if passed.is_empty() {
            return;
        }
        let unseen = Passed { first: trial.id, is_without_culprits: false, cleanly: false, as_usual: false };
        let seen = self.seen.entry(trial.selection.clone()).or_insert(unseen);
        seen.is_without_culprits |= trial.question == Question::AllButFound;
        // A run that passed has a reason only if something failed as usual.
        seen.as_usual |= passed.iter().any(|run| !run.reason.is_empty());
        seen.cleanly |= passed.iter().any(|run| run.reason.is_empty());
    }

    /// Returns true if the failure comes and goes without a change.
    pub(super) fn are_flaky(&self) -> bool {
        self.seen.values().any(|passed| passed.cleanly && passed.as_usual)
    }

    /// Returns a selection with which nothing fails: that leaves out the culprits and nothing else, or that switches a
    /// part of one of `culprits`.
    pub(super) fn gone_with(&self, culprits: &[&[Rank]]) -> Option<&Selection> {
        let is_of = |selection: &Selection, culprit: &[Rank]| selection.forced.iter().all(|it| culprit.contains(it));
        let is_part = |selection: &Selection| {
            let is_small = selection.prefix == Prefix::NONE && !selection.forced.is_empty();
            is_small && culprits.iter().any(|culprit| is_of(selection, culprit))
        };
        let clean = self
            .seen
            .iter()
            .filter(|(selection, passed)| passed.cleanly && (passed.is_without_culprits || is_part(selection)));
        let (selection, _) = clean.min_by_key(|(_, passed)| (!passed.is_without_culprits, passed.first))?;
        Some(selection)
    }
}

#[cfg(test)]
mod tests {
    use bisect_core::search::{
        Question::{AllButFound, Prefix},
        Rank, TrialId,
    };

    use super::*;
    use crate::report::scan::Reports;

    fn passed(reason: &str) -> RunResult {
        RunResult {
            outcome: Outcome::Pass,
            reason: reason.to_owned(),
            failed_tests: Vec::new(),
            failures: Vec::new(),
            duration: std::time::Duration::ZERO,
            executions: 1,
            extra_outcomes: Vec::new(),
            build_time: std::time::Duration::ZERO,
            reports: Reports::new(false),
        }
    }

    #[test]
    fn a_failure_may_be_there_or_not_or_come_and_go() {
        let without = Selection { excluded: vec![Rank(3)], ..Selection::all() };
        let check = |runs: &[(Question, &str)]| {
            let mut usual = UsualFailures::default();
            for &(question, reason) in runs {
                let is_without = question == AllButFound;
                let selection = if is_without { without.clone() } else { Selection::all() };
                let trial = Trial { id: TrialId(0), question, selection, tests: vec![0] };
                usual.learn(&trial, &[passed(reason)]);
            }
            (usual.are_flaky(), usual.gone_with(&[]).is_some())
        };
        assert_eq!(check(&[]), (false, false));
        assert_eq!(check(&[(Prefix, ""), (AllButFound, "a")]), (false, false));
        assert_eq!(check(&[(Prefix, "a"), (AllButFound, "")]), (false, true));
        assert_eq!(check(&[(Prefix, "a"), (AllButFound, ""), (AllButFound, "a")]), (true, true));
        assert_eq!(check(&[(Prefix, "a"), (Prefix, "")]), (true, false));
    }

    #[test]
    fn a_part_of_a_culprit_may_be_without_any_failure() {
        let alone = |ranks: &[u64]| {
            let forced = ranks.iter().map(|&rank| Rank(rank)).collect();
            Selection { prefix: bisect_core::search::Prefix::NONE, forced, inverted: true, ..Selection::all() }
        };
        let mut usual = UsualFailures::default();
        let mut learn = |id: usize, question, selection: Selection, reason: &str| {
            usual.learn(&Trial { id: TrialId(id), question, selection, tests: vec![0] }, &[passed(reason)]);
        };
        learn(0, Prefix, alone(&[]), "");
        learn(1, Prefix, alone(&[2, 9]), "");
        learn(2, Prefix, alone(&[1]), "a");
        learn(4, Prefix, alone(&[3]), "");
        learn(3, Prefix, alone(&[2]), "");
        let culprit = [1, 2, 3].map(Rank);
        assert_eq!(usual.gone_with(&[]), None);
        assert_eq!(usual.gone_with(&[&[Rank(7)], &culprit]), Some(&alone(&[2])), "the earlier one");
    }
}
