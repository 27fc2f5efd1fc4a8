//! Tests of the meaning of failures: by their rates at both ends, by the environment, without culprits.

use bisect_core::search::Prefix;

use super::*;

fn cause(line: u32) -> Cause {
    Cause::of_test(&format!("thread 't' (7) panicked at src/lib.rs:{line}:5:\nbad"))
}

/// Learns executions at end states, each with its cause, or none for a pass.
fn learned(asked: Option<Mode>, executions: impl IntoIterator<Item = (EndState, Option<Cause>)>) -> Calibration<char> {
    let mut calibration = Calibration::new(asked);
    for (end, cause) in executions {
        calibration.learn_execution(end);
        if let Some(cause) = cause {
            calibration.learn(end, &'t', &cause);
        }
    }
    calibration
}

/// Returns executions for [`learned`], each with the line of its failure or 0 for a pass.
fn on_lines(executions: &[(EndState, u32)]) -> impl Iterator<Item = (EndState, Option<Cause>)> {
    executions.iter().map(|&(end, line)| (end, (line > 0).then(|| cause(line))))
}

/// Learns the executions at end states, each with the line of its failure or 0 for a pass, and checks the meaning of
/// failures on lines 1 to 3: searched, usual, another.
#[track_caller]
fn check(executions: &[(EndState, u32)], meanings: &str) {
    let calibration = learned(None, on_lines(executions));
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
fn where_both_ends_fail_the_user_may_ask_for_the_one_without_changes() {
    for (asked, off, expected) in [
        (None, 2, [Meaning::Searched, Meaning::Usual]),
        (Some(Mode::Disable), 2, [Meaning::Usual, Meaning::Searched]),
        (Some(Mode::Disable), 1, [Meaning::Searched, Meaning::Another]),
    ] {
        let calibration = learned(asked, on_lines(&[(EndState::AllOn, 1), (EndState::AllOff, off)]));
        assert_eq!([1, 2].map(|line| calibration.meaning(&'t', &cause(line))), expected, "{asked:?} {off}");
    }
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
        let without =
            |ids: &[u64]| Selection { excluded: ids.iter().copied().map(Rank).collect(), ..everything.clone() };
        let mut calibration = Calibration::default();
        calibration.learn_execution(EndState::AllOn);
        calibration.learn(EndState::AllOn, &'t', &cause(1));
        for (left_out, key, line) in [(&[7][..], 't', 2), (&[7, 8], 'u', 3)] {
            let rest = without(left_out);
            assert!(calibration.decide(&rest, &set(left_out), [(&key, &cause(line))].into_iter()).is_none());
            assert!(calibration.record_unconfirmed(&rest, [(&key, &cause(line))].into_iter()));
            assert!(!calibration.record_unconfirmed(&rest, [(&key, &cause(line))].into_iter()), "once is enough");
            let decided = calibration.decide(&rest, &set(left_out), [(&key, &cause(line))].into_iter()).unwrap();
            assert!(decided.is_searched && decided.cause == cause(line));
        }
        let fits = |selection: &Selection, key| {
            let calibration = calibration.for_runs_of(Some(selection));
            let is_searched = |&line: &u32| calibration.meaning(&key, &cause(line)) == Meaning::Searched;
            (1..=3).filter(is_searched).collect::<Vec<_>>()
        };
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

#[test]
fn what_does_not_remain_is_not_searched_for() {
    let rest = Selection { excluded: vec![Rank(7)], ..Selection::all() };
    let left_out = BTreeSet::from([Rank(7)]);
    for (ends, again, is_searched) in [
        (&[(EndState::AllOff, 0)][..], Some(2), true),
        (&[(EndState::AllOff, 0)], None, false),
        (&[(EndState::AllOff, 0)], Some(3), false),
        (&[(EndState::AllOff, 0), (EndState::AllOff, 2)], Some(2), false),
        (&[(EndState::AllOn, 2), (EndState::AllOff, 2), (EndState::AllOff, 0)], Some(2), false),
    ] {
        let mut calibration = Calibration::default();
        for &(end, line) in [(EndState::AllOn, 1)].iter().chain(ends) {
            calibration.learn_execution(end);
            if line > 0 {
                calibration.learn(end, &'t', &cause(line));
            }
        }
        assert!(calibration.record_unconfirmed(&rest, [(&'t', &cause(2))].into_iter()));
        let again = again.map(cause);
        let decided = calibration.decide(&rest, &left_out, again.iter().map(|cause| (&'t', cause))).unwrap();
        assert_eq!(decided.is_searched, is_searched, "{ends:?} {again:?}");
        let note = if is_searched {
            "with everything else it fails in another way (c): the search goes on for that failure"
        } else {
            "with everything else it failed in another way (c), but not repeatedly, or also at the other end of the \
             search: that failure is not searched for"
        };
        assert_eq!(decided.note("c"), note);
        assert_eq!(calibration.for_runs_of(Some(&rest)).left.len(), usize::from(is_searched));
    }
}

#[test]
fn both_ends_may_fail_in_different_ways() {
    use EndState::{AllOff, AllOn};
    let both = |executions: &[(EndState, u32)]| {
        let calibration = learned(None, on_lines(executions));
        calibration.both_fail(&'t').map(|both| (both.searched, both.usual, both.is_enabled))
    };
    let (one, two) = ("panic at src/lib.rs:1:5".to_owned(), "panic at src/lib.rs:2:5".to_owned());
    let expected = Some((one.clone(), two.clone(), true));
    assert_eq!(both(&[(AllOn, 1), (AllOff, 2)]), expected);
    assert_eq!(both(&[(AllOn, 1), (AllOff, 2), (AllOn, 1), (AllOff, 2)]), expected);
    for other in [
        &[(AllOn, 1_u32)] as &[_],
        &[(AllOn, 1), (AllOff, 1)],
        &[(AllOn, 1), (AllOff, 0)],
        // It passes now and then at one end.
        &[(AllOn, 1), (AllOff, 2), (AllOff, 0)],
        &[(AllOn, 1), (AllOn, 0), (AllOff, 2)],
        // The failure that is searched for occurs at both.
        &[(AllOn, 1), (AllOn, 1), (AllOff, 2), (AllOff, 1)],
    ] {
        assert_eq!(both(other), None, "{other:?}");
    }
}

#[test]
fn a_failure_to_build_is_searched_for_only_where_an_end_shows_it() {
    let unbuilt = |code: &str| Cause::of_messages(format!("error[{code}]: no\n --> src/lib.rs:3:5\n").as_bytes());
    let meaning = |ends: &[(EndState, Cause)], cause: &Cause| {
        learned(None, ends.iter().map(|(end, cause)| (*end, Some(cause.clone())))).meaning(&'t', cause)
    };
    let (with, none) = (EndState::AllOn, EndState::AllOff);
    let (e0425, e0308) = (unbuilt("E0425"), unbuilt("E0308"));
    assert_eq!(meaning(&[], &e0425), Meaning::Searched, "a build may be the target");
    assert_eq!(meaning(&[(with, cause(1))], &e0425), Meaning::Another);
    assert_eq!(meaning(&[(with, cause(1)), (none, e0425.clone())], &e0425), Meaning::Another, "it does not pass");
    assert_eq!(meaning(&[(with, e0425.clone())], &e0425), Meaning::Searched);
    assert_eq!(meaning(&[(with, e0425.clone())], &e0308), Meaning::Another);
    assert_eq!(meaning(&[(with, e0425.clone()), (none, e0308.clone())], &e0308), Meaning::Usual);
    let both = learned(None, [(with, Some(e0425)), (none, Some(e0308))]).both_fail(&'t').unwrap();
    assert_eq!(both.headline("expression", 1), "this expression replaces E0308 by E0425");
    assert_eq!(both.headline("expression", 2), "these 2 expressions together replace E0308 by E0425");
}
