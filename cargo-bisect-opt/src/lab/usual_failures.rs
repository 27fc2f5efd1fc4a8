//! Runs that pass as far as the searched failure is concerned, and fail as at the other end of the search.
//!
//! A target may fail at both ends in different ways. If it does so without a culprit, too, the culprit replaces one
//! failure by the other; if it passes there, both failures have nothing to do with each other.

use std::collections::HashMap;

use bisect_core::search::{Outcome, Question, Selection, Trial};

use crate::run::result::RunResult;

/// The runs that passed, by their selections.
#[derive(Debug, Default)]
pub(super) struct UsualFailures {
    seen: HashMap<Selection, Passed>,
}

/// The ways in which runs with one selection passed.
#[derive(Clone, Copy, Debug, Default)]
struct Passed {
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
        let seen = self.seen.entry(trial.selection.clone()).or_default();
        seen.is_without_culprits |= trial.question == Question::AllButFound;
        // A run that passed has a reason only if something failed as usual.
        seen.as_usual |= passed.iter().any(|run| !run.reason.is_empty());
        seen.cleanly |= passed.iter().any(|run| run.reason.is_empty());
    }

    /// Returns true if the failure comes and goes without a change.
    pub(super) fn are_flaky(&self) -> bool {
        self.seen.values().any(|passed| passed.cleanly && passed.as_usual)
    }

    /// Returns true if nothing fails without the culprits.
    pub(super) fn are_gone_without_culprits(&self) -> bool {
        self.seen.values().any(|passed| passed.is_without_culprits && passed.cleanly)
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

    #[test]
    fn a_failure_may_be_there_or_not_or_come_and_go() {
        let run = |reason: &str| RunResult {
            outcome: Outcome::Pass,
            reason: reason.to_owned(),
            failed_tests: Vec::new(),
            failures: Vec::new(),
            duration: std::time::Duration::ZERO,
            executions: 1,
            extra_outcomes: Vec::new(),
            build_time: std::time::Duration::ZERO,
            reports: Reports::new(false),
        };
        let without = Selection { excluded: vec![Rank(3)], ..Selection::all() };
        let check = |runs: &[(Question, &str)]| {
            let mut usual = UsualFailures::default();
            for &(question, reason) in runs {
                let is_without = question == AllButFound;
                let selection = if is_without { without.clone() } else { Selection::all() };
                let trial = Trial { id: TrialId(0), question, selection, tests: vec![0] };
                usual.learn(&trial, &[run(reason)]);
            }
            (usual.are_flaky(), usual.are_gone_without_culprits())
        };
        assert_eq!(check(&[]), (false, false));
        assert_eq!(check(&[(Prefix, ""), (AllButFound, "a")]), (false, false));
        assert_eq!(check(&[(Prefix, "a"), (AllButFound, "")]), (false, true));
        assert_eq!(check(&[(Prefix, "a"), (AllButFound, ""), (AllButFound, "a")]), (true, true));
        assert_eq!(check(&[(Prefix, "a"), (Prefix, "")]), (true, false));
    }
}
