//! Targets that are not monotone, are inconsistent or report wrongly: the search ends within its bound and names no
//! innocent change.

use std::{cell::Cell, collections::BTreeSet, num::NonZeroUsize};

use crate::{
    behaviour::id,
    in_flight::Target,
    simulator::{Run, search},
};
use bisect_core::{
    ChangeId,
    search::{
        Incomplete, Inconsistency, Noise, Observation, Options, Order, Outcome, Question, Rank, Reason, Search, Step,
        Trial, TrialId, Unusable, Verdict,
    },
};
use proptest::{
    collection::{btree_set, vec},
    prelude::*,
};

const PASS: Outcome = Outcome::Pass;
const FAIL: Outcome = Outcome::Fail;
const SKIP: Outcome = Outcome::Unresolved(Reason::Skip);

fn named(n: usize) -> Vec<Rank> {
    (0..n).map(|i| Rank::of(id(&format!("change {i}")))).collect()
}

fn outcome(fails: bool) -> Outcome {
    if fails { FAIL } else { PASS }
}

#[test]
fn a_target_that_ignores_the_pattern() {
    let ids = named(20);
    let finished = search(Options::default(), 10, |run: Run<'_>| Observation {
        // It obeys `n`, like the target for which Go's tool names culprits without end.
        outcome: outcome(!run.selection.inverted),
        reported: ids.clone(),
    });
    let Verdict::Unusable(Unusable::Unasked { ignores_pattern, .. }) = finished.verdict else {
        panic!("{:?}", finished.verdict)
    };
    assert!(ignores_pattern);
}

#[test]
fn a_report_that_was_not_asked_for() {
    let ids = named(20);
    let finished = search(Options::default(), 10, |run: Run<'_>| {
        let mut reported = run.reported(ids.iter().copied());
        if run.number == 3 {
            reported.extend(ids.iter().find(|&&id| !run.selection.contains(id)));
        }
        Observation { outcome: outcome(run.enabled(ids[0])), reported }
    });
    let Verdict::Unusable(Unusable::Unasked { trial, changes, ignores_pattern }) = finished.verdict else {
        panic!("{:?}", finished.verdict)
    };
    assert_eq!((trial, changes.len(), ignores_pattern), (TrialId(2), 1, false));
}

#[test]
fn a_target_that_reports_nothing() {
    let finished = search(Options::default(), 2, |run: Run<'_>| Observation {
        outcome: outcome(run.enabled(Rank(0))),
        reported: Vec::new(),
    });
    assert_eq!(finished.verdict, Verdict::Unusable(Unusable::NoReports));
}

#[test]
fn a_target_that_makes_no_difference() {
    for all in [PASS, FAIL] {
        let finished = search(Options::default(), 2, |run: Run<'_>| Observation {
            outcome: all,
            reported: run.reported(named(3)),
        });
        assert_eq!(finished.verdict, Verdict::NoDifference(all));
    }
}

#[test]
fn a_calibration_that_does_not_resolve() {
    for (number, question) in [(1, Question::AllOn), (2, Question::AllOff)] {
        let finished = search(Options::default(), 2, |run: Run<'_>| Observation {
            outcome: if run.number == number { SKIP } else { PASS },
            reported: Vec::new(),
        });
        assert_eq!(finished.verdict, Verdict::Unusable(Unusable::Unresolved(question, Reason::Skip)));
    }
}

#[test]
fn a_set_that_is_not_confirmed() {
    // It fails with any selection that is a prefix, but not with the change alone.
    let ids = named(8);
    let finished = search(Options::default(), 12, |run: Run<'_>| Observation {
        outcome: outcome(run.enabled(ids[0]) && run.selection.forced.is_empty()),
        reported: run.reported(ids.iter().copied()),
    });
    assert!(matches!(finished.verdict, Verdict::Inconsistent(Inconsistency::NotConfirmed(_, set)) if set == [ids[0]]));
    assert!(finished.search.test(0).found().is_empty());
}

#[test]
fn a_target_that_fails_for_good_from_some_run_on() {
    let ids = named(64);
    for from in 3..9 {
        let finished = search(Options::default(), 20, |run: Run<'_>| Observation {
            outcome: outcome(run.number >= from || run.number == 1),
            reported: run.reported(ids.iter().copied()),
        });
        assert!(matches!(finished.verdict, Verdict::Inconsistent(_)), "{:?}", finished.verdict);
        assert!(finished.search.test(0).found().is_empty());
    }
}

#[test]
fn runs_of_one_trial_that_disagree() {
    let ids = named(64);
    let twice = Options { runs_per_trial: NonZeroUsize::new(2).unwrap(), ..Options::default() };
    let finished = search(twice.clone(), 20, |run: Run<'_>| Observation {
        outcome: outcome(run.enabled(ids[0]) && run.number != 1),
        reported: run.reported(ids.iter().copied()),
    });
    let Verdict::Inconsistent(Inconsistency::Runs(trial)) = finished.verdict else { panic!("{:?}", finished.verdict) };
    assert_eq!((trial, finished.search.progress().runs()), (TrialId(0), 2));
    // Runs that agree cost twice as many.
    let finished = search(twice, 2 * 10, |run: Run<'_>| Observation {
        outcome: outcome(run.enabled(ids[0])),
        reported: run.reported(ids.iter().copied()),
    });
    assert_eq!(finished.sets(), [BTreeSet::from([ids[0]])]);
    assert_eq!(finished.search.progress().runs(), 2 * finished.search.progress().trials());
}

#[test]
fn the_limit_on_runs_holds() {
    let ids = named(64);
    for max in 0..9 {
        let finished = search(Options { max_runs: Some(max), ..Options::default() }, max, |run: Run<'_>| Observation {
            outcome: outcome(run.enabled(ids[0])),
            reported: run.reported(ids.iter().copied()),
        });
        assert_eq!(
            (finished.verdict, finished.search.progress().runs()),
            (Verdict::Incomplete(Incomplete::MaxRuns), max)
        );
    }
}

#[test]
fn changes_that_only_appear_in_later_runs() {
    // With both on, the first hides the second's callees: `inner` is reached only when `outer` is off.
    let (ids, outer, inner) = (named(40), Rank::of(id("outer")), Rank::of(id("inner")));
    let finished = search(Options::default(), 20, |run: Run<'_>| {
        let mut present = ids.clone();
        present.push(if run.enabled(outer) { outer } else { inner });
        Observation {
            outcome: outcome(run.enabled(ids[3]) && !run.enabled(outer) && run.enabled(inner) || run.enabled(ids[5])),
            reported: run.reported(present),
        }
    });
    for set in finished.sets() {
        assert!(finished.failed_alone(&set));
    }
    assert!(finished.sets().contains(&BTreeSet::from([ids[5]])), "{:?}", finished.verdict);
}

/// Searches changes in a given order, some of which fail alone. `is_hidden` returns true if a change does not appear in
/// a run, where the second argument tells which changes are enabled. Expects that each culprit is named alone.
fn expect_each_culprit_alone(
    count: usize,
    culprits: &[usize],
    is_hidden: impl Fn(usize, &dyn Fn(usize) -> bool) -> bool,
) {
    let ids: Vec<_> = (0..count).map(Rank::at).collect();
    let finished = search(Options { order: Order::Given, ..Options::default() }, 40, |run: Run<'_>| {
        let enabled = |i: usize| run.enabled(ids[i]);
        let is_there = |&i: &usize| !is_hidden(i, &enabled);
        let fails = culprits.iter().any(|i| enabled(*i) && is_there(i));
        Observation { outcome: outcome(fails), reported: run.reported((0..count).filter(is_there).map(|i| ids[i])) }
    });
    let found: BTreeSet<_> = finished.sets().into_iter().collect();
    assert_eq!(found, culprits.iter().map(|&i| BTreeSet::from([ids[i]])).collect(), "{culprits:?}");
    assert_eq!(finished.verdict, Verdict::Complete);
}

#[test]
fn a_culprit_that_others_hide_is_named_alone() {
    for (hidden, outer) in (0..30).flat_map(|a| (0..30).map(move |b| (a, b))).filter(|(a, b)| a != b) {
        expect_each_culprit_alone(30, &[hidden, outer], |i, enabled| i == hidden && enabled(outer));
    }
    // No prefix below change 1 is run, because change 0 does not appear in the runs that lead to it.
    expect_each_culprit_alone(8, &[0, 1, 7], |i, enabled| i == 0 && (enabled(1) || enabled(7)));
    expect_each_culprit_alone(4, &[0, 1], |i, enabled| i == 0 && enabled(1) && !enabled(3));
}

#[test]
fn duplicate_reports_count_once() {
    let ids = named(10);
    let finished = search(Options::default(), 10, |run: Run<'_>| Observation {
        outcome: outcome(run.enabled(ids[4])),
        reported: run.reported(ids.iter().chain(&ids).copied()),
    });
    assert_eq!((finished.verdict, finished.search.progress().changes()), (Verdict::Complete, 10));
}

#[test]
fn a_set_above_the_size_limit_does_not_hide_smaller_ones() {
    // Go's tool never reports the pair once it has entered the larger set that shares a change with the pair.
    let ids = named(30);
    let all = |run: &Run<'_>, set: &[usize]| set.iter().all(|&i| run.enabled(ids[i]));
    let sets: [&[usize]; 4] = [&[1, 2, 3, 4], &[4, 9], &[1, 11], &[20]];
    let options = Options { max_set_size: NonZeroUsize::new(2), ..Options::default() };
    let finished = search(options, 200, |run: Run<'_>| Observation {
        outcome: outcome(sets.iter().any(|set| all(&run, set))),
        reported: run.reported(ids.iter().copied()),
    });
    let mut found = finished.sets();
    found.sort();
    let mut expected: Vec<BTreeSet<_>> = sets[1..].iter().map(|set| set.iter().map(|&i| ids[i]).collect()).collect();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn the_size_limit_is_a_stated_result() {
    let ids = named(30);
    let options = Options { max_set_size: NonZeroUsize::new(2), ..Options::default() };
    let finished = search(options, 200, |run: Run<'_>| Observation {
        outcome: outcome((0..3).all(|i| run.enabled(ids[i]))),
        reported: run.reported(ids.iter().copied()),
    });
    assert!(finished.search.test(0).found().is_empty());
    assert_eq!(finished.verdict, Verdict::Incomplete(Incomplete::MaxSetSize));
}

#[test]
fn as_many_sets_as_asked_for() {
    let ids = named(30);
    let options = Options { max_sets: NonZeroUsize::new(2), ..Options::default() };
    let finished = search(options, 30, |run: Run<'_>| Observation {
        outcome: outcome((0..3).any(|i| run.enabled(ids[i]))),
        reported: run.reported(ids.iter().copied()),
    });
    assert_eq!(finished.search.test(0).found().len(), 2);
    assert_eq!(finished.verdict, Verdict::Incomplete(Incomplete::MaxSets));
}

/// Returns the bound for any target: every narrowing ends, and there cannot be more sets than changes.
fn bound(changes: usize) -> usize {
    4 + (2 * changes + 64 + 1) * (64 + 64 + 16 + 4) * 17
}

proptest! {
    #[test]
    fn any_truth_table_ends_without_a_false_accusation(table in vec(any::<bool>(), 64), ids in btree_set(any::<u64>(), 6)) {
        let ids: Vec<_> = ids.into_iter().map(Rank).collect();
        let row = |on: &dyn Fn(Rank) -> bool| (0..6).filter(|&i| on(ids[i])).fold(0, |row, i| row | 1 << i);
        let finished = search(Options::default(), 400, |run: Run<'_>| Observation {
            outcome: outcome(table[row(&|id| run.enabled(id))]),
            reported: run.reported(ids.iter().copied()),
        });
        for (culprit, set) in finished.search.test(0).found().iter().zip(finished.sets()) {
            let enable = culprit.mode == bisect_core::search::Mode::Enable;
            prop_assert!(table[row(&|id| set.contains(&id) == enable)], "it fails with exactly the set");
            prop_assert!(!table[if enable { 0 } else { 63 }], "and passes without");
        }
        if table[0] != table[63] {
            prop_assert!(!finished.search.test(0).found().is_empty(), "a deterministic target has a culprit: {:?}", finished.verdict);
        }
    }

    #[test]
    fn unresolved_trials_are_worked_around(
        skips in vec(0..4_u8, 256),
        culprit in btree_set(0..8_usize, 1..3),
        ids in btree_set(any::<u64>(), 8),
    ) {
        let ids: Vec<_> = ids.into_iter().map(Rank).collect();
        let row = |on: &dyn Fn(Rank) -> bool| (0..8).filter(|&i| on(ids[i])).fold(0, |row, i| row | 1 << i);
        let result = |row: usize| match row {
            1..255 if skips[row] == 0 => SKIP,
            _ => outcome(culprit.iter().all(|i| row >> i & 1 == 1)),
        };
        let finished = search(Options::default(), 2000, |run: Run<'_>| Observation {
            outcome: result(row(&|id| run.enabled(id))),
            reported: run.reported(ids.iter().copied()),
        });
        for set in finished.sets() {
            prop_assert!(finished.failed_alone(&set) && culprit.iter().all(|&i| set.contains(&ids[i])));
            for left_out in &set {
                prop_assert!(result(row(&|id| set.contains(&id) && id != *left_out)) != FAIL, "each is needed, or it cannot be told");
            }
        }
        if skips.iter().all(|&skip| skip > 0) {
            prop_assert_eq!(finished.sets(), [culprit.iter().map(|&i| ids[i]).collect::<BTreeSet<_>>()]);
        }
    }

    #[test]
    fn a_liar_is_survived(lies in vec((0..8_u8, vec(any::<u64>(), 0..6)), 1..40), invent: bool) {
        let said = Cell::new(0);
        let finished = search(Options::default(), bound(12), |run: Run<'_>| {
            let (kind, ids) = &lies[said.replace(said.get() + 1) % lies.len()];
            // Invented changes are new in every run, but always within the selection, where the search cannot detect
            // them.
            let fresh = |id: &u64| Rank::of(ChangeId(if invent { id.wrapping_mul(2 * run.number as u64 + 1) } else { *id }));
            Observation {
                outcome: match kind { 0 => SKIP, 1..4 => PASS, _ => FAIL },
                reported: run.reported(ids.iter().map(fresh)),
            }
        });
        for set in finished.sets() {
            prop_assert!(finished.failed_alone(&set));
        }
    }

    #[test]
    fn a_target_that_invents_changes_without_end(seed: u64) {
        let finished = search(Options::default(), bound(64), |run: Run<'_>| {
            let base = run.selection.inverted;
            let fresh = |i: u64| Rank::of(ChangeId(seed ^ (run.number as u64) << 32 ^ i.reverse_bits()));
            let reported = run.reported((0..64).map(fresh).chain(run.selection.forced.iter().copied()));
            Observation { outcome: outcome(!base), reported }
        });
        prop_assert!(matches!(finished.verdict, Verdict::Inconsistent(_)), "{:?}", finished.verdict);
    }
}

#[test]
fn a_set_that_grew_around_unresolved_trials_is_not_the_answer() {
    let ids: Vec<_> = (0..64).map(|i| Rank::of(id(&format!("change {i}")))).collect();
    // 30 fails alone. Three pairs make runs unresolved while only one change of the pair is on, which hides that.
    let target = |run: Run<'_>| {
        let on = |i: usize| run.enabled(ids[i]);
        let stumbles = [(3, 40), (11, 52), (8, 61)].iter().any(|&(a, b)| on(a) != on(b));
        let outcome = match (stumbles, on(30)) {
            (true, _) => Outcome::Unresolved(Reason::Skip),
            (false, true) => Outcome::Fail,
            (false, false) => Outcome::Pass,
        };
        Observation { outcome, reported: run.reported(ids.iter().copied()) }
    };
    let finished = search(Options::default(), 150, target);
    assert_eq!(finished.sets(), [[ids[30]].into()], "{:?}", finished.verdict);
}

#[test]
fn no_difference_is_checked_also_after_the_proof_of_a_suspect() {
    // The run without changes ends last, and fails by chance. The proof of the suspect was repeated before.
    let target = Target { ids: (0..100).map(Rank::at).collect(), fails: vec![[20].into()], ..Target::default() };
    let in_flight = NonZeroUsize::new(16).unwrap();
    let mut search = Search::new(Options { in_flight, noise: Noise::Suspected(0.99), ..Options::default() });
    let (mut running, mut is_first) = (Vec::new(), true);
    loop {
        match search.step() {
            Step::Run(trial) => running.push(trial),
            Step::Wait => {
                let is_last = |trial: &Trial| is_first && trial.question == Question::AllOff;
                let next = running.iter().position(|trial| !is_last(trial));
                let trial: Trial = running.remove(next.unwrap_or(0));
                let mut observation = target.observe(&trial.selection);
                if is_last(&trial) {
                    (is_first, observation.outcome) = (false, Outcome::Fail);
                }
                search.record(trial.id, [observation]);
            }
            Step::Done(_) => break,
        }
        assert!(search.progress().runs() < 200, "it does not end");
    }
    let found: Vec<_> = search.test(0).found().iter().map(|culprit| culprit.changes.clone()).collect();
    assert_eq!(found, [[target.ids[20]]]);
}

#[test]
fn a_needed_change_that_is_never_reported_ends_the_search() {
    // Change 0 needs change 1, which is never reported without change 2. So {0, 1} fails, and reports only change 0.
    let target = Target {
        ids: (0..3).map(Rank::at).collect(),
        fails: vec![[0].into()],
        appears_with: vec![(1, 2), (0, 1)],
        unresolved: vec![(2, 0)],
        ..Target::default()
    };
    let options = Options { noise: Noise::Suspected(0.99), ..Options::default() };
    for (in_flight, choices) in [(1, [0]), (2, [0]), (2, [1]), (4, [0]), (4, [3])] {
        let ended = target.search_with(&options, in_flight, &choices);
        assert!(ended.found.is_empty() && ended.runs < 100, "{in_flight}: {ended:?}");
    }
}
