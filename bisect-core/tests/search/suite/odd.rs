//! Tests that behave unexpectedly, while the search of the others is not affected.

use std::num::NonZeroUsize;

use bisect_core::{
    Field,
    search::{
        Inconsistency, Observation, Options, Outcome, Question, Rank, Reason, Search, Trial, TrialId, Unusable, Verdict,
    },
};

use super::{Target, Test, in_flight, search, sets, taking_turns};
use crate::simulator::change;

/// Searches six tests, one of which misbehaves, while the others have two culprits.
fn with_one_odd(
    options: Options,
    observe: &mut dyn FnMut(Observation, &Trial, &Target) -> Observation,
) -> (Search, Target) {
    let target = taking_turns(7, 100, 6, 2);
    let search = search(&target, options, &[0], &mut |target, test, trial| {
        let seen = target.observe(test, &trial.selection);
        if test == 4 { observe(seen, trial, target) } else { seen }
    });
    for test in [0, 1, 2, 3, 5] {
        assert_eq!(search.test(test).verdict(), Some(&Verdict::Complete));
        assert_eq!(sets(search.test(test).found()), [[target.ids[test % 2]].into()].into());
    }
    assert_eq!((search.verdict().as_ref(), search.progress().undecided()), (search.test(4).verdict(), 0));
    (search, target)
}

fn outcome(fails: bool) -> Outcome {
    if fails { Outcome::Fail } else { Outcome::Pass }
}

#[test]
fn a_test_that_fails_only_in_company_is_left_alone() {
    let target = taking_turns(7, 100, 6, 2);
    let search = search(&target, Options::default(), &[0], &mut |target, test, trial| {
        let seen = target.observe(test, &trial.selection);
        if test == 4 { Observation { outcome: Outcome::Pass, ..seen } } else { seen }
    });
    assert_eq!(search.test(4).verdict(), Some(&Verdict::NoDifference(Outcome::Pass)));
    assert_eq!(
        (search.verdict(), search.progress().undecided()),
        (Some(Verdict::Complete), 0),
        "the others can be told"
    );
    let trials = (0..search.progress().trials()).map(|trial| search.trial(TrialId(trial)));
    let its: Vec<_> = trials.filter(|trial| trial.tests.contains(&4)).map(|trial| trial.question).collect();
    assert_eq!(its, [Question::AllOn]);
}

#[test]
fn tests_that_all_fail_only_in_company_leave_nothing_to_find() {
    let target = taking_turns(7, 100, 6, 2);
    let search = search(&target, Options::default(), &[0], &mut |target, test, trial| Observation {
        outcome: Outcome::Pass,
        ..target.observe(test, &trial.selection)
    });
    assert_eq!((search.verdict(), search.progress().runs()), (Some(Verdict::NoDifference(Outcome::Pass)), 3));
}

#[test]
fn a_test_that_tells_nothing_on_its_own_is_unusable_alone() {
    let (search, _) = with_one_odd(Options::default(), &mut |seen, trial, _| match trial.question {
        Question::AllOn => Observation { outcome: Outcome::Unresolved(Reason::Timeout), ..seen },
        _ => seen,
    });
    let unresolved = Unusable::Unresolved(Question::AllOn, Reason::Timeout);
    assert_eq!(search.test(4).verdict(), Some(&Verdict::Unusable(unresolved)));
    let (search, _) = with_one_odd(Options::default(), &mut |seen, _, _| Observation { reported: Vec::new(), ..seen });
    assert_eq!(search.test(4).verdict(), Some(&Verdict::Unusable(Unusable::NoReports)));
}

/// Covers a test that reaches the culprit of another test only where one of its own changes is off, and then passes.
#[test]
fn a_test_that_comes_by_what_breaks_another_one_is_asked_again_on_its_own() {
    for count in [1, 4] {
        // By rank: test 0 has the first ten changes, test 1 the next, and so on. Each is broken by its last change but
        // one, except for the last test, which is broken by the very last change.
        let change = |rank: u64| Rank(rank << 58);
        let test = |i: usize| Test {
            fails: vec![[10 * i + 8 + i / 2].into()],
            reaches: Some((10 * i..10 * i + 10).collect()),
            ..Test::default()
        };
        let tests = (0..3).map(test).collect();
        let target = Target { ids: (0..30).map(change).collect(), ..Target::new(0, 0, tests) };
        let options = in_flight(count, &Options::default());
        let mut named = Vec::new();
        let search = search(&target, options, &[0], &mut |target, test, trial| {
            if test == 0 && trial.question == Question::FoundAlone {
                named.push(trial.selection.forced.len());
            }
            let mut seen = target.observe(test, &trial.selection);
            let is_on = |i: usize| trial.selection.contains(target.ids[i]);
            if test == 0 && is_on(29) && !is_on(9) && !trial.selection.inverted {
                seen.outcome = Outcome::Pass;
                seen.reported.push(target.ids[29]);
            }
            seen
        });
        assert_eq!(search.verdict(), Some(Verdict::Complete), "{count} in flight");
        assert_eq!(sets(search.test(0).found()), [[target.ids[8]].into()].into());
        assert!(matches!(named[..], [2 | 3, 1]), "in company first, then not: {named:?}");
        let confirmed_by = search.test(0).found()[0].confirmed_by;
        assert_eq!(search.trial(confirmed_by).selection.forced, [target.ids[8]]);
    }
}

#[test]
fn a_test_that_reports_what_it_was_not_asked_for_is_unusable_alone() {
    let (search, _) =
        with_one_odd(Options::default(), &mut |seen, _, target| Observation { reported: target.ids.clone(), ..seen });
    assert!(matches!(search.test(4).verdict(), Some(Verdict::Unusable(Unusable::Unasked { .. }))));
    assert!(search.test(4).found().is_empty());
}

#[test]
fn a_test_that_ignores_the_pattern_is_told_from_one_that_slips() {
    for (slips, expected) in [(false, true), (true, false)] {
        let (search, _) = with_one_odd(Options::default(), &mut |seen, trial, target| {
            let all = target.ids.iter().copied().skip(usize::from(slips && trial.question != Question::AllOn));
            Observation { reported: all.collect(), ..seen }
        });
        let Some(Verdict::Unusable(Unusable::Unasked { ignores_pattern, changes, .. })) = search.test(4).verdict()
        else {
            panic!("{:?}", search.test(4).verdict())
        };
        assert_eq!((*ignores_pattern, changes.len()), (expected, 8));
    }
}

#[test]
fn a_flaky_test_is_inconsistent_alone() {
    let twice = Options { runs_per_trial: NonZeroUsize::new(2).unwrap(), ..Options::default() };
    let mut runs = 0;
    let (search, _) = with_one_odd(twice, &mut |seen, _, _| {
        runs += 1;
        Observation { outcome: outcome(runs % 2 == 0), ..seen }
    });
    let Some(Verdict::Inconsistent(Inconsistency::Runs(trial))) = search.test(4).verdict() else {
        panic!("{:?}", search.test(4).verdict())
    };
    assert!(search.trial(*trial).tests.contains(&4));
    assert_eq!(
        (runs, search.progress().runs()),
        (2, 2 * search.progress().trials()),
        "it is not run any more, and the others twice each"
    );
}

#[test]
fn a_test_that_is_not_confirmed_is_not_accused() {
    let (search, target) = with_one_odd(Options::default(), &mut |seen, trial, target| {
        // It fails with any prefix that has this change, but not with this change alone.
        let fails = trial.selection.contains(target.ids[3]) && trial.question != Question::FoundAlone;
        let fails = fails && !trial.selection.inverted && trial.question != Question::AllButFound;
        Observation { outcome: outcome(fails), ..seen }
    });
    let verdict = search.test(4).verdict();
    assert!(
        matches!(verdict, Some(Verdict::Inconsistent(Inconsistency::NotConfirmed(_, set))) if set.contains(&target.ids[3])),
        "{verdict:?}"
    );
    assert!(search.test(4).found().is_empty());
}

#[test]
fn a_test_that_fails_for_good_is_not_accused() {
    for from in 0..12 {
        let mut runs = 0;
        let (search, _) = with_one_odd(Options::default(), &mut |seen, _, _| {
            runs += 1;
            Observation { outcome: if runs > from { Outcome::Fail } else { seen.outcome }, ..seen }
        });
        if search.test(4).verdict() != Some(&Verdict::Complete) {
            assert!(
                matches!(search.test(4).verdict(), Some(Verdict::Inconsistent(_))),
                "{:?}",
                search.test(4).verdict()
            );
            assert!(search.test(4).found().is_empty(), "{from}");
        }
    }
}

#[test]
fn runs_that_tell_nothing_are_worked_around() {
    let (search, target) = with_one_odd(Options::default(), &mut |seen, trial, target| {
        // A run is unresolved if change 50 is on without change 60.
        let on = |i: usize| trial.selection.contains(target.ids[i]) != trial.selection.inverted;
        let outcome = if on(50) && !on(60) { Outcome::Unresolved(Reason::Skip) } else { seen.outcome };
        Observation { outcome, ..seen }
    });
    assert_eq!(search.test(4).verdict(), Some(&Verdict::Complete));
    assert_eq!(sets(search.test(4).found()), [[target.ids[0]].into()].into());
}

#[test]
fn a_test_that_invents_changes_without_end() {
    let (search, _) = with_one_odd(Options::default(), &mut |_, trial, _| {
        let fresh = |i: u64| change(&[Field::U64(trial.id.0 as u64), Field::U64(i)]);
        let invented = (0..64).map(fresh).filter(|&id| trial.selection.contains(id));
        let reported = invented.chain(trial.selection.forced.iter().copied()).collect();
        Observation { outcome: outcome(!trial.selection.inverted), reported }
    });
    assert!(matches!(search.test(4).verdict(), Some(Verdict::Inconsistent(_))), "{:?}", search.test(4).verdict());
}
