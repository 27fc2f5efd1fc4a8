//! Tests of the selection: what is repeated and what counts after which failures.

use super::*;

/// Parses failures: `exe:test`, or `exe` alone for the whole executable.
fn failures(list: &str) -> Failures {
    let failure = |item: &str| {
        let (executable, test) = item.split_once(':').map_or((item, None), |(e, t)| (e, Some(t.to_owned())));
        Failure { executable: executable.to_owned(), test }
    };
    list.split_whitespace().map(failure).collect()
}

#[test]
fn all_tests_are_repeated_if_asked_for() {
    let mut focus = TestSelection::new(true, None);
    focus.learn(EndState::AllOn, failures("a:x a:broken"));
    focus.learn(EndState::AllOff, failures("a:broken"));
    assert_eq!((focus.subset("a"), focus.subset("b")), (Subset::Everything, Subset::Everything));
    let counting: Vec<_> = failures("a:x a:broken").into_iter().filter(|failure| focus.counts(failure)).collect();
    assert_eq!(counting, failures("a:x").into_iter().collect::<Vec<_>>(), "what was broken anyway does not count");
}

#[test]
fn what_fails_now_and_then_is_searched_from_its_first_failure_on() {
    let (mut focus, _) = focus("", "");
    assert_eq!(
        (focus.subset("x"), focus.counts(&failures("x:a").into_iter().next().unwrap())),
        (Subset::Everything, true)
    );
    assert!(focus.learn(EndState::AllOff, failures("x:b")).is_empty());
    focus.learn(EndState::AllOn, failures("x:a x:b"));
    assert_eq!(focus.searched(), Some(&failures("x:a")));
    // Nothing more can be learned from the end states.
    assert!(!focus.wants(EndState::AllOn) && !focus.wants(EndState::AllOff));
}

#[test]
fn what_fails_twice_in_the_middle_of_a_search_narrows_it_to_what_has_failed() {
    let (mut focus, _) = focus("", "");
    assert_eq!(focus.learn_late(&failures("x:a")), None);
    assert_eq!(focus.learn_late(&failures("")), None);
    assert_eq!(focus.learn_late(&failures("x:b")), None, "each may be an accident");
    assert_eq!(focus.subset("y"), Subset::Everything);
    let note = focus.learn_late(&failures("x:b y:c"));
    assert_eq!(note.as_deref(), Some("from here on only what has failed is run: a, b, c"));
    let all = |tests: &[&str]| tests.iter().map(|&test| test.to_owned()).collect::<Vec<_>>();
    assert_eq!(focus.subset("x"), Subset::Tests(&all(&["a", "b"])));
    assert_eq!((focus.subset("y"), focus.subset("z")), (Subset::Tests(&all(&["c"])), Subset::Nothing));
    assert!(failures("x:a x:b x:new y:c").iter().all(|failure| focus.counts(failure)), "nothing is left out");
    // A later failure at an end state determines what is searched. Tests that failed before are still repeated.
    focus.learn(EndState::AllOn, failures(""));
    assert_eq!(focus.subset("y"), Subset::Tests(&all(&["c"])));
    focus.learn(EndState::AllOn, failures("x:b"));
    assert_eq!(focus.searched(), Some(&failures("x:b")));
    assert_eq!(focus.subset("x"), Subset::Tests(&all(&["a", "b"])));
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
        assert_eq!(focus.subset("x"), before.subset("x"), "{all}; {none}");
    }
    let mut first = TestSelection::default();
    assert_eq!((first.learn_late(&failures("x:a")), first.learn_late(&failures("x:a"))), (None, None));
    let mut focus = TestSelection::new(true, None);
    focus.learn(EndState::AllOn, failures(""));
    focus.learn(EndState::AllOff, failures(""));
    assert_eq!((focus.learn_late(&failures("x:a")), focus.learn_late(&failures("x:a"))), (None, None));
    assert_eq!(focus.subset("x"), Subset::Everything, "all tests are wanted");
}

fn focus(all: &str, none: &str) -> (TestSelection, Vec<String>) {
    let mut focus = TestSelection::default();
    assert!(focus.wants(EndState::AllOn) && focus.learn(EndState::AllOn, failures(all)).is_empty());
    assert!(!focus.wants(EndState::AllOn) && focus.wants(EndState::AllOff));
    let notes = focus.learn(EndState::AllOff, failures(none));
    let is_told_apart = focus.searched().is_some_and(|searched| !searched.is_empty());
    assert_eq!((focus.wants(EndState::AllOn), focus.wants(EndState::AllOff)), (!is_told_apart, !is_told_apart));
    (focus, notes)
}

/// Returns what is run, as `exe:a,b` or `exe`, and which failures of `all` and `none` count.
fn outcome(all: &str, none: &str) -> (String, String, String) {
    let (focus, _) = focus(all, none);
    let run = ["x", "y"].into_iter().filter_map(|executable| match focus.subset(executable) {
        Subset::Nothing => None,
        Subset::Everything => Some(executable.to_owned()),
        Subset::Tests(tests) => Some(format!("{executable}:{}", tests.join(","))),
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
        // `b` was broken anyway.
        ("x:a x:b", "x:b", "x:a", "x:a", ""),
        ("x:b", "x:a x:b", "x:a", "", "x:a"),
        // The end states do not differ.
        ("x:a", "x:a", "x y", "x:a", "x:a"),
        ("x", "x", "x y", "x", "x"),
        // Something else fails at each end state: what fails with everything enabled is searched for.
        ("x:a", "y:c", "x:a", "x:a", ""),
        // A whole executable crashes.
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
        // Either everything hangs, or only the executables that did not name the test.
        for hangs in [|_: &Failure| true, |failure: &Failure| failure.test.is_none()] {
            let mut focus = TestSelection::default();
            focus.learn_unended(failures(all).into_iter().filter(hangs));
            focus.learn(EndState::AllOn, failures(all));
            focus.learn_unended(failures(none).into_iter().filter(hangs));
            focus.learn(EndState::AllOff, failures(none));
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
        (
            "x:a",
            "y:c",
            &[
                "left out, because they failed only with everything disabled (they may be flaky; to search for one, name it): c",
            ],
        ),
        ("x:a y", "y", &["left out, because they fail both ways: a whole executable"]),
    ] {
        assert_eq!(focus(all, none).1, expected, "all: {all}; none: {none}");
    }
}

#[test]
fn too_many_names_for_a_command_line_are_not_named() {
    let many = |count: usize| (0..count).map(|i| format!("x:{i:010}")).collect::<Vec<_>>().join(" ");
    let (most, _) = focus(&many(ARGUMENTS / 11), "");
    assert!(matches!(most.subset("x"), Subset::Tests(tests) if tests.len() == ARGUMENTS / 11));
    assert_eq!(focus(&many(ARGUMENTS / 11 + 1), "").0.subset("x"), Subset::Everything);
}
