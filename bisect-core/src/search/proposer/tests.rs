//! Tests of what is believed after some runs, and of the groups that follow.

use alloc::{vec, vec::Vec};

use proptest::{collection::vec, prelude::*};

use super::{
    explanations::Explanations,
    groups::Groups,
    hypotheses::{Combination, Hypothesis},
};
use crate::search::{
    ledger::{Asked, Ledger},
    model::{
        options::Options,
        rank::Rank,
        selection::{Prefix, Selection},
        trial::{Observation, Outcome, Question},
    },
    sequential::{Answer, Procedure},
    tuning,
};

/// A procedure with some changes that asks for its first cut, and the runs that were made beside it.
struct Fixture {
    procedure: Procedure,
    ledger: Ledger,
}

impl Fixture {
    fn new(changes: u64) -> Self {
        let mut procedure = Procedure::new(Options::default());
        let reported = (1..=changes).map(Rank).collect::<Vec<_>>().into();
        for outcome in [Outcome::Fail, Outcome::Pass] {
            procedure.answer(&Answer { trial: None, outcome, reported: Some(&reported) });
        }
        Self { procedure, ledger: Ledger::new() }
    }

    fn run(&mut self, selection: Selection, fails: bool) {
        let outcome = if fails { Outcome::Fail } else { Outcome::Pass };
        let trial = self.ledger.ask(Asked { question: Question::Prefix, selection, stage: 0 }, 1);
        self.ledger.start(trial);
        self.ledger[trial].record(vec![Observation { outcome, reported: Vec::new() }]);
    }

    fn explanations(&self) -> Option<Explanations> {
        Explanations::of(&self.procedure, &self.ledger)
    }

    /// Runs this number of groups at once.
    fn run_groups(&mut self, count: usize, fails: &dyn Fn(&Selection) -> bool) {
        let explanations = self.explanations().expect("something explains the runs");
        let mut groups = Groups::new(&explanations, &self.procedure);
        let mut selections: Vec<Selection> = Vec::new();
        while selections.len() < count {
            let Some((Asked { selection, .. }, bits)) = groups.best() else { break };
            if bits < tuning::MIN_BITS_OF_A_GROUP {
                break;
            }
            groups.note(&selection);
            selections.push(selection);
        }
        for selection in selections {
            let fails = fails(&selection);
            self.run(selection, fails);
        }
    }

    /// Returns the likeliest hypothesis: its combination, and its changes.
    fn likeliest(&self) -> (Combination, Vec<Rank>) {
        let explanations = self.explanations().expect("something explains the runs");
        let hypotheses = explanations.hypotheses.iter();
        let best = hypotheses.max_by(|one, other| one.weight.total_cmp(&other.weight)).expect("there is one");
        named(best, &explanations)
    }
}

fn named(hypothesis: &Hypothesis, explanations: &Explanations) -> (Combination, Vec<Rank>) {
    (hypothesis.combination, hypothesis.members().map(|index| explanations.changes[index]).collect())
}

fn fails(combination: Combination, changes: &[Rank], selection: &Selection) -> bool {
    let mut selected = changes.iter().map(|&change| selection.contains(change));
    match combination {
        Combination::All => selected.all(|is_selected| is_selected),
        Combination::Any => selected.any(|is_selected| is_selected),
    }
}

proptest! {
    #[test]
    fn exactly_the_changes_and_pairs_that_explain_all_runs_are_listed(
        runs in vec((vec(1..=9_u64, 0..9), any::<bool>()), 0..5),
    ) {
        let mut fixture = Fixture::new(9);
        let selection = |changes: &[u64]| {
            let forced = changes.iter().copied().map(Rank).collect();
            Selection { prefix: Prefix::NONE, forced, ..Selection::all() }
        };
        let runs: Vec<_> = runs.iter().map(|(changes, fails)| (selection(changes), *fails)).collect();
        for (selection, fails) in runs.clone() {
            fixture.run(selection, fails);
        }
        let singles = (1..=9).map(|change| (Combination::All, vec![Rank(change)]));
        let pairs = [Combination::All, Combination::Any].into_iter().flat_map(|combination| {
            (1..=9).flat_map(move |first| (first + 1..=9).map(move |last| (combination, vec![Rank(first), Rank(last)])))
        });
        let explains = |(combination, changes): &(Combination, Vec<Rank>)| {
            runs.iter().all(|(selection, outcome)| fails(*combination, changes, selection) == *outcome)
        };
        let expected: Vec<_> = singles.chain(pairs).filter(explains).collect();
        let listed = fixture.explanations().map_or_else(Vec::new, |explanations| {
            explanations.hypotheses.iter().map(|hypothesis| named(hypothesis, &explanations)).collect()
        });
        prop_assert_eq!(listed, expected);
    }
}

#[test]
fn groups_leave_one_change_after_as_few_runs_as_there_are_bits() {
    for (changes, bits) in [(2, 1), (3, 2), (8, 3), (100, 7), (1000, 10)] {
        for needed in [1, 1 + changes / 3, changes].map(Rank) {
            let mut fixture = Fixture::new(changes);
            fixture.run_groups(bits, &|selection| selection.contains(needed));
            assert_eq!(fixture.likeliest(), (Combination::All, vec![needed]), "of {changes}");
        }
    }
}

#[test]
fn groups_leave_one_pair_after_few_rounds() {
    for (combination, pair) in [
        (Combination::All, [17, 231]),
        (Combination::All, [1, 300]),
        (Combination::Any, [90, 91]),
        (Combination::Any, [5, 250]),
    ] {
        let mut fixture = Fixture::new(300);
        let pair = pair.map(Rank).to_vec();
        for _ in 0..4 {
            fixture.run_groups(16, &|selection| fails(combination, &pair, selection));
            // A change that explains all runs is run alone first, which refutes it here.
            if let Some(suspect) = fixture.explanations().and_then(|explanations| explanations.sole()) {
                let selection = Selection { prefix: Prefix::NONE, forced: vec![suspect], ..Selection::all() };
                let fails = fails(combination, &pair, &selection);
                fixture.run(selection, fails);
            }
        }
        let (likeliest, changes) = fixture.likeliest();
        match combination {
            Combination::All => assert_eq!((likeliest, changes), (combination, pair)),
            // While both are in the same groups, each explains the runs of the other.
            Combination::Any => {
                assert!(changes.iter().all(|change| pair.contains(change)), "{changes:?} instead of {pair:?}");
            }
        }
    }
}

#[test]
fn a_sample_of_pairs_weighs_as_much_as_all_pairs() {
    // Of few changes all pairs are listed; of more, every ninth one; of many, random ones.
    for changes in [90, 300, 5000] {
        let mut fixture = Fixture::new(changes);
        let half: Vec<_> = (1..=changes / 2).map(|place| Rank(2 * place)).collect();
        fixture.run(Selection { prefix: Prefix::NONE, forced: half, ..Selection::all() }, false);
        let explanations = fixture.explanations().unwrap();
        let is_pair =
            |hypothesis: &&Hypothesis| hypothesis.combination == Combination::All && hypothesis.single().is_none();
        let pairs = explanations.hypotheses.iter().filter(is_pair).map(|hypothesis| hypothesis.weight);
        // The run has both changes of a quarter of all pairs.
        let expected = 0.75 * tuning::PRIOR_OF_SIZE[1];
        let weight: f64 = pairs.sum();
        assert!((weight / expected - 1.0).abs() < 0.03, "{weight} instead of {expected}, of {changes}");
    }
}

#[test]
fn nothing_is_believed_if_no_change_and_no_pair_explains_the_runs() {
    let mut fixture = Fixture::new(64);
    for first in [0, 16, 32, 48] {
        let forced = (first + 1..=first + 16).map(Rank).collect();
        fixture.run(Selection { prefix: Prefix::NONE, forced, ..Selection::all() }, true);
    }
    assert!(fixture.explanations().is_none());
}
