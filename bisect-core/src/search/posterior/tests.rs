//! Comparison of the posterior with sums over all candidates and all pairs of rates, and searches of simulated targets.

extern crate std;

use alloc::{vec, vec::Vec};

use proptest::prelude::*;

use super::*;
use crate::search::tuning;

/// A generator of uniform numbers in [0, 1), the same for the same seed (`SplitMix64`).
struct TestRng(u64);

impl TestRng {
    fn fails(&mut self, rate: f64) -> bool {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        f64::from(u32::try_from((z ^ (z >> 31)) >> 32).unwrap()) / f64::from(u32::MAX) < rate
    }
}

/// Returns true if a run of a set is with a change that suffices alone.
fn has(set: CandidateSet, change: usize) -> bool {
    change < set.prefix && set.minus != Some(change) || set.plus == Some(change)
}

/// Searches until one candidate is found. Returns that candidate, and the number of runs.
fn find(search: &mut ChangePoint, confidence: f64, mut fails: impl FnMut(CandidateSet) -> bool) -> (usize, usize) {
    for runs in 0..5000 {
        if let Some(candidate) = search.found(confidence) {
            return (candidate.index, runs);
        }
        let set = search.next(&[]);
        search.observe(set, fails(set));
    }
    panic!("it does not end");
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is no more than the number")]
fn share_of(number: usize, share: f64) -> usize {
    (math::count(number) * share) as usize
}

/// Returns the probabilities that each candidate is the change, alone and together with others, and that none is,
/// computed by definition.
fn by_definition(weights: &[f64], known: &[(bool, bool)], runs: &[(CandidateSet, bool)]) -> (Vec<[f64; 2]>, f64) {
    let prior = Prior::new();
    let rates = prior.rates();
    let of_run = |rate: f64, failed: bool| if failed { rate } else { 1.0 - rate };
    // Sums over both rates, given which runs are with the change.
    let of_runs = |is_with: &dyn Fn(CandidateSet) -> Option<bool>| {
        let mut sum = 0.0;
        for without in 0..POINTS {
            for with in without + 1..POINTS {
                let rate = |is_with| rates[if is_with { with } else { without }];
                let before = known.iter().map(|&(is_with, failed)| of_run(rate(is_with), failed));
                let now =
                    runs.iter().map(|&(set, failed)| is_with(set).map_or(0.5, |is_with| of_run(rate(is_with), failed)));
                sum += prior.of_pair(without, with) * before.chain(now).product::<f64>();
            }
        }
        sum
    };
    let alike =
        |i: usize| prior.of_alike(i) * runs.iter().map(|&(_, failed)| of_run(rates[i], failed)).product::<f64>();
    let noise = if known.is_empty() {
        tuning::PRIOR_NOTHING * (0..POINTS).map(alike).sum::<f64>()
    } else {
        tuning::PRIOR_NOTHING_FURTHER * of_runs(&|_| Some(false))
    };
    let something = if known.is_empty() { 1.0 - tuning::PRIOR_NOTHING } else { 1.0 - tuning::PRIOR_NOTHING_FURTHER }
        / weights.iter().sum::<f64>();
    let of_candidate = |k: usize| {
        let weight = something * weights[k];
        if k == 0 {
            return [weight * of_runs(&|set| Some(has(set, 0))), 0.0];
        }
        let in_company = of_runs(&|set| match set {
            // The changes that this candidate needs may be before the cut, or not.
            CandidateSet { prefix, plus: Some(plus), .. } if plus == k && 0 < prefix && prefix < k => None,
            _ => Some(k < set.prefix && has(set, k) || set.plus == Some(k) && set.prefix == k),
        });
        [
            weight * tuning::PRIOR_ALONE * of_runs(&|set| Some(has(set, k))),
            weight * (1.0 - tuning::PRIOR_ALONE) * in_company,
        ]
    };
    let candidates: Vec<_> = (0..weights.len()).map(of_candidate).collect();
    let total = candidates.iter().flatten().sum::<f64>() + noise;
    (candidates.iter().map(|candidate| candidate.map(|sum| sum / total)).collect(), noise / total)
}

#[test]
fn the_prior_is_one_of_probabilities() {
    let prior = Prior::new();
    let pairs = (0..POINTS).flat_map(|i| (0..POINTS).map(move |j| (i, j)));
    let differ = pairs.map(|(i, j)| prior.of_pair(i, j)).sum::<f64>();
    let alike = (0..POINTS).map(|i| prior.of_alike(i)).sum::<f64>();
    assert!((differ - 1.0).abs() < 1e-12 && (alike - 1.0).abs() < 1e-12, "{differ} {alike}");
    for (i, &rate) in prior.rates().iter().enumerate() {
        let angle = core::f64::consts::FRAC_PI_2 * f64::from(u32::try_from(i).unwrap()) / 64.0;
        assert!((rate - angle.sin().powi(2)).abs() < 1e-12);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn it_is_what_follows_by_definition(
        weights in prop::collection::vec(0.1..10.0, 1..12),
        known in prop::collection::vec(any::<(bool, bool)>(), 0..6),
        runs in prop::collection::vec(
            (0.0..=1.0, prop::option::of(0.0..1.0), prop::option::weighted(0.2, 0.0..1.0), any::<bool>()), 0..25),
    ) {
        let candidate = |at: f64| share_of(weights.len(), at);
        let set = |prefix, plus: Option<f64>, minus: Option<f64>| CandidateSet {
            prefix: share_of(weights.len(), prefix),
            plus: plus.map(candidate),
            minus: minus.map(candidate),
        };
        let runs: Vec<_> =
            runs.into_iter().map(|(prefix, plus, minus, failed)| (set(prefix, plus, minus), failed)).collect();
        let mut evidence = Evidence::new();
        for &(with, failed) in &known {
            evidence.observe(with, failed);
        }
        let mut search = ChangePoint::weighted(weights.iter().copied(), &evidence);
        for &(set, failed) in &runs {
            search.observe(set, failed);
        }
        let (expected, nothing) = by_definition(&weights, &known, &runs);
        prop_assert!((search.probability_of_nothing() - nothing).abs() < 1e-9, "{}, not {nothing}", search.probability_of_nothing());
        let mut begin = 0;
        for (interval, matters) in search.intervals.iter().zip(&search.matters) {
            for (i, found) in [matters.alone, matters.in_company].into_iter().enumerate() {
                let expected: f64 = expected[begin..interval.end].iter().map(|candidate| candidate[i]).sum();
                prop_assert!((found - expected).abs() < 1e-9, "{begin}..{}: {found}, not {expected}", interval.end);
            }
            begin = interval.end;
        }
        // The posterior does not depend on the order of runs.
        let mut backwards = ChangePoint::weighted(weights.iter().copied(), &evidence);
        for &(set, failed) in runs.iter().rev() {
            backwards.observe(set, failed);
        }
        for (one, other) in search.matters.iter().zip(&backwards.matters) {
            prop_assert!((one.alone - other.alone).abs() < 1e-9 && (one.in_company - other.in_company).abs() < 1e-9);
        }
    }

    #[test]
    fn a_target_that_never_misleads_costs_a_few_runs_more_than_a_bisection(size in 1_usize..100_000, at in 0.0..1.0) {
        let change = share_of(size, at);
        let (found, runs) = find(&mut ChangePoint::new(size, &Evidence::new()), 0.99, |set| has(set, change));
        prop_assert_eq!(found, change);
        prop_assert!(runs <= usize::try_from(size.next_power_of_two().ilog2()).unwrap() + 18, "{} runs", runs);
    }

    #[test]
    fn parts_to_run_are_parts(size in 1_usize..50, seed: u64, in_flight in prop::collection::vec(0.0..=1.0, 0..4)) {
        let in_flight: Vec<_> = in_flight.into_iter().map(|at| CandidateSet::prefix(share_of(size, at))).collect();
        let (mut search, mut noise) = (ChangePoint::new(size, &Evidence::new()), TestRng(seed));
        for _ in 0..30 {
            let set = search.next(&in_flight);
            prop_assert!(set.prefix <= size && set.plus.is_none_or(|plus| plus < size));
            search.observe(set, noise.fails(0.5));
        }
    }
}

#[test]
fn flaky_targets_are_searched_to_the_end() {
    for (with, without) in [(0.9, 0.1), (0.5, 0.0), (1.0, 0.5), (1.0, 0.0)] {
        let right = (0..100_u64).filter(|&seed| {
            let (change, mut noise) = (usize::try_from(seed).unwrap() * 10, TestRng(seed));
            let fails = |set| noise.fails(if has(set, change) { with } else { without });
            find(&mut ChangePoint::new(1000, &Evidence::new()), 0.99, fails).0 == change
        });
        let right = right.count();
        assert!(right >= 97, "right {right} times of 100 at {with} and {without}");
    }
}

#[test]
fn the_last_of_a_pair_is_known_to_be_in_company() {
    for seed in 0..20 {
        let (mut search, mut noise) = (ChangePoint::new(1000, &Evidence::new()), TestRng(seed));
        let in_company = |search: &ChangePoint| search.likeliest().filter(|candidate| candidate.in_company > 0.99);
        let mut runs = 0;
        while in_company(&search).is_none() {
            let set = search.next(&[]);
            let both = 700 < set.prefix || 200 < set.prefix && set.plus == Some(700);
            search.observe(set, noise.fails(if both { 0.9 } else { 0.1 }));
            runs += 1;
            assert!(runs < 300 && search.found(0.99).is_none(), "{:?} after {runs}", search.likeliest());
        }
        assert_eq!(in_company(&search).unwrap().index, 700);
    }
}

#[test]
fn known_rates_save_runs() {
    let mut known = Evidence::new();
    for run in 0..40 {
        known.observe(true, run % 10 < 7);
        known.observe(false, run % 10 < 3);
    }
    let runs = |known: &Evidence| -> usize {
        let one = |seed| {
            let mut noise = TestRng(seed);
            let fails = |set| noise.fails(if has(set, 600) { 0.7 } else { 0.3 });
            let mut search = ChangePoint::new(1000, known);
            search.set_prior_of_nothing(0.15);
            find(&mut search, 0.99, fails).1
        };
        (0..20).map(one).sum()
    };
    let (with, without) = (runs(&known), runs(&Evidence::new()));
    assert!(with * 4 < without * 3, "{with} and {without} runs");
}

#[test]
fn many_known_runs_tell_the_rates() {
    let mut known = Evidence::new();
    for run in 0..10_000 {
        known.observe(true, run < 9_000);
        known.observe(false, run < 1_000);
    }
    let [without, with] = ChangePoint::new(1000, &known).rates();
    assert!((without.mean - 0.1).abs() < 0.02 && (with.mean - 0.9).abs() < 0.02, "{without:?} {with:?}");
}

#[test]
fn that_nothing_more_matters_is_found_by_few_runs() {
    let mut known = Evidence::new();
    for run in 0..30 {
        known.observe(true, run % 10 < 9);
        known.observe(false, run % 10 < 1);
    }
    let (mut search, mut noise) = (ChangePoint::new(1000, &known), TestRng(5));
    for _ in 0..20 {
        let set = search.next(&[]);
        search.observe(set, noise.fails(0.1));
        if search.probability_of_nothing() >= 0.99 {
            return;
        }
    }
    panic!("{}", search.probability_of_nothing());
}

#[test]
fn a_forecast_is_of_the_right_order_once_the_rates_are_known() {
    let (mut ratio, searches) = (0.0, 50);
    for seed in 0..searches {
        let (mut search, mut noise) = (ChangePoint::new(1000, &Evidence::new()), TestRng(seed));
        let (mut forecast, mut runs) = (None, 0);
        while search.found(0.99).is_none() {
            let set = search.next(&[]);
            search.observe(set, noise.fails(if has(set, 345) { 0.5 } else { 0.0 }));
            runs += 1;
            if runs == 20 {
                forecast = Some(search.runs_left(0.99));
            }
        }
        ratio += forecast.expect("it takes longer") / math::count(runs - 20);
    }
    ratio /= 50.0;
    assert!((0.5..2.0).contains(&ratio), "{ratio}");
}

#[test]
fn few_lucky_runs_name_nobody() {
    let mut search = ChangePoint::weighted([1.0, 1e9, 1.0], &Evidence::new());
    for _ in 0..tuning::MIN_CONFIRMATIONS - 1 {
        assert!(search.found(0.9).is_none());
        search.observe(CandidateSet::alone(1), true);
        search.observe(CandidateSet::prefix(0), false);
        search.observe(CandidateSet::prefix(0), false);
    }
    assert!(search.likeliest().unwrap().alone > 0.95 && search.found(0.9).is_none());
    search.observe(CandidateSet::prefix(1), false);
    assert_eq!(search.found(0.9).unwrap().index, 1);
}

#[test]
fn ten_thousand_runs_are_not_too_many() {
    let (mut search, mut noise) = (ChangePoint::new(3, &Evidence::new()), TestRng(1));
    for run in 0..10_000 {
        let cut = run % 4;
        search.observe(CandidateSet::prefix(cut), noise.fails(if cut > 1 { 0.6 } else { 0.3 }));
    }
    let likeliest = search.likeliest().unwrap();
    assert!(likeliest.index == 1 && likeliest.probability() > 0.999_999, "{likeliest:?}");
    let [without, with] = search.rates();
    assert!((without.mean - 0.3).abs() < 0.03 && (with.mean - 0.6).abs() < 0.03, "{without:?} {with:?}");
}

#[test]
fn rates_are_known_as_well_as_runs_tell() {
    let mut search = ChangePoint::new(100, &Evidence::new());
    for run in 0..100 {
        search.observe(CandidateSet::prefix(100), run % 10 < 7);
        search.observe(CandidateSet::prefix(0), run % 10 == 0);
    }
    let [without, with] = search.rates();
    assert!(without.low < 0.1 && 0.1 < without.high && without.high - without.low < 0.2, "{without:?}");
    assert!(with.low < 0.7 && 0.7 < with.high && with.high - with.low < 0.25, "{with:?}");
    assert!(search.probability_of_nothing() < 1e-6 && search.likeliest().is_none());
}

#[test]
fn a_target_that_is_only_noise_is_known_as_such() {
    let (mut search, mut noise) = (ChangePoint::new(1000, &Evidence::new()), TestRng(2));
    for run in 0..2000 {
        search.observe(CandidateSet::prefix(if run % 2 == 0 { 1000 } else { 0 }), noise.fails(0.5));
    }
    assert!(search.probability_of_nothing() > 0.99, "{}", search.probability_of_nothing());
}

#[test]
fn runs_in_flight_are_not_repeated() {
    let mut search = ChangePoint::new(1024, &Evidence::new());
    search.observe(CandidateSet::prefix(1024), true);
    search.observe(CandidateSet::prefix(0), false);
    let mut cuts = vec![];
    for _ in 0..3 {
        cuts.push(search.next(&cuts));
    }
    cuts.sort_unstable();
    assert!(cuts.windows(2).all(|pair| pair[1].prefix - pair[0].prefix > 50), "{cuts:?}");
}

#[test]
fn the_dearer_outcome_is_risked_less() {
    let first = |failing, passing| {
        let mut search = ChangePoint::new(1000, &Evidence::new());
        search.set_costs(failing, passing);
        // There is something to find.
        search.observe(CandidateSet::prefix(1000), true);
        search.observe(CandidateSet::prefix(0), false);
        search.next(&[])
    };
    assert!(first(10.0, 1.0) < first(1.0, 1.0) && first(1.0, 1.0) < first(1.0, 10.0));
    assert_eq!(first(3.0, 3.0), first(1.0, 1.0));
}

#[test]
fn likely_candidates_come_first() {
    let weight = |i| if i == 900 { 1000.0 } else { 1.0 };
    let mut search = ChangePoint::weighted((0..1000).map(weight), &Evidence::new());
    let (found, runs) = find(&mut search, 0.99, |set| has(set, 900));
    let (_, of_others) = find(&mut ChangePoint::new(1000, &Evidence::new()), 0.99, |set| has(set, 900));
    assert!(found == 900 && runs + 5 < of_others, "{runs} and {of_others} runs");
    assert_eq!(search.suspects()[0].index, 900);
}

#[test]
#[should_panic(expected = "there are 3 candidates, not 4")]
fn cuts_end_at_the_last_candidate() {
    ChangePoint::new(3, &Evidence::new()).observe(CandidateSet::prefix(4), true);
}
