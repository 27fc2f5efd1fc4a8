//! The steps of a counter before a culprit, where the target does not pass.
//!
//! The engine names the first step known to fail. The steps directly before it are added if they only had unresolved
//! runs: then the culprit is only known as a range. If it fails in another way there, the answer says so.

use std::collections::BTreeMap;

use bisect_core::{
    ChangeId,
    search::{Culprit, Mode, Order, Outcome, Trial},
};

use crate::run::{
    numbering::{Numbering, id},
    result::RunResult,
};

/// The numbers of steps that runs took, for each test.
#[derive(Debug, Default)]
pub(super) struct UntestedSteps {
    tried: BTreeMap<(usize, usize), StepOutcomes>,
}

/// The outcomes of runs with one number of steps.
#[derive(Debug, Default)]
struct StepOutcomes {
    passed: bool,
    failed: bool,
}

impl UntestedSteps {
    /// Learns the outcomes of a run, one for each of its tests, if it took the first of `known` steps.
    pub(super) fn learn_run(&mut self, order: Order, known: usize, trial: &Trial, runs: &[RunResult]) {
        if order != Order::Counter || known == 0 {
            return;
        }
        let steps = trial.selection.counter_limit(known);
        for (&test, run) in trial.tests.iter().zip(runs) {
            self.learn(test, steps, run.outcome);
        }
    }

    /// Returns the changes of a culprit of these tests. Of a counter, they are all steps that may be the culprit.
    pub(super) fn candidates(&self, numbering: Numbering, tests: &[usize], culprit: &Culprit) -> Vec<ChangeId> {
        let ids: Vec<_> = numbering.ids(culprit).collect();
        let (Order::Counter, [ChangeId(step)]) = (numbering.order, ids.as_slice()) else { return ids };
        let Ok(step) = usize::try_from(*step) else { return ids };
        let (first, last) = match culprit.mode {
            Mode::Enable => (tests.iter().map(|&test| self.first(test, step)).min(), Some(step)),
            Mode::Disable => (Some(step), tests.iter().map(|&test| self.last(test, step)).max()),
        };
        (first.unwrap_or(step)..=last.unwrap_or(step)).map(id).collect()
    }

    /// Returns true if one of these tests fails without the last step of a culprit, too, so in another way.
    pub(super) fn fails_before(&self, order: Order, tests: &[usize], culprit: &Culprit) -> bool {
        let (Order::Counter, Mode::Enable, [last]) = (order, culprit.mode, culprit.changes.as_slice()) else {
            return false;
        };
        let tried = |test: &usize| self.tried.get(&(*test, last.index()));
        tests.iter().filter_map(tried).any(|tried| tried.failed && !tried.passed)
    }

    /// Learns the outcome of a run of a test that took this number of steps.
    fn learn(&mut self, test: usize, steps: usize, outcome: Outcome) {
        let tried = self.tried.entry((test, steps)).or_default();
        tried.passed |= outcome == Outcome::Pass;
        tried.failed |= outcome == Outcome::Fail;
    }

    /// Returns the last step that may be the one that repairs, if a test fails with all steps before `first`.
    fn last(&self, test: usize, first: usize) -> usize {
        // With this number of steps, `first` is the last one.
        if self.tried.get(&(test, first + 1)).is_none_or(StepOutcomes::is_resolved) {
            return first;
        }
        let mut above = self.tried.range((test, first + 2)..(test + 1, 0));
        above.find(|(_, tried)| tried.is_resolved()).map_or(first, |(&(_, steps), _)| steps - 1)
    }

    /// Returns the first step that may be the culprit, if a test fails with all steps up to `last`.
    fn first(&self, test: usize, last: usize) -> usize {
        // With this number of steps, `last` is left out.
        if self.tried.get(&(test, last)).is_none_or(StepOutcomes::is_resolved) {
            return last;
        }
        let mut below = self.tried.range((test, 0)..(test, last)).rev();
        below.find(|(_, tried)| tried.is_resolved()).map_or(0, |(&(_, steps), _)| steps)
    }
}

impl StepOutcomes {
    fn is_resolved(&self) -> bool {
        self.passed || self.failed
    }
}

/// Returns the headline of a culprit before which the target fails in another way, by the noun of its step.
pub(super) fn headline_of_another(noun: &str) -> String {
    format!("up to the {noun} before this one the target fails in another way, and with it, as shown here")
}

/// Returns the headline of a culprit that is one of several steps, by their noun.
pub(super) fn headline(noun: &str, steps: usize, mode: Mode) -> String {
    let which = match mode {
        Mode::Enable => format!("the first bad {noun} is"),
        Mode::Disable => format!("the {noun} that repairs the target is"),
    };
    format!("{which} one of these {steps}: those before the last one could not be tested")
}

#[cfg(test)]
mod tests {
    use bisect_core::search::{Rank, Reason, TrialId};

    use super::*;

    #[test]
    fn a_culprit_is_a_range_only_beside_untested_steps() {
        let mut steps = UntestedSteps::default();
        let skip = Outcome::Unresolved(Reason::Skip);
        for (count, outcome) in [(0, Outcome::Pass), (9, Outcome::Fail), (4, Outcome::Pass), (8, skip), (6, skip)] {
            steps.learn(0, count, outcome);
        }
        assert_eq!(steps.first(0, 8), 4, "with 5 and 7 steps it was not run");
        assert_eq!(steps.first(0, 4), 4);
        assert_eq!(steps.first(0, 5), 5, "nothing is known about it");
        assert_eq!(steps.first(1, 8), 8, "another test");
        assert_eq!(steps.last(0, 4), 4, "it passes with the first 5 steps, or was not run");
        assert_eq!(steps.last(0, 5), 8, "with 6 steps it was not tested, and with 9 it was");
        assert_eq!(steps.last(1, 5), 5, "another test");
        steps.learn(0, 8, Outcome::Pass);
        steps.learn(0, 8, skip);
        assert_eq!(steps.first(0, 8), 8, "a run of several gave a result");
    }

    #[test]
    fn the_target_may_fail_in_another_way_before_a_culprit() {
        let mut steps = UntestedSteps::default();
        for (count, outcome) in [(5, Outcome::Fail), (6, Outcome::Pass), (7, Outcome::Fail), (7, Outcome::Pass)] {
            steps.learn(0, count, outcome);
        }
        let culprit = |rank| Culprit { changes: vec![Rank(rank)], mode: Mode::Enable, confirmed_by: TrialId(0) };
        let fails = |test, rank| steps.fails_before(Order::Counter, &[test], &culprit(rank));
        assert_eq!([5, 6, 7, 8].map(|rank| fails(0, rank)), [true, false, false, false]);
        assert!(!fails(1, 5), "another test");
    }
}
