//! The search of a target that contradicts itself: every run is evidence, and none is proof.
//!
//! The question is the same as in the sequential search, the smallest prefix that fails, and so are the steps after it:
//! force its last change, search below it, leave the set out and search for another. But no single run is conclusive. A
//! run with the culprit fails at one rate, and a run without it at a lower rate. Both rates are unknown.
//! [`ChangePoint`](crate::before::posterior::ChangePoint) keeps the probability of each explanation and chooses the run
//! that is worth most. A culprit of one change is named when it is likely enough, has failed alone, the target has
//! since passed without any change, and the [`proof`] is complete.
//!
//! The allowed probability of an error is divided among the culprits: most of the total is spent on the first one, most
//! of the rest on the second, and so on.
//!
//! Noise is a second search, not a tolerance of the first. All runs are evidence for the posterior of each question,
//! also those before the first contradiction, in any order.

mod alternatives;
pub(super) mod carry_over;
mod direction;
mod history;
mod minimize;
mod next_question;
mod noisy_bracket;
mod proof;
pub(super) mod square_wave;
mod state;
mod stopping_rule;
mod trials;
mod untestable_steps;

use alloc::{vec, vec::Vec};

use next_question::NextQuestion;
use trials::NoisyTrials;

pub(super) use alternatives::Alternatives;
pub(super) use history::Run;
pub(super) use next_question::Ask;
pub(super) use proof::Toss;
pub(super) use state::NoisyState;

use crate::before::model::{
    Options, Step,
    rank::Rank,
    selection::Selection,
    trial::{Observation, Outcome, Trial, TrialId},
    verdict::Verdict,
};

/// The noisy search: its state, and its trials.
#[derive(Clone, Debug)]
pub(super) struct NoisySearch {
    state: NoisyState,
    trials: NoisyTrials,
    /// True if the next run repeats the end that failed.
    wants_recheck: bool,
}

impl NoisySearch {
    /// Returns a search without any runs.
    pub(super) fn new(confidence: f64, options: &Options) -> Self {
        Self { state: NoisyState::new(confidence, options), trials: NoisyTrials::new(0), wants_recheck: false }
    }

    /// Continues after a search that made these runs, in which these changes were reported, in order. Trials are
    /// numbered from `first` on.
    pub(super) fn after(mut self, options: &Options, known: Vec<Rank>, runs: Vec<Run>, first: usize) -> Self {
        self.state = self.state.after(known, runs);
        self.trials = NoisyTrials::new(first);
        stopping_rule::conclude(&mut self.state, options);
        self
    }

    /// Returns the state of the search.
    pub(super) fn state(&self) -> &NoisyState {
        &self.state
    }

    /// Returns the next step, after `runs` runs were started. `earlier` runs of another engine are in flight, too.
    pub(super) fn step(&mut self, options: &Options, runs: usize, earlier: usize) -> Step {
        if let Some(verdict) = self.state.verdict() {
            return Step::Done(verdict.clone());
        }
        let in_flight = self.trials.in_flight().count();
        if earlier + in_flight >= options.in_flight.get() {
            return Step::Wait;
        }
        if options.max_runs.is_some_and(|max| runs >= max) {
            // The runs in flight may still be evidence.
            return if in_flight > 0 { Step::Wait } else { Step::Done(self.end_at_limit()) };
        }
        let Some(Ask { question, selection, toss }) = self.next() else {
            return self.state.verdict().cloned().map_or(Step::Wait, Step::Done);
        };
        let trial = Trial { id: self.trials.next_id(), question, selection, tests: vec![0] };
        self.begin(trial.clone(), toss.as_ref());
        Step::Run(trial)
    }

    /// Returns the question that is most worth a run. Returns `None` if the result of a run in flight must be known
    /// first, or if the search is over, which this call may find out.
    pub(super) fn next(&mut self) -> Option<Ask> {
        if self.state.verdict().is_some() {
            return None;
        }
        let next = NextQuestion { state: &self.state, trials: &self.trials, wants_recheck: self.wants_recheck };
        match next.ask() {
            Ok(ask) => {
                if let Some(toss) = &ask.toss {
                    self.state.proofs.begin(toss);
                }
                return Some(ask);
            }
            Err(_) if self.trials.in_flight().next().is_some() => {}
            Err(verdict) => self.state.verdict = Some(verdict),
        }
        None
    }

    /// Starts a run of this trial. A coin toss, by this search or by that of another test, may have selected its side
    /// of a proof.
    pub(super) fn begin(&mut self, trial: Trial, toss: Option<&Toss>) {
        self.wants_recheck = false;
        let side = toss.and_then(|Toss { set, side }| Some((self.state.proofs.position(set.as_ref()?)?, *side)));
        self.trials.begin(trial, side);
    }

    pub(super) fn has_begun(&self, id: TrialId) -> bool {
        self.trials.has_begun(id)
    }

    /// Schedules one more run of the end that failed, before anything else.
    pub(super) fn recheck_failing_end(&mut self) {
        self.wants_recheck = true;
    }

    /// Ends the search, if it has not ended, because no more runs may be made. Returns its verdict.
    pub(super) fn end_at_limit(&mut self) -> Verdict {
        let at_limit = stopping_rule::at_limit(&self.state);
        self.state.verdict.get_or_insert(at_limit).clone()
    }

    /// Takes the result of one run.
    ///
    /// # Panics
    /// If no run of this trial is in flight.
    pub(super) fn record(&mut self, id: TrialId, observation: Observation, options: &Options) {
        let (selection, side) = self.trials.end(id, observation.outcome);
        if let Some((proof, side)) = side {
            self.state.prove(proof, side, observation.outcome);
        }
        self.state.take(id, &selection, observation, side.is_some());
        self.conclude(options);
    }

    /// Takes the result of a run of another search.
    pub(super) fn take(&mut self, id: TrialId, selection: &Selection, observation: Observation, options: &Options) {
        self.state.take(id, selection, observation, false);
        self.conclude(options);
    }

    /// Takes a run that this search did not ask for, or another execution within one run.
    pub(super) fn learn(&mut self, run: Run, options: &Options) {
        if self.state.verdict().is_none() {
            self.state.keep(run, false);
            self.conclude(options);
        }
    }

    fn conclude(&mut self, options: &Options) {
        if self.state.verdict().is_none() {
            stopping_rule::conclude(&mut self.state, options);
        }
    }

    pub(super) fn cancel(&mut self, id: TrialId) {
        self.trials.cancel(id);
    }

    /// Returns the trials in flight if the search is over; before that, all of them are evidence.
    pub(super) fn obsolete(&self) -> Vec<TrialId> {
        let in_flight = self.trials.in_flight().map(|trial| trial.id);
        if self.state.verdict().is_some() { in_flight.collect() } else { Vec::new() }
    }

    /// Returns the trials that were begun. Each that has ended has an outcome.
    pub(super) fn into_trials(self) -> impl Iterator<Item = (Trial, Option<Outcome>)> {
        let runs = self.state.runs;
        self.trials.into_trials().map(move |(trial, ended)| {
            let failed = runs.iter().find(|run| run.trial == trial.id).map(|run| run.failed);
            let resolved = failed.map(|failed| if failed { Outcome::Fail } else { Outcome::Pass });
            (trial, ended.map(|unresolved| resolved.unwrap_or(unresolved)))
        })
    }

    pub(super) fn trial(&self, id: TrialId) -> &Trial {
        self.trials.get(id)
    }

    pub(super) fn trials(&self) -> usize {
        self.trials.len()
    }

    /// Sets the costs of a failing run and of a passing run.
    pub(super) fn set_costs(&mut self, failing: f64, passing: f64) {
        self.state.set_costs(failing, passing);
    }
}
