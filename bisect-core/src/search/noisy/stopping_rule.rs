//! The stopping rule of the noisy search: when a culprit is certain enough to be named, and when the search ends.

use alloc::{boxed::Box, vec::Vec};

use super::{NoisySearch, Stage, carry_over, history, minimize::Minimizing, noisy_bracket::NoisyBracket};
use crate::search::tuning;
use crate::{
    search::model::rank::Rank,
    search::model::{
        Options,
        noise::Certainty,
        selection::Prefix,
        trial::{Outcome, TrialId},
        verdict::{Culprit, Incomplete, Inconsistency, Verdict},
    },
};

/// The next step that follows from all runs so far.
enum Next {
    Stage(Box<Stage>),
    Found(Culprit, Certainty),
    End(Verdict),
}

impl Next {
    fn stage(stage: Stage) -> Self {
        Next::Stage(Box::new(stage))
    }
}

impl NoisySearch {
    /// Returns the probability of an error that may be spent on the present culprit.
    pub(super) fn allowed(&self) -> f64 {
        let first = (1.0 - self.confidence) * (1.0 - tuning::NEXT_CULPRIT_SHARE);
        self.found.iter().fold(first, |allowed, _| allowed * tuning::NEXT_CULPRIT_SHARE)
    }

    /// Takes all steps that follow from the runs so far.
    pub(super) fn conclude(&mut self, options: &Options) {
        if matches!(self.stage, Stage::Ends) && !self.known.is_empty() && self.direction.is_known(&self.runs) {
            self.restart();
        }
        if self.verdict.is_none()
            && let Some(carry_over) = carry_over::explanation(&self.known, &self.sequence)
        {
            self.verdict = Some(Verdict::Inconsistent(Inconsistency::CarryOver(carry_over)));
        }
        while self.verdict.is_none() {
            let next = match &self.stage {
                Stage::Ends => None,
                Stage::Narrow(narrowing) => self.after_narrowing(options, narrowing),
                Stage::Minimize(minimizing) => self.after_minimizing(minimizing),
            };
            match next {
                None => break,
                Some(Next::Stage(stage)) => self.stage = *stage,
                Some(Next::End(verdict)) => self.verdict = Some(verdict),
                Some(Next::Found(culprit, certainty)) => self.take_culprit(options, culprit, certainty),
            }
        }
    }

    fn after_narrowing(&self, options: &Options, narrowing: &NoisyBracket) -> Option<Next> {
        let point = narrowing.point();
        let always = self.always();
        if let Some(outcome) = always.filter(|_| self.would_show()) {
            return Some(Next::End(Verdict::NoDifference(outcome)));
        }
        if always.is_none()
            && (point.probability_of_nothing() >= 1.0 - self.allowed() || self.is_moot(point.probability_of_nothing()))
        {
            let how = match (narrowing.is_first(), narrowing.forced()) {
                (false, []) => return Some(Next::End(Verdict::Complete)),
                (_, []) => Inconsistency::Noise,
                (_, _) => Inconsistency::Unexplained(self.runs.last()?.trial),
            };
            return Some(Next::End(Verdict::Inconsistent(how)));
        }
        if self.runs.len() >= tuning::MAX_NOISY_RUNS {
            return Some(Next::End(Verdict::Inconsistent(Inconsistency::Noise)));
        }
        if let Some(candidate) = point.found(1.0 - self.allowed()) {
            let set = narrowing.with(candidate.index);
            let failed = self.failed_alone(&set)?;
            let is_proved = self.passed_since(failed) && self.is_proved(&set);
            return is_proved.then(|| self.with_set(set, candidate.alone));
        }
        let candidate = point.likeliest()?;
        let set = narrowing.with(candidate.index);
        if candidate.in_company >= 1.0 - self.allowed() / tuning::JOINT_ERROR_DIVISOR {
            if options.max_set_size.is_some_and(|max| set.len() >= max.get()) {
                return Some(Next::End(Verdict::Incomplete(Incomplete::MaxSetSize)));
            }
            return NoisyBracket::new(self.context(), set).map(|next| Next::stage(Stage::Narrow(next)));
        }
        None
    }

    /// Returns true if the search already takes long and will probably find nothing; `nothing` is the probability of
    /// that.
    fn is_moot(&self, nothing: f64) -> bool {
        let runs = self.runs.len();
        runs >= tuning::GIVE_UP_AFTER_RUNS && nothing >= tuning::GIVE_UP_PROBABILITY
            || runs >= tuning::GIVE_UP_SOONER_AFTER_RUNS && nothing >= tuning::GIVE_UP_SOONER_PROBABILITY
    }

    /// Continues with a set that fails alone: it is a culprit, once each of its changes is known to be needed.
    fn with_set(&self, set: Vec<Rank>, confidence: f64) -> Next {
        match set[..] {
            [_] => self.name(set, confidence),
            _ => Next::stage(Stage::Minimize(Minimizing::new(self.context(), set, 0))),
        }
    }

    fn after_minimizing(&self, minimizing: &Minimizing) -> Option<Next> {
        let allowed = self.allowed() / tuning::MINIMIZE_ERROR_DIVISOR;
        let point = minimizing.point();
        if point.probability_of_nothing() >= 1.0 - allowed {
            let next = minimizing.index() + 1;
            let set = minimizing.set().to_vec();
            return Some(if next < set.len() {
                Next::stage(Stage::Minimize(Minimizing::new(self.context(), set, next)))
            } else {
                self.name(set, 1.0 - tuning::MINIMIZED_ERROR_FACTOR * self.allowed())
            });
        }
        let suffices = point.likeliest()?.alone;
        let others = minimizing.others();
        (suffices >= 1.0 - allowed && self.failed_alone(others).is_some())
            .then(|| self.with_set(others.to_vec(), suffices))
    }

    fn name(&self, changes: Vec<Rank>, confidence: f64) -> Next {
        let confirmed_by = self.failed_alone(&changes).map_or(TrialId(0), |index| self.runs[index].trial);
        let culprit = Culprit { changes, mode: self.direction.mode(), confirmed_by };
        let [without, with] = match &self.stage {
            Stage::Narrow(narrowing) => narrowing.point().rates(),
            Stage::Minimize(minimizing) => minimizing.point().rates(),
            Stage::Ends => unreachable!("a set is named by a search"),
        };
        Next::Found(culprit, Certainty { confidence, without, with })
    }

    fn take_culprit(&mut self, options: &Options, culprit: Culprit, certainty: Certainty) {
        self.sets.push(culprit.changes.clone());
        self.found.push(culprit);
        self.certainties.push(certainty);
        if options.max_sets.is_some_and(|max| self.found.len() >= max.get()) {
            self.verdict = Some(Verdict::Incomplete(Incomplete::MaxSets));
            return;
        }
        match NoisyBracket::new(self.context(), Vec::new()) {
            Some(narrowing) => self.stage = Stage::Narrow(narrowing),
            None => self.verdict = Some(Verdict::Complete),
        }
    }

    /// Returns true if it is proved that the set matters. The allowed probability of an error is divided among all
    /// suspects.
    fn is_proved(&self, set: &[Rank]) -> bool {
        let Some(number) = self.proof_of(set) else { return false };
        // The shares 1/(1·2), 1/(2·3), 1/(3·4), … add up to 1.
        let number_as_float = f64::from(u32::try_from(number).unwrap_or(u32::MAX));
        let share = 1.0 / ((number_as_float + 1.0) * (number_as_float + 2.0));
        self.proofs[number].wealth() >= tuning::PROOF_ERROR_DIVISOR / (share * (1.0 - self.confidence))
    }

    /// Returns the index of the first run that failed with exactly these changes.
    pub(super) fn failed_alone(&self, changes: &[Rank]) -> Option<usize> {
        self.runs.iter().position(|run| run.failed && run.is_exactly(changes))
    }

    /// Returns true if the target has passed without any change, in a run after this one.
    pub(super) fn passed_since(&self, index: usize) -> bool {
        let base = history::base(self.direction.mode());
        self.runs[index..].iter().any(|run| !run.failed && run.selection == base)
    }

    /// Returns the outcome of all runs, if they have the same outcome.
    pub(super) fn always(&self) -> Option<Outcome> {
        let failed = self.runs.first()?.failed;
        let outcome = if failed { Outcome::Fail } else { Outcome::Pass };
        self.runs.iter().all(|run| run.failed == failed).then_some(outcome)
    }

    /// Returns true if there were enough runs at the ends to show the rarer outcome, if it occurs at the minimum rate:
    /// the probability that none of them shows it is below the allowed error.
    fn would_show(&self) -> bool {
        // A shorter prefix may lack the culprit.
        let ends = self.runs.iter().filter(|run| run.selection.prefix == Prefix::All).count();
        let mut probability_of_none = 1.0;
        (0..ends).for_each(|_| probability_of_none *= 1.0 - tuning::MIN_FAILURE_RATE);
        probability_of_none < 1.0 - self.confidence
    }

    /// Returns the verdict if no more runs may be made.
    pub(super) fn at_limit(&self) -> Verdict {
        match &self.stage {
            Stage::Narrow(narrowing)
                if narrowing.is_first() && narrowing.point().probability_of_nothing() > 1.0 - self.confidence =>
            {
                Verdict::Inconsistent(Inconsistency::Noise)
            }
            Stage::Ends | Stage::Narrow(_) | Stage::Minimize(_) => Verdict::Incomplete(Incomplete::MaxRuns),
        }
    }
}
