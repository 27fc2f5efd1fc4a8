//! Pairs of changes that explain all runs, where no single change does.
//!
//! Either both changes of a pair are needed together, or each one makes the target fail.
//! A group that selects a share of 0.71 of the changes contains half of all pairs, so that its run tells as much as
//! possible about two changes that are needed together (Coja-Oghlan, Gebhard, Hahn-Klimroth and Loick, "Optimal group
//! testing", 2020, on random designs). If each of the two makes the target fail, the share is 0.29. After few
//! runs, hundreds of thousands of pairs are left, so an even sample of them chooses groups and guesses.

use alloc::{rc::Rc, vec, vec::Vec};

use super::group_tests::{selection_of, split, switches};
use crate::search::{
    ledger::Asked,
    model::{
        mode::Mode,
        rank::Rank,
        ranked,
        rng::SeededRng,
        selection::{Prefix, Selection},
        trial::Outcome,
    },
    sequential::{Procedure, lookahead},
    tuning,
};

/// The way in which two changes make the target fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PairKind {
    /// The target fails if both are switched.
    Both,
    /// The target fails if one of them is switched.
    Either,
}

/// Two changes, as indices of [`Pairs::changes`].
#[derive(Clone, Copy, Debug)]
struct Pair {
    kind: PairKind,
    first: u16,
    last: u16,
}

impl Pair {
    /// Returns true if a run fails in which these changes are switched.
    fn fails(self, is_switched: &[bool]) -> bool {
        let [first, last] = [self.first, self.last].map(|index| is_switched[usize::from(index)]);
        match self.kind {
            PairKind::Both => first && last,
            PairKind::Either => first || last,
        }
    }
}

/// A sample of the pairs that explain all runs; empty if other changes explain them.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    /// Changes, in order.
    changes: Rc<[Rank]>,
    pairs: Rc<[Pair]>,
}

impl Pairs {
    /// Returns a sample of the pairs that explain all runs. There is none if too many changes may be in a pair.
    pub(super) fn that_explain(procedure: &Procedure, runs: &[(&Selection, Outcome)]) -> Self {
        let (mode, excluded) = (procedure.mode(), procedure.excluded());
        let is_switched = |run: &Selection| excluded.iter().any(|&change| switches(mode, run, change));
        let with = |wanted| runs.iter().filter(move |(_, outcome)| *outcome == wanted).map(|&(selection, _)| selection);
        // An excluded change explains a failing run in which it is switched.
        let failed: Vec<_> = with(Outcome::Fail).filter(|run| !is_switched(run)).collect();
        let passed: Vec<_> = with(Outcome::Pass).collect();
        let changes: Rc<[Rank]> = lookahead::rest_of_known(procedure, &[]).into();
        // Both changes of a pair are in every failing run; neither of two that fail alone is in a passing one.
        let both = Members::new(&changes, |change| failed.iter().all(|run| switches(mode, run, change)));
        let either = Members::new(&changes, |change| !passed.iter().any(|run| switches(mode, run, change)));
        let both = both.pairs(PairKind::Both, |change| passed.iter().map(move |run| switches(mode, run, change)));
        let either =
            either.pairs(PairKind::Either, |change| failed.iter().map(move |run| !switches(mode, run, change)));
        let all = [both, either].concat();
        let step = all.len().div_ceil(tuning::MAX_PAIRS_SAMPLED).max(1);
        Self { changes, pairs: all.into_iter().step_by(step).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Returns for each change if a selection switches it.
    fn switched(&self, mode: Mode, selection: &Selection) -> Vec<bool> {
        self.changes.iter().map(|&change| switches(mode, selection, change)).collect()
    }

    /// Returns true if a run of this selection fails with some pairs and passes with others.
    pub(super) fn are_separated_by(&self, mode: Mode, selection: &Selection) -> bool {
        let failing = self.failing(mode, selection);
        0 < failing && failing < self.pairs.len()
    }

    /// Returns the number of pairs with which a run of this selection fails.
    fn failing(&self, mode: Mode, selection: &Selection) -> usize {
        let is_switched = self.switched(mode, selection);
        self.pairs.iter().filter(|pair| pair.fails(&is_switched)).count()
    }

    /// Returns the probability that a run fails, in 256ths; `None` if no pair is left. A pair is only a guess, so no
    /// outcome is certain.
    pub(super) fn odds_of_failure(&self, mode: Mode, selection: &Selection) -> Option<u64> {
        let share = (256 * self.failing(mode, selection)).checked_div(self.pairs.len())?;
        Some((share as u64).clamp(tuning::odds::SURPRISE, 256 - tuning::odds::SURPRISE))
    }

    /// Returns the pairs that explain this outcome too.
    pub(super) fn after(&self, mode: Mode, selection: &Selection, outcome: Outcome) -> Self {
        let is_switched = self.switched(mode, selection);
        let explains = |pair: &&Pair| pair.fails(&is_switched) == (outcome == Outcome::Fail);
        Self { changes: self.changes.clone(), pairs: self.pairs.iter().filter(explains).copied().collect() }
    }

    /// Lets the cuts of the present bracket halve the changes that may be needed next. If both changes of a pair are needed
    /// together, this is the last one, or the first one if the last is forced. If each makes the target fail, this is the
    /// first one, or the last one if the first is excluded.
    pub(super) fn steer(&self, procedure: &mut Procedure) {
        let Some((forced, bracket)) = procedure.narrowing() else { return };
        let excluded = procedure.excluded();
        let next = |pair: &Pair| {
            let [first, last] = [pair.first, pair.last].map(|index| self.changes[usize::from(index)]);
            match (pair.kind, forced) {
                (PairKind::Both, []) => Some(last),
                (PairKind::Both, [other]) => (*other == last).then_some(first),
                (PairKind::Either, []) => Some(if excluded.contains(&first) { last } else { first }),
                _ => None,
            }
        };
        let mut suspects: Vec<_> = self.pairs.iter().filter_map(next).collect();
        ranked::sort(&mut suspects);
        suspects.retain(|&change| ranked::contains(bracket.candidates(), change));
        if !suspects.is_empty() {
            lookahead::suspect(procedure, suspects);
        }
    }

    /// Returns the questions of up to `count` groups, each of which splits the pairs that earlier selections do not tell
    /// apart. `asked` are the selections of runs that are in flight or about to start.
    pub(super) fn groups<'a>(
        &self,
        procedure: &Procedure,
        asked: impl Iterator<Item = &'a Selection>,
        count: usize,
    ) -> Vec<Asked> {
        let mode = procedure.mode();
        let mut parts = vec![0; self.pairs.len()];
        for selection in asked {
            let is_switched = self.switched(mode, selection);
            split(&mut parts, |index| self.pairs[index].fails(&is_switched));
        }
        let mut rng = SeededRng::new(self.pairs.len() as u64);
        let members = self.members();
        let suspects: Vec<_> = members.iter().map(|&index| self.changes[index]).collect();
        let share = self.share_to_select();
        let mut groups = Vec::new();
        while groups.len() < count {
            let tries = (0..tuning::TRIES_OF_A_GROUP).map(|_| {
                let chosen = self.draw(&members, share, &mut rng);
                (self.separated(&parts, &chosen), chosen)
            });
            let best = tries.max_by_key(|(separated, _)| *separated);
            let Some((_, chosen)) = best.filter(|(separated, _)| *separated > 0) else { break };
            let is_chosen: Vec<_> = members.iter().map(|&index| chosen[index]).collect();
            let Some((prefix, gaps)) = selection_of(&suspects, &is_chosen, Prefix::All) else { break };
            split(&mut parts, |index| self.pairs[index].fails(&chosen));
            groups.push(lookahead::group(procedure, prefix, gaps));
        }
        groups
    }

    /// Returns the indices of the changes that are in a pair, in order.
    fn members(&self) -> Vec<usize> {
        let mut is_member = vec![false; self.changes.len()];
        for pair in self.pairs.iter() {
            is_member[usize::from(pair.first)] = true;
            is_member[usize::from(pair.last)] = true;
        }
        (0..self.changes.len()).filter(|&index| is_member[index]).collect()
    }

    /// Returns the share of the changes that a group selects so that its run fails with half of the pairs.
    fn share_to_select(&self) -> f64 {
        let both = self.pairs.iter().filter(|pair| pair.kind == PairKind::Both).count();
        #[expect(clippy::cast_precision_loss, reason = "a sample is small")]
        let both = both as f64 / self.pairs.len() as f64;
        // With a share s selected, s² of one kind fail, and 1 - (1 - s)² of the other. The sum increases with s.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..16 {
            let share = f64::midpoint(low, high);
            let failing = both * share * share + (1.0 - both) * share * (2.0 - share);
            if failing < 0.5 { low = share } else { high = share }
        }
        low
    }

    /// Draws a group: for each change, if it is in the group.
    fn draw(&self, members: &[usize], share: f64, rng: &mut SeededRng) -> Vec<bool> {
        let mut chosen = vec![false; self.changes.len()];
        for &index in members {
            chosen[index] = rng.happens(share);
        }
        chosen
    }

    /// Returns how many combinations of two pairs in one part this group tells apart: its run fails with one of them and
    /// passes with the other.
    fn separated(&self, parts: &[usize], chosen: &[bool]) -> u64 {
        let count = parts.iter().max().map_or(0, |last| last + 1);
        let mut sizes = vec![[0_u64; 2]; count];
        for (pair, &part) in self.pairs.iter().zip(parts) {
            sizes[part][usize::from(pair.fails(chosen))] += 1;
        }
        sizes.into_iter().map(|[passing, failing]| passing * failing).sum()
    }
}

/// The changes that may be in a pair of one kind.
struct Members<'a> {
    changes: &'a [Rank],
    indices: Vec<u16>,
}

impl<'a> Members<'a> {
    /// Returns the changes that are not ruled out; none if there are too many.
    fn new(changes: &'a [Rank], is_possible: impl Fn(Rank) -> bool) -> Self {
        let possible = changes.iter().enumerate().filter(|&(_, &change)| is_possible(change)).map(|(index, _)| index);
        let possible: Vec<_> = possible.take(tuning::MAX_CHANGES_OF_PAIRS + 1).collect();
        let is_few = possible.len() <= tuning::MAX_CHANGES_OF_PAIRS;
        let indices = possible.into_iter().filter(|_| is_few).map(u16::try_from).collect::<Result<_, _>>();
        Self { changes, indices: indices.unwrap_or_default() }
    }

    /// Returns the pairs that no run refutes. `refuting` returns for each run if it refutes a change; a run that refutes
    /// both changes of a pair refutes the pair.
    fn pairs<I: Iterator<Item = bool>>(&self, kind: PairKind, refuting: impl Fn(Rank) -> I) -> Vec<Pair> {
        let bits = |&index: &u16| {
            let mut words = Vec::new();
            for (run, refutes) in refuting(self.changes[usize::from(index)]).enumerate() {
                if run % 64 == 0 {
                    words.push(0_u64);
                }
                if let Some(word) = words.last_mut() {
                    *word |= u64::from(refutes) << (run % 64);
                }
            }
            words
        };
        let bits: Vec<_> = self.indices.iter().map(bits).collect();
        let mut pairs = Vec::new();
        for (place, &first) in self.indices.iter().enumerate() {
            let later = self.indices.iter().zip(&bits).skip(place + 1);
            let refuted = |other: &[u64]| bits[place].iter().zip(other).any(|(a, b)| a & b != 0);
            let fitting = later.filter(|(_, other)| !refuted(other));
            pairs.extend(fitting.map(|(&last, _)| Pair { kind, first, last }));
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::search::{model::options::Options, sequential::Answer};

    /// Returns a procedure with `changes` changes that asks for its first cut.
    fn procedure(changes: u64) -> Procedure {
        let mut procedure = Procedure::new(Options::default());
        let reported = (1..=changes).map(Rank).collect::<Vec<_>>().into();
        for outcome in [Outcome::Fail, Outcome::Pass] {
            procedure.answer(&Answer { trial: None, outcome, reported: Some(&reported) });
        }
        procedure
    }

    fn of(kind: PairKind, [first, last]: [u64; 2], selection: &Selection) -> Outcome {
        let [first, last] = [first, last].map(|change| selection.contains(Rank(change)));
        let fails = if kind == PairKind::Both { first && last } else { first || last };
        if fails { Outcome::Fail } else { Outcome::Pass }
    }

    fn listed(pairs: &Pairs) -> Vec<(PairKind, [u64; 2])> {
        let rank = |index: u16| pairs.changes[usize::from(index)].0;
        pairs.pairs.iter().map(|pair| (pair.kind, [rank(pair.first), rank(pair.last)])).collect()
    }

    proptest! {
        #[test]
        fn exactly_the_pairs_that_explain_all_runs_are_listed(runs in vec((vec(1..=9_u64, 0..9), any::<bool>()), 0..5)) {
            let selection = |changes: &[u64]| Selection {
                prefix: Prefix::NONE,
                forced: changes.iter().copied().map(Rank).collect(),
                ..Selection::all()
            };
            let outcome = |fails| if fails { Outcome::Fail } else { Outcome::Pass };
            let runs: Vec<_> = runs.iter().map(|(changes, fails)| (selection(changes), outcome(*fails))).collect();
            let runs: Vec<_> = runs.iter().map(|(selection, outcome)| (selection, *outcome)).collect();
            let all = [PairKind::Both, PairKind::Either].into_iter().flat_map(|kind| {
                (1..=9).flat_map(move |first| (first + 1..=9).map(move |last| (kind, [first, last])))
            });
            let explains = |&(kind, changes): &(PairKind, [u64; 2])| {
                runs.iter().all(|(selection, outcome)| of(kind, changes, selection) == *outcome)
            };
            let expected: Vec<_> = all.filter(explains).collect();
            prop_assert_eq!(listed(&Pairs::that_explain(&procedure(9), &runs)), expected);
        }
    }

    #[test]
    fn groups_leave_one_pair_after_few_rounds() {
        let procedure = procedure(300);
        for (kind, pair) in [(PairKind::Both, [17, 231]), (PairKind::Either, [90, 91]), (PairKind::Both, [1, 300])] {
            let mut runs: Vec<(Selection, Outcome)> = Vec::new();
            for _ in 0..3 {
                let known: Vec<_> = runs.iter().map(|(selection, outcome)| (selection, *outcome)).collect();
                let pairs = Pairs::that_explain(&procedure, &known);
                let groups = pairs.groups(&procedure, core::iter::empty(), 16);
                runs.extend(groups.into_iter().map(|asked| {
                    let outcome = of(kind, pair, &asked.selection);
                    (asked.selection, outcome)
                }));
            }
            let known: Vec<_> = runs.iter().map(|(selection, outcome)| (selection, *outcome)).collect();
            assert_eq!(listed(&Pairs::that_explain(&procedure, &known)), [(kind, pair)]);
        }
    }

    #[test]
    fn too_many_changes_make_no_pairs() {
        let pairs = Pairs::that_explain(&procedure(tuning::MAX_CHANGES_OF_PAIRS as u64 + 1), &[]);
        assert!(pairs.is_empty());
        assert_eq!(pairs.odds_of_failure(Mode::Enable, &Selection::all()), None);
    }
}
