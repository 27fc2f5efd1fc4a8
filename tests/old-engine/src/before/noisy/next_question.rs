//! The choice of the question that is most worth a run under noise.

use alloc::vec::Vec;

use super::{
    minimize::Minimizing,
    noisy_bracket::NoisyBracket,
    proof::{Side, Toss},
    state::{NoisyState, Stage},
    trials::NoisyTrials,
};
use crate::before::{
    model::{
        rank::{Order, Rank},
        selection::{Prefix, Selection},
        trial::{Question, Reason},
        verdict::{Incomplete, Unusable, Verdict},
    },
    posterior::CandidateSet,
    tuning,
};

/// A question that is worth a run.
#[derive(Clone, Debug)]
pub(in crate::before) struct Ask {
    pub(in crate::before) question: Question,
    pub(in crate::before) selection: Selection,
    /// The coin toss that selected this question, if one did.
    pub(in crate::before) toss: Option<Toss>,
}

/// The facts that determine the next question.
#[derive(Clone, Copy, Debug)]
pub(super) struct NextQuestion<'a> {
    pub(super) state: &'a NoisyState,
    pub(super) trials: &'a NoisyTrials,
    /// True if the next run repeats the end that failed.
    pub(super) wants_recheck: bool,
}

impl Ask {
    fn new((question, selection): (Question, Selection)) -> Self {
        Self { question, selection, toss: None }
    }
}

impl NextQuestion<'_> {
    /// Returns the question that is most worth a run, or the verdict if there is none.
    pub(super) fn ask(self) -> Result<Ask, Verdict> {
        let unresolved = |reason| Verdict::Incomplete(Incomplete::Unresolved(reason));
        let state = self.state;
        let mode = state.direction.mode();
        let end = state.direction.wants(&state.runs, self.trials.in_flight());
        if let Some(end) = end.filter(|_| state.found.is_empty()) {
            if let Some(reason) = self.final_refusal(&end.1) {
                return Err(Verdict::Unusable(Unusable::Unresolved(end.0, reason)));
            }
            return Ok(Ask::new(end));
        }
        if self.wants_recheck {
            return Ok(Ask::new(mode.failing_end()));
        }
        match &state.stage {
            Stage::Ends => self.early_prefix().ok_or_else(|| match state.always() {
                Some(outcome) => Verdict::NoDifference(outcome),
                None => Verdict::Unusable(Unusable::NoReports),
            }),
            Stage::Minimize(minimizing) => self.minimizing(minimizing).map_err(unresolved),
            Stage::Narrow(narrowing) => {
                let in_flight = self.trials.in_flight().filter_map(|trial| {
                    let has = |id| trial.selection.contains(id);
                    narrowing.candidate_set(&trial.selection, has)
                });
                if let Some((tested, toss)) = self.confirming(narrowing) {
                    return self.confirm(narrowing, tested, toss).map_err(unresolved);
                }
                let tested = narrowing.point().next(&in_flight.collect::<Vec<_>>());
                let (tested, toss) = self.end_by_coin(narrowing, tested);
                let (question, selection) = self.nearest(narrowing, tested).map_err(unresolved)?;
                Ok(Ask { question, selection, toss })
            }
        }
    }

    /// Returns the same question, or if it is one of both ends and it may be that no candidate matters, the end that a
    /// coin selects. A fixed order can fall into step with effects of earlier runs. Where most runs pass, a coin would
    /// cost many runs, because runs of none then tell less. After the first culprit, the search would only end later.
    fn end_by_coin(self, narrowing: &NoisyBracket, tested: CandidateSet) -> (CandidateSet, Option<Toss>) {
        let [none, all] = [0, narrowing.candidates()].map(CandidateSet::prefix);
        let point = narrowing.point();
        let is_by_coin = narrowing.is_first()
            && [none, all].contains(&tested)
            && point.probability_of_nothing() >= tuning::STAND_OUT_NOTHING
            && point.rate_if_nothing().mean > tuning::COIN_FROM_RATE;
        if !is_by_coin {
            return (tested, None);
        }
        let side = self.state.proofs.next_side();
        let end = match side {
            Side::Suspect => all,
            Side::Control => none,
        };
        (end, Some(Toss { set: None, side }))
    }

    /// Returns the next prefix to run while both ends are in flight and no change is known: 1/2, 1/4, 3/4, 1/8, … of all
    /// hashes. `None` once a run has ended, or if the order is not by hash.
    fn early_prefix(self) -> Option<Ask> {
        let context = self.state.context();
        // Two of the runs in flight are the ends; the prefixes are numbered from 1 on.
        let number = self.trials.in_flight().count().checked_sub(1).filter(|&number| number > 0)?;
        (context.order == Order::ByHash && context.known.is_empty() && context.runs.is_empty()).then(|| {
            let cut = u64::try_from(number).unwrap_or(u64::MAX).reverse_bits();
            Ask::new((Question::Prefix, Selection { prefix: Prefix::Below(Rank(cut)), ..Selection::all() }))
        })
    }

    /// Returns a run that shows whether a set fails without one of its changes. A coin selects the set or the others.
    fn minimizing(self, minimizing: &Minimizing) -> Result<Ask, Reason> {
        let mode = self.state.direction.mode();
        if !minimizing.wants_others(&[]) {
            return Ok(Ask::new((Question::Baseline, mode.nothing())));
        }
        let side = self.state.proofs.next_side();
        let selection = mode.exactly(match side {
            Side::Suspect => minimizing.set(),
            Side::Control => minimizing.others(),
        });
        if let Some(reason) = self.final_refusal(&selection) {
            return Err(reason);
        }
        let toss = Some(Toss { set: Some(minimizing.set().to_vec()), side });
        Ok(Ask { question: Question::FoundAlone, selection, toss })
    }

    /// Returns a run that confirms a candidate. If the control is refused, a run without any change takes its place:
    /// the runs of a proof then differ in the suspect and in nothing else. Any other selection may contain the suspect,
    /// and would show nothing about it.
    fn confirm(self, narrowing: &NoisyBracket, tested: CandidateSet, toss: Option<Toss>) -> Result<Ask, Reason> {
        let nothing = (Question::Baseline, self.state.direction.mode().nothing());
        let has_passed =
            |set: &[Rank]| self.state.failed_alone(set).is_some_and(|failed| self.state.passed_since(failed));
        let control = toss.as_ref().filter(|toss| toss.side == Side::Control).and_then(|toss| toss.set.as_deref());
        let asked = narrowing.question(tested);
        // The target has to pass once without any change.
        let is_replaced = control.is_some_and(|set| !has_passed(set) || self.refusal(&asked.1).is_some());
        let asked = if is_replaced { nothing } else { asked };
        if let Some(reason) = self.final_refusal(&asked.1) {
            return Err(reason);
        }
        let (question, selection) = named(narrowing, asked);
        Ok(Ask { question, selection, toss })
    }

    /// Returns the run that confirms the likeliest candidate; `None` if no candidate is likely enough. If the candidate
    /// is a suspect, this is a run of its proof, on the side that the coin has selected; otherwise it tests if the
    /// candidate suffices.
    fn confirming(self, narrowing: &NoisyBracket) -> Option<(CandidateSet, Option<Toss>)> {
        let candidate = narrowing.point().likeliest()?;
        if candidate.alone < tuning::SUSPECT_PROBABILITY {
            // If this is almost certainly the change, the open question is if it suffices. After several more runs of
            // it alone than without it, a run without it comes next.
            let is_it = candidate.probability() >= 1.0 - self.state.allowed() / tuning::JOINT_ERROR_DIVISOR;
            let (alone, without) = (CandidateSet::alone(candidate.index), CandidateSet::prefix(candidate.index));
            let runs = |tested| self.resolved(&narrowing.question(tested).1);
            let is_turn_of_without = runs(alone) > runs(without) + tuning::MAX_EXTRA_ALONE_RUNS
                && self.refusal(&narrowing.question(without).1).is_none();
            let tested = if is_turn_of_without { without } else { alone };
            return is_it.then_some((tested, None));
        }
        let set = narrowing.with(candidate.index);
        let side = self.state.proofs.next_side();
        let tested = match side {
            Side::Suspect => CandidateSet::alone(candidate.index),
            Side::Control => CandidateSet::prefix(candidate.index),
        };
        Some((tested, Some(Toss { set: Some(set), side })))
    }

    /// Returns the question about these candidates, or the nearest one that is not refused.
    fn nearest(self, narrowing: &NoisyBracket, tested: CandidateSet) -> Result<(Question, Selection), Reason> {
        let first = narrowing.question(tested);
        let CandidateSet { prefix: below, plus: None, minus: None } = tested else {
            return self.final_refusal(&first.1).map_or(Ok(named(narrowing, first)), Err);
        };
        let Some(reason) = self.refusal(&first.1) else { return Ok(named(narrowing, first)) };
        let cuts =
            (1..=tuning::MAX_CUT_DETOUR).flat_map(|away| [below.checked_sub(away), below.checked_add(away)]).flatten();
        let mut others =
            cuts.filter(|&cut| cut <= narrowing.candidates()).map(|cut| narrowing.question(CandidateSet::prefix(cut)));
        let other = others.find(|(_, selection)| self.refusal(selection).is_none()).ok_or(reason)?;
        // The other question may tell nothing new, however often it is asked.
        let at_first = tuning::MAX_UNRESOLVED_AT_FIRST + self.resolved(&other.1) / tuning::DETOURS_BEFORE_RETRY;
        let question = if self.refused_after(at_first, &first.1).is_some() { other } else { first };
        Ok(named(narrowing, question))
    }

    /// Returns the reason why a selection that nothing can replace is not asked for again, if it is refused.
    fn final_refusal(self, selection: &Selection) -> Option<Reason> {
        self.refused_after(tuning::MAX_UNRESOLVED_OF_NEEDED, selection)
    }

    /// Returns the reason why a question that another one can replace is not asked now, if it is refused.
    fn refusal(self, selection: &Selection) -> Option<Reason> {
        self.refused_after(tuning::MAX_UNRESOLVED_AT_FIRST, selection)
    }

    /// Returns the reason why a selection is refused, if it is, where this number of unresolved runs is allowed without
    /// a resolved one.
    fn refused_after(self, at_first: usize, selection: &Selection) -> Option<Reason> {
        let unresolved: Vec<_> = self.trials.unresolved(selection).collect();
        let allowed = at_first + tuning::MAX_UNRESOLVED_PER_RESOLVED * self.resolved(selection);
        (unresolved.len() >= allowed).then(|| unresolved[0])
    }

    /// Returns the number of resolved runs with a selection.
    fn resolved(self, selection: &Selection) -> usize {
        self.state.runs.iter().filter(|run| run.selection == *selection).count()
    }
}

/// Names the ends as in the calibration while no culprit was found.
fn named(narrowing: &NoisyBracket, (question, selection): (Question, Selection)) -> (Question, Selection) {
    let question = match (question, selection.inverted) {
        (Question::AllButFound | Question::Baseline, false) if narrowing.is_first() => Question::AllOn,
        (Question::AllButFound | Question::Baseline, true) if narrowing.is_first() => Question::AllOff,
        _ => question,
    };
    (question, selection)
}
