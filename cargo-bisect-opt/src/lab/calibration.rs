//! The known failures of the target, with which other failures are compared.

use std::collections::{BTreeMap, BTreeSet};

use bisect_core::search::{Rank, Selection};

use crate::run::{
    cause::{Cause, Environment},
    spec::EndState,
};

/// The causes with which each of several things, identified by a `K`, fails at the end states of a search.
///
/// The searched failure occurs more often at one end state than at the other. If several do, in both directions, those
/// with the greatest difference decide which end state is the failing one, and if these differences are equal, it is the
/// one with every change. The failures that occur less often there
/// are what the target does without the searched one: a run that shows only these has passed.
///
/// Once the culprits of one failure are left out, the target may fail in another way. That failure is searched, too, in
/// the runs that leave out those changes.
///
/// A failure caused by the environment counts only if it occurs at one end state and not at the other.
#[derive(Clone, Debug)]
pub(crate) struct Calibration<K> {
    /// The number of executions at each end state.
    executions: [usize; 2],
    ends: BTreeMap<K, Vec<SeenCause>>,
    left: Vec<Left<K>>,
    /// Flags for everything enabled and for everything disabled: true if the environment made something fail there.
    surroundings: BTreeMap<(K, Environment), [bool; 2]>,
}

/// The meaning of a failure for the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It is the searched failure, or may be.
    Searched,
    /// It is what the target does without the searched failure.
    Usual,
    /// It is another failure, which may hide the searched one.
    Another,
}

/// A failure that remains where these changes are left out.
#[derive(Clone, Debug)]
struct Left<K> {
    changes: BTreeSet<Rank>,
    /// True if the changes are left out by enabling them.
    enabled: bool,
    key: K,
    cause: Cause,
}

/// A cause that was seen at an end state, and how often at each of them.
#[derive(Clone, Debug)]
struct SeenCause {
    cause: Cause,
    times: [usize; 2],
}

impl<K> Default for Calibration<K> {
    /// Returns a calibration without failures.
    fn default() -> Self {
        Self { executions: [0; 2], ends: BTreeMap::new(), left: Vec::new(), surroundings: BTreeMap::new() }
    }
}

impl<K: Ord + Clone> Calibration<K> {
    /// Learns that the target was executed at an end state, whether something failed or not.
    pub(crate) fn learn_execution(&mut self, end: EndState) {
        self.executions[index(end)] += 1;
    }

    /// Learns that `key` failed in an execution at an end state.
    pub(crate) fn learn(&mut self, end: EndState, key: &K, cause: &Cause) {
        if let Some(environment) = cause.environment() {
            self.surroundings.entry((key.clone(), environment)).or_default()[index(end)] = true;
        }
        let known = self.ends.entry(key.clone()).or_default();
        let place = known.iter().position(|known| known.cause == *cause).unwrap_or_else(|| {
            known.push(SeenCause { cause: cause.clone(), times: [0; 2] });
            known.len() - 1
        });
        known[place].times[index(end)] += 1;
    }

    /// Learns how `key` still fails in a run with this selection, which leaves out these changes.
    pub(crate) fn learn_left(&mut self, selection: &Selection, left_out: &BTreeSet<Rank>, key: &K, cause: &Cause) {
        let (changes, key, cause) = (left_out.clone(), key.clone(), cause.clone());
        self.left.push(Left { changes, enabled: selection.inverted, key, cause });
    }

    /// Returns the failures with which those of a run with this selection are compared. Without a selection, these are
    /// the failures at the end states.
    #[must_use]
    pub(crate) fn for_runs_of(&self, selection: Option<&Selection>) -> Self {
        let leaves_out = |left: &&Left<K>| {
            selection.is_some_and(|run| left.changes.iter().all(|&change| run.enables(change) == left.enabled))
        };
        let left = self.left.iter().filter(leaves_out).cloned();
        Self { left: left.collect(), ..self.clone() }
    }

    /// Returns the causes of the searched failure of `key`.
    pub(crate) fn of(&self, key: &K) -> impl Iterator<Item = &Cause> {
        let known = self.ends.get(key).map_or(&[][..], Vec::as_slice);
        let direction = self.direction(known);
        // If all occur equally often at both end states, any of them may be the searched one.
        let counts = move |one: &&SeenCause| direction == 0 || self.difference(known, &one.cause) * direction > 0;
        let at_ends = known.iter().filter(counts).map(|known| &known.cause);
        at_ends.chain(self.left.iter().filter(move |left| left.key == *key).map(|left| &left.cause))
    }

    /// Returns everything that has failed at an end state, or where changes were left out.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &K> {
        self.ends.keys().chain(self.left.iter().map(|left| &left.key))
    }

    /// Returns true if the changes make `key` fail by its environment: it does so at one end state and not at the
    /// other.
    pub(crate) fn is_made_by_changes(&self, key: &K, environment: Environment) -> bool {
        let seen = self.surroundings.get(&(key.clone(), environment));
        seen.is_some_and(|[all, none]| all != none)
    }

    /// Returns the meaning of a failure. As long as nothing has failed at an end state, every failure may be the
    /// searched one, except one that the environment caused.
    pub(crate) fn meaning(&self, key: &K, cause: &Cause) -> Meaning {
        if let Some(environment) = cause.environment() {
            return if self.is_made_by_changes(key, environment) { Meaning::Searched } else { Meaning::Another };
        }
        if self.ends.is_empty() || cause.is_unknown() || self.of(key).any(|known| known.is_like(cause)) {
            return Meaning::Searched;
        }
        let known = self.ends.get(key).map_or(&[][..], Vec::as_slice);
        let is_usual = self.difference(known, cause) * self.direction(known) < 0;
        if is_usual { Meaning::Usual } else { Meaning::Another }
    }

    /// Returns true if a failure like this one occurred at an end state.
    pub(crate) fn occurs_at(&self, end: EndState, key: &K, cause: &Cause) -> bool {
        let known = self.ends.get(key).map_or(&[][..], Vec::as_slice);
        known.iter().any(|known| known.times[index(end)] > 0 && known.cause.is_like(cause))
    }

    /// Returns a positive number if the end state with every change is the one where `known` shows the searched
    /// failure, a negative number if it is the one with no change, and 0 if every failure occurred equally often at both.
    fn direction(&self, known: &[SeenCause]) -> i128 {
        let differences = known.iter().map(|one| self.difference(known, &one.cause));
        let (least, most) = differences.fold((0, 0), |(least, most), one| (least.min(one), most.max(one)));
        if most >= -least { most } else { least }
    }

    /// Returns the rate of failures like this one with every change, minus their rate with no change. Both are
    /// multiplied by the executions at both end states, so that the result is an integer.
    fn difference(&self, known: &[SeenCause], cause: &Cause) -> i128 {
        let like = known.iter().filter(|known| known.cause.is_like(cause));
        let [on, off] = like.fold([0, 0], |[on, off], known| [on + known.times[0], off + known.times[1]]);
        let [all, none] = self.executions.map(|executions| i128::try_from(executions.max(1)).unwrap_or(i128::MAX));
        let times = |count: usize| i128::try_from(count).unwrap_or(i128::MAX);
        times(on).saturating_mul(none) - times(off).saturating_mul(all)
    }
}

fn index(end: EndState) -> usize {
    usize::from(end == EndState::AllOff)
}

/// Returns the note about a run that failed because of its environment.
pub(crate) fn environment_note(environment: Environment) -> String {
    format!(
        "a run failed by what surrounds the target ({environment}): such a run is made again at once, and if it fails so \
         again, it tells nothing"
    )
}

/// Returns the note that a failure caused by the environment is the searched one.
pub(crate) fn made_by_changes_note(environment: Environment) -> String {
    format!(
        "{environment}, twice in a row and at one end of the search only: so that is the failure that is searched for"
    )
}

/// Returns the reason of a run that failed in another way.
pub(crate) fn another(what: impl std::fmt::Display) -> String {
    format!("another failure: {what}")
}

/// Returns the note that everything except the culprits found so far fails in another way.
pub(crate) fn left_note(what: impl std::fmt::Display) -> String {
    format!("with everything else it fails in another way ({what}): the search goes on for that failure")
}

/// Returns the note that everything except the culprits found so far failed in another way, which does not depend on the
/// changes.
pub(crate) fn unsteady_note(what: impl std::fmt::Display) -> String {
    format!(
        "with everything else it failed in another way ({what}), but not every time, or at the other end of the search as well: that \
         failure is not searched for"
    )
}

/// Returns the note about the first run that fails as the target does without the searched failure.
pub(crate) fn usual_note(what: impl std::fmt::Display) -> String {
    format!(
        "failures of another kind ({what}) occur where the searched one does not: from here on, runs with only these \
         count as passed"
    )
}

/// Returns the note about the first run that fails in another way.
pub(crate) fn another_note(what: impl std::fmt::Display) -> String {
    format!(
        "a run failed in another way than the failure that is searched for ({what}): such runs tell nothing, unless \
         --same-failure=no is given"
    )
}

#[cfg(test)]
mod tests {
    use bisect_core::search::Prefix;

    use super::*;

    fn cause(line: u32) -> Cause {
        Cause::of_test(&format!("thread 't' (7) panicked at src/lib.rs:{line}:5:\nbad"))
    }

    /// Learns the executions at end states, each with the line of its failure or 0 for a pass, and checks the meaning of
    /// failures on lines 1 to 3: searched, usual, another.
    #[track_caller]
    fn check(executions: &[(EndState, u32)], meanings: &str) {
        let mut calibration = Calibration::default();
        for &(end, line) in executions {
            calibration.learn_execution(end);
            if line > 0 {
                calibration.learn(end, &'t', &cause(line));
            }
        }
        let letter = |line| match calibration.meaning(&'t', &cause(line)) {
            Meaning::Searched => 's',
            Meaning::Usual => 'u',
            Meaning::Another => 'a',
        };
        assert_eq!((1..=3).map(letter).collect::<String>(), meanings, "{executions:?}");
        assert_eq!(calibration.meaning(&'t', &Cause::UNKNOWN), Meaning::Searched);
        let never_failed = calibration.meaning(&'u', &cause(1));
        assert_eq!(never_failed == Meaning::Another, executions.iter().any(|&(_, line)| line > 0));
    }

    #[test]
    fn the_searched_failure_is_more_frequent_at_one_end() {
        use EndState::{AllOff, AllOn};
        check(&[], "sss");
        check(&[(AllOn, 0)], "sss");
        check(&[(AllOn, 1)], "saa");
        check(&[(AllOff, 2)], "asa");
        check(&[(AllOn, 1), (AllOn, 3)], "sas");
        // The other end state fails in another way: that is what the target does without the changes.
        check(&[(AllOn, 1), (AllOff, 2)], "sua");
        check(&[(AllOn, 0), (AllOff, 2), (AllOn, 1), (AllOff, 2)], "usa");
        check(&[(AllOn, 1), (AllOff, 2), (AllOff, 2), (AllOff, 0), (AllOff, 2)], "sua");
        // The same failure is noise where it is rarer, and tells nothing where it is as frequent.
        check(&[(AllOn, 1), (AllOn, 1), (AllOff, 1), (AllOff, 0)], "saa");
        check(&[(AllOn, 1), (AllOff, 1)], "saa");
        check(&[(AllOn, 1), (AllOn, 2), (AllOff, 2), (AllOff, 0)], "saa");
        // The first run at the failing end state passed by chance.
        check(&[(AllOn, 0), (AllOff, 2), (AllOn, 1), (AllOn, 1), (AllOff, 0)], "sua");
    }

    #[test]
    fn surroundings_count_if_they_differ_between_the_ends() {
        let full = Cause::of_test("thread 't' (7) panicked at src/lib.rs:1:5:\nNo space left on device (os error 28)");
        let fits = |ends: &[EndState]| {
            let mut calibration = Calibration::default();
            for &end in ends {
                calibration.learn_execution(end);
                calibration.learn(end, &'t', &full);
            }
            [&full, &cause(1)].map(|cause| calibration.meaning(&'t', cause) == Meaning::Searched)
        };
        assert_eq!(fits(&[]), [false, true]);
        assert_eq!(fits(&[EndState::AllOn]), [true, false], "it is another failure than a panic at the same place");
        assert_eq!(fits(&[EndState::AllOff, EndState::AllOff]), [true, false]);
        assert_eq!(fits(&[EndState::AllOn, EndState::AllOff]), [false, false]);
    }

    #[test]
    fn how_it_fails_without_the_culprits_counts_in_the_runs_without_them() {
        let set = |ids: &[u64]| ids.iter().copied().map(Rank).collect::<BTreeSet<_>>();
        for inverted in [false, true] {
            let everything = Selection { inverted, ..Selection::all() };
            let mut calibration = Calibration::default();
            calibration.learn_execution(EndState::AllOn);
            calibration.learn(EndState::AllOn, &'t', &cause(1));
            calibration.learn_left(&everything, &set(&[7]), &'t', &cause(2));
            calibration.learn_left(&everything, &set(&[7, 8]), &'u', &cause(3));
            let fits = |selection: &Selection, key| {
                let calibration = calibration.for_runs_of(Some(selection));
                let is_searched = |&line: &u32| calibration.meaning(&key, &cause(line)) == Meaning::Searched;
                (1..=3).filter(is_searched).collect::<Vec<_>>()
            };
            let without =
                |ids: &[u64]| Selection { excluded: ids.iter().copied().map(Rank).collect(), ..everything.clone() };
            assert_eq!(fits(&without(&[]), 't'), [1]);
            assert_eq!(fits(&without(&[8]), 't'), [1]);
            assert_eq!(fits(&without(&[7]), 't'), [1, 2]);
            assert_eq!(fits(&without(&[7, 8, 9]), 't'), [1, 2]);
            assert_eq!((fits(&without(&[7]), 'u'), fits(&without(&[8, 7]), 'u')), (vec![], vec![3]));
            // A selection that names all its changes does not list those that it leaves out, nor does the other end.
            let alone = |id| Selection { prefix: Prefix::NONE, forced: vec![Rank(id)], ..everything.clone() };
            assert_eq!((fits(&alone(9), 't'), fits(&alone(7), 't')), (vec![1, 2], vec![1]));
            let nothing = Selection { inverted: !inverted, ..Selection::all() };
            assert_eq!(fits(&nothing, 't'), [1, 2]);
            assert_eq!(calibration.for_runs_of(None).meaning(&'t', &cause(2)), Meaning::Another);
        }
    }
}
