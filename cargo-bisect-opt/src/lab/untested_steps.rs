//! Steps of a counter that no run could test: beside them, a culprit is only known as a range.
//!
//! The engine names the first step known to fail. The steps directly before it are added if they only had unresolved
//! runs.

use std::collections::BTreeMap;

use bisect_core::{
    ChangeId,
    search::{Culprit, Mode, Order, Outcome, Trial},
};

use crate::run::{numbering::Numbering, result::RunResult};

/// The numbers of steps that runs took, for each test: true if a run with this number has passed or failed.
#[derive(Debug, Default)]
pub(super) struct UntestedSteps {
    resolved: BTreeMap<(usize, usize), bool>,
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
        (first.unwrap_or(step)..=last.unwrap_or(step)).map(|step| ChangeId(step as u64)).collect()
    }

    /// Learns the outcome of a run of a test that took this number of steps.
    fn learn(&mut self, test: usize, steps: usize, outcome: Outcome) {
        let is_resolved = !matches!(outcome, Outcome::Unresolved(_));
        *self.resolved.entry((test, steps)).or_default() |= is_resolved;
    }

    /// Returns the last step that may be the one that repairs, if a test fails with all steps before `first`.
    fn last(&self, test: usize, first: usize) -> usize {
        // With this number of steps, `first` is the last one.
        if self.resolved.get(&(test, first + 1)) != Some(&false) {
            return first;
        }
        let above = self.resolved.range((test, first + 2)..(test + 1, 0));
        above.into_iter().find(|&(_, &is_resolved)| is_resolved).map_or(first, |(&(_, steps), _)| steps - 1)
    }

    /// Returns the first step that may be the culprit, if a test fails with all steps up to `last`.
    fn first(&self, test: usize, last: usize) -> usize {
        // With this number of steps, `last` is left out.
        if self.resolved.get(&(test, last)) != Some(&false) {
            return last;
        }
        let below = self.resolved.range((test, 0)..(test, last)).rev();
        below.into_iter().find(|&(_, &is_resolved)| is_resolved).map_or(0, |(&(_, steps), _)| steps)
    }
}

/// Returns the headline of a culprit that is one of several steps, by their noun.
pub(super) fn headline(noun: &str, steps: usize, mode: Mode) -> String {
    let which = match mode {
        Mode::Enable => format!("the first bad {noun} is"),
        Mode::Disable => format!("the {noun} that repairs the target is"),
    };
    format!("{which} one of these {steps}: no {noun} of this range before the last one could be tested")
}

#[cfg(test)]
mod tests {
    use bisect_core::search::Reason;

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
}
