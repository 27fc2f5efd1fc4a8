//! The passing state that is shown with a culprit: other changes, if a run of them has passed, or else an end state.

use std::collections::BTreeMap;

use bisect_core::search::{Outcome, Prefix, Question, Rank, Selection, Trial};

use crate::run::{result::RunResult, spec::EndState};

/// The outcomes of runs in states that can pass with a culprit left out.
#[derive(Debug, Default)]
pub(super) struct PassingStates {
    /// The runs without these changes, which are in ascending order.
    without: BTreeMap<Vec<Rank>, Outcomes>,
    /// The runs that enabled (false) or disabled (true) this number of steps of a counter, in the order of the search.
    steps: BTreeMap<(bool, usize), Outcomes>,
    /// True if nothing was there to run at an end: such a run passes, but no command line does.
    has_empty_end: bool,
}

/// True for each test that has passed in all runs.
type Outcomes = BTreeMap<usize, bool>;

impl PassingStates {
    /// Learns the results of a trial, one for each of its tests. For a counter, `steps` is the number of steps that the trial
    /// switches.
    pub(super) fn learn(&mut self, trial: &Trial, steps: Option<usize>, runs: &[RunResult]) {
        // A run without a duration had nothing to run.
        if runs.iter().all(|run| run.outcome == Outcome::Pass && run.duration.is_zero()) {
            self.has_empty_end |= matches!(trial.question, Question::AllOn | Question::AllOff);
            return;
        }
        if let Some(steps) = steps {
            learn(self.steps.entry((trial.selection.inverted, steps)).or_default(), &trial.tests, runs);
        }
        if trial.question == Question::AllButFound {
            let mut left_out = trial.selection.excluded.clone();
            left_out.sort_unstable();
            learn(self.without.entry(left_out).or_default(), &trial.tests, runs);
        }
    }

    /// Returns selections without a culprit in which these tests have passed, the nearest one first. For a counter, `steps`
    /// is the number of steps up to the culprit, with which they fail. `others` selects all changes but those of the
    /// culprit.
    pub(super) fn beside(&self, steps: Option<usize>, tests: &[usize], others: &Selection) -> Vec<Selection> {
        let before = steps.and_then(|steps| self.before(steps, tests, others));
        let end = Selection { inverted: EndState::passing(others) == EndState::AllOff, ..Selection::all() };
        let end = (!self.has_empty_end).then_some(end);
        before.into_iter().chain(self.without(tests, others)).chain(end).collect()
    }

    /// Returns the selection in which these tests have passed: all changes but those that `others` leaves out, if
    /// necessary without those of other culprits either.
    fn without(&self, tests: &[usize], others: &Selection) -> Option<Selection> {
        let is_without = |left_out: &Vec<Rank>| others.excluded.iter().all(|change| left_out.contains(change));
        let states = self.without.iter().filter(|(left_out, known)| is_without(left_out) && passed(known, tests));
        let nearest = states.map(|(left_out, _)| left_out).min_by_key(|left_out| left_out.len())?;
        Some(Selection { excluded: nearest.clone(), ..others.clone() })
    }

    /// Returns the selection of the longest prefix, shorter than `failing`, with which these tests have passed; `None` if
    /// they have not passed with a shorter one.
    fn before(&self, failing: usize, tests: &[usize], others: &Selection) -> Option<Selection> {
        let inverted = others.inverted;
        let shorter = self.steps.range((inverted, 1)..(inverted, failing.max(1))).rev();
        let (&(_, steps), _) = shorter.into_iter().find(|(_, known)| passed(known, tests))?;
        Some(Selection { prefix: Prefix::Below(Rank::at(steps)), inverted, ..Selection::all() })
    }
}

fn learn(known: &mut Outcomes, tests: &[usize], runs: &[RunResult]) {
    for (&test, run) in tests.iter().zip(runs) {
        let all = [run.outcome].into_iter().chain(run.extra_outcomes.iter().copied());
        *known.entry(test).or_insert(true) &= all.into_iter().all(|outcome| outcome == Outcome::Pass);
    }
}

fn passed(known: &Outcomes, tests: &[usize]) -> bool {
    tests.iter().all(|test| known.get(test) == Some(&true))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bisect_core::search::{Reason, TrialId};

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
            duration: Duration::from_millis(1),
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
            states.learn(&trial, None, &outcomes.iter().map(|(_, outcome)| run(*outcome)).collect::<Vec<_>>());
        };
        learn(&[3], &[(0, Outcome::Fail), (1, Outcome::Pass)]);
        learn(&[7, 3], &[(0, Outcome::Pass)]);
        learn(&[9], &[(0, Outcome::Pass)]);
        learn(&[9], &[(0, Outcome::Fail)]);
        let beside = |tests: &[usize], changes: &[u64]| states.beside(None, tests, &without(changes)).remove(0);
        assert_eq!(beside(&[1], &[3]), without(&[3]));
        assert_eq!(beside(&[0], &[3]), without(&[3, 7]), "without the other culprit of the test");
        let none = Selection { inverted: true, ..Selection::all() };
        assert_eq!(beside(&[0, 1], &[3]), none);
        assert_eq!(beside(&[0], &[9]), none, "it has passed only once");
        let disabled = Selection { inverted: true, ..without(&[5]) };
        assert_eq!(states.beside(None, &[0], &disabled), [Selection::all()]);
    }

    #[test]
    fn nothing_passes_where_there_is_nothing_to_run() {
        let mut states = PassingStates::default();
        let empty = RunResult { duration: Duration::ZERO, ..run(Outcome::Pass) };
        for (question, selection) in [
            (Question::AllOff, Selection { inverted: true, ..Selection::all() }),
            (Question::AllButFound, without(&[3])),
        ] {
            states.learn(
                &Trial { id: TrialId(0), question, selection, tests: vec![0] },
                None,
                std::slice::from_ref(&empty),
            );
        }
        assert_eq!(states.beside(None, &[0], &without(&[3])), []);
    }

    #[test]
    fn a_counter_passes_with_the_longest_prefix_that_has_passed() {
        for inverted in [false, true] {
            let mut states = PassingStates::default();
            let below = |steps| Selection { prefix: Prefix::Below(Rank(steps)), inverted, ..Selection::all() };
            let end = Selection { inverted: !inverted, ..Selection::all() };
            let learn = |states: &mut PassingStates, steps: u64, outcome| {
                let trial =
                    Trial { id: TrialId(0), question: Question::Prefix, selection: below(steps), tests: vec![0] };
                states.learn(&trial, usize::try_from(steps).ok(), &[run(outcome)]);
            };
            learn(&mut states, 0, Outcome::Pass);
            learn(&mut states, 100, Outcome::Fail);
            learn(&mut states, 50, Outcome::Unresolved(Reason::Skip));
            let others = Selection { inverted, ..Selection::all() };
            assert_eq!(
                states.beside(Some(60), &[0], &others),
                std::slice::from_ref(&end),
                "none of the steps: it is the end state"
            );
            for (steps, outcome) in [(25, Outcome::Pass), (37, Outcome::Pass), (39, Outcome::Pass), (39, Outcome::Fail)]
            {
                learn(&mut states, steps, outcome);
            }
            assert_eq!(
                states.beside(Some(60), &[0], &others),
                [below(37), end.clone()],
                "with 39, it has passed only once"
            );
            assert_eq!(states.beside(Some(37), &[0], &others), [below(25), end.clone()]);
            assert_eq!(states.beside(Some(0), &[0], &others), [end]);
        }
    }
}
