//! Groups: runs of arbitrary changes, together with the forced ones, that tell hypotheses apart.
//!
//! *n* prefixes at once tell *n* + 1 parts of the candidates apart. If a single change is needed, *n* groups tell 2^*n*
//! parts apart, because a run fails if and only if its group contains the change (Dorfman, "The Detection of Defective
//! Members of Large Populations", 1943): a group has half of the single changes of each part. The other changes are drawn
//! with the probability at which a run fails with half of the pairs: 0.71 for pairs that are needed together, if no single
//! change is left (Coja-Oghlan, Gebhard, Hahn-Klimroth and Loick, "Optimal group testing", 2020, on random designs).

use alloc::{vec, vec::Vec};

use super::{
    explanations::Explanations,
    hypotheses::{Combination, Hypothesis},
    parts::{half_of_each, selection_of, split},
};
use crate::search::{
    ledger::Asked,
    model::{
        rank::Rank,
        rng::SeededRng,
        selection::{Prefix, Selection},
    },
    posterior::math::entropy,
    sequential::{Procedure, lookahead},
    tuning,
};

/// The choice of groups, one after the other.
pub(super) struct Groups<'a> {
    explanations: &'a Explanations,
    procedure: &'a Procedure,
    /// For each hypothesis the number of its part: the selections so far do not tell those of one part apart.
    parts: Vec<usize>,
    weight: f64,
    /// The changes that are in a hypothesis, as indices and by name, in order.
    members: Vec<usize>,
    changes: Vec<Rank>,
    /// The hypotheses of one change, as indices.
    singles: Vec<usize>,
    /// The probability with which a group has a change that is no single one; `None` if there are no pairs.
    share: Option<f64>,
    rng: SeededRng,
}

impl<'a> Groups<'a> {
    pub(super) fn new(explanations: &'a Explanations, procedure: &'a Procedure) -> Self {
        let hypotheses = &explanations.hypotheses;
        let mut is_member = vec![false; explanations.changes.len()];
        hypotheses.iter().flat_map(Hypothesis::members).for_each(|index| is_member[index] = true);
        let members: Vec<_> = (0..is_member.len()).filter(|&index| is_member[index]).collect();
        Self {
            explanations,
            procedure,
            parts: vec![0; hypotheses.len()],
            weight: explanations.weight(),
            changes: members.iter().map(|&index| explanations.changes[index]).collect(),
            members,
            singles: (0..hypotheses.len()).filter(|&index| hypotheses[index].single().is_some()).collect(),
            share: share_of_others(explanations),
            rng: SeededRng::new(hypotheses.len() as u64),
        }
    }

    /// Takes note of the selection of a run that is in flight or about to start.
    pub(super) fn note(&mut self, selection: &Selection) {
        let hypotheses = &self.explanations.hypotheses;
        if let Some(is_switched) = self.explanations.switched(self.procedure.mode(), selection) {
            split(&mut self.parts, |index| hypotheses[index].fails(&is_switched));
        }
    }

    /// Returns the question of the best of a few groups, and what it tells beside the noted selections, in bits; `None` if
    /// the best one is empty or has too many gaps.
    pub(super) fn best(&mut self) -> Option<(Asked, f64)> {
        let tries = if self.share.is_some() { tuning::TRIES_OF_A_GROUP } else { 1 };
        let draw = |_| {
            let group = self.draw();
            (self.information(&group), group)
        };
        let (bits, group) = (0..tries).map(draw).max_by(|(one, _), (other, _)| one.total_cmp(other))?;
        let is_chosen: Vec<_> = self.members.iter().map(|&index| group[index]).collect();
        let (_, bracket) = lookahead::present_set(self.procedure)?;
        let end = if self.share.is_some() { Prefix::All } else { bracket.high() };
        let (prefix, gaps) = selection_of(&self.changes, &is_chosen, end)?;
        Some((lookahead::group(self.procedure, prefix, gaps), bits))
    }

    /// Draws a group: for each change, if it is in the group.
    fn draw(&mut self) -> Vec<bool> {
        let mut group = vec![false; self.explanations.changes.len()];
        if let Some(share) = self.share {
            // Neighbours are drawn together where there would be too many gaps.
            let together = self.members.len().div_ceil(tuning::MAX_GROUP_GAPS).max(1);
            for neighbours in self.members.chunks(together) {
                let is_chosen = self.rng.happens(share);
                for &index in neighbours {
                    group[index] = is_chosen;
                }
            }
        }
        let parts: Vec<_> = self.singles.iter().map(|&index| self.parts[index]).collect();
        let singles = self.singles.iter().filter_map(|&index| self.explanations.hypotheses[index].single());
        for (single, is_chosen) in singles.zip(half_of_each(&parts, &parts)) {
            group[single] = is_chosen;
        }
        group
    }

    /// Returns what a run of a group tells beside the noted selections, in bits.
    fn information(&self, group: &[bool]) -> f64 {
        let count = self.parts.iter().max().map_or(0, |last| last + 1);
        let mut weights = vec![[0.0; 2]; count];
        for (hypothesis, &part) in self.explanations.hypotheses.iter().zip(&self.parts) {
            weights[part][usize::from(hypothesis.fails(group))] += hypothesis.weight;
        }
        let bits = weights.into_iter().map(|[passing, failing]: [f64; 2]| {
            let weight = passing + failing;
            if weight > 0.0 { weight * entropy(failing / weight) } else { 0.0 }
        });
        bits.sum::<f64>() / self.weight
    }
}

/// Returns the probability with which a group has a change that is no single one, so that its run fails with half of the
/// pairs if it has half of the single changes; `None` if there are no pairs.
fn share_of_others(explanations: &Explanations) -> Option<f64> {
    let mut is_single = vec![false; explanations.changes.len()];
    explanations.hypotheses.iter().filter_map(Hypothesis::single).for_each(|index| is_single[index] = true);
    let pairs: Vec<_> = explanations.hypotheses.iter().filter(|hypothesis| hypothesis.members().count() > 1).collect();
    let failing = |share: f64| -> f64 {
        let chance = |index: usize| if is_single[index] { 0.5 } else { share };
        let of = |pair: &Hypothesis| match pair.combination {
            Combination::All => pair.members().map(chance).product::<f64>(),
            Combination::Any => 1.0 - pair.members().map(|index| 1.0 - chance(index)).product::<f64>(),
        };
        pairs.iter().map(|pair| pair.weight * of(pair)).sum()
    };
    let half = pairs.iter().map(|pair| pair.weight).sum::<f64>() / 2.0;
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..tuning::STEPS_OF_SHARE {
        let share = f64::midpoint(low, high);
        if failing(share) < half { low = share } else { high = share }
    }
    (!pairs.is_empty()).then_some(high)
}
