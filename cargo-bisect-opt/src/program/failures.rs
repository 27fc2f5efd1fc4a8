//! Which tests failed, which of them count, and what is therefore repeated.
//!
//! The first runs execute everything, with everything enabled and with everything disabled. What fails in only one of
//! them is what the search is about; what fails in both was broken anyway.

use std::collections::{BTreeMap, BTreeSet};

use crate::calibration::Side;

/// Something that failed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failure {
    /// [`Executable::key`](crate::cargo::Executable::key)
    pub executable: String,
    /// The test; `None`: the executable did not say which, or crashed.
    pub test: Option<String>,
}

impl Failure {
    /// That its executable failed as a whole.
    pub fn whole(&self) -> Self {
        Self { test: None, executable: self.executable.clone() }
    }
}

/// What failed in one run.
pub type Failures = BTreeSet<Failure>;

/// How much of an executable is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share<'a> {
    /// It is not started.
    Nothing,
    /// All that the user's arguments select.
    Everything,
    /// These tests.
    Tests(&'a [String]),
}

/// What the search is about.
#[derive(Clone, Debug, Default)]
pub struct Focus {
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
}

/// What fails so often in the middle of a search is not there by accident.
const TWICE: usize = 2;

/// Arguments can have this many bytes in sum: far below the limit of any system, far above most lists of failed tests.
const ARGUMENTS: usize = 24 << 10;

impl Focus {
    /// Nothing is known yet. Where `repeat_all` is set, all tests are run again all the same.
    pub fn new(repeat_all: bool) -> Self {
        Self { repeat_all, ..Self::default() }
    }

    /// Everything counts, and is repeated.
    pub fn any() -> Self {
        Self { decided: Some(Decided::default()), ..Self::default() }
    }

    /// Whether a run of this side can teach something: the first, and of a target that fails now and then, those that come
    /// later, too, as long as nothing has failed on one side only.
    pub fn wants(&self, side: Side) -> bool {
        match &self.decided {
            None => self.side(side).is_none(),
            Some(decided) => decided.searched.is_empty() && self.all.is_some() && self.none.is_some(),
        }
    }

    fn side(&self, side: Side) -> Option<&Failures> {
        match side {
            Side::All => self.all.as_ref(),
            Side::None => self.none.as_ref(),
        }
    }

    /// Learns what failed in a run of everything. The result is what the user should know.
    pub fn learn(&mut self, side: Side, failures: Failures) -> Vec<String> {
        let known = match side {
            Side::All => &mut self.all,
            Side::None => &mut self.none,
        };
        known.get_or_insert_default().extend(failures);
        let (Some(all), Some(none)) = (&self.all, &self.none) else { return Vec::new() };
        let (mut decided, notes) = decide(&self.blurred(all), &self.blurred(none));
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
    pub fn learn_unended(&mut self, failures: impl IntoIterator<Item = Failure>) {
        self.unended.extend(failures);
    }

    /// Where an executable did not come to its end and nobody knows by which of its tests, it may be any of those that fail at
    /// the other end: they are no difference.
    fn blurred(&self, failures: &Failures) -> Failures {
        let is_unclear = |failure: &Failure| self.unended.contains(&failure.whole());
        let blur = |failure: &Failure| if is_unclear(failure) { failure.whole() } else { failure.clone() };
        failures.iter().map(blur).collect()
    }

    /// Of what the search is about, only this is of interest from now on, if it is any of it.
    pub fn narrow(&mut self, is_meant: impl Fn(&Failure) -> bool) {
        let Some(decided) = &mut self.decided else { return };
        let (meant, others): (Failures, Failures) = decided.searched.iter().cloned().partition(is_meant);
        if !meant.is_empty() {
            decided.repeat = to_repeat(meant.clone());
            decided.ignored.extend(others);
            decided.searched = meant;
        }
    }

    /// Learns what failed in a run of some of the changes. Of a target that fails now and then, that may be the first failure.
    /// Once anything has failed twice, nothing is run any more that never has; all of that counts as before. The result is
    /// what the user should know.
    pub fn learn_late(&mut self, failures: &Failures) -> Option<String> {
        let is_empty = |side: &Option<Failures>| side.as_ref().is_some_and(Failures::is_empty);
        if !is_empty(&self.all) || !is_empty(&self.none) || self.is_narrowed() {
            return None;
        }
        for failure in failures {
            *self.late.entry(failure.clone()).or_default() += 1;
        }
        let is_likely = self.late.values().any(|&times| times >= TWICE);
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
    pub fn give_up(&mut self) -> Vec<String> {
        self.decided = Some(Decided::default());
        Vec::new()
    }

    /// Whether it is decided what counts.
    pub fn is_settled(&self) -> bool {
        self.decided.is_some()
    }

    /// What the search is about, if that is known.
    pub fn searched(&self) -> Option<&Failures> {
        self.decided.as_ref().map(|decided| &decided.searched)
    }

    /// What of an executable is to be run.
    pub fn share(&self, executable: &str) -> Share<'_> {
        match &self.decided {
            Some(decided) if !self.repeat_all && !decided.repeat.is_empty() => match decided.repeat.get(executable) {
                None => Share::Nothing,
                Some(None) => Share::Everything,
                Some(Some(tests)) => Share::Tests(tests),
            },
            _ => Share::Everything,
        }
    }

    /// Whether a failure is of those that the search is about.
    pub fn counts(&self, failure: &Failure) -> bool {
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
    (Decided { repeat: to_repeat(searched.clone()), ignored: ignored.clone(), searched }, notes)
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
pub fn too_many_arguments(tests: &[String]) -> bool {
    tests.iter().map(|test| test.len() + 1).sum::<usize>() > ARGUMENTS
}

/// `a, b, c and 3 more`
pub fn names(failures: &Failures) -> String {
    const SHOWN: usize = 3;
    let name = |failure: &Failure| failure.test.clone().unwrap_or_else(|| "a whole executable".to_owned());
    let shown: Vec<_> = failures.iter().take(SHOWN).map(name).collect();
    let more = failures.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &more
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `exe:test`, or `exe` alone for the whole of it.
    fn failures(list: &str) -> Failures {
        let failure = |item: &str| {
            let (executable, test) = item.split_once(':').map_or((item, None), |(e, t)| (e, Some(t.to_owned())));
            Failure { executable: executable.to_owned(), test }
        };
        list.split_whitespace().map(failure).collect()
    }

    #[test]
    fn all_tests_are_repeated_if_asked_for() {
        let mut focus = Focus::new(true);
        focus.learn(Side::All, failures("a:x a:broken"));
        focus.learn(Side::None, failures("a:broken"));
        assert_eq!((focus.share("a"), focus.share("b")), (Share::Everything, Share::Everything));
        let counting: Vec<_> = failures("a:x a:broken").into_iter().filter(|failure| focus.counts(failure)).collect();
        assert_eq!(counting, failures("a:x").into_iter().collect::<Vec<_>>(), "what was broken anyway does not count");
    }

    #[test]
    fn what_fails_now_and_then_is_searched_from_its_first_failure_on() {
        let (mut focus, _) = focus("", "");
        assert_eq!(
            (focus.share("x"), focus.counts(&failures("x:a").into_iter().next().unwrap())),
            (Share::Everything, true)
        );
        assert!(focus.learn(Side::None, failures("x:b")).is_empty());
        focus.learn(Side::All, failures("x:a x:b"));
        assert_eq!(focus.searched(), Some(&failures("x:a")));
        // And that is that.
        assert!(!focus.wants(Side::All) && !focus.wants(Side::None));
    }

    #[test]
    fn what_fails_twice_in_the_middle_of_a_search_narrows_it_to_what_has_failed() {
        let (mut focus, _) = focus("", "");
        assert_eq!(focus.learn_late(&failures("x:a")), None);
        assert_eq!(focus.learn_late(&failures("")), None);
        assert_eq!(focus.learn_late(&failures("x:b")), None, "each may be an accident");
        assert_eq!(focus.share("y"), Share::Everything);
        let note = focus.learn_late(&failures("x:b y:c"));
        assert_eq!(note.as_deref(), Some("from here on only what has failed is run: a, b, c"));
        let all = |tests: &[&str]| tests.iter().map(|&test| test.to_owned()).collect::<Vec<_>>();
        assert_eq!(focus.share("x"), Share::Tests(&all(&["a", "b"])));
        assert_eq!((focus.share("y"), focus.share("z")), (Share::Tests(&all(&["c"])), Share::Nothing));
        assert!(failures("x:a x:b x:new y:c").iter().all(|failure| focus.counts(failure)), "nothing is left out");
        // What fails at an end later says what is searched for; what has failed before is not lost.
        focus.learn(Side::All, failures(""));
        assert_eq!(focus.share("y"), Share::Tests(&all(&["c"])));
        focus.learn(Side::All, failures("x:b"));
        assert_eq!(focus.searched(), Some(&failures("x:b")));
        assert_eq!(focus.share("x"), Share::Tests(&all(&["a", "b"])));
        assert!(failures("x:a x:b y:c").iter().all(|failure| focus.counts(failure)));
    }

    #[test]
    fn what_fails_in_the_middle_of_a_search_says_nothing_if_something_failed_before() {
        for (all, none) in [("x:a", ""), ("", "x:a"), ("x:a", "x:a")] {
            let (mut focus, _) = focus(all, none);
            let before = focus.clone();
            for _ in 0..3 {
                assert_eq!(focus.learn_late(&failures("x:b")), None);
            }
            assert_eq!(focus.share("x"), before.share("x"), "{all}; {none}");
        }
        let mut first = Focus::default();
        assert_eq!((first.learn_late(&failures("x:a")), first.learn_late(&failures("x:a"))), (None, None));
        let mut focus = Focus::new(true);
        focus.learn(Side::All, failures(""));
        focus.learn(Side::None, failures(""));
        assert_eq!((focus.learn_late(&failures("x:a")), focus.learn_late(&failures("x:a"))), (None, None));
        assert_eq!(focus.share("x"), Share::Everything, "all tests are wanted");
    }

    fn focus(all: &str, none: &str) -> (Focus, Vec<String>) {
        let mut focus = Focus::default();
        assert!(focus.wants(Side::All) && focus.learn(Side::All, failures(all)).is_empty());
        assert!(!focus.wants(Side::All) && focus.wants(Side::None));
        let notes = focus.learn(Side::None, failures(none));
        let is_told_apart = focus.searched().is_some_and(|searched| !searched.is_empty());
        assert_eq!((focus.wants(Side::All), focus.wants(Side::None)), (!is_told_apart, !is_told_apart));
        (focus, notes)
    }

    /// What is run, as `exe:a,b` or `exe`; and what counts of `all` and `none`.
    fn outcome(all: &str, none: &str) -> (String, String, String) {
        let (focus, _) = focus(all, none);
        let run = ["x", "y"].into_iter().filter_map(|executable| match focus.share(executable) {
            Share::Nothing => None,
            Share::Everything => Some(executable.to_owned()),
            Share::Tests(tests) => Some(format!("{executable}:{}", tests.join(","))),
        });
        let counting = |list| {
            let text = |failure: &Failure| match &failure.test {
                None => failure.executable.clone(),
                Some(test) => format!("{}:{test}", failure.executable),
            };
            failures(list).iter().filter(|failure| focus.counts(failure)).map(text).collect::<Vec<_>>().join(" ")
        };
        (run.collect::<Vec<_>>().join(" "), counting(all), counting(none))
    }

    #[test]
    fn what_fails_one_way_is_repeated_and_counts() {
        for (all, none, run, in_all, in_none) in [
            ("", "", "x y", "", ""),
            ("x:a", "", "x:a", "x:a", ""),
            ("x:a x:b y:c", "", "x:a,b y:c", "x:a x:b y:c", ""),
            ("", "y:c", "y:c", "", "y:c"),
            // Broken anyway: `b`.
            ("x:a x:b", "x:b", "x:a", "x:a", ""),
            ("x:b", "x:a x:b", "x:a", "", "x:a"),
            // Nothing to tell apart.
            ("x:a", "x:a", "x y", "x:a", "x:a"),
            ("x", "x", "x y", "x", "x"),
            // Something fails each way: what fails with everything enabled is searched for.
            ("x:a", "y:c", "x:a", "x:a", ""),
            // Crashes.
            ("x", "", "x", "x", ""),
            ("x y:c", "", "x y:c", "x y:c", ""),
            ("x", "x:a", "x", "x", ""),
            ("x:a", "x", "x:a", "x:a", ""),
        ] {
            let expected = (run.to_owned(), in_all.to_owned(), in_none.to_owned());
            assert_eq!(outcome(all, none), expected, "all: {all}; none: {none}");
        }
    }

    #[test]
    fn a_test_that_fails_is_no_difference_if_the_other_end_does_not_say_what_hangs() {
        for (all, none, searched) in
            [("x:a", "", "x:a"), ("x:a", "x", ""), ("x", "x:a", ""), ("x:a", "y", "x:a"), ("x:a y:c", "x", "y:c")]
        {
            // Whether all of that hangs, or only what did not say which test it was.
            for hangs in [|_: &Failure| true, |failure: &Failure| failure.test.is_none()] {
                let mut focus = Focus::default();
                focus.learn_unended(failures(all).into_iter().filter(hangs));
                focus.learn(Side::All, failures(all));
                focus.learn_unended(failures(none).into_iter().filter(hangs));
                focus.learn(Side::None, failures(none));
                assert_eq!(focus.searched(), Some(&failures(searched)), "all: {all}; none: {none}");
            }
        }
    }

    #[test]
    fn a_new_failure_counts() {
        let (focus, _) = focus("x:a x:b", "x:b");
        assert!(failures("x x:new").iter().all(|failure| focus.counts(failure)));
    }

    #[test]
    fn the_user_is_told_what_does_not_count() {
        for (all, none, expected) in [
            ("x:a", "", &[] as &[_]),
            ("x:a", "x:a", &[]),
            ("x:a x:b", "x:b", &["left out, because they fail both ways: b"]),
            (
                "x:a x:b x:c x:d x:e x:f",
                "x:b x:c x:d x:e x:f",
                &["left out, because they fail both ways: b, c, d and 2 more"],
            ),
            ("x:a", "y:c", &["left out, because they fail only with everything disabled (search for them by name): c"]),
            ("x:a y", "y", &["left out, because they fail both ways: a whole executable"]),
        ] {
            assert_eq!(focus(all, none).1, expected, "all: {all}; none: {none}");
        }
    }

    #[test]
    fn too_many_names_for_a_command_line_are_not_named() {
        let many = |count: usize| (0..count).map(|i| format!("x:{i:010}")).collect::<Vec<_>>().join(" ");
        let (most, _) = focus(&many(ARGUMENTS / 11), "");
        assert!(matches!(most.share("x"), Share::Tests(tests) if tests.len() == ARGUMENTS / 11));
        assert_eq!(focus(&many(ARGUMENTS / 11 + 1), "").0.share("x"), Share::Everything);
    }
}
