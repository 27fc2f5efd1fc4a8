//! The passing state that is shown with a culprit: other changes, if a run of them has passed, or else an end state.

use std::collections::BTreeMap;

use bisect_core::search::{Outcome, Question, Rank, Selection, Trial};

use crate::run::{result::RunResult, spec::EndState};

/// The outcomes of runs of everything but some changes.
#[derive(Debug, Default)]
pub(super) struct PassingStates {
    /// True for each test that has passed in all runs without these changes, which are in ascending order.
    passed_without: BTreeMap<Vec<Rank>, BTreeMap<usize, bool>>,
}

impl PassingStates {
    /// Learns the results of a trial, one for each of its tests.
    pub(super) fn learn(&mut self, trial: &Trial, runs: &[RunResult]) {
        if trial.question != Question::AllButFound {
            return;
        }
        let mut left_out = trial.selection.excluded.clone();
        left_out.sort_unstable();
        let tests = self.passed_without.entry(left_out).or_default();
        for (&test, run) in trial.tests.iter().zip(runs) {
            *tests.entry(test).or_insert(true) &= run.outcome == Outcome::Pass;
        }
    }

    /// Returns the selection in which these tests have passed: all changes but those that `others` leaves out, if
    /// necessary without those of other culprits either; or else that of the end state that passes.
    pub(super) fn beside(&self, tests: &[usize], others: &Selection) -> Selection {
        let is_without = |left_out: &Vec<Rank>| others.excluded.iter().all(|change| left_out.contains(change));
        let passed = |known: &BTreeMap<usize, bool>| tests.iter().all(|test| known.get(test) == Some(&true));
        let states = self.passed_without.iter().filter(|(left_out, known)| is_without(left_out) && passed(known));
        match states.map(|(left_out, _)| left_out).min_by_key(|left_out| left_out.len()) {
            Some(left_out) => Selection { excluded: left_out.clone(), ..others.clone() },
            None => Selection { inverted: EndState::passing(others) == EndState::AllOff, ..Selection::all() },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bisect_core::search::TrialId;

    use super::*;
    use crate::report::scan::Reports;

    fn without(changes: &[u64]) -> Selection {
        Selection { excluded: changes.iter().map(|&change| Rank(change)).collect(), ..Selection::all() }
    }

    fn run(outcome: Outcome) -> RunResult {
        RunResult {
            outcome,
            reason: String::new(),
            failed_tests: Vec::new(),
            failures: Vec::new(),
            duration: Duration::ZERO,
            executions: 1,
            extra_outcomes: Vec::new(),
            build_time: Duration::ZERO,
            reports: Reports::new(false),
        }
    }

    #[test]
    fn the_nearest_state_that_has_passed_in_all_tests_is_named() {
        let mut states = PassingStates::default();
        let mut learn = |changes: &[u64], outcomes: &[(usize, Outcome)]| {
            let tests = outcomes.iter().map(|(test, _)| *test).collect();
            let trial = Trial { id: TrialId(0), question: Question::AllButFound, selection: without(changes), tests };
            states.learn(&trial, &outcomes.iter().map(|(_, outcome)| run(*outcome)).collect::<Vec<_>>());
        };
        learn(&[3], &[(0, Outcome::Fail), (1, Outcome::Pass)]);
        learn(&[7, 3], &[(0, Outcome::Pass)]);
        learn(&[9], &[(0, Outcome::Pass)]);
        learn(&[9], &[(0, Outcome::Fail)]);
        let beside = |tests: &[usize], changes: &[u64]| states.beside(tests, &without(changes));
        assert_eq!(beside(&[1], &[3]), without(&[3]));
        assert_eq!(beside(&[0], &[3]), without(&[3, 7]), "without the other culprit of the test");
        let none = Selection { inverted: true, ..Selection::all() };
        assert_eq!(beside(&[0, 1], &[3]), none);
        assert_eq!(beside(&[0], &[9]), none, "it has passed only once");
        let disabled = Selection { inverted: true, ..without(&[5]) };
        assert_eq!(states.beside(&[0], &disabled), Selection::all());
    }
}
