//! The inner search: which is the last change of the smallest failing prefix?

use alloc::{sync::Arc, vec::Vec};
use core::ops::Range;

use super::weights::Weights;
use crate::search::tuning;
use crate::{
    search::model::rank::Rank,
    search::model::{rank::simplest_cut, ranked, selection::Prefix, trial::Outcome},
};

/// A prefix that does not fail and a longer one that does, both together with the same forced changes.
#[derive(Clone, Debug)]
pub(in crate::search) struct Bracket {
    /// Ranks below this do not suffice.
    low: Rank,
    /// Those of this prefix do.
    high: Prefix,
    /// Whether a run of `high` has failed with the present forced changes.
    observed: bool,
    /// The changes that the failing run of this prefix or a longer one reported, in order: only these can have
    /// mattered.
    failing: Arc<[Rank]>,
    /// How likely each of them is.
    weights: Weights,
    /// Favoured changes, in order; some may not be in `failing`.
    favoured: Arc<[Rank]>,
    /// Cuts between the two that were unresolved.
    unresolved: Vec<Rank>,
    steps: u32,
}

/// What a bracket knows, or wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) enum BracketStep {
    /// Whether this prefix fails.
    Ask(Rank),
    /// This change is needed: the shortest prefix known to fail ends with it.
    Needed(Rank),
    /// The failing run reported nothing that a passing one left out.
    Unexplained,
}

impl Bracket {
    /// A run of `high` failed and reported `failing`, in order; with none of them it does not fail.
    pub(in crate::search) fn new(high: Prefix, failing: Arc<[Rank]>, favoured: Arc<[Rank]>) -> Self {
        let end = end(high, &failing);
        let weights = Weights::new(&failing[..end], &favoured);
        Self { low: Rank::FIRST, high, observed: true, failing, weights, favoured, unresolved: Vec::new(), steps: 0 }
    }

    /// The same search, with these changes taken for likelier, in order.
    pub(in crate::search) fn favouring(self, favoured: Arc<[Rank]>) -> Self {
        let weights = Weights::new(&self.failing[..self.span().end], &favoured);
        Self { weights, favoured, ..self }
    }

    /// The changes that may be the one searched for.
    pub(in crate::search) fn candidates(&self) -> &[Rank] {
        &self.failing[self.span()]
    }

    /// Where they are among those of the failing run.
    fn span(&self) -> Range<usize> {
        let end = end(self.high, &self.failing);
        ranked::below(&self.failing, self.low).min(end)..end
    }

    pub(in crate::search) fn narrowing(&self) -> BracketStep {
        let candidates = self.candidates();
        let settled = match candidates {
            [] => BracketStep::Unexplained,
            [only] => BracketStep::Needed(*only),
            [.., last] => self.cut().map_or(BracketStep::Needed(*last), BracketStep::Ask),
        };
        match (settled, self.high) {
            // All trials passed: confirm that `high` still fails. If nothing was asked, the set is confirmed by a run alone.
            (BracketStep::Needed(_), Prefix::Below(high)) if !self.observed && self.steps > 0 => BracketStep::Ask(high),
            (settled, _) => settled,
        }
    }

    /// Returns whether any cut between two candidates may be asked: none was unresolved, and the step limit is not reached.
    pub(in crate::search) fn is_open(&self) -> bool {
        self.candidates().len() > 1 && self.unresolved.is_empty() && self.steps < tuning::MAX_BRACKET_STEPS
    }

    /// Whether `cut` separates some candidates from others.
    pub(in crate::search) fn is_cut_by(&self, cut: Rank) -> bool {
        let candidates = self.candidates();
        (1..candidates.len()).contains(&ranked::below(candidates, cut))
    }

    /// Whether `cut` is the whole prefix that is believed to fail.
    pub(in crate::search) fn is_high(&self, cut: Rank) -> bool {
        self.high == Prefix::Below(cut)
    }

    /// Whether [`BracketStep::Ask`] may yet ask for this cut.
    pub(in crate::search) fn may_ask(&self, cut: Rank) -> bool {
        self.low < cut && (self.high.contains(cut) || self.is_high(cut))
    }

    /// Takes the answer to [`BracketStep::Ask`]; without reports, a failing run is taken to have reported what the one of
    /// the longer prefix did.
    pub(in crate::search) fn record(&mut self, cut: Rank, outcome: Outcome, reported: Option<&Arc<[Rank]>>) {
        self.steps += 1;
        match outcome {
            Outcome::Pass => self.low = cut,
            Outcome::Fail => {
                self.high = Prefix::Below(cut);
                self.observed = true;
                if let Some(reported) = reported {
                    // Forced changes may be among them: all of those rank above.
                    self.failing = reported.clone();
                    self.weights.find(reported, &self.favoured);
                }
            }
            // It cannot be shown, then.
            Outcome::Unresolved(_) if self.is_high(cut) => self.observed = true,
            Outcome::Unresolved(_) => self.unresolved.push(cut),
        }
    }

    /// How likely a prefix is to fail, in 256ths.
    pub(in crate::search) fn odds_of_failure(&self, cut: Rank) -> u64 {
        if self.is_high(cut) {
            return tuning::odds::BELIEVED_PREFIX;
        }
        let span = self.span();
        let middle = ranked::below(&self.failing, cut).clamp(span.start, span.end);
        // Weights are far from overflowing: their sum is less than the square of the number of changes.
        (256 * self.weights.of(span.start..middle) / self.weights.of(span).max(1)).clamp(1, 255)
    }

    /// What is left to search once `needed` is forced: the failing prefix without it.
    pub(in crate::search) fn below(&self, needed: Rank) -> Self {
        let high = Prefix::Below(needed);
        Self { observed: false, ..Self::new(high, self.failing.clone(), self.favoured.clone()) }
    }

    /// The cut between candidates to ask for next; none if all that are left were unresolved.
    fn cut(&self) -> Option<Rank> {
        let span = self.span();
        let rank = |i: usize| self.failing[i];
        if self.steps >= tuning::MAX_BRACKET_STEPS {
            let (first, last) = (rank(span.start), rank(span.end - 1));
            let middle = Rank(first.0 + (last.0 - first.0).div_ceil(2));
            return (!self.unresolved.contains(&middle)).then_some(middle);
        }
        if self.unresolved.is_empty() {
            let middle = self.weights.middle(span);
            return Some(simplest_cut(rank(middle.start() - 1), rank(*middle.end())));
        }
        if self.unresolved.len() >= tuning::MAX_UNRESOLVED_CUTS {
            return None;
        }
        // What keeps a trial from resolving is likely to keep its neighbours from it too: go as far away as possible,
        // counted in candidates, from the cuts that told nothing and from both ends.
        let position = |cut: Rank| ranked::below(&self.failing, cut).clamp(span.start, span.end);
        let mut marks: Vec<usize> = self.unresolved.iter().map(|&cut| position(cut)).collect();
        marks.extend([span.start, span.end]);
        marks.sort_unstable();
        let widest = marks.windows(2).max_by_key(|gap| gap[1] - gap[0])?;
        let middle = usize::midpoint(widest[0], widest[1]);
        (middle > widest[0]).then(|| simplest_cut(rank(middle - 1), rank(middle)))
    }
}

/// How many changes of a list a prefix has.
fn end(prefix: Prefix, changes: &[Rank]) -> usize {
    match prefix {
        Prefix::Below(cut) => ranked::below(changes, cut),
        Prefix::All => changes.len(),
    }
}
