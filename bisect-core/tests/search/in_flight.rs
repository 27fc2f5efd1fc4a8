//! Several trials in flight, answered in any order: the search finds what it finds one trial after the other.

use std::{collections::BTreeSet, num::NonZeroUsize};

use bisect_core::{
    ChangeId, Field,
    search::{Culprit, Observation, Options, Outcome, Reason, Search, Selection, Step, Trial, Verdict},
};
use proptest::{
    collection::{btree_set, vec},
    prelude::*,
};

/// A deterministic target: pairs, changes that appear only with others, and selections that tell nothing.
#[derive(Clone, Debug)]
struct Target {
    ids: Vec<ChangeId>,
    fails: Vec<BTreeSet<usize>>,
    /// The first appears only where the second is enabled.
    appears_with: Vec<(usize, usize)>,
    /// With the first and without the second nothing can be told.
    unresolved: Vec<(usize, usize)>,
    disable: bool,
}

impl Target {
    fn observe(&self, selection: &Selection) -> Observation {
        let switched = |i: usize| (selection.contains(self.ids[i]) != selection.inverted) != self.disable;
        let is_there = |i: usize| self.appears_with.iter().all(|&(late, first)| late != i || switched(first));
        let on = |i: usize| switched(i) && is_there(i);
        let all = (0..self.ids.len()).all(switched);
        let none = !(0..self.ids.len()).any(switched);
        let outcome = if !all && !none && self.unresolved.iter().any(|&(with, without)| on(with) && !on(without)) {
            Outcome::Unresolved(Reason::Build)
        } else if self.fails.iter().any(|set| set.iter().all(|&i| on(i))) {
            Outcome::Fail
        } else {
            Outcome::Pass
        };
        let reported = (0..self.ids.len()).filter(|&i| is_there(i)).map(|i| self.ids[i]);
        Observation { outcome, reported: reported.filter(|&id| selection.contains(id)).collect() }
    }

    /// Searches with so many trials in flight; `choices` say which of them is over next.
    fn search(&self, in_flight: usize, choices: &[usize]) -> Ended {
        let in_flight = NonZeroUsize::new(in_flight).unwrap();
        let mut search = Search::new(Options { in_flight, ..Options::default() });
        let mut running: Vec<Trial> = Vec::new();
        let mut choices = choices.iter().cycle();
        loop {
            for id in search.obsolete() {
                let ended = running.iter().position(|trial| trial.id == id).expect("it was in flight");
                running.remove(ended);
                search.cancel(id);
            }
            assert!(running.len() <= in_flight.get(), "no more in flight than allowed");
            match search.step() {
                Step::Run(trial) => running.push(trial),
                Step::Done(verdict) => {
                    // What was still in flight may be recorded, and changes nothing.
                    for trial in running {
                        search.record(trial.id, self.observe(&trial.selection));
                    }
                    let found = search
                        .found()
                        .iter()
                        .map(|culprit| Culprit { confirmed_by: bisect_core::search::TrialId(0), ..culprit.clone() });
                    return Ended { found: found.collect(), verdict };
                }
                Step::Wait => {
                    let over = running.remove(choices.next().unwrap() % running.len());
                    search.record(over.id, self.observe(&over.selection));
                }
            }
        }
    }
}

#[derive(Debug)]
struct Ended {
    found: Vec<Culprit>,
    verdict: Verdict,
}

fn pairs(n: usize) -> impl Strategy<Value = Vec<(usize, usize)>> {
    vec((0..n, 0..n), 0..3)
}

prop_compose! {
    fn target()(ids in btree_set(any::<u64>(), 2..60))
               (fails in vec(btree_set(0..ids.len(), 1..3), 1..4), appears_with in pairs(ids.len()),
                unresolved in pairs(ids.len()), disable in any::<bool>(), ids in Just(ids)) -> Target {
        Target { ids: ids.into_iter().map(ChangeId).collect(), fails, appears_with, unresolved, disable }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn the_answer_does_not_depend_on_how_many_are_in_flight(target in target(), choices in vec(any::<usize>(), 8)) {
        let alone = target.search(1, &choices);
        for in_flight in [2, 4, 16] {
            let together = target.search(in_flight, &choices);
            prop_assert_eq!(&together.found, &alone.found, "{} in flight", in_flight);
            // Verdicts name trials, which have other numbers.
            prop_assert_eq!(std::mem::discriminant(&together.verdict), std::mem::discriminant(&alone.verdict));
        }
    }
}

/// Rounds that a search takes if all trials take the same time.
fn rounds(in_flight: usize, culprit: usize) -> usize {
    let ids: Vec<_> = (0..1000_u64).map(|i| ChangeId::of(&[Field::U64(i)])).collect();
    let fails = vec![BTreeSet::from([culprit])];
    let target = Target { ids, fails, appears_with: Vec::new(), unresolved: Vec::new(), disable: false };
    let in_flight = NonZeroUsize::new(in_flight).unwrap();
    let mut search = Search::new(Options { in_flight, ..Options::default() });
    for round in 0.. {
        let mut running = Vec::new();
        while let Step::Run(trial) = search.step() {
            running.push(trial);
        }
        if running.is_empty() {
            return round;
        }
        for trial in running {
            search.record(trial.id, target.observe(&trial.selection));
        }
    }
    unreachable!("every search ends")
}

#[test]
fn more_in_flight_take_fewer_rounds() {
    let sum = |in_flight| (0..40).map(|i| rounds(in_flight, i * 25)).sum::<usize>();
    let sums: Vec<_> = [1, 2, 4, 16].into_iter().map(sum).collect();
    println!("rounds of 40 searches with 1, 2, 4 and 16 trials in flight: {sums:?}");
    // One trial after the other takes log2(1000) + 4; with n of them a round halves log2(n + 1) times.
    assert!(sums[0] <= 40 * 14 && sums[1] <= 40 * 9 && sums[2] <= 40 * 7 && sums[3] <= 40 * 4, "{sums:?}");
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
    assert_eq!((search.step(), search.runs()), (Step::Wait, 4));
}
