//! The change that a failure needs beside the forced ones, under noise: runs and questions as sets of candidates.

use alloc::vec::Vec;
use core::ops::Range;

use super::history::Run;
use crate::before::model::{
    mode::Mode,
    rank::{Order, Rank, simplest_cut},
    ranked,
    selection::{Prefix, Selection},
    trial::Question,
};
use crate::before::posterior::{CandidateSet, ChangePoint, Evidence};

/// The common context of all questions about the same culprit.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchContext<'a> {
    pub(super) order: Order,
    pub(super) mode: Mode,
    /// Every change ever reported, in order.
    pub(super) known: &'a [Rank],
    /// The sets of the culprits that were found.
    pub(super) found: &'a [Vec<Rank>],
    pub(super) runs: &'a [Run],
    /// Steps of a counter that are no candidates, because the next one stands for them.
    pub(super) merged: &'a [Rank],
    /// The costs of a failing run and of a passing run.
    pub(super) costs: (f64, f64),
}

/// A search for one change.
#[derive(Clone, Debug)]
pub(super) struct NoisyBracket {
    order: Order,
    mode: Mode,
    /// The sets found before, which are left out.
    found: Vec<Vec<Rank>>,
    /// The changes known to be needed, each of lower rank than the one before it.
    forced: Vec<Rank>,
    /// The changes that may be the next one, in order; at least one.
    candidates: Vec<Rank>,
    point: ChangePoint,
}

impl NoisyBracket {
    /// Returns the search for the change that is needed beside the forced ones, with all runs so far; `None` if there
    /// is no candidate.
    pub(super) fn new(context: SearchContext<'_>, forced: Vec<Rank>) -> Option<Self> {
        let SearchContext { order, mode, known, found, runs, merged, costs } = context;
        let end = forced.last().map_or(known.len(), |&last| ranked::below(known, last));
        // A counter stops before a step that is left out.
        let is_beyond = |id: &Rank| order == Order::Counter && found.iter().flatten().any(|left_out| left_out < id);
        let excluded = |id: &Rank| found.iter().any(|set| set.contains(id)) || is_beyond(id) || merged.contains(id);
        let candidates: Vec<_> = known[..end].iter().copied().filter(|id| !excluded(id)).collect();
        if candidates.is_empty() {
            return None;
        }
        let mut point = ChangePoint::new(candidates.len(), &evidence(found, runs));
        point.set_costs(costs.0, costs.1);
        if order == Order::Counter {
            point.set_counter();
        }
        let mut this = Self { order, mode, found: found.to_vec(), forced, candidates, point };
        for run in runs {
            this.observe(run);
        }
        Some(this)
    }

    pub(super) fn point(&self) -> &ChangePoint {
        &self.point
    }

    pub(super) fn set_costs(&mut self, failing: f64, passing: f64) {
        self.point.set_costs(failing, passing);
    }

    pub(super) fn forced(&self) -> &[Rank] {
        &self.forced
    }

    /// Returns the forced changes and this candidate.
    pub(super) fn with(&self, candidate: usize) -> Vec<Rank> {
        self.forced.iter().copied().chain([self.candidates[candidate]]).collect()
    }

    /// Returns the smallest interval of positions in a sorted list that contains these candidates.
    pub(super) fn positions(&self, candidates: Range<usize>, known: &[Rank]) -> Range<usize> {
        let below = |index: usize| ranked::below(known, self.candidates[index]);
        below(candidates.start)..below(candidates.end - 1) + 1
    }

    pub(super) fn is_first(&self) -> bool {
        self.found.is_empty()
    }

    pub(super) fn candidates(&self) -> usize {
        self.candidates.len()
    }

    /// Takes the result of a run, if it is evidence for this search.
    pub(super) fn observe(&mut self, run: &Run) {
        if let Some(tested) = self.candidate_set(&run.selection, |id| run.has(id)) {
            self.point.observe(tested, run.failed);
        }
    }

    /// Returns the candidates that a selection tests, if they form a set that the posterior can express.
    pub(super) fn candidate_set(&self, selection: &Selection, has: impl Fn(Rank) -> bool) -> Option<CandidateSet> {
        if *selection == self.mode.nothing() {
            return Some(CandidateSet::prefix(0));
        }
        if selection.inverted != (self.mode == Mode::Disable) {
            return None;
        }
        // A culprit found before explains the outcome.
        if self.found.iter().any(|set| set.iter().all(|&id| has(id))) {
            return None;
        }
        // The changes that the run asked for count, not those that it reached: a forced change that only other changes
        // make reachable does not matter without them.
        let asked = |id: &Rank| selection.contains(*id);
        if !self.forced.iter().all(asked) {
            return Some(CandidateSet::prefix(0));
        }
        let below = self.cut_by(selection)?;
        let index = |id: &Rank| self.candidates[below..].iter().position(|other| other == id);
        let mut plus = selection.forced.iter().filter(|id| asked(id)).filter_map(index).map(|index| below + index);
        let is_candidate = |id: &&Rank| !self.found.iter().any(|set| set.contains(id));
        let mut minus = selection.excluded.iter().filter(is_candidate).map(|&id| self.index(id));
        let set = match (plus.next(), plus.next(), minus.next(), minus.next()) {
            (plus, None, None, None) => CandidateSet { prefix: below, plus, minus: None },
            (plus, None, Some(minus), None) => CandidateSet { prefix: below, plus, minus: Some(minus?) },
            _ => return None,
        };
        Some(if self.order == Order::Counter { set.counted() } else { set })
    }

    /// Returns the number of first candidates in a prefix; `None` if its gaps make it different from a prefix of the
    /// candidates.
    fn cut_by(&self, selection: &Selection) -> Option<usize> {
        let below = |rank: u128| {
            u64::try_from(rank).map_or(self.candidates.len(), |rank| ranked::below(&self.candidates, Rank(rank)))
        };
        let mut cut = 0;
        for (start, end) in selection.intervals() {
            let (start, end) = (below(start.0.into()), below(end));
            if start < end && start > cut {
                return None;
            }
            cut = cut.max(end);
        }
        Some(cut)
    }

    /// Returns the index of a change among the candidates, if it is one.
    pub(super) fn index(&self, change: Rank) -> Option<usize> {
        ranked::find(&self.candidates, change)
    }

    /// Returns the question whose run switches these candidates.
    pub(super) fn question(&self, tested: CandidateSet) -> (Question, Selection) {
        let forced = match tested.plus {
            Some(candidate) => self.with(candidate),
            None => self.forced.clone(),
        };
        let rank = |index: usize| self.candidates[index];
        let is_all = tested.prefix == self.candidates.len();
        let prefix = match (tested.prefix, self.forced.last()) {
            (0, _) => Prefix::NONE,
            (_, None) if is_all => Prefix::All,
            (_, Some(&last)) if is_all => Prefix::Below(last),
            // Between both there may be steps for which the second one stands.
            (below, _) if self.order == Order::Counter => Prefix::Below(Rank(rank(below - 1).0 + 1)),
            (below, _) => Prefix::Below(simplest_cut(rank(below - 1), rank(below))),
        };
        let question = match prefix {
            Prefix::NONE if forced.is_empty() => return (Question::Baseline, self.mode.nothing()),
            Prefix::NONE => Question::FoundAlone,
            Prefix::All => Question::AllButFound,
            Prefix::Below(_) => Question::Prefix,
        };
        // With an empty prefix only the forced changes are switched, and none of them is in a found set.
        let excluded = if prefix == Prefix::NONE { Vec::new() } else { self.found.concat() };
        let inverted = self.mode == Mode::Disable;
        let selection = Selection { prefix, gaps: Vec::new(), forced, excluded, inverted };
        (question, selection)
    }
}

/// Returns the evidence on the rates: the outcomes of all runs that contain a culprit found before. The runs of the
/// culprit alone are not enough, as they are biased: they were repeated until the culprit had failed often enough.
fn evidence(found: &[Vec<Rank>], runs: &[Run]) -> Evidence {
    let mut evidence = Evidence::new();
    for run in runs {
        if found.iter().any(|set| run.has_all(set)) {
            evidence.observe(true, run.failed);
        }
    }
    evidence
}
