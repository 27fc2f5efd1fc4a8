//! Several trials in flight, answered in any order: the result is that of one trial after the other, or as right.

use std::{collections::BTreeSet, num::NonZeroUsize};

use crate::simulator::change;
use bisect_core::{
    Field,
    search::{
        Culprit, Noise, Observation, Options, Outcome, Rank, Reason, Search, Selection, Step, Trial, TrialId, Verdict,
    },
};
use proptest::{
    collection::{btree_set, vec},
    prelude::*,
};

/// A deterministic target: pairs, changes that appear only with others, and unresolved selections.
#[derive(Clone, Debug, Default)]
pub(crate) struct Target {
    pub(crate) ids: Vec<Rank>,
    pub(crate) fails: Vec<BTreeSet<usize>>,
    /// Pairs of which the first change appears only where the second is enabled.
    pub(crate) appears_with: Vec<(usize, usize)>,
    /// Pairs of which the first change does not appear where the second is enabled.
    pub(crate) hidden_by: Vec<(usize, usize)>,
    /// Pairs that make a run unresolved if the first change is on and the second is off.
    pub(crate) unresolved: Vec<(usize, usize)>,
    pub(crate) disable: bool,
}

impl Target {
    pub(crate) fn observe(&self, selection: &Selection) -> Observation {
        let switched = |i: usize| (selection.contains(self.ids[i]) != selection.inverted) != self.disable;
        let reported = (0..self.ids.len()).filter(|&i| self.is_there(i, &switched)).map(|i| self.ids[i]);
        Observation {
            outcome: self.outcome(&switched),
            reported: reported.filter(|&id| selection.contains(id)).collect(),
        }
    }

    /// Returns true if a change appears in a run in which these changes are switched.
    fn is_there(&self, i: usize, switched: &dyn Fn(usize) -> bool) -> bool {
        self.appears_with.iter().all(|&(late, first)| late != i || switched(first))
            && self.hidden_by.iter().all(|&(hidden, by)| hidden != i || !switched(by))
    }

    /// Returns the outcome of a run in which these changes are switched.
    fn outcome(&self, switched: &dyn Fn(usize) -> bool) -> Outcome {
        let on = |i: usize| switched(i) && self.is_there(i, switched);
        let all = (0..self.ids.len()).all(switched);
        let none = !(0..self.ids.len()).any(switched);
        if !all && !none && self.unresolved.iter().any(|&(with, without)| on(with) && !on(without)) {
            Outcome::Unresolved(Reason::Build)
        } else if self.fails.iter().any(|set| set.iter().all(|&i| on(i))) {
            Outcome::Fail
        } else {
            Outcome::Pass
        }
    }

    /// Returns true if a set that the search names is minimal: it fails alone, and not without any one of its changes.
    pub(crate) fn is_minimal(&self, culprit: &Culprit) -> bool {
        let fails = |changes: &[Rank]| self.outcome(&|i| changes.contains(&self.ids[i])) == Outcome::Fail;
        let without = |i: usize| [&culprit.changes[..i], &culprit.changes[i + 1..]].concat();
        fails(&culprit.changes) && (0..culprit.changes.len()).all(|i| !fails(&without(i)))
    }

    /// Searches with this number of trials in flight; `choices` selects the trial that ends next.
    pub(crate) fn search(&self, in_flight: usize, choices: &[usize]) -> Ended {
        self.search_with(&Options::default(), in_flight, choices)
    }

    pub(crate) fn search_with(&self, options: &Options, in_flight: usize, choices: &[usize]) -> Ended {
        let in_flight = NonZeroUsize::new(in_flight).unwrap();
        self.finish(Search::new(Options { in_flight, ..options.clone() }), choices, |_, _| in_flight.get())
    }

    /// Searches until the end. `then` is called at the start and after each recorded trial, and returns the number of
    /// trials that may be in flight.
    pub(crate) fn finish(
        &self,
        mut search: Search,
        choices: &[usize],
        mut then: impl FnMut(&mut Search, Option<TrialId>) -> usize,
    ) -> Ended {
        let mut running: Vec<Trial> = Vec::new();
        let mut choices = choices.iter().cycle();
        let mut in_flight = then(&mut search, None);
        loop {
            for id in search.obsolete() {
                let ended = running.iter().position(|trial| trial.id == id).expect("it was in flight");
                running.remove(ended);
                search.cancel(id);
            }
            assert!(running.len() <= in_flight, "no more in flight than allowed");
            match search.step() {
                Step::Run(trial) => running.push(trial),
                Step::Done(verdict) => {
                    // Late results may be recorded, and change nothing.
                    for trial in running {
                        search.record(trial.id, [self.observe(&trial.selection)]);
                    }
                    let found = search
                        .test(0)
                        .found()
                        .iter()
                        .map(|culprit| Culprit { confirmed_by: TrialId(0), ..culprit.clone() });
                    return Ended { found: found.collect(), verdict, runs: search.progress().runs() };
                }
                Step::Wait => {
                    let over = running.remove(choices.next().unwrap() % running.len());
                    search.record(over.id, [self.observe(&over.selection)]);
                    in_flight = then(&mut search, Some(over.id));
                }
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) found: Vec<Culprit>,
    pub(crate) verdict: Verdict,
    pub(crate) runs: usize,
}

impl Ended {
    /// Compares the kinds of verdicts only, because verdicts contain trial numbers, which depend on the number of
    /// trials in flight.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.found == other.found && std::mem::discriminant(&self.verdict) == std::mem::discriminant(&other.verdict)
    }
}

/// Searches in rounds of runs that end together. `begun` is called in each round, when its runs have begun.
fn in_rounds(target: &Target, options: Options, mut begun: impl FnMut(&Search)) -> Search {
    let mut search = Search::new(options);
    loop {
        let next = || if let Step::Run(trial) = search.step() { Some(trial) } else { None };
        let round: Vec<_> = std::iter::from_fn(next).collect();
        if round.is_empty() {
            return search;
        }
        begun(&search);
        for trial in round {
            search.record(trial.id, [target.observe(&trial.selection)]);
        }
    }
}

/// Searches with 16 runs in flight and noise suspected. Returns the search, and the culprit that was expected in each
/// round.
fn in_rounds_of_sixteen(target: &Target) -> (Search, Vec<Option<Culprit>>) {
    let in_flight = NonZeroUsize::new(16).unwrap();
    let options = Options { in_flight, noise: Noise::Suspected(0.99), ..Options::default() };
    let mut expected = Vec::new();
    let search = in_rounds(target, options, |search| expected.push(search.progress().expected_culprit()));
    (search, expected)
}

fn of_1000(fails: Vec<BTreeSet<usize>>, disable: bool) -> Target {
    let ids = (0..1000).map(|i| Rank(i << 54)).collect();
    Target { ids, fails, disable, ..Target::default() }
}

#[test]
fn sixteen_runs_at_once_name_a_reliable_culprit_in_two_rounds() {
    for (culprit, disable) in [(0, false), (77, true), (500, false), (999, true)] {
        let target = of_1000(vec![[culprit].into()], disable);
        let (search, expected) = in_rounds_of_sixteen(&target);
        let of = |culprit: &Culprit| (culprit.changes.clone(), culprit.mode);
        let found: Vec<_> = search.test(0).found().iter().map(of).collect();
        assert_eq!(found.iter().map(|(changes, _)| changes.clone()).collect::<Vec<_>>(), [[target.ids[culprit]]]);
        assert_eq!(
            expected.iter().map(|expected| expected.as_ref().map(of)).collect::<Vec<_>>(),
            [None, Some(found[0].clone())]
        );
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_second_culprit_is_no_sign_of_noise() {
    for first in 0..200 {
        let second = (first * 617 + 311) % 1000;
        let (search, _) = in_rounds_of_sixteen(&of_1000(vec![[first].into(), [second].into()], false));
        assert_eq!(search.test(0).found().len(), 2, "{first}, {second}");
        assert!(!search.progress().is_noisy(), "{first}, {second}");
    }
}

fn pairs(n: usize) -> impl Strategy<Value = Vec<(usize, usize)>> {
    vec((0..n, 0..n), 0..3)
}

prop_compose! {
    pub(crate) fn target()(ids in btree_set(any::<u64>(), 2..60))
               (fails in vec(btree_set(0..ids.len(), 1..3), 1..4), appears_with in pairs(ids.len()),
                unresolved in pairs(ids.len()), disable in any::<bool>(), ids in Just(ids)) -> Target {
        Target { ids: ids.into_iter().map(Rank).collect(), fails, appears_with, unresolved, disable, ..Target::default() }
    }
}

/// Returns a configuration with this number of cases, or with that of `PROPTEST_CASES`.
pub(crate) fn cases(number: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_some() { config } else { ProptestConfig { cases: number, ..config } }
}

impl Target {
    /// Checks that searches with these numbers of trials in flight have the answer of a search with one.
    pub(crate) fn expect_the_same(&self, numbers: &[usize], choices: &[usize]) -> Result<(), TestCaseError> {
        let alone = self.search(1, choices);
        for &in_flight in numbers {
            let together = self.search(in_flight, choices);
            prop_assert!(together.is_like(&alone), "{} in flight: {:?} instead of {:?}", in_flight, together, alone);
        }
        Ok(())
    }
}

proptest! {
    // Each choice of the next trial looks ahead over the outcomes of all that are in flight.
    #![proptest_config(cases(50))]

    #[test]
    #[ignore = "slow: CI runs it"]
    fn the_answer_is_the_same_with_very_many_in_flight(target in target(), choices in vec(any::<usize>(), 8)) {
        target.expect_the_same(&[64], &choices)?;
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    #[ignore = "slow: CI runs it"]
    fn the_answer_does_not_depend_on_how_many_are_in_flight(target in target(), choices in vec(any::<usize>(), 8)) {
        target.expect_the_same(&[2, 4, 16], &choices)?;
    }

    #[test]
    #[ignore = "slow: CI runs it"]
    fn nor_on_changes_of_that_number(target in target(), numbers in vec(1..20_usize, 8), choices in vec(any::<usize>(), 8)) {
        let alone = target.search(1, &choices);
        let mut numbers = numbers.into_iter().cycle();
        let together = target.finish(Search::new(Options::default()), &choices, |search, _| {
            let number = NonZeroUsize::new(numbers.next().unwrap()).unwrap();
            search.set_in_flight(number);
            number.get()
        });
        prop_assert!(together.is_like(&alone), "{:?} instead of {:?}", together, alone);
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    #[ignore = "slow: CI runs it"]
    fn each_set_is_minimal_where_changes_hide_others(
        target in target(), hidden_by in pairs(60), in_flight in 1..20_usize, choices in vec(any::<usize>(), 8),
    ) {
        let n = target.ids.len();
        let hidden_by = hidden_by.into_iter().map(|(hidden, by)| (hidden % n, by % n)).collect();
        let target = Target { hidden_by, ..target };
        for culprit in target.search(in_flight, &choices).found {
            prop_assert!(target.is_minimal(&culprit), "{culprit:?}");
        }
    }
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    #[ignore = "slow: CI runs it"]
    fn the_answer_is_the_same_where_noise_is_suspected(mut target in target(), choices in vec(any::<usize>(), 8)) {
        // If an unreported change decides whether another one appears, the reports contradict the outcomes, and the
        // search takes that for noise.
        let late: Vec<_> = target.appears_with.iter().map(|&(late, _)| late).collect();
        target.appears_with.retain(|(_, first)| !late.contains(first));
        let search = |in_flight| {
            let options = Options { noise: Noise::Suspected(0.99), ..Options::default() };
            target.search_with(&options, in_flight, &choices)
        };
        let alone = search(1);
        for in_flight in [2, 4, 16] {
            let together = search(in_flight);
            prop_assert!(together.is_like(&alone), "{} in flight: {:?} instead of {:?}", in_flight, together, alone);
        }
    }
}

/// Returns the number of rounds of a search in which all trials take the same time.
fn rounds(in_flight: usize, fails: Vec<BTreeSet<usize>>) -> usize {
    let ids: Vec<_> = (0..1000_u64).map(|i| change(&[Field::U64(i)])).collect();
    let target = Target { ids, fails, ..Target::default() };
    let in_flight = NonZeroUsize::new(in_flight).unwrap();
    let mut rounds = 0;
    in_rounds(&target, Options { in_flight, ..Options::default() }, |_| rounds += 1);
    rounds
}

#[test]
fn more_in_flight_take_fewer_rounds() {
    let sum = |in_flight| (0..40).map(|i| rounds(in_flight, vec![BTreeSet::from([i * 25])])).sum::<usize>();
    let sums: Vec<_> = [1, 2, 4, 16].into_iter().map(sum).collect();
    println!("rounds of 40 searches with 1, 2, 4 and 16 trials in flight: {sums:?}");
    // One trial after the other takes log2(1000) + 4. With n of them a round tests n groups of the changes, which halves
    // the suspects n times; the first round does so before any change is known. The last round proves the answer.
    let most = [142, 81, 41, 20];
    assert!(sums.iter().zip(most).all(|(&sum, most)| 10 * sum <= 40 * most), "{sums:?}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn two_changes_take_fewer_rounds_too() {
    let pair = |i: usize| vec![BTreeSet::from([i * 25, 999 - i * 19])];
    let each = |i: usize| vec![BTreeSet::from([i * 25]), BTreeSet::from([999 - i * 19])];
    // One trial after the other takes 24.5 and 25.4. With 16 at once, groups leave one pair after two or three rounds;
    // one more proves the answer.
    for (fails, most) in [(&pair as &dyn Fn(usize) -> Vec<BTreeSet<usize>>, [90, 36]), (&each, [95, 46])] {
        let sum = |in_flight| (0..40).map(|i| rounds(in_flight, fails(i))).sum::<usize>();
        let sums = [4, 16].map(sum);
        println!("rounds of 40 searches for two changes with 4 and 16 trials in flight: {sums:?}");
        assert!(sums.iter().zip(most).all(|(&sum, most)| 10 * sum <= 40 * most), "{sums:?}");
    }
}

#[test]
fn what_is_asked_early_is_about_changes_that_exist() {
    // No trial may name a change that is only made up to guess the first prefixes.
    let in_flight = NonZeroUsize::new(300).unwrap();
    let mut search = Search::new(Options { in_flight, ..Options::default() });
    let mut asked = BTreeSet::new();
    while let Step::Run(trial) = search.step() {
        assert!(trial.selection.forced.is_empty() && trial.selection.excluded.is_empty(), "{trial:?}");
        asked.insert(trial.pattern().to_string());
    }
    assert!(
        asked.len() > 60 && ["y", "n", "0", "00", "0+01"].iter().all(|&pattern| asked.contains(pattern)),
        "{asked:?}"
    );
}

#[test]
fn fewer_in_flight_make_runs_obsolete() {
    let mut search = Search::new(Options { in_flight: NonZeroUsize::new(4).unwrap(), ..Options::default() });
    let running: Vec<_> =
        std::iter::from_fn(|| if let Step::Run(trial) = search.step() { Some(trial) } else { None }).collect();
    assert_eq!(running.len(), 4);
    search.set_in_flight(NonZeroUsize::new(2).unwrap());
    // The search waits for the first trials.
    assert_eq!(search.obsolete(), [running[2].id, running[3].id]);
    assert_eq!(search.step(), Step::Wait);
}

#[test]
fn runs_that_were_cancelled_are_made_again_if_they_are_wanted_again() {
    let mut search = Search::new(Options { in_flight: NonZeroUsize::new(2).unwrap(), ..Options::default() });
    let (Step::Run(all), Step::Run(none)) = (search.step(), search.step()) else { panic!("both ends are wanted") };
    assert_eq!(search.step(), Step::Wait);
    assert!(search.obsolete().is_empty());
    search.cancel(none.id);
    assert_eq!(search.step(), Step::Run(none));
    search.cancel(all.id);
    assert_eq!(search.step(), Step::Run(all));
    assert_eq!((search.step(), search.progress().runs()), (Step::Wait, 4));
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_change_that_other_changes_hide_does_not_change_the_answer() {
    for n in 8..14_u64 {
        let ids: Vec<_> = (1..=n).map(|i| Rank(i * (u64::MAX / (n + 1)))).collect();
        for late in 1..ids.len() - 1 {
            for (first, in_flight) in (late + 1..ids.len()).flat_map(|first| [(first, 2), (first, 4), (first, 16)]) {
                let target = Target {
                    ids: ids.clone(),
                    fails: vec![BTreeSet::from([late - 1]), BTreeSet::from([late + 1])],
                    appears_with: vec![(late - 1, late), (late, first)],
                    ..Target::default()
                };
                target.expect_the_same(&[in_flight], &[0, 5, 3]).unwrap();
            }
        }
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_set_is_minimal_where_a_change_hides_a_culprit() {
    expect_minimal_sets_where_a_change_hides_a_culprit(5);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_set_is_minimal_where_one_of_seven_changes_hides_a_culprit() {
    expect_minimal_sets_where_a_change_hides_a_culprit(7);
}

fn expect_minimal_sets_where_a_change_hides_a_culprit(n: usize) {
    for (first, second, alone) in (0..n).flat_map(|a| (0..a).flat_map(move |b| (0..n).map(move |c| (a, b, c)))) {
        for (hides, in_flight) in (0..n).flat_map(|hides| [(hides, 1), (hides, 4), (hides, 12)]) {
            let target = Target {
                ids: (0..n).map(Rank::at).collect(),
                fails: vec![[first, second].into(), [alone].into()],
                hidden_by: vec![(alone, hides)],
                ..Target::default()
            };
            let found = target.search(in_flight, &[5, 0, 3]).found;
            assert!(found.iter().all(|culprit| target.is_minimal(culprit)), "{target:?}: {found:?}");
        }
    }
}
