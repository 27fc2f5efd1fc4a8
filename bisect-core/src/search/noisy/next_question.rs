//! The choice of the question that is most worth a run under noise.

use alloc::vec::Vec;

use super::{
    Ask, NoisySearch, Stage, history,
    noisy_bracket::NoisyBracket,
    proof::{Side, Toss},
};
use crate::search::posterior::CandidateSet;
use crate::search::tuning;
use crate::{
    search::model::rank::Rank,
    search::model::{
        selection::{Prefix, Selection},
        trial::{Question, Reason},
        verdict::{Incomplete, Mode, Unusable, Verdict},
    },
};

impl NoisySearch {
    /// Returns the question that is most worth a run, or the verdict if there is none.
    pub(super) fn ask(&self) -> Result<Ask, Verdict> {
        let unresolved = |reason| Verdict::Incomplete(Incomplete::Unresolved(reason));
        let end = self.direction.wants(&self.runs, self.in_flight());
        if let Some(end) = end.filter(|_| self.found.is_empty()) {
            if let Some(reason) = self.refusal(&end.1) {
                return Err(Verdict::Unusable(Unusable::Unresolved(end.0, reason)));
            }
            return Ok(Ask::new(end.0, end.1));
        }
        if self.wants_recheck {
            let everything = history::everything(self.direction.mode());
            return Ok(Ask::new(self.failing_end(), everything));
        }
        match &self.stage {
            Stage::Ends => Err(match self.always() {
                Some(outcome) => Verdict::NoDifference(outcome),
                None => Verdict::Unusable(Unusable::NoReports),
            }),
            Stage::Minimize(minimizing) => {
                if !minimizing.wants_others(&[]) {
                    return Ok(Ask::new(Question::Baseline, history::base(self.direction.mode())));
                }
                let selection = self.alone(minimizing.others());
                match self.refusal(&selection) {
                    Some(reason) => Err(unresolved(reason)),
                    None => Ok(Ask::new(Question::FoundAlone, selection)),
                }
            }
            Stage::Narrow(narrowing) => {
                let in_flight = self.in_flight().filter_map(|trial| {
                    let has = |id| trial.selection.contains(id);
                    narrowing.candidate_set(&trial.selection, has)
                });
                let confirming = self.confirming(narrowing);
                let (tested, toss) =
                    confirming.unwrap_or_else(|| (narrowing.point().next(&in_flight.collect::<Vec<_>>()), None));
                // The target has to pass once without any change.
                if let Some(Toss { set, side: Side::Control }) = &toss
                    && !self.failed_alone(set).is_some_and(|failed| self.passed_since(failed))
                {
                    let base = (Question::Baseline, history::base(self.direction.mode()));
                    let (question, selection) = Self::named(narrowing, base);
                    return Ok(Ask { question, selection, toss });
                }
                let (question, selection) = self.nearest(narrowing, tested).map_err(unresolved)?;
                // If another question replaces an unresolved one, it is not part of the proof.
                let toss = toss.filter(|_| selection == narrowing.question(tested).1);
                Ok(Ask { question, selection, toss })
            }
        }
    }

    /// Returns the next run that confirms a likely candidate: a run of its proof, on the side that the coin has
    /// selected.
    fn confirming(&self, narrowing: &NoisyBracket) -> Option<(CandidateSet, Option<Toss>)> {
        let candidate = narrowing.point().likeliest()?;
        if candidate.alone < tuning::SUSPECT_PROBABILITY {
            // The candidate is the change; the only open question is if it suffices. If it seems not to suffice, runs
            // without it are better evidence for the candidate.
            let is_it = candidate.probability() >= 1.0 - self.allowed() / tuning::JOINT_ERROR_DIVISOR;
            let (alone, without) = (CandidateSet::alone(candidate.index), CandidateSet::prefix(candidate.index));
            let runs = |tested| {
                let selection = narrowing.question(tested).1;
                self.runs.iter().filter(|run| run.selection == selection).count()
            };
            let tested = if runs(alone) > runs(without) + tuning::MAX_EXTRA_ALONE_RUNS { without } else { alone };
            return is_it.then_some((tested, None));
        }
        let set = narrowing.with(candidate.index);
        if self.rng.peek() {
            return Some((CandidateSet::alone(candidate.index), Some(Toss { set, side: Side::Suspect })));
        }
        Some((CandidateSet::prefix(candidate.index), Some(Toss { set, side: Side::Control })))
    }

    /// Returns the question about these candidates, or the nearest one that is not refused.
    fn nearest(&self, narrowing: &NoisyBracket, tested: CandidateSet) -> Result<(Question, Selection), Reason> {
        let first = narrowing.question(tested);
        let Some(reason) = self.refusal(&first.1) else { return Ok(Self::named(narrowing, first)) };
        let CandidateSet { prefix: below, plus: None, minus: None } = tested else { return Err(reason) };
        let cuts =
            (1..=tuning::MAX_CUT_DETOUR).flat_map(|away| [below.checked_sub(away), below.checked_add(away)]).flatten();
        let mut others =
            cuts.filter(|&cut| cut <= narrowing.candidates()).map(|cut| narrowing.question(CandidateSet::prefix(cut)));
        let other = others.find(|(_, selection)| self.refusal(selection).is_none());
        other.map(|other| Self::named(narrowing, other)).ok_or(reason)
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

    /// Returns the question of a run at the end that fails.
    fn failing_end(&self) -> Question {
        match self.direction.mode() {
            Mode::Enable => Question::AllOn,
            Mode::Disable => Question::AllOff,
        }
    }

    /// Returns the reason why a selection is not asked for again, if it is refused.
    fn refusal(&self, selection: &Selection) -> Option<Reason> {
        let told = self.runs.iter().filter(|run| run.selection == *selection).count();
        let untold = self.trials.iter().filter(|asked| asked.trial.selection == *selection);
        let reasons: Vec<_> = untold.filter_map(|asked| asked.unresolved).collect();
        (reasons.len() >= told + tuning::MAX_UNRESOLVED_EXCESS).then(|| reasons[0])
    }

    pub(super) fn alone(&self, changes: &[Rank]) -> Selection {
        Selection { prefix: Prefix::NONE, forced: changes.to_vec(), ..history::everything(self.direction.mode()) }
    }
}
