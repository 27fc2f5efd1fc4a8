//! The inner search: which is the last change of the smallest failing prefix?
//!
//! Prefixes of an order are cut, not halves of a set: the smallest failing prefix ends in a needed change, wherever the
//! others are. A prefix of bit-reversed hashes is an interval of hash space: a pattern of few terms selects it, and it
//! is defined for changes that appear later. Cuts are short binary fractions where that costs nothing, so the first
//! cuts are known before any change is. Go's search, which depends on lucky halves, takes 1.4 times as many trials.

use alloc::{sync::Arc, vec::Vec};
use core::ops::Range;

use super::{density::Group, weights::Weights};
use crate::search::tuning;
use crate::{
    search::model::rank::Rank,
    search::model::{likely_groups::LikelyGroups, rank::simplest_cut, ranked, selection::Prefix, trial::Outcome},
};

/// A prefix that does not fail and a longer one that does, both with the same forced changes.
#[derive(Clone, Debug)]
pub(in crate::search) struct Bracket {
    /// End of the prefix that does not fail.
    low: Rank,
    /// The prefix that fails.
    high: Prefix,
    /// True if a run of `high` has failed with the present forced changes.
    observed: bool,
    /// The changes that the failing run of this prefix or a longer one reported, in order: only these can have
    /// mattered.
    failing: Arc<[Rank]>,
    /// The weights of the changes in `failing`, by their likelihood.
    weights: Weights,
    /// The groups of changes that are likelier than others; some changes may not be in `failing`.
    likely_groups: LikelyGroups,
    /// The cut to ask for next, if it was proposed.
    proposed: Option<Rank>,
    /// This bracket before a cut was proposed. It is restored where the answer may depend on the cuts.
    unsteered: Option<Arc<Bracket>>,
    /// False once the bracket was restored.
    may_steer: bool,
    /// The last candidates, which the next cut leaves out, where many changes are needed. It is not known then that the forced
    /// changes alone do not fail.
    group: Option<Group>,
    /// Unresolved cuts between both prefixes.
    unresolved: Vec<Rank>,
    steps: u32,
}

/// The next step of a bracket: a question, or its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) enum BracketStep {
    /// Does this prefix fail?
    Ask(Rank),
    /// This change is needed: the shortest prefix known to fail ends with it.
    Needed(Rank),
    /// The failing run reported no change that a passing run excluded.
    Unexplained,
}

impl Bracket {
    /// Returns the bracket after a run of `high` that failed and reported `failing`, in order. With none of these
    /// changes the target does not fail.
    pub(in crate::search) fn new(high: Prefix, failing: Arc<[Rank]>, likely_groups: LikelyGroups) -> Self {
        let end = end(high, &failing);
        let weights = Weights::new(&failing[..end], &likely_groups);
        Self {
            low: Rank::FIRST,
            high,
            observed: true,
            failing,
            weights,
            likely_groups,
            proposed: None,
            unsteered: None,
            may_steer: true,
            group: None,
            unresolved: Vec::new(),
            steps: 0,
        }
    }

    /// Returns the same bracket after a shorter prefix, up to this cut, has passed.
    pub(in crate::search) fn above(self, passed: Rank) -> Self {
        Self { low: passed, ..self }
    }

    /// Returns the same bracket, with these groups of changes likelier than others.
    pub(in crate::search) fn with_likely_groups(self, likely_groups: LikelyGroups) -> Self {
        let weights = Weights::new(&self.failing[..self.span().end], &likely_groups);
        let alike =
            |bracket: Arc<Self>| Arc::new(Arc::unwrap_or_clone(bracket).with_likely_groups(likely_groups.clone()));
        let unsteered = self.unsteered.clone().map(alike);
        Self { weights, likely_groups, proposed: None, unsteered, ..self }
    }

    /// Returns the same bracket that asks for this cut next. Without a cut, or if it separates no candidates, their weights
    /// decide.
    pub(in crate::search) fn proposing(self, cut: Option<Rank>) -> Self {
        let proposed = cut.filter(|&cut| self.is_cut_by(cut));
        if proposed.is_none() {
            return Self { proposed, ..self };
        }
        let unsteered = self.unsteered.clone().unwrap_or_else(|| Arc::new(self.clone()));
        Self { proposed, unsteered: Some(unsteered), ..self }
    }

    /// Returns the same bracket, where many changes are needed: the next cut leaves out this group of last candidates.
    /// `None`: the forced changes alone do not fail, and cuts halve the candidates.
    pub(super) fn with_group(self, group: Option<Group>) -> Self {
        // A prefix without a change that is forced instead is the same set as the one that has failed.
        Self { group, observed: self.observed || group.is_some(), ..self }
    }

    /// Returns the number of groups in sequence without a needed change. `None` if it is known that the forced changes
    /// alone do not fail.
    pub(in crate::search) fn empty_groups(&self) -> Option<usize> {
        self.group.map(|_| self.steps as usize)
    }

    /// Returns true if cuts may be proposed. Where a cut is unresolved, or a failing run did not report
    /// exactly the known candidates below its cut, the answer may depend on the cuts, so these are then the same as with
    /// one run at a time.
    pub(in crate::search) fn may_steer(&self) -> bool {
        self.may_steer && self.group.is_none() && self.is_open()
    }

    /// Returns the prefix that fails.
    pub(in crate::search) fn high(&self) -> Prefix {
        self.high
    }

    /// Returns the changes that may be the one searched for.
    pub(in crate::search) fn candidates(&self) -> &[Rank] {
        &self.failing[self.span()]
    }

    /// Returns each candidate's share of the total weight.
    pub(in crate::search) fn likelihoods(&self) -> impl Iterator<Item = f64> + '_ {
        self.weights.shares(self.span())
    }

    /// Returns the range of the candidates in `failing`.
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
            // All trials passed: confirm that `high` still fails. If nothing was asked, a run of the set alone confirms
            // it.
            (BracketStep::Needed(_), Prefix::Below(high)) if !self.observed && self.steps > 0 => BracketStep::Ask(high),
            (settled, _) => settled,
        }
    }

    /// Returns true if any cut between two candidates may be asked: none was unresolved, and the step limit is not
    /// reached.
    pub(in crate::search) fn is_open(&self) -> bool {
        self.candidates().len() > 1 && self.unresolved.is_empty() && self.steps < tuning::MAX_BRACKET_STEPS
    }

    /// Returns true if `cut` separates some candidates from others.
    pub(in crate::search) fn is_cut_by(&self, cut: Rank) -> bool {
        let candidates = self.candidates();
        (1..candidates.len()).contains(&ranked::below(candidates, cut))
    }

    /// Returns true if `cut` is the whole prefix that is believed to fail.
    pub(in crate::search) fn is_high(&self, cut: Rank) -> bool {
        self.high == Prefix::Below(cut)
    }

    /// Returns true if [`BracketStep::Ask`] may still ask for this cut.
    pub(in crate::search) fn may_ask(&self, cut: Rank) -> bool {
        self.low < cut && (self.high.contains(cut) || self.is_high(cut))
    }

    /// Takes the answer to [`BracketStep::Ask`]. Without reports, a failing run is assumed to have reported the same
    /// changes as the failing run of the longer prefix. Returns the changes that others hid in that longer prefix.
    pub(in crate::search) fn record(
        &mut self,
        cut: Rank,
        outcome: Outcome,
        reported: Option<&Arc<[Rank]>>,
    ) -> Vec<Rank> {
        if self.depends_on_cuts(cut, outcome, reported)
            && let Some(unsteered) = self.unsteered.take()
        {
            *self = Self { may_steer: false, ..Arc::unwrap_or_clone(unsteered) };
            return Vec::new();
        }
        let mut revealed = Vec::new();
        self.steps += 1;
        self.proposed = None;
        match outcome {
            Outcome::Pass => {
                self.low = cut;
                self.group = None;
            }
            Outcome::Fail => {
                self.high = Prefix::Below(cut);
                self.observed = true;
                if let Some(reported) = reported {
                    // The reports may include forced changes: all of those rank above the prefix.
                    let failing = core::mem::replace(&mut self.failing, reported.clone());
                    let is_new = |change: &&Rank| self.high.contains(**change) && !ranked::contains(&failing, **change);
                    revealed.extend(reported.iter().filter(is_new));
                    self.weights.find(reported, &self.likely_groups);
                }
            }
            // No run can confirm that the prefix fails.
            Outcome::Unresolved(_) if self.is_high(cut) => self.observed = true,
            Outcome::Unresolved(_) => self.unresolved.push(cut),
        }
        revealed
    }

    /// Returns true if the result of this run shows that the answer of the search may depend on the cuts: a cut between
    /// candidates is unresolved, or a failing run did not report exactly the known candidates below its cut.
    fn depends_on_cuts(&self, cut: Rank, outcome: Outcome, reported: Option<&Arc<[Rank]>>) -> bool {
        match (outcome, reported) {
            (Outcome::Unresolved(_), _) => !self.is_high(cut),
            (Outcome::Fail, Some(reported)) => {
                let span = |changes| ranked::below(changes, self.low)..ranked::below(changes, cut);
                reported[span(reported)] != self.failing[span(&self.failing)]
            }
            _ => false,
        }
    }

    /// Returns the probability that a prefix fails, in 256ths.
    pub(in crate::search) fn odds_of_failure(&self, cut: Rank) -> u64 {
        if self.is_high(cut) {
            return tuning::odds::BELIEVED_PREFIX;
        }
        if let Some(group) = self.group {
            return 256 - group.odds;
        }
        let span = self.span();
        let middle = ranked::below(&self.failing, cut).clamp(span.start, span.end);
        (256 * self.weights.of(span.start..middle) / self.weights.of(span).max(1)).clamp(1, 255)
    }

    /// Returns the bracket of the search that remains once `needed` is forced: the failing prefix without it.
    pub(in crate::search) fn below(&self, needed: Rank) -> Self {
        let high = Prefix::Below(needed);
        Self { observed: false, ..Self::new(high, self.failing.clone(), self.likely_groups.clone()) }
    }

    /// Returns the cut between candidates to ask for next; `None` if all remaining cuts were unresolved.
    fn cut(&self) -> Option<Rank> {
        let span = self.span();
        let rank = |i: usize| self.failing[i];
        if self.steps >= tuning::MAX_BRACKET_STEPS {
            let (first, last) = (rank(span.start), rank(span.end - 1));
            let middle = Rank(first.0 + (last.0 - first.0).div_ceil(2));
            return (!self.unresolved.contains(&middle)).then_some(middle);
        }
        if let (Some(group), []) = (self.group, &self.unresolved[..]) {
            let first_left_out = span.end - group.size;
            return Some(simplest_cut(rank(first_left_out - 1), rank(first_left_out)));
        }
        if let (Some(proposed), []) = (self.proposed, &self.unresolved[..]) {
            return Some(proposed);
        }
        if self.unresolved.is_empty() {
            let middle = self.weights.middle(span);
            return Some(simplest_cut(rank(middle.start() - 1), rank(*middle.end())));
        }
        if self.unresolved.len() >= tuning::MAX_UNRESOLVED_CUTS {
            return None;
        }
        // The cause of an unresolved trial probably affects its neighbours too. Choose the cut with the largest
        // distance, in candidates, from the unresolved cuts and from both ends.
        let position = |cut: Rank| ranked::below(&self.failing, cut).clamp(span.start, span.end);
        let mut marks: Vec<usize> = self.unresolved.iter().map(|&cut| position(cut)).collect();
        marks.extend([span.start, span.end]);
        marks.sort_unstable();
        let widest = marks.windows(2).max_by_key(|gap| gap[1] - gap[0])?;
        let middle = usize::midpoint(widest[0], widest[1]);
        (middle > widest[0]).then(|| simplest_cut(rank(middle - 1), rank(middle)))
    }
}

/// Returns the number of changes of a list that are in a prefix.
fn end(prefix: Prefix, changes: &[Rank]) -> usize {
    match prefix {
        Prefix::Below(cut) => ranked::below(changes, cut),
        Prefix::All => changes.len(),
    }
}
