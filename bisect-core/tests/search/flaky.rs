//! Targets with random outcomes: seeded, so that every search is reproducible.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use bisect_core::{
    Field,
    search::{
        Culprit, Inconsistency, Mode, Noise, Observation, Options, Outcome, Question, Rank, Search, Step, Trial,
        Unusable, Verdict,
    },
};
use proptest::{collection::vec, prelude::*};

use crate::in_flight::target;
use crate::simulator::change;

/// A target whose runs fail at one rate with one of the sets, and at another rate without.
pub(crate) struct Flaky {
    ids: Vec<Rank>,
    sets: Vec<Vec<usize>>,
    mode: Mode,
    with: f64,
    without: f64,
    random: u64,
}

impl Flaky {
    pub(crate) fn new(seed: u64, changes: usize, sets: &[&[usize]], (with, without): (f64, f64)) -> Self {
        let ids = (0..changes as u64).map(|i| change(&[Field::U64(seed), Field::U64(i)])).collect();
        let sets = sets.iter().map(|set| set.to_vec()).collect();
        Self { ids, sets, mode: Mode::Enable, with, without, random: seed }
    }

    /// Returns a uniform number in [0, 1) (`SplitMix64`).
    pub(crate) fn random(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        f64::from(u32::try_from((z ^ (z >> 31)) >> 32).unwrap()) / (f64::from(u32::MAX) + 1.0)
    }

    pub(crate) fn run(&mut self, trial: &Trial) -> Observation {
        let selection = &trial.selection;
        let switched = |i: &usize| {
            let enabled = selection.contains(self.ids[*i]) != selection.inverted;
            enabled == (self.mode == Mode::Enable)
        };
        let breaks = self.sets.iter().any(|set| set.iter().all(switched));
        let rate = if breaks { self.with } else { self.without };
        let outcome = if self.random() < rate { Outcome::Fail } else { Outcome::Pass };
        let reported = self.ids.iter().copied().filter(|&id| selection.contains(id)).collect();
        Observation { outcome, reported }
    }

    pub(crate) fn expected(&self) -> BTreeSet<BTreeSet<Rank>> {
        self.sets.iter().map(|set| set.iter().map(|&i| self.ids[i]).collect()).collect()
    }

    /// Searches this target with the options' number of runs in flight, recorded last in, first out. Returns the trials
    /// too.
    fn search(&mut self, options: Options) -> (Search, Verdict, Vec<(Trial, Outcome)>) {
        let mut search = Search::new(options);
        let (mut in_flight, mut trials) = (Vec::new(), Vec::new());
        loop {
            assert!(
                search.progress().runs() < 1_500,
                "it does not end: {:?}, found {:?}",
                search.test(0).estimate(),
                search.test(0).found()
            );
            match search.step() {
                Step::Run(trial) => {
                    in_flight.push(trial);
                }
                Step::Wait => {
                    let trial: Trial = in_flight.pop().expect("something is in flight");
                    let observation = self.run(&trial);
                    trials.push((trial.clone(), observation.outcome));
                    search.record(trial.id, [observation]);
                    for obsolete in search.obsolete() {
                        in_flight.retain(|trial| trial.id != obsolete);
                        search.cancel(obsolete);
                    }
                }
                Step::Done(verdict) => return (search, verdict, trials),
            }
        }
    }
}

/// Returns the sets that were found.
pub(crate) fn found(search: &Search) -> BTreeSet<BTreeSet<Rank>> {
    search.test(0).found().iter().map(|culprit| culprit.changes.iter().copied().collect()).collect()
}

/// Returns the options of a search that expects noise.
pub(crate) fn expecting(confidence: f64) -> Options {
    Options { noise: Noise::Expected(confidence), ..Options::default() }
}

fn suspecting() -> Options {
    Options { noise: Noise::Suspected(0.99), ..Options::default() }
}

/// Returns the number of seeds whose search ends with the right answer.
fn right(seeds: u64, options: &Options, target: impl Fn(u64) -> Flaky) -> u64 {
    let is_right = |seed: &u64| {
        let mut target = target(*seed);
        let (search, verdict, _) = target.search(options.clone());
        let is_right = found(&search) == target.expected() && verdict == Verdict::Complete;
        if !is_right {
            eprintln!("seed {seed}: {verdict:?} after {} runs, {:?}", search.progress().runs(), search.test(0).found());
        }
        is_right
    };
    (0..seeds).filter(is_right).count() as u64
}

#[test]
fn one_culprit_is_found() {
    for rates in [(1.0, 0.0), (0.9, 0.1), (0.7, 0.3), (0.5, 0.0), (0.3, 0.0), (1.0, 0.5)] {
        let right = right(25, &expecting(0.99), |seed| {
            let culprit = usize::try_from(seed).unwrap() * 8;
            Flaky::new(seed, 200, &[&[culprit]], rates)
        });
        assert!(right >= 24, "right {right} times of 25 at {rates:?}");
    }
}

#[test]
fn culprits_beside_each_other_and_pairs_are_found() {
    for rates in [(0.9, 0.1), (0.5, 0.0), (1.0, 0.5)] {
        for sets in [[&[3_usize, 77][..]].as_slice(), &[&[3], &[77]], &[&[3, 50, 77]]] {
            let right = right(10, &expecting(0.99), |seed| Flaky::new(seed, 100, sets, rates));
            assert!(right >= 9, "right {right} times of 10 at {rates:?}, {sets:?}");
        }
    }
}

#[test]
fn several_runs_in_flight_are_as_good() {
    let options = Options { in_flight: 4.try_into().unwrap(), ..expecting(0.99) };
    let right = right(20, &options, |seed| Flaky::new(seed, 300, &[&[123]], (0.8, 0.1)));
    assert!(right >= 19, "right {right} times of 20");
}

#[test]
fn disabled_changes_may_break_a_flaky_target() {
    let right = right(20, &expecting(0.99), |seed| Flaky {
        mode: Mode::Disable,
        ..Flaky::new(seed, 100, &[&[42]], (0.8, 0.1))
    });
    assert!(right >= 19, "right {right} times of 20");
}

#[test]
fn a_target_that_only_is_noise_names_nobody() {
    for rate in [0.1, 0.5, 0.9] {
        for seed in 0..10 {
            let (search, verdict, _) = Flaky::new(seed, 100, &[], (rate, rate)).search(expecting(0.99));
            assert_eq!(search.test(0).found(), [], "seed {seed} at {rate}");
            assert_eq!(verdict, Verdict::Inconsistent(Inconsistency::Noise), "seed {seed} at {rate}");
        }
    }
}

#[test]
fn a_target_that_never_fails_is_given_up() {
    for rate in [0.0, 1.0] {
        let (search, verdict, _) = Flaky::new(1, 100, &[], (rate, rate)).search(expecting(0.99));
        let outcome = if rate > 0.0 { Outcome::Fail } else { Outcome::Pass };
        assert_eq!(verdict, Verdict::NoDifference(outcome));
        assert!((150..300).contains(&search.progress().runs()), "{} runs", search.progress().runs());
    }
}

#[test]
fn a_culprit_has_failed_alone_and_the_target_passed_after_that() {
    let mut target = Flaky::new(5, 500, &[&[17]], (0.55, 0.2));
    let (search, _, trials) = target.search(expecting(0.99));
    let culprit = &search.test(0).found()[0];
    let failed = trials.iter().position(|(trial, outcome)| {
        trial.question == Question::FoundAlone && trial.selection.forced == culprit.changes && *outcome == Outcome::Fail
    });
    let passed = |(trial, outcome): &(Trial, Outcome)| trial.question == Question::AllOff && *outcome == Outcome::Pass;
    assert!(trials[failed.unwrap()..].iter().any(passed));
    assert_eq!(trials.iter().find(|(trial, _)| trial.id == culprit.confirmed_by).unwrap().1, Outcome::Fail);
    let certainty = search.test(0).certainty(0).unwrap();
    assert!(certainty.confidence > 0.99 && certainty.with.low < 0.55 && 0.55 < certainty.with.high, "{certainty:?}");
}

#[test]
fn a_limit_leaves_estimates() {
    let options = Options { max_runs: Some(30), ..expecting(0.99) };
    let (search, verdict, _) = Flaky::new(2, 1000, &[&[700]], (0.7, 0.3)).search(options);
    assert_eq!((search.progress().runs(), search.test(0).found().len()), (30, 0));
    let estimate = search.test(0).estimate().unwrap();
    assert!(matches!(verdict, Verdict::Inconsistent(Inconsistency::Noise) | Verdict::Incomplete(_)), "{verdict:?}");
    assert!(estimate.runs_left > 20.0 && estimate.with.mean > estimate.without.mean, "{estimate:?}");
}

/// Returns the maximum number of checks of a reliable target: 4 for the first culprit and 3 for each further one, if
/// these are single changes; 4 more than its changes for a larger set; at least 2 in all.
fn most_checks<'a>(sets: impl IntoIterator<Item = &'a Culprit>) -> usize {
    let checks = |(number, culprit): (usize, &Culprit)| match culprit.changes.len() {
        1 if number > 0 => 3,
        1 => 4,
        changes => 4 + changes,
    };
    sets.into_iter().enumerate().map(checks).sum::<usize>().max(2)
}

#[test]
fn a_reliable_target_costs_only_so_many_runs_more() {
    for sets in [[&[3_usize][..]].as_slice(), &[], &[&[3, 77]], &[&[3], &[77]], &[&[1, 2, 3], &[50], &[60, 61]], &[&[]]]
    {
        for seed in 0..20 {
            let plain = Flaky::new(seed, 100, sets, (1.0, 0.0)).search(Options::default());
            let checked = Flaky::new(seed, 100, sets, (1.0, 0.0)).search(suspecting());
            assert_eq!((found(&checked.0), &checked.1), (found(&plain.0), &plain.1));
            let most = plain.0.progress().runs() + most_checks(plain.0.test(0).found());
            assert!(
                checked.0.progress().runs() <= most,
                "{} and {} runs",
                checked.0.progress().runs(),
                plain.0.progress().runs()
            );
            assert!(!checked.0.progress().is_noisy());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "slow: CI runs it"]
    fn whatever_a_reliable_target_is_like_it_costs_no_more(target in target(), choices in vec(any::<usize>(), 8)) {
        let plain = target.search(1, &choices);
        // A target that is not monotone contradicts itself.
        prop_assume!(!matches!(plain.verdict, Verdict::Inconsistent(_)));
        for in_flight in [1, 4] {
            let options = Options { in_flight: in_flight.try_into().unwrap(), ..suspecting() };
            let checked = target.finish(Search::new(options), &choices, |_, _| in_flight);
            prop_assert!(checked.is_like(&plain), "{:?} instead of {:?}", checked, plain);
            // The failing end is run again where 8, 16 and 32 changes seem to be needed.
            let most = plain.runs + most_checks(&plain.found) + 3;
            prop_assert!(in_flight > 1 || checked.runs <= most, "{} and {} runs", checked.runs, plain.runs);
        }
    }
}

#[test]
fn one_run_that_misleads_is_found_out() {
    for seed in 0..10 {
        for misleading in 0..15 {
            let mut target = Flaky::new(seed, 100, &[&[42]], (1.0, 0.0));
            let mut search = Search::new(suspecting());
            while let Step::Run(trial) = search.step() {
                let mut observation = target.run(&trial);
                if search.progress().runs() == misleading + 1 {
                    observation.outcome = match observation.outcome {
                        Outcome::Fail => Outcome::Pass,
                        _ => Outcome::Fail,
                    };
                }
                search.record(trial.id, [observation]);
            }
            assert_eq!(found(&search), target.expected(), "seed {seed}, run {misleading}");
        }
    }
}

#[test]
fn runs_that_mislead_now_and_then_hardly_ever_have_an_innocent_named() {
    // With two repeated runs at fixed places, about 8 and 4 of 100 searches would be wrong.
    for (rates, most) in [((0.9, 0.0), 9), ((0.9, 0.1), 6)] {
        let is_wrong = |seed: &u64| {
            let mut target = Flaky::new(*seed, 200, &[&[usize::try_from(*seed % 200).unwrap()]], rates);
            let (search, ..) = target.search(suspecting());
            !found(&search).is_subset(&target.expected())
        };
        let wrong = (0..300).filter(is_wrong).count();
        assert!(wrong <= most, "{wrong} of 300 at {rates:?}");
    }
}

#[test]
fn a_target_that_contradicts_itself_is_searched_on() {
    for rates in [(0.9, 0.1), (0.5, 0.0), (1.0, 0.5)] {
        // Where the first three runs pass, or fail, the search concludes that there is nothing to find.
        let target = |seed| Flaky::new(seed, 200, &[&[111]], rates);
        let ended = (0..40).map(|seed| target(seed).search(suspecting()));
        let (mut right, mut nothing) = (0, 0);
        for (search, verdict, _) in ended {
            nothing += usize::from(matches!(verdict, Verdict::NoDifference(_)));
            right += usize::from(verdict == Verdict::Complete && search.test(0).found().len() == 1);
        }
        assert!(nothing <= 8 && right + nothing >= 36, "{right} right, {nothing} nothing of 40 at {rates:?}");
    }
}

#[test]
fn a_change_that_shows_up_only_in_company_is_found_with_it() {
    for (seed, rates) in [(1, (0.9, 0.1)), (2, (0.9, 0.1)), (3, (0.5, 0.0)), (4, (1.0, 0.5))] {
        let mut target = Flaky::new(seed, 100, &[&[20, 70]], rates);
        let mut search = Search::new(expecting(0.99));
        while let Step::Run(trial) = search.step() {
            assert!(
                search.progress().runs() < 1_000,
                "it does not end: {seed} {:?} {:?}, {:?} {:?}",
                search.test(0).found(),
                search.test(0).estimate(),
                trial.question,
                trial.selection
            );
            let mut observation = target.run(&trial);
            // The change of higher rank is reached only where the other one is on.
            let [first, second] = if target.ids[20] < target.ids[70] {
                [target.ids[20], target.ids[70]]
            } else {
                [target.ids[70], target.ids[20]]
            };
            let is_on = trial.selection.contains(first) != trial.selection.inverted;
            observation.reported.retain(|&id| id != second || is_on);
            search.record(trial.id, [observation]);
        }
        assert_eq!(found(&search), target.expected(), "{seed}");
    }
}

#[test]
fn an_unreliable_target_is_distrusted_all_the_same() {
    let mut search = Search::new(expecting(0.9));
    let verdict = loop {
        match search.step() {
            Step::Run(trial) => {
                // It reports everything, whatever the selection.
                let outcome = if trial.selection.inverted { Outcome::Pass } else { Outcome::Fail };
                search.record(trial.id, vec![Observation { outcome, reported: vec![Rank(1), Rank(2)] }]);
            }
            Step::Wait => panic!("nothing is in flight"),
            Step::Done(verdict) => break verdict,
        }
        assert!(search.progress().runs() < 100, "it does not end");
    };
    assert!(matches!(verdict, Verdict::Unusable(Unusable::Unasked { .. })), "{verdict:?}");
}

#[test]
fn a_target_that_comes_to_fail_always_accuses_nobody() {
    for seed in 0..12 {
        for last_good in 1..14 {
            let mut target = Flaky::new(seed, 30, &[&[3], &[17]], (1.0, 0.0));
            let mut search = Search::new(Options { seed, max_runs: Some(60), ..suspecting() });
            while let Step::Run(trial) = search.step() {
                let mut observation = target.run(&trial);
                if search.progress().runs() > last_good {
                    observation.outcome = Outcome::Fail;
                }
                search.record(trial.id, [observation]);
            }
            assert!(found(&search).is_subset(&target.expected()), "seed {seed}, {last_good}");
        }
    }
}

#[test]
fn the_first_round_asks_prefixes_beside_both_ends() {
    let in_flight = NonZeroUsize::new(5).unwrap();
    let mut search = Search::new(Options { in_flight, ..expecting(0.99) });
    let asked: Vec<_> = std::iter::from_fn(|| match search.step() {
        Step::Run(trial) => Some(trial.selection.pattern().to_string()),
        Step::Wait | Step::Done(_) => None,
    })
    .collect();
    assert_eq!(asked, ["y", "n", "0", "00", "0+01"]);
}
