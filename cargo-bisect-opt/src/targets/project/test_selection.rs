//! The selection of tests: those that failed, those of them that count, and those that are repeated.
//!
//! The first runs execute everything, with everything enabled and with everything disabled. The search is about the
//! tests that fail in only one of them. A test that fails in both was broken anyway.

use std::collections::{BTreeMap, BTreeSet};

use bisect_core::search::Mode;
use serde::{Deserialize, Serialize};

use crate::run::spec::EndState;

/// The failure of a test, or of a whole executable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Failure {
    /// The executable: its [`Executable::key`](crate::cargo::Executable::key).
    pub(crate) executable: String,
    /// The test; `None` if the executable did not name one, or crashed.
    pub(crate) test: Option<String>,
}

impl Failure {
    /// Returns the failure of the whole executable.
    pub(crate) fn whole(&self) -> Self {
        Self { test: None, executable: self.executable.clone() }
    }
}

/// The failures in one run.
pub(crate) type Failures = BTreeSet<Failure>;

/// The part of an executable that is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subset<'a> {
    /// No part: the executable is not started.
    Nothing,
    /// Everything that the user's arguments select.
    Everything,
    /// These tests only.
    Tests(&'a [String]),
}

/// The tests that the search is about.
#[derive(Clone, Debug, Default)]
pub(crate) struct TestSelection {
    /// True if later runs leave out nothing.
    repeat_all: bool,
    /// True if the failures without any change are searched for, even if others occur with all changes.
    repaired: bool,
    all: Option<Failures>,
    none: Option<Failures>,
    /// The tests and executables that crashed or timed out, at the end states.
    unended: Failures,
    /// The number of times that each test failed elsewhere, while nothing had failed at the end states.
    late: BTreeMap<Failure, usize>,
    decided: Option<Decided>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Decided {
    /// The failures at one end state only.
    searched: Failures,
    /// The tests of each executable that are repeated; `None` if all are. Other executables are not run. If the map is
    /// empty, everything is run.
    repeat: BTreeMap<String, Option<Vec<String>>>,
    /// The failures that do not count.
    ignored: Failures,
    /// True if the failing tests need other tests to fail, which are therefore repeated too.
    needs_others: bool,
}

/// The number of sightings in the middle of a search from which on a failure is treated as real.
const MIN_SIGHTINGS: usize = 2;

/// The maximum size of all arguments, in bytes: far below the limit of any system, far above most lists of failed
/// tests.
const ARGUMENTS: usize = 24 << 10;

impl TestSelection {
    /// Returns a selection without knowledge, for a search in the direction that the user asks for. If `repeat_all` is
    /// set, all tests are repeated in any case.
    pub(crate) fn new(repeat_all: bool, direction: Option<Mode>) -> Self {
        Self { repeat_all, repaired: direction == Some(Mode::Disable), ..Self::default() }
    }

    /// Returns a selection in which everything counts and is repeated.
    pub(crate) fn any() -> Self {
        Self { decided: Some(Decided::default()), ..Self::default() }
    }

    /// Returns a selection that repeats only these failures.
    pub(crate) fn only(failures: &Failures) -> Self {
        let decided = Decided { repeat: to_repeat(failures.clone()), ..Decided::default() };
        Self { decided: Some(decided), ..Self::default() }
    }

    /// Returns a selection that repeats everything that runs in the same processes as these failures.
    pub(crate) fn executables_of(failures: &Failures) -> Self {
        Self::only(&failures.iter().map(Failure::whole).collect())
    }

    /// Repeats the other tests of the executables too, if the searched tests in `dependent` need them to fail. If each
    /// test is searched separately, all searched tests must need others; otherwise one is enough. Returns a note for
    /// the user.
    pub(crate) fn repeat_others(&mut self, dependent: &Failures, is_separate: bool) -> Option<String> {
        let decided = self.decided.as_mut()?;
        let dependent: Failures = decided.searched.intersection(dependent).cloned().collect();
        let needs_others = !dependent.is_empty() && (!is_separate || dependent == decided.searched);
        if self.repeat_all || decided.needs_others || !needs_others {
            return None;
        }
        decided.needs_others = true;
        decided.repeat = to_repeat(decided.searched.iter().map(Failure::whole).collect());
        let names = names(&dependent);
        Some(format!("run without the other tests it passes, so all tests are run every time: {names}"))
    }

    /// Returns true if the failing tests need other tests to fail.
    pub(crate) fn needs_others(&self) -> bool {
        self.decided.as_ref().is_some_and(|decided| decided.needs_others)
    }

    /// Returns true if a run at this end state can teach something. The first run can. With a flaky target, later runs
    /// can too, as long as nothing has failed at one end state only.
    pub(crate) fn wants(&self, side: EndState) -> bool {
        match &self.decided {
            None => self.failed_at(side).is_none(),
            Some(decided) => decided.searched.is_empty() && self.all.is_some() && self.none.is_some(),
        }
    }

    /// Returns the failures at an end state, if it was run.
    pub(crate) fn failed_at(&self, side: EndState) -> Option<&Failures> {
        match side {
            EndState::AllOn => self.all.as_ref(),
            EndState::AllOff => self.none.as_ref(),
        }
    }

    /// Learns what failed in a run of everything. Returns notes for the user.
    pub(crate) fn learn(&mut self, side: EndState, failures: Failures) -> Vec<String> {
        let known = match side {
            EndState::AllOn => &mut self.all,
            EndState::AllOff => &mut self.none,
        };
        known.get_or_insert_default().extend(failures);
        let (Some(all), Some(none)) = (&self.all, &self.none) else { return Vec::new() };
        let (mut decided, notes) = decide(&self.coarsened(all), &self.coarsened(none), self.repaired);
        if !decided.searched.is_empty() {
            // Tests that have failed before are still repeated.
            let late = self.late.keys().filter(|failure| !decided.ignored.contains(failure));
            decided.repeat = to_repeat(late.chain(&decided.searched).cloned().collect());
        } else if self.is_narrowed() {
            return notes;
        }
        self.decided = Some(decided);
        notes
    }

    /// Learns which failures in a run of everything are crashes or timeouts.
    pub(crate) fn learn_unended(&mut self, failures: impl IntoIterator<Item = Failure>) {
        self.unended.extend(failures);
    }

    /// Returns the failures, coarsened: if an executable crashed or timed out in an unknown test, its failures are
    /// replaced by one of the whole executable. The unknown test may be any of those that fail at the other end state,
    /// so these make no difference.
    fn coarsened(&self, failures: &Failures) -> Failures {
        let is_unclear = |failure: &Failure| self.unended.contains(&failure.whole());
        let blur = |failure: &Failure| if is_unclear(failure) { failure.whole() } else { failure.clone() };
        failures.iter().map(blur).collect()
    }

    /// Restricts the search to these failures, if it is about any of them.
    pub(crate) fn narrow(&mut self, is_meant: impl Fn(&Failure) -> bool) {
        let Some(decided) = &mut self.decided else { return };
        let (meant, others): (Failures, Failures) = decided.searched.iter().cloned().partition(is_meant);
        if !meant.is_empty() {
            if !decided.needs_others {
                decided.repeat = to_repeat(meant.clone());
            }
            decided.ignored.extend(others);
            decided.searched = meant;
        }
    }

    /// Learns what failed in a run with some of the changes. With a flaky target, that may be the first failure. Once
    /// any test has failed twice, only tests that have failed are run; each failure counts as before. Returns a note
    /// for the user.
    pub(crate) fn learn_late(&mut self, failures: &Failures) -> Option<String> {
        let is_empty = |side: &Option<Failures>| side.as_ref().is_some_and(Failures::is_empty);
        if !is_empty(&self.all) || !is_empty(&self.none) || self.is_narrowed() {
            return None;
        }
        for failure in failures {
            *self.late.entry(failure.clone()).or_default() += 1;
        }
        let is_likely = self.late.values().any(|&times| times >= MIN_SIGHTINGS);
        let decided = self.decided.as_mut().filter(|_| is_likely && !self.repeat_all)?;
        let late: Failures = self.late.keys().cloned().collect();
        let note = format!("from here on only what has failed is run: {}", names(&late));
        decided.repeat = to_repeat(late);
        Some(note)
    }

    /// Returns true if less than everything is repeated.
    fn is_narrowed(&self) -> bool {
        self.decided.as_ref().is_some_and(|decided| !decided.repeat.is_empty())
    }

    /// Gives up on comparing the end states: everything is repeated, and counts. Returns notes for the user.
    pub(crate) fn give_up(&mut self) -> Vec<String> {
        self.decided = Some(Decided::default());
        Vec::new()
    }

    /// Returns true if it is decided which failures count.
    pub(crate) fn is_settled(&self) -> bool {
        self.decided.is_some()
    }

    /// Returns the failures that the search is about, if they are known.
    pub(crate) fn searched(&self) -> Option<&Failures> {
        self.decided.as_ref().map(|decided| &decided.searched)
    }

    /// Returns true if the search is about failures at one of both end states. Those that also occurred at the other one
    /// are left out of the search.
    pub(crate) fn fails_at_one_end(&self) -> bool {
        self.searched().is_some_and(|searched| !searched.is_empty())
    }

    /// Returns the part of an executable that is to be run.
    pub(crate) fn subset(&self, executable: &str) -> Subset<'_> {
        match &self.decided {
            Some(decided) if !self.repeat_all && !decided.repeat.is_empty() => match decided.repeat.get(executable) {
                None => Subset::Nothing,
                Some(None) => Subset::Everything,
                Some(Some(tests)) => Subset::Tests(tests),
            },
            _ => Subset::Everything,
        }
    }

    /// Returns the least number of tests that a run of this selection executes.
    pub(crate) fn least_tests(&self) -> usize {
        let repeat = self.decided.as_ref().map(|decided| &decided.repeat).filter(|_| !self.repeat_all);
        let count = |tests: &Option<Vec<String>>| tests.as_ref().map_or(1, Vec::len);
        repeat.map_or(0, |repeat| repeat.values().map(count).sum::<usize>()).max(1)
    }

    /// Returns true if another executable has a failing test with one of these names, which is left out.
    pub(crate) fn leaves_out_elsewhere(&self, tests: &[String], executable: &str) -> bool {
        let is_one = |failure: &Failure| {
            failure.executable != executable && failure.test.as_ref().is_some_and(|test| tests.contains(test))
        };
        self.decided.as_ref().is_some_and(|decided| decided.ignored.iter().any(is_one))
    }

    /// Returns true if a failure counts: all count except the ignored ones.
    pub(crate) fn counts(&self, failure: &Failure) -> bool {
        self.decided.as_ref().is_none_or(|decided| !decided.ignored.contains(failure))
    }
}

fn decide(all: &Failures, none: &Failures, repaired: bool) -> (Decided, Vec<String>) {
    let difference = |a: &Failures, b: &Failures| a.difference(b).cloned().collect::<Failures>();
    let (only_all, only_none) = (difference(all, none), difference(none, all));
    let mut notes = Vec::new();
    let (searched, ignored, left_over) = match (only_all.is_empty(), only_none.is_empty()) {
        (false, false) if repaired => (only_none, all, Some((only_all, "enabled"))),
        (true, _) => (only_none, all, None),
        (false, _) => (only_all, none, Some((only_none, "disabled"))),
    };
    if searched.is_empty() {
        // The end states do not differ: the search will find that out by itself.
        return (Decided::default(), notes);
    }
    let both: Failures = all.intersection(none).cloned().collect();
    if !both.is_empty() {
        notes.push(format!("left out, because they fail both ways: {}", names(&both)));
    }
    if let Some((left_over, state)) = left_over.filter(|(left_over, _)| !left_over.is_empty()) {
        let names = names(&left_over);
        notes.push(format!(
            "left out, because they failed only with everything {state} (they may be flaky; to search for one, name it): {names}"
        ));
    }
    let repeat = to_repeat(searched.clone());
    (Decided { repeat, ignored: ignored.clone(), searched, needs_others: false }, notes)
}

fn to_repeat(searched: Failures) -> BTreeMap<String, Option<Vec<String>>> {
    let mut repeat: BTreeMap<String, Option<Vec<String>>> = BTreeMap::new();
    for Failure { executable, test } in searched {
        let tests = repeat.entry(executable).or_insert_with(|| Some(Vec::new()));
        match (tests.as_mut(), test) {
            (Some(tests), Some(test)) => tests.push(test),
            // The failing test is unknown: all tests are repeated.
            _ => *tests = None,
        }
    }
    for tests in repeat.values_mut() {
        if tests.as_ref().is_some_and(|tests| too_many_arguments(tests)) {
            *tests = None;
        }
    }
    repeat
}

/// Returns true if these tests are too many for a command line.
pub(crate) fn too_many_arguments(tests: &[String]) -> bool {
    tests.iter().map(|test| test.len() + 1).sum::<usize>() > ARGUMENTS
}

/// Returns the names of failures for people: `a, b, c and 3 more`.
pub(crate) fn names(failures: &Failures) -> String {
    const SHOWN: usize = 3;
    let name = |failure: &Failure| failure.test.clone().unwrap_or_else(|| "a whole executable".to_owned());
    let shown: Vec<_> = failures.iter().take(SHOWN).map(name).collect();
    let more = failures.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &more
}

#[cfg(test)]
#[path = "test_selection_tests.rs"]
mod tests;
