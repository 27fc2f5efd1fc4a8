//! A few seeds of each row of the bench `trust`: searches no longer name the innocent changes that they named before.

use std::num::NonZeroUsize;

use bisect_core::search::{CarryOver, Inconsistency, Noise};

use super::*;

fn suspecting() -> Options {
    Options { noise: Noise::Suspected(0.99), ..Options::default() }
}

fn named(name: &str) -> Row {
    rows().into_iter().find(|row| row.name == name).unwrap_or_else(|| panic!("no row {name:?}"))
}

/// Returns the number of searches of this row that name something innocent.
fn innocents(name: &str, seeds: u64) -> usize {
    let row = named(name);
    (0..seeds).filter(|&seed| row.search(seed, suspecting()).names_innocent).count()
}

#[test]
fn runs_that_depend_on_the_run_before_accuse_nobody() {
    for name in ["cycle FP", "cycle FPP", "cycle FPF", "cycle FPPF", "previous run had half on"] {
        let wrong = innocents(name, 100);
        assert_eq!(wrong, 0, "{name}: {wrong} of 100");
    }
}

#[test]
fn bursts_and_coins_accuse_nobody() {
    for name in ["bursts of 5, 20% of runs", "bursts of 10, 50% of runs", "nothing, 0.5"] {
        let wrong = innocents(name, 50);
        assert!(wrong <= 2, "{name}: {wrong} of 50");
    }
}

#[test]
fn a_flaky_culprit_beside_a_reliable_one_has_no_company() {
    for name in ["{1} reliable, {1} at 0.5", "{1} reliable, {1} at 0.9"] {
        let wrong = innocents(name, 100);
        assert!(wrong <= 4, "{name}: {wrong} of 100");
    }
}

#[test]
fn runs_in_step_with_a_leftover_file_accuse_nobody() {
    let row = rows().into_iter().find(|row| row.manner == Manner::Leftover).unwrap();
    let expecting = || Options { noise: Noise::Expected(0.99), ..Options::default() };
    let wrong: Vec<_> = (0..130).filter(|&seed| row.search(seed, expecting()).names_innocent).collect();
    assert!(wrong.is_empty(), "seeds {wrong:?}");
}

#[test]
fn a_change_that_spoils_the_next_two_runs_is_found() {
    let row = rows().into_iter().find(|row| row.manner == Manner::SlowRecovery(2)).unwrap();
    for in_flight in [1, 4] {
        let options = || Options { in_flight: NonZeroUsize::new(in_flight).unwrap(), ..suspecting() };
        let missed: Vec<_> = (0..60).filter(|&seed| !row.search(seed, options()).is_right).collect();
        assert!(missed.len() <= 1, "{in_flight} in flight, seeds {missed:?}");
    }
}

#[test]
fn noise_is_not_taken_for_a_set_of_all_changes() {
    let row = named("nothing, 0.05");
    let runs = (0..150).map(|seed| row.search(seed, suspecting()).runs);
    let long: Vec<_> = runs.filter(|&runs| runs > 700).collect();
    assert!(long.is_empty(), "{long:?}");
}

#[test]
fn a_deadline_needs_both_changes_where_text_costs_time() {
    let row = rows().into_iter().find(|row| row.manner == Manner::Deadline).unwrap();
    assert!((0..20).all(|seed| row.search(seed, suspecting()).is_right));
}

#[test]
fn the_cycle_of_an_alternating_target_is_found() {
    let row = named("cycle FPP");
    let ended: Vec<_> = (0..20).map(|seed| row.search(seed, suspecting())).collect();
    let is_cycle = |ended: &&Ended| matches!(&ended.verdict, Verdict::Inconsistent(Inconsistency::CarryOver(CarryOver::Cycle(cycle))) if cycle.len() == 3);
    assert!(
        ended.iter().filter(is_cycle).count() >= 18,
        "{:?}",
        ended.iter().map(|it| &it.verdict).collect::<Vec<_>>()
    );
    assert!(ended.iter().all(|ended| ended.runs < 60));
}
