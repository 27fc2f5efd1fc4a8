//! The known failures of the target, with which other failures are compared.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bisect_core::search::{Mode, Rank, Selection};

use crate::run::{
    cause::{Cause, Environment},
    spec::EndState,
};

/// The causes with which each of several things, identified by a `K`, fails at the end states of a search.
///
/// The searched failure occurs more often at one end state than at the other. If several do, in both directions, those
/// with the greatest difference decide which end state is the failing one, and if these differences are equal, it is the
/// one with every change. The failures that occur less often there are what the target does without the searched one: a
/// run that shows only these has passed.
///
/// Once the culprits of one failure are left out, the target may fail in another way. That failure is searched, too, in
/// the runs that leave out those changes.
///
/// A failure caused by the environment counts only if it occurs at one end state and not at the other.
#[derive(Clone, Debug)]
pub(crate) struct Calibration<K> {
    /// The direction that the user asks for: the failures of its failing end are searched for.
    asked: Option<Mode>,
    /// The number of executions at each end state.
    executions: [usize; 2],
    ends: BTreeMap<K, Vec<SeenCause>>,
    left: Vec<Left<K>>,
    /// The failures of another kind in runs that leave out culprits, by selection; none once it is known whether they
    /// are searched for.
    unconfirmed: HashMap<Selection, Vec<(K, Cause)>>,
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

/// The failures of a target that fails at both ends of a search, each time in its own way, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BothFail {
    /// The failure that is searched for.
    pub(crate) searched: String,
    /// The failure at the other end.
    pub(crate) usual: String,
    /// True if the searched failure is that of the end with every change.
    pub(crate) is_enabled: bool,
}

/// The decision about a failure of another kind.
#[derive(Clone, Debug)]
pub(crate) struct Remainder<K> {
    pub(crate) key: K,
    pub(crate) cause: Cause,
    /// True if it remains without the culprits, so that it is searched for.
    pub(crate) is_searched: bool,
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
        Self {
            asked: None,
            executions: [0; 2],
            ends: BTreeMap::new(),
            left: Vec::new(),
            unconfirmed: HashMap::new(),
            surroundings: BTreeMap::new(),
        }
    }
}

impl<K: Ord + Clone> Calibration<K> {
    /// Returns a calibration without failures, for a search in the direction that the user asks for.
    pub(crate) fn new(direction: Option<Mode>) -> Self {
        Self { asked: direction, ..Self::default() }
    }

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

    /// Records failures of another kind in a run with this selection, which leaves out culprits. Returns true if they are
    /// the first ones: then a second such run is needed, and one at the end that passes.
    pub(crate) fn record_unconfirmed<'a>(
        &mut self,
        selection: &Selection,
        failed: impl Iterator<Item = (&'a K, &'a Cause)>,
    ) -> bool
    where
        K: 'a,
    {
        let failed: Vec<_> = failed.map(|(key, cause)| (key.clone(), cause.clone())).collect();
        let is_first = !failed.is_empty() && !self.unconfirmed.contains_key(selection);
        if is_first {
            self.unconfirmed.insert(selection.clone(), failed);
        }
        is_first
    }

    /// Decides about the recorded failures of a selection, after a second run in which these things failed in another
    /// way. A failure is searched for, where these changes are left out, if it occurs again and never occurred at the
    /// end that passes. `None` if nothing was recorded, or it is decided already.
    pub(crate) fn decide<'a>(
        &mut self,
        selection: &Selection,
        left_out: &BTreeSet<Rank>,
        again: impl Iterator<Item = (&'a K, &'a Cause)>,
    ) -> Option<Remainder<K>>
    where
        K: 'a,
    {
        let seen = std::mem::take(self.unconfirmed.get_mut(selection)?);
        let (key, cause) = seen.first()?.clone();
        let passing_end = EndState::passing(selection);
        let remains = |&(key, cause): &(&K, &Cause)| {
            seen.iter().any(|(before, as_before)| before == key && as_before.is_like(cause))
                && !self.occurs_at(passing_end, key, cause)
        };
        let left = |(key, cause): (&K, &Cause)| {
            let (changes, key, cause) = (left_out.clone(), key.clone(), cause.clone());
            Left { changes, enabled: selection.inverted, key, cause }
        };
        let left: Vec<_> = again.filter(remains).map(left).collect();
        let is_searched = !left.is_empty();
        self.left.extend(left);
        Some(Remainder { key, cause, is_searched })
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
        // A failure to build is not the searched one, unless that is a failure to build, too.
        if cause.is_unbuilt() && !self.of(key).any(Cause::is_unbuilt) {
            return Meaning::Another;
        }
        let known = self.ends.get(key).map_or(&[][..], Vec::as_slice);
        let is_usual = self.difference(known, cause) * self.direction(known) < 0;
        if is_usual { Meaning::Usual } else { Meaning::Another }
    }

    /// Returns the failures of `key` if it has failed in each execution at both end states, and never in the same way.
    /// Then changes replace one failure by another.
    pub(crate) fn both_fail(&self, key: &K) -> Option<BothFail> {
        let known = self.ends.get(key)?;
        let direction = self.direction(known);
        let (searched, usual): (Vec<_>, Vec<_>) =
            known.iter().partition(|one| self.difference(known, &one.cause) * direction > 0);
        let failing = usize::from(direction < 0);
        let fails_always = |seen: &[&SeenCause], end: usize| {
            let times: usize = seen.iter().map(|one| one.times[end]).sum();
            times > 0 && times >= self.executions[end] && seen.iter().all(|one| one.times[1 - end] == 0)
        };
        let is_exchange = direction != 0 && fails_always(&searched, failing) && fails_always(&usual, 1 - failing);
        let (searched, usual) = (&searched.first()?.cause, &usual.first()?.cause);
        let [searched, usual] = match (searched.brief(), usual.brief()) {
            (searched, usual) if searched != usual => [searched, usual],
            _ => [searched.to_string(), usual.to_string()],
        };
        is_exchange.then_some(BothFail { searched, usual, is_enabled: direction > 0 })
    }

    /// Returns true if a failure like this one occurred at an end state.
    fn occurs_at(&self, end: EndState, key: &K, cause: &Cause) -> bool {
        let known = self.ends.get(key).map_or(&[][..], Vec::as_slice);
        known.iter().any(|known| known.times[index(end)] > 0 && known.cause.is_like(cause))
    }

    /// Returns a positive number if the end state with every change is the one where `known` shows the searched
    /// failure, a negative number if it is the one with no change, and 0 if every failure occurred equally often at both.
    fn direction(&self, known: &[SeenCause]) -> i128 {
        let differences = known.iter().map(|one| self.difference(known, &one.cause));
        let (least, most) = differences.fold((0, 0), |(least, most), one| (least.min(one), most.max(one)));
        match self.asked {
            Some(Mode::Enable) if most > 0 => most,
            Some(Mode::Disable) if least < 0 => least,
            _ if most >= -least => most,
            _ => least,
        }
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

/// Returns the reason of a run that counts as passed because it fails as at the other end.
pub(crate) fn usual(what: impl std::fmt::Display) -> String {
    format!("{what}, as at the other end")
}

/// Returns the note that a failure caused by the environment is the searched one.
pub(crate) fn made_by_changes_note(environment: Environment) -> String {
    format!(
        "{environment}, twice in a row and at one end of the search only: so that is the failure that is searched for"
    )
}

/// Returns the reason of a run of what does not build.
pub(crate) fn unbuilt(cause: impl std::fmt::Display) -> String {
    format!("does not build: {cause}")
}

/// Returns the reason of a run that failed in another way.
pub(crate) fn another(what: impl std::fmt::Display) -> String {
    format!("another failure: {what}")
}

impl<K> Remainder<K> {
    /// Returns the note about the failure with this description.
    pub(crate) fn note(&self, what: impl std::fmt::Display) -> String {
        if self.is_searched {
            format!("with everything else it fails in another way ({what}): the search goes on for that failure")
        } else {
            format!(
                "with everything else it failed in another way ({what}), but not repeatedly, or also at the other end \
                 of the search: that failure is not searched for"
            )
        }
    }
}

/// Returns the note about the first run that fails as the target does without the searched failure.
pub(crate) fn usual_note(what: impl std::fmt::Display) -> String {
    format!(
        "failures of another kind ({what}) occur where the searched one does not: from here on, runs with only these \
         count as passed"
    )
}

impl BothFail {
    /// Returns the note about the first run that fails as at the other end.
    pub(crate) fn note(&self) -> String {
        format!("{}: the search is for the changes that replace {} by {}", self.words(), self.usual, self.searched)
    }

    /// Returns the headline of a culprit of several changes, by their noun.
    pub(crate) fn headline(&self, noun: &str, changes: usize) -> String {
        let Self { searched, usual, .. } = self;
        match changes {
            1 => format!("this {noun} replaces {usual} by {searched}"),
            _ => format!("these {changes} {noun}s together replace {usual} by {searched}"),
        }
    }

    /// Returns the conclusion if the target passes without the culprits: then both failures have nothing to do with each
    /// other.
    pub(crate) fn conclusion(&self) -> String {
        format!(
            "nothing to find: {}. With some of the changes it passes: search between a state that passes and one that fails",
            self.words()
        )
    }

    /// Returns the failures with every change and with none.
    pub(crate) fn at_ends(&self) -> [&str; 2] {
        let [with, without] =
            if self.is_enabled { [&self.searched, &self.usual] } else { [&self.usual, &self.searched] };
        [with, without]
    }

    fn words(&self) -> String {
        let [with, without] = self.at_ends();
        format!(
            "the target fails at both ends of the search, in different ways (with every change by {with}, with none by \
             {without})"
        )
    }
}

/// Returns the note about the first run that fails in another way.
pub(crate) fn another_note(what: impl std::fmt::Display) -> String {
    format!(
        "a run failed in another way than the failure that is searched for ({what}): such runs tell nothing, unless \
         --same-failure=no is given"
    )
}

#[cfg(test)]
#[path = "calibration_tests.rs"]
mod tests;
