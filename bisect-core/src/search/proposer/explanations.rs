//! Explanations: the hypotheses that explain all runs so far, with their weights.

use alloc::{rc::Rc, vec, vec::Vec};

use super::{
    hypotheses::{Combination, Hypothesis, RunEvidence},
    parts::switches,
};
use crate::search::{
    ledger::Ledger,
    model::{
        mode::Mode,
        rank::{Rank, simplest_cut},
        ranked,
        selection::Selection,
        trial::Outcome,
    },
    posterior::math,
    sequential::{Procedure, lookahead, slack},
    tuning,
};

/// The hypotheses that explain all runs; empty if nothing is known of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Explanations {
    /// The changes that hypotheses are about, in order.
    pub(super) changes: Rc<[Rank]>,
    /// The changes that are forced already. A run that does not switch all of them passes.
    forced: Rc<[Rank]>,
    pub(super) hypotheses: Rc<[Hypothesis]>,
    /// The weight of all other explanations. They predict both outcomes of a run with the same probability.
    other: f64,
}

impl Explanations {
    /// Returns what all runs make likely at the present question of a procedure; `None` if no hypothesis explains them, if
    /// the answer may depend on the cuts, or if there are too many candidates.
    pub(super) fn of(procedure: &Procedure, ledger: &Ledger) -> Option<Self> {
        let (forced, bracket) = lookahead::present_set(procedure)?;
        if !bracket.may_steer() || bracket.candidates().len() > tuning::MAX_CANDIDATES_FOR_GROUPS {
            return None;
        }
        let mut changes = lookahead::rest_of_known(procedure, forced);
        // The needed changes are found from the last to the first, so the others rank below the forced ones.
        if let Some(&last) = forced.iter().min() {
            changes.truncate(ranked::below(&changes, last));
        }
        let with_pairs = changes.len() <= tuning::MAX_CHANGES_FOR_PAIRS;
        if !with_pairs {
            changes = bracket.candidates().to_vec();
        }
        let evidence = RunEvidence::new(procedure, &changes, forced, ledger);
        let hypotheses: Rc<[_]> = evidence.hypotheses(bracket, with_pairs).into();
        let other = evidence.weight_of_others();
        (!hypotheses.is_empty()).then(|| Self { forced: forced.into(), hypotheses, other, changes: changes.into() })
    }

    /// Returns the only change that explains all runs together with the forced ones, if it weighs more than all changes that
    /// are needed together. What each of two changes would explain alone does not count: it is proved in the same way.
    pub(super) fn sole(&self) -> Option<Rank> {
        let mut singles =
            self.hypotheses.iter().filter_map(|hypothesis| Some((hypothesis.single()?, hypothesis.weight)));
        let (sole, weight) = singles.next().filter(|_| singles.next().is_none())?;
        let of_all = self.hypotheses.iter().filter(|hypothesis| hypothesis.combination == Combination::All);
        let of_all: f64 = of_all.map(|hypothesis| hypothesis.weight).sum();
        (2.0 * weight > of_all + self.other).then(|| self.changes[sole])
    }

    /// Returns the weight of all explanations.
    pub(super) fn weight(&self) -> f64 {
        self.hypotheses.iter().map(|hypothesis| hypothesis.weight).sum::<f64>() + self.other
    }

    /// Returns for each change if a selection switches it; `None` if it does not switch all forced changes.
    pub(super) fn switched(&self, mode: Mode, selection: &Selection) -> Option<Vec<bool>> {
        let is_switched = |&change: &Rank| switches(mode, selection, change);
        self.forced.iter().all(is_switched).then(|| self.changes.iter().map(is_switched).collect())
    }

    /// Returns the probability that a run of this selection fails; `None` if there is no hypothesis.
    fn probability_of_failure(&self, mode: Mode, selection: &Selection) -> Option<f64> {
        if self.hypotheses.is_empty() {
            return None;
        }
        let Some(is_switched) = self.switched(mode, selection) else { return Some(0.0) };
        let failing = self.hypotheses.iter().filter(|hypothesis| hypothesis.fails(&is_switched));
        let failing: f64 = failing.map(|hypothesis| hypothesis.weight).sum();
        Some((failing + self.other / 2.0) / self.weight())
    }

    /// Returns what a run of this selection is expected to tell, in bits.
    pub(super) fn information(&self, mode: Mode, selection: &Selection) -> f64 {
        self.probability_of_failure(mode, selection).map_or(0.0, math::entropy)
    }

    /// Returns the probability that a run fails, in 256ths; `None` if there is no hypothesis. Each is only a guess, so no
    /// outcome is certain.
    pub(super) fn odds_of_failure(&self, mode: Mode, selection: &Selection) -> Option<u64> {
        let probability = self.probability_of_failure(mode, selection)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 256")]
        let odds = (256.0 * probability) as u64;
        Some(odds.clamp(tuning::odds::SURPRISE, 256 - tuning::odds::SURPRISE))
    }

    /// Returns the explanations after this outcome.
    pub(super) fn after(&self, mode: Mode, selection: &Selection, outcome: Outcome) -> Self {
        let is_switched = self.switched(mode, selection);
        let fails = |hypothesis: &Hypothesis| is_switched.as_ref().is_some_and(|switched| hypothesis.fails(switched));
        let explains = |hypothesis: &&Hypothesis| fails(hypothesis) == (outcome == Outcome::Fail);
        let hypotheses = self.hypotheses.iter().filter(explains).copied().collect();
        Self { hypotheses, other: self.other / 2.0, ..self.clone() }
    }

    /// Lets the present bracket of a procedure ask for the [cut](Self::cut) that halves the likelihood.
    pub(super) fn steer(&self, procedure: &mut Procedure) {
        let cut = self.cut(procedure);
        lookahead::steer(procedure, cut);
    }

    /// Returns the cut that halves the likelihood of the change that the present bracket searches for; `None` if no
    /// hypothesis names a candidate.
    fn cut(&self, procedure: &Procedure) -> Option<Rank> {
        let (_, bracket) = procedure.narrowing()?;
        let candidates = bracket.candidates();
        let weights = self.weights(procedure)?;
        let total: f64 = weights.iter().sum();
        let likely: Vec<usize> = (0..candidates.len()).filter(|&place| weights[place] > 0.0).collect();
        let below_all = Some(*likely.first()?).filter(|&first| first > 0).map(|first| (total, first));
        // A cut is just above a likely candidate, which is then the last one left if the prefix fails. If the prefix is more
        // likely to pass, the cut is just below the next likely candidate: a pass then excludes the unlikely ones between
        // both, too.
        let next = likely.iter().skip(1).map(Some).chain([None]);
        let above = likely.iter().zip(next).scan(0.0, |left, (&place, next)| {
            *left += weights[place];
            let rather_passes = 2.0 * *left < total;
            Some(((total - 2.0 * *left).abs(), next.filter(|_| rather_passes).map_or(place + 1, |&next| next)))
        });
        let cuts: Vec<(f64, usize)> =
            below_all.into_iter().chain(above).filter(|&(_, cut)| cut < candidates.len()).collect();
        let least = cuts.iter().map(|&(difference, _)| difference).min_by(f64::total_cmp)?;
        // While every candidate is likely, the cut has the slack of one that is not proposed, so that the first cut is the
        // one that was asked for before the changes were known. Later, the most exact cut is taken, and the last of equals.
        let slack = if likely.len() == candidates.len() { slack(likely.len()) } else { 0 };
        // The differences are twice the distances from the middle.
        let slack = 2.0 * total * math::count(slack) / math::count(likely.len());
        let mut near = cuts.iter().filter(|&&(difference, _)| difference <= least.max(slack)).map(|&(_, cut)| cut);
        let first = near.next()?;
        let end = near.next_back().unwrap_or(first);
        let first = if slack > least { first } else { end };
        Some(simplest_cut(candidates[first - 1], candidates[end]))
    }

    /// Returns for each candidate of the present bracket the likelihood that it is the one searched for: of a set that fails
    /// together, the last change that is not forced; of changes that each fail, the first.
    fn weights(&self, procedure: &Procedure) -> Option<Vec<f64>> {
        let (forced, bracket) = procedure.narrowing()?;
        let candidates = bracket.candidates();
        let mut weights = vec![0.0; candidates.len()];
        let is_open: Vec<_> = self.changes.iter().map(|change| !forced.contains(change)).collect();
        for hypothesis in self.hypotheses.iter() {
            let open = hypothesis.members().filter(|&index| is_open[index]);
            // Indices are in the order of the changes.
            let next = match hypothesis.combination {
                Combination::All => open.max(),
                Combination::Any => open.min(),
            };
            if let Some(place) = next.and_then(|index| ranked::find(candidates, self.changes[index])) {
                weights[place] += hypothesis.weight;
            }
        }
        Some(weights)
    }
}
