//! Flaky targets some of whose runs tell nothing.

use bisect_core::search::{Options, Outcome, Prefix, Rank, Reason, Search, Step};

use crate::flaky::{Flaky, expecting, found};

#[test]
fn a_selection_that_does_not_tell_is_gone_around() {
    let mut target = Flaky::new(3, 100, &[&[60]], (0.8, 0.0));
    let mut search = Search::new(expecting(0.99));
    let cut = 1 << 63;
    while let Step::Run(trial) = search.step() {
        assert!(search.progress().runs() < 500, "it does not end");
        let mut observation = target.run(&trial);
        if trial.selection.prefix == Prefix::Below(Rank(cut)) {
            observation.outcome = Outcome::Unresolved(Reason::Build);
        }
        search.record(trial.id, [observation]);
    }
    assert_eq!(found(&search), target.expected());
}

#[test]
fn a_failure_of_another_kind_that_hides_most_passes_delays_a_search_but_does_not_stop_it() {
    // Where the culprit is off, another check fails three times out of five, which tells nothing.
    for seed in 1..=20 {
        let mut target = Flaky::new(seed, 66, &[&[20]], (0.95, 0.05));
        let mut other = Flaky::new(seed + 100, 66, &[], (0.0, 0.6));
        let mut search = Search::new(Options { seed, ..expecting(0.95) });
        while let Step::Run(trial) = search.step() {
            assert!(search.progress().runs() < 400, "it does not end: {seed}, {:?}", trial.selection);
            let mut observation = target.run(&trial);
            if observation.outcome == Outcome::Pass && other.run(&trial).outcome == Outcome::Fail {
                observation.outcome = Outcome::Unresolved(Reason::Skip);
            }
            search.record(trial.id, [observation]);
        }
        assert_eq!(found(&search), target.expected(), "{seed} {:?}", search.verdict());
    }
}
