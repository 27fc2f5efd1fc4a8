//! Which tests failed, which of them count, and what is therefore repeated.
//!
//! The first runs execute everything, with everything enabled and with everything disabled. What fails in only one of
//! them is what the search is about; what fails in both was broken anyway.

use std::collections::{BTreeMap, BTreeSet};

use crate::run::spec::EndState;

/// Something that failed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Failure {
    /// [`Executable::key`](crate::cargo::Executable::key)
    pub(crate) executable: String,
    /// The test; `None`: the executable did not say which, or crashed.
    pub(crate) test: Option<String>,
}

impl Failure {
    /// That its executable failed as a whole.
    pub(crate) fn whole(&self) -> Self {
        Self { test: None, executable: self.executable.clone() }
    }
}

/// What failed in one run.
pub(crate) type Failures = BTreeSet<Failure>;

/// How much of an executable is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subset<'a> {
    /// It is not started.
    Nothing,
    /// All that the user's arguments select.
    Everything,
    /// These tests.
    Tests(&'a [String]),
}

/// What the search is about.
#[derive(Clone, Debug, Default)]
pub(crate) struct TestSelection {
    /// Nothing is left out of later runs.
    repeat_all: bool,
    all: Option<Failures>,
    none: Option<Failures>,
    /// What did not come to its end, at the ends of the search.
    unended: Failures,
    /// How often what failed elsewhere did so, while nothing had failed at the ends.
    late: BTreeMap<Failure, usize>,
    decided: Option<Decided>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Decided {
    /// What fails in one of the two only.
    searched: Failures,
    /// Of each executable, the tests that are repeated; `None`: all of them. Others are not run. Empty: everything is run.
    repeat: BTreeMap<String, Option<Vec<String>>>,
    /// What does not count.
    ignored: Failures,
    /// What fails needs other tests, which are therefore repeated with it.
    needs_others: bool,
}

/// What fails so often in the middle of a search is not there by accident.
const MIN_SIGHTINGS: usize = 2;

/// Arguments can have this many bytes in sum: far below the limit of any system, far above most lists of failed tests.
const ARGUMENTS: usize = 24 << 10;

impl TestSelection {
    /// Nothing is known yet. Where `repeat_all` is set, all tests are run again all the same.
    pub(crate) fn new(repeat_all: bool) -> Self {
        Self { repeat_all, ..Self::default() }
    }

    /// Everything counts, and is repeated.
    pub(crate) fn any() -> Self {
        Self { decided: Some(Decided::default()), ..Self::default() }
    }

    /// Only this is repeated.
    pub(crate) fn only(failures: &Failures) -> Self {
        let decided = Decided { repeat: to_repeat(failures.clone()), ..Decided::default() };
        Self { decided: Some(decided), ..Self::default() }
    }

    /// Whatever runs in the same process as this is repeated.
    pub(crate) fn executables_of(failures: &Failures) -> Self {
        Self::only(&failures.iter().map(Failure::whole).collect())
    }

    /// Repeats the other tests of these executables as well, if these tests need them to fail: one of them, where one
    /// failure is enough, or else all. The result is what the user should know.
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

    /// Whether what fails needs other tests to fail.
    pub(crate) fn needs_others(&self) -> bool {
        self.decided.as_ref().is_some_and(|decided| decided.needs_others)
    }

    /// Whether a run of this side can teach something: the first, and of a target that fails now and then, those that come
    /// later, too, as long as nothing has failed on one side only.
    pub(crate) fn wants(&self, side: EndState) -> bool {
        match &self.decided {
            None => self.failed_at(side).is_none(),
            Some(decided) => decided.searched.is_empty() && self.all.is_some() && self.none.is_some(),
        }
    }

    /// What has failed at an end.
    pub(crate) fn failed_at(&self, side: EndState) -> Option<&Failures> {
        match side {
            EndState::AllOn => self.all.as_ref(),
            EndState::AllOff => self.none.as_ref(),
        }
    }

    /// Learns what failed in a run of everything. The result is what the user should know.
    pub(crate) fn learn(&mut self, side: EndState, failures: Failures) -> Vec<String> {
        let known = match side {
            EndState::AllOn => &mut self.all,
            EndState::AllOff => &mut self.none,
        };
        known.get_or_insert_default().extend(failures);
        let (Some(all), Some(none)) = (&self.all, &self.none) else { return Vec::new() };
        let (mut decided, notes) = decide(&self.coarsened(all), &self.coarsened(none));
        if !decided.searched.is_empty() {
            // What was seen to fail stays in sight.
            let late = self.late.keys().filter(|failure| !decided.ignored.contains(failure));
            decided.repeat = to_repeat(late.chain(&decided.searched).cloned().collect());
        } else if self.is_narrowed() {
            return notes;
        }
        self.decided = Some(decided);
        notes
    }

    /// Learns which failures in a run of everything are that something did not come to its end.
    pub(crate) fn learn_unended(&mut self, failures: impl IntoIterator<Item = Failure>) {
        self.unended.extend(failures);
    }

    /// Where an executable did not come to its end and nobody knows by which of its tests, it may be any of those that fail at
    /// the other end: they are no difference.
    fn coarsened(&self, failures: &Failures) -> Failures {
        let is_unclear = |failure: &Failure| self.unended.contains(&failure.whole());
        let blur = |failure: &Failure| if is_unclear(failure) { failure.whole() } else { failure.clone() };
        failures.iter().map(blur).collect()
    }

    /// Of what the search is about, only this is of interest from now on, if it is any of it.
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

    /// Learns what failed in a run of some of the changes. Of a target that fails now and then, that may be the first failure.
    /// Once anything has failed twice, nothing is run any more that never has; all of that counts as before. The result is
    /// what the user should know.
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

    /// Whether less than everything is repeated.
    fn is_narrowed(&self) -> bool {
        self.decided.as_ref().is_some_and(|decided| !decided.repeat.is_empty())
    }

    /// One of the two runs does not tell: then everything is repeated, and counts.
    pub(crate) fn give_up(&mut self) -> Vec<String> {
        self.decided = Some(Decided::default());
        Vec::new()
    }

    /// Whether it is decided what counts.
    pub(crate) fn is_settled(&self) -> bool {
        self.decided.is_some()
    }

    /// What the search is about, if that is known.
    pub(crate) fn searched(&self) -> Option<&Failures> {
        self.decided.as_ref().map(|decided| &decided.searched)
    }

    /// What of an executable is to be run.
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

    /// Whether a failure is of those that the search is about.
    pub(crate) fn counts(&self, failure: &Failure) -> bool {
        self.decided.as_ref().is_none_or(|decided| !decided.ignored.contains(failure))
    }
}

fn decide(all: &Failures, none: &Failures) -> (Decided, Vec<String>) {
    let difference = |a: &Failures, b: &Failures| a.difference(b).cloned().collect::<Failures>();
    let (only_all, only_none) = (difference(all, none), difference(none, all));
    let mut notes = Vec::new();
    let (searched, ignored, left_over) =
        if only_all.is_empty() { (only_none, all, None) } else { (only_all, none, Some(only_none)) };
    if searched.is_empty() {
        // Nothing to tell apart: the search will find that out by itself.
        return (Decided::default(), notes);
    }
    let both: Failures = all.intersection(none).cloned().collect();
    if !both.is_empty() {
        notes.push(format!("left out, because they fail both ways: {}", names(&both)));
    }
    if let Some(left_over) = left_over.filter(|left_over| !left_over.is_empty()) {
        let names = names(&left_over);
        notes.push(format!(
            "left out, because they fail only with everything disabled (search for them by name): {names}"
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
            // It did not say which: all of them.
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

/// Whether these are too many for a command line.
pub(crate) fn too_many_arguments(tests: &[String]) -> bool {
    tests.iter().map(|test| test.len() + 1).sum::<usize>() > ARGUMENTS
}

/// `a, b, c and 3 more`
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
