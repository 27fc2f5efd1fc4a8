//! Several tests in one search, on simulated targets.

mod counter;
mod found;
mod noisy;
mod odd;

use std::{collections::BTreeSet, num::NonZeroUsize};

use crate::simulator::change;
use bisect_core::{
    Field,
    search::{Culprit, Observation, Options, Outcome, Question, Rank, Search, Selection, Step, Trial},
};

/// A test of a simulated target, over the changes by their indices.
#[derive(Clone, Debug, Default)]
struct Test {
    /// The sets that make the test fail.
    fails: Vec<BTreeSet<usize>>,
    /// The changes that the test reaches; `None` for all.
    reaches: Option<BTreeSet<usize>>,
    /// Pairs of which the first change appears only where the second is enabled.
    appears_with: Vec<(usize, usize)>,
}

#[derive(Clone, Debug)]
struct Target {
    ids: Vec<Rank>,
    tests: Vec<Test>,
    disable: bool,
    /// Changes for which there is evidence.
    favoured: Vec<Rank>,
}

impl Target {
    fn new(seed: u64, changes: u64, tests: Vec<Test>) -> Self {
        let ids = (0..changes).map(|i| change(&[Field::U64(seed), Field::U64(i)])).collect();
        Self { ids, tests, disable: false, favoured: Vec::new() }
    }

    /// Returns the same target with only one of its tests.
    fn alone(&self, test: usize) -> Self {
        Self { tests: vec![self.tests[test].clone()], ..self.clone() }
    }

    fn observe(&self, test: usize, selection: &Selection) -> Observation {
        let Test { fails, reaches, appears_with } = &self.tests[test];
        let switched = |i: usize| (selection.contains(self.ids[i]) != selection.inverted) != self.disable;
        let mut there: BTreeSet<usize> = reaches.clone().unwrap_or_else(|| (0..self.ids.len()).collect());
        let mut hidden = 1;
        while hidden > 0 {
            let before = there.clone();
            let is_on = |i: usize| switched(i) && before.contains(&i);
            there.retain(|i| appears_with.iter().all(|&(late, first)| late != *i || is_on(first)));
            hidden = before.len() - there.len();
        }
        let on = |i: usize| switched(i) && there.contains(&i);
        let outcome = if fails.iter().any(|set| set.iter().all(|&i| on(i))) { Outcome::Fail } else { Outcome::Pass };
        let reported = there.iter().map(|&i| self.ids[i]);
        Observation { outcome, reported: reported.filter(|&id| selection.contains(id)).collect() }
    }

    /// Returns the result of all tests together.
    fn observe_all(&self, selection: &Selection) -> Observation {
        let mut all = Observation { outcome: Outcome::Pass, reported: Vec::new() };
        for test in 0..self.tests.len() {
            let Observation { outcome, reported } = self.observe(test, selection);
            all.reported.extend(reported);
            if outcome == Outcome::Fail {
                all.outcome = outcome;
            }
        }
        all
    }
}

/// A function that returns the result of a test, given the target, the number of the test and the trial.
type Observe<'a> = dyn FnMut(&Target, usize, &Trial) -> Observation + 'a;

/// Searches all tests; `choices` selects the run in flight that ends next.
fn search(target: &Target, options: Options, choices: &[usize], observe: &mut Observe<'_>) -> Search {
    let in_flight = options.in_flight.get();
    let mut search = Search::new(options);
    let mut running: Vec<Trial> = Vec::new();
    let mut choices = choices.iter().cycle();
    loop {
        for id in search.obsolete() {
            let before = running.len();
            running.retain(|trial| trial.id != id);
            assert!(running.len() < before, "it was in flight");
            (running.len()..before).for_each(|_| search.cancel(id));
        }
        let trials: BTreeSet<_> = running.iter().map(|trial| trial.id).collect();
        assert!(trials.len() <= in_flight, "no more in flight than allowed");
        assert!(search.progress().runs() < 5000, "it goes on and on");
        match search.step() {
            Step::Run(trial) => {
                // An environment variable holds 128 KiB.
                assert!(trial.pattern().to_string().len() < 1 << 15, "the pattern is too long");
                running.push(trial);
            }
            Step::Done(_) => {
                // Late results may be recorded, and change nothing.
                for trial in running {
                    let observations = trial.tests.iter().map(|&test| target.observe(test, &trial.selection));
                    search.record(trial.id, observations);
                }
                return search;
            }
            Step::Wait => {
                let over = running.remove(choices.next().unwrap() % running.len());
                let calibrates = matches!(over.question, Question::AllOn | Question::AllOff);
                if calibrates && search.progress().tests() == 1 {
                    search.record(over.id, [target.observe_all(&over.selection)]);
                } else {
                    let observations = over.tests.iter().map(|&test| observe(target, test, &over));
                    search.record(over.id, observations);
                }
                if search.can_split() && target.tests.len() > 1 {
                    search.favour([target.favoured.clone()]);
                    search.split(NonZeroUsize::new(target.tests.len()).unwrap());
                }
            }
        }
    }
}

fn honest(target: &Target, options: Options) -> Search {
    search(target, options, &[0], &mut |target, test, trial| target.observe(test, &trial.selection))
}

fn in_flight(count: usize, options: &Options) -> Options {
    Options { in_flight: NonZeroUsize::new(count).unwrap(), ..options.clone() }
}

/// Returns the sets of a test, in any order.
fn sets(found: &[Culprit]) -> BTreeSet<BTreeSet<Rank>> {
    found.iter().map(|culprit| culprit.changes.iter().copied().collect()).collect()
}

/// Returns a target whose tests fail by this number of culprits in turn.
fn taking_turns(seed: u64, changes: u64, tests: usize, culprits: usize) -> Target {
    let test = |i: usize| Test { fails: vec![[i % culprits].into()], ..Test::default() };
    Target::new(seed, changes, (0..tests).map(test).collect())
}

/// Returns a target whose tests have this number of separate changes each, one of which breaks the test.
fn apart(seed: u64, changes: u64, tests: usize) -> Target {
    let total = usize::try_from(changes).unwrap() * tests;
    let test = |i: usize| Test {
        fails: vec![[i].into()],
        reaches: Some((i..total).step_by(tests).collect()),
        ..Test::default()
    };
    Target::new(seed, total as u64, (0..tests).map(test).collect())
}
