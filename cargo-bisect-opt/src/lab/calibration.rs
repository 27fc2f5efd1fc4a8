//! The known failures of the target, with which other failures are compared.

use std::collections::{BTreeMap, BTreeSet};

use bisect_core::search::{Prefix, Rank, Selection};

use crate::run::{
    cause::{Cause, Environment},
    spec::EndState,
};

/// The causes with which each of several things, identified by a `K`, fails at the end states of a search.
///
/// Only the causes at the end state that fails count. With a flaky target it may be undecided for a while which one
/// that is: then the end state with more failures counts, and both count as long as they have equally many.
///
/// Once the culprits of one failure are left out, the target may fail in another way. That failure counts too, in the
/// runs that leave out those changes.
///
/// A failure caused by the environment counts only if it occurs at one end state and not at the other.
#[derive(Clone, Debug)]
pub(crate) struct Calibration<K> {
    ends: BTreeMap<K, [Failing; 2]>,
    left: Vec<Left<K>>,
    /// Flags for everything enabled and for everything disabled: true if the environment made something fail there.
    surroundings: BTreeMap<(K, Environment), [bool; 2]>,
}

/// A failure that remains where these changes are left out.
#[derive(Clone, Debug)]
struct Left<K> {
    changes: BTreeSet<Rank>,
    key: K,
    cause: Cause,
}

/// The failures of one thing at one end state.
#[derive(Clone, Debug, Default)]
struct Failing {
    times: usize,
    /// The causes, without duplicates.
    causes: Vec<Cause>,
}

impl<K> Default for Calibration<K> {
    /// Returns a calibration without failures.
    fn default() -> Self {
        Self { ends: BTreeMap::new(), left: Vec::new(), surroundings: BTreeMap::new() }
    }
}

impl<K: Ord + Clone> Calibration<K> {
    /// Learns that `key` failed at an end state.
    pub(crate) fn learn(&mut self, side: EndState, key: &K, cause: &Cause) {
        let ends = self.ends.entry(key.clone()).or_default();
        let end = usize::from(side == EndState::AllOff);
        if let Some(environment) = cause.environment() {
            self.surroundings.entry((key.clone(), environment)).or_default()[end] = true;
        }
        let failing = &mut ends[end];
        failing.times += 1;
        if !failing.causes.contains(cause) {
            failing.causes.push(cause.clone());
        }
    }

    /// Learns how `key` still fails where these changes are left out.
    pub(crate) fn learn_left(&mut self, left_out: &BTreeSet<Rank>, key: &K, cause: &Cause) {
        self.left.push(Left { changes: left_out.clone(), key: key.clone(), cause: cause.clone() });
    }

    /// Returns the failures with which those of a run with this selection are compared. Without a selection, these are
    /// the failures at the end states.
    #[must_use]
    pub(crate) fn for_runs_of(&self, selection: Option<&Selection>) -> Self {
        let leaves_out = |left: &&Left<K>| selection.is_some_and(|selection| leaves_out(selection, &left.changes));
        let left = self.left.iter().filter(leaves_out).cloned();
        Self { left: left.collect(), ..self.clone() }
    }

    /// Returns the causes with which other causes of `key` are compared.
    pub(crate) fn of(&self, key: &K) -> impl Iterator<Item = &Cause> {
        let ends = self.ends.get(key).into_iter().flatten();
        let most = ends.clone().map(|failing| failing.times).max();
        let at_ends = ends.filter(move |failing| Some(failing.times) == most).flat_map(|failing| &failing.causes);
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

    /// Returns true if a failure may be the searched one. As long as nothing has failed at an end state, every failure
    /// may be, except one that the environment caused.
    pub(crate) fn fits(&self, key: &K, cause: &Cause) -> bool {
        if let Some(environment) = cause.environment() {
            return self.is_made_by_changes(key, environment);
        }
        self.ends.is_empty() || cause.is_unknown() || self.of(key).any(|known| known.is_like(cause))
    }
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

/// Returns true if a selection leaves out these changes. A selection that names all its changes leaves out all others.
fn leaves_out(selection: &Selection, changes: &BTreeSet<Rank>) -> bool {
    changes.iter().all(|&id| match selection.prefix {
        Prefix::NONE => !selection.contains(id),
        _ => selection.excluded.contains(&id),
    })
}

/// Returns the note that everything except the culprits found so far fails in another way.
pub(crate) fn left_note(what: impl std::fmt::Display) -> String {
    format!("with everything else it fails in another way ({what}): the search goes on for that failure")
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
    use super::*;

    fn cause(line: u32) -> Cause {
        Cause::of_test(&format!("thread 't' (7) panicked at src/lib.rs:{line}:5:\nbad"))
    }

    /// Learns these failures at end states, in order, and checks which of the causes 1 to 3 fit then.
    #[track_caller]
    fn check(runs: &[(EndState, u32)], fitting: &[u32]) {
        let mut calibration = Calibration::default();
        for &(side, line) in runs {
            calibration.learn(side, &'t', &cause(line));
        }
        let fits: Vec<_> = (1..=3).filter(|&line| calibration.fits(&'t', &cause(line))).collect();
        assert_eq!(fits, fitting, "{runs:?}");
        assert!(calibration.fits(&'t', &Cause::UNKNOWN));
        assert_eq!(calibration.fits(&'u', &cause(1)), runs.is_empty(), "what never failed");
    }

    #[test]
    fn how_the_failing_end_fails_counts() {
        use EndState::{AllOff, AllOn};
        check(&[], &[1, 2, 3]);
        check(&[(AllOn, 1)], &[1]);
        check(&[(AllOff, 2)], &[2]);
        check(&[(AllOn, 1), (AllOn, 3)], &[1, 3]);
        // The passing end state fails too: another failure is not the searched one, the same one is noise.
        check(&[(AllOn, 1), (AllOn, 1), (AllOff, 2)], &[1]);
        check(&[(AllOn, 1), (AllOn, 1), (AllOff, 1)], &[1]);
        // The first run at the passing end state failed by chance, and the first one at the failing end state passed.
        check(&[(AllOff, 2), (AllOn, 1)], &[1, 2]);
        check(&[(AllOff, 2), (AllOn, 1), (AllOn, 1)], &[1]);
    }

    #[test]
    fn surroundings_count_if_they_differ_between_the_ends() {
        let full = Cause::of_test("thread 't' (7) panicked at src/lib.rs:1:5:\nNo space left on device (os error 28)");
        let fits = |ends: &[EndState]| {
            let mut calibration = Calibration::default();
            for &side in ends {
                calibration.learn(side, &'t', &full);
            }
            (calibration.fits(&'t', &full), calibration.fits(&'t', &cause(1)))
        };
        assert_eq!(fits(&[]), (false, true));
        assert_eq!(fits(&[EndState::AllOn]), (true, false), "it is another failure than a panic at the same place");
        assert_eq!(fits(&[EndState::AllOff, EndState::AllOff]), (true, false));
        assert_eq!(fits(&[EndState::AllOn, EndState::AllOff]), (false, false));
    }

    #[test]
    fn how_it_fails_without_the_culprits_counts_in_the_runs_without_them() {
        let set = |ids: &[u64]| ids.iter().copied().map(Rank).collect::<BTreeSet<_>>();
        let mut calibration = Calibration::default();
        calibration.learn(EndState::AllOn, &'t', &cause(1));
        calibration.learn_left(&set(&[7]), &'t', &cause(2));
        calibration.learn_left(&set(&[7, 8]), &'u', &cause(3));
        let fits = |ids: &[u64], key| {
            let excluded = ids.iter().copied().map(Rank).collect();
            let calibration = calibration.for_runs_of(Some(&Selection { excluded, ..Selection::all() }));
            (1..=3).filter(|&line| calibration.fits(&key, &cause(line))).collect::<Vec<_>>()
        };
        assert_eq!((fits(&[], 't'), fits(&[8], 't'), fits(&[7], 't')), (vec![1], vec![1], vec![1, 2]));
        assert_eq!((fits(&[7, 8, 9], 't'), fits(&[7], 'u'), fits(&[8, 7], 'u')), (vec![1, 2], vec![], vec![3]));
        // A selection that names all its changes does not list those that it leaves out.
        let fits = |id| {
            let forced = vec![Rank(id)];
            let alone = Selection { prefix: Prefix::NONE, forced, ..Selection::all() };
            calibration.for_runs_of(Some(&alone)).fits(&'t', &cause(2))
        };
        assert_eq!((fits(9), fits(7)), (true, false));
        assert!(!calibration.for_runs_of(None).fits(&'t', &cause(2)));
    }
}
