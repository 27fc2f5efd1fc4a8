//! The stopping rule of the noisy search: when a culprit is certain enough to be named, and when the search ends.

use alloc::{boxed::Box, vec::Vec};

use super::{
    carry_over,
    minimize::Minimizing,
    noisy_bracket::NoisyBracket,
    state::{NoisyState, Stage},
};
use crate::search::{
    ledger::{Run, names_exactly},
    model::{
        Options,
        noise::{Certainty, Noise},
        rank::Rank,
        selection::{Prefix, Selection},
        trial::TrialId,
        verdict::{Culprit, Incomplete, Inconsistency, Verdict},
    },
    tuning,
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

/// Takes all steps that follow from the runs so far. `all` are those in both directions, in the order in which they were
/// recorded.
pub(super) fn conclude(state: &mut NoisyState, all: &[Run], options: &Options) {
    if matches!(state.stage, Stage::Ends) && !state.known.is_empty() && state.direction.is_known(&state.runs) {
        state.restart();
    }
    if state.verdict.is_none()
        && let Some(carry_over) = carry_over::explanation(&state.known, all)
    {
        state.verdict = Some(Verdict::Inconsistent(Inconsistency::CarryOver(carry_over)));
    }
    while state.verdict.is_none() {
        match (StoppingRule { state, all, options }).next() {
            None => break,
            Some(Next::Stage(next)) => state.stage = *next,
            Some(Next::End(verdict)) => state.verdict = Some(verdict),
            Some(Next::Found(culprit, certainty)) => take_culprit(state, options, culprit, certainty),
        }
    }
}

fn take_culprit(state: &mut NoisyState, options: &Options, culprit: Culprit, certainty: Certainty) {
    state.sets.push(culprit.changes.clone());
    state.found.push(culprit);
    state.certainties.push(certainty);
    if options.max_sets.is_some_and(|max| state.found.len() >= max.get()) {
        state.verdict = Some(Verdict::Incomplete(Incomplete::MaxSets));
        return;
    }
    match NoisyBracket::new(state.context(), Vec::new()) {
        Some(narrowing) => state.stage = Stage::Narrow(narrowing),
        None => state.verdict = Some(complete(state)),
    }
}

/// Returns the verdict of a search that has found everything. A culprit of a counter may stand for untestable steps
/// before it: then the search is incomplete.
fn complete(state: &NoisyState) -> Verdict {
    let reason = state.sets.iter().flatten().find_map(|&change| state.untestable.reason_before(change));
    reason.map_or(Verdict::Complete, |reason| Verdict::Incomplete(Incomplete::Unresolved(reason)))
}

/// Returns the verdict if no more runs may be made.
pub(super) fn at_limit(state: &NoisyState) -> Verdict {
    match &state.stage {
        Stage::Narrow(narrowing)
            if narrowing.is_first() && narrowing.point().probability_of_nothing() >= tuning::GIVE_UP_PROBABILITY =>
        {
            Verdict::Inconsistent(Inconsistency::Noise)
        }
        Stage::Ends | Stage::Narrow(_) | Stage::Minimize(_) => Verdict::Incomplete(Incomplete::MaxRuns),
    }
}

/// The facts that determine the next step.
struct StoppingRule<'a> {
    state: &'a NoisyState,
    all: &'a [Run],
    options: &'a Options,
}

impl StoppingRule<'_> {
    fn next(&self) -> Option<Next> {
        let next = match &self.state.stage {
            Stage::Ends => None,
            Stage::Narrow(narrowing) => self.after_narrowing(narrowing),
            Stage::Minimize(minimizing) => self.after_minimizing(minimizing),
        };
        let gives_up = || self.state.runs.len() >= tuning::MAX_NOISY_RUNS;
        next.or_else(|| gives_up().then_some(Next::End(Verdict::Inconsistent(Inconsistency::Noise))))
    }

    fn after_narrowing(&self, narrowing: &NoisyBracket) -> Option<Next> {
        let point = narrowing.point();
        let always = self.state.always();
        if let Some(outcome) = always.filter(|_| self.would_show()) {
            return Some(Next::End(Verdict::NoDifference(outcome)));
        }
        if always.is_none() && point.probability_of_nothing() >= self.min_probability_of_nothing(narrowing) {
            let how = match (narrowing.is_first(), narrowing.forced()) {
                (false, []) => return Some(Next::End(complete(self.state))),
                // A rule without the changes explains all outcomes too. If more runs confirm it, it is the better answer.
                (true, []) if carry_over::may_explain(&self.state.known, self.all) => return None,
                (true, []) => Inconsistency::Noise,
                (_, _) => Inconsistency::Unexplained(self.state.runs.last()?.trial),
            };
            return Some(Next::End(Verdict::Inconsistent(how)));
        }
        if let Some(candidate) = point.found(1.0 - self.state.allowed()) {
            let set = narrowing.with(candidate.index);
            if !self.state.proofs.is_proved(&set, self.state.confidence) {
                return None;
            }
            let Some(failed) = self.state.failed_alone(&set) else { return self.unexplained(&set) };
            return self.state.passed_since(failed).then(|| self.with_set(set, candidate.alone));
        }
        let candidate = point.likeliest()?;
        let set = narrowing.with(candidate.index);
        if candidate.in_company >= 1.0 - self.state.allowed() / tuning::JOINT_ERROR_DIVISOR {
            if self.options.max_set_size.is_some_and(|max| set.len() >= max.get()) {
                return Some(Next::End(Verdict::Incomplete(Incomplete::MaxSetSize)));
            }
            return NoisyBracket::new(self.state.context(), set).map(|next| Next::stage(Stage::Narrow(next)));
        }
        None
    }

    /// Returns the minimum probability that no change matters at which the search ends. A low probability suffices after
    /// [`tuning::GIVE_UP_AFTER_RUNS`] times n + 1 runs, where n changes are named or forced. Before that, a search that
    /// has named a culprit or forces a change needs the confidence of the whole answer.
    fn min_probability_of_nothing(&self, narrowing: &NoisyBracket) -> f64 {
        let named_or_forced = self.state.sets.iter().map(Vec::len).sum::<usize>() + narrowing.forced().len();
        if self.state.runs.len() >= tuning::GIVE_UP_AFTER_RUNS * (named_or_forced + 1) {
            tuning::GIVE_UP_PROBABILITY
        } else if narrowing.is_first() && narrowing.forced().is_empty() {
            match self.options.noise {
                Noise::Expected(confidence) => 1.0 - tuning::NOTHING_ERROR_FACTOR * (1.0 - confidence),
                Noise::Suspected(_) | Noise::Refused => tuning::NOTHING_PROBABILITY,
            }
        } else {
            1.0 - self.state.allowed()
        }
    }

    /// Returns the end of the search if a run with exactly these changes has failed. The caller has seen that no such
    /// run reported all of them.
    fn unexplained(&self, set: &[Rank]) -> Option<Next> {
        let mut runs = self.state.runs.iter().rev();
        let last = runs.find(|run| run.failed && names_exactly(&run.selection, set))?;
        Some(Next::End(Verdict::Inconsistent(Inconsistency::Unexplained(last.trial))))
    }

    /// Continues with a set that fails alone: it is a culprit, once each of its changes is known to be needed.
    fn with_set(&self, set: Vec<Rank>, confidence: f64) -> Next {
        match set[..] {
            [_] => self.name(set, confidence),
            _ => Next::stage(Stage::Minimize(Minimizing::new(self.state.context(), set, 0))),
        }
    }

    fn after_minimizing(&self, minimizing: &Minimizing) -> Option<Next> {
        let allowed = self.state.allowed() / tuning::MINIMIZE_ERROR_DIVISOR;
        let point = minimizing.point();
        if point.probability_of_nothing() >= 1.0 - allowed {
            let next = minimizing.index() + 1;
            let set = minimizing.set().to_vec();
            return Some(if next < set.len() {
                Next::stage(Stage::Minimize(Minimizing::new(self.state.context(), set, next)))
            } else {
                self.name(set, 1.0 - tuning::MINIMIZED_ERROR_FACTOR * self.state.allowed())
            });
        }
        let suffices = point.likeliest()?.alone;
        let others = minimizing.others();
        if suffices < 1.0 - allowed {
            return None;
        }
        match self.state.failed_alone(others) {
            Some(_) => Some(self.with_set(others.to_vec(), suffices)),
            None => self.unexplained(others),
        }
    }

    fn name(&self, changes: Vec<Rank>, confidence: f64) -> Next {
        let confirmed_by = self.state.failed_alone(&changes).map_or(TrialId(0), |index| self.state.runs[index].trial);
        let culprit = Culprit { changes, mode: self.state.direction.mode(), confirmed_by };
        let [without, with] = match &self.state.stage {
            Stage::Narrow(narrowing) => narrowing.point().rates(),
            Stage::Minimize(minimizing) => minimizing.point().rates(),
            Stage::Ends => unreachable!("a set is named by a search"),
        };
        Next::Found(culprit, Certainty { confidence, without, with })
    }

    /// Returns true if there were enough runs with every known change, or with none, to show the rarer outcome, if it
    /// occurs at the minimum rate: the probability that none of them shows it is below the allowed error.
    fn would_show(&self) -> bool {
        // A shorter prefix may lack the culprit. If few changes are known, runs may name all of them instead. A prefix
        // lacks the last change first.
        let is_whole = |selection: &Selection| {
            selection.prefix == Prefix::All || self.state.known.iter().rev().all(|&change| selection.contains(change))
        };
        let ends = self.state.runs.iter().filter(|run| is_whole(&run.selection)).count();
        let mut probability_of_none = 1.0;
        (0..ends).for_each(|_| probability_of_none *= 1.0 - tuning::MIN_FAILURE_RATE);
        probability_of_none < 1.0 - self.state.confidence
    }
}
