//! The search of a target that contradicts itself: every run is evidence, and none is proof.
//!
//! The question is the same as in the sequential search, the smallest prefix that fails, and so are the steps after it:
//! force its last change, search below it, leave the set out and search for another. But no single run is conclusive. A
//! run with the culprit fails at one rate, and a run without it at a lower rate. Both rates are unknown.
//! [`ChangePoint`](crate::search::posterior::ChangePoint) keeps the probability of each explanation and chooses the run
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
mod minimize;
mod next_question;
mod noisy_bracket;
mod proof;
pub(super) mod square_wave;
mod state;
mod stopping_rule;
mod untestable_steps;

use alloc::{collections::BTreeMap, vec, vec::Vec};

use next_question::NextQuestion;
use proof::Side;

pub(super) use alternatives::Alternatives;
pub(super) use next_question::Ask;
pub(super) use proof::Toss;
pub(super) use state::NoisyState;

use crate::search::{
    ledger::{Asked, Entry, Ledger, Run, Why},
    model::{
        Options, Step,
        rank::Rank,
        selection::Selection,
        trial::{Observation, Trial, TrialId},
        verdict::Verdict,
    },
};

/// The noisy search of one test.
#[derive(Clone, Debug)]
pub(super) struct NoisySearch {
    /// The number of the test in the ledger.
    test: usize,
    state: NoisyState,
    /// For each trial in flight that belongs to a proof: the index of the proof, and its side.
    tossed: BTreeMap<TrialId, (usize, Side)>,
    /// True if the next run repeats the end that failed.
    wants_recheck: bool,
    /// Number of questions that this search has asked.
    turns: usize,
}

impl NoisySearch {
    /// Returns a search that begins with all runs of the test. `known` are the changes that they reported, in order.
    pub(super) fn new(test: usize, confidence: f64, options: &Options, known: Vec<Rank>, ledger: &Ledger) -> Self {
        let mut state = NoisyState::new(confidence, options, known, ledger.runs(test).to_vec());
        stopping_rule::conclude(&mut state, ledger.runs(test), options);
        Self { test, state, tossed: BTreeMap::new(), wants_recheck: false, turns: 0 }
    }

    /// Returns the state of the search.
    pub(super) fn state(&self) -> &NoisyState {
        &self.state
    }

    /// Returns the next step of a search that has one test.
    pub(super) fn step(&mut self, ledger: &mut Ledger, options: &Options) -> Step {
        if let Some(verdict) = self.state.verdict() {
            return Step::Done(verdict.clone());
        }
        // The runs that were asked for before the target contradicted itself are evidence, too.
        if ledger.in_flight().count() >= options.in_flight.get() {
            return Step::Wait;
        }
        if options.max_runs.is_some_and(|max| ledger.started >= max) {
            // The runs in flight may still be evidence.
            let waits = in_flight(ledger, self.test).next().is_some();
            return if waits { Step::Wait } else { Step::Done(self.end_at_limit()) };
        }
        let Some(Ask { question, selection, toss }) = self.next(ledger) else {
            return self.state.verdict().cloned().map_or(Step::Wait, Step::Done);
        };
        let id = ledger.add(Asked::at_any_time(question, selection), vec![self.test], Why::Evidence, 1);
        self.begin(id, toss.as_ref());
        Step::Run(ledger.start(id))
    }

    /// Returns the question that is most worth a run. Returns `None` if the result of a run in flight must be known
    /// first, or if the search is over, which this call may find out.
    pub(super) fn next(&mut self, ledger: &Ledger) -> Option<Ask> {
        if self.state.verdict().is_some() {
            return None;
        }
        let Self { test, state, wants_recheck, .. } = self;
        match (NextQuestion { state, ledger, test: *test, wants_recheck: *wants_recheck }).ask() {
            Ok(ask) => {
                self.turns += 1;
                if let Some(toss) = &ask.toss {
                    state.proofs.begin(toss);
                }
                return Some(ask);
            }
            Err(_) if in_flight(ledger, *test).next().is_some() => {}
            Err(verdict) => state.verdict = Some(verdict),
        }
        None
    }

    /// Returns the number of questions that this search has asked; `None` once it has ended.
    pub(super) fn turns(&self) -> Option<usize> {
        self.state.verdict().is_none().then_some(self.turns)
    }

    /// Returns true if a run is evidence for this search, which has not ended.
    pub(super) fn is_evidence(&self, selection: &Selection) -> bool {
        self.state.verdict().is_none() && self.state.is_evidence(selection)
    }

    /// Records that a trial of evidence begins. `toss` names its proof and side, if a coin toss selected it, of this search
    /// or of that of another test.
    pub(super) fn begin(&mut self, id: TrialId, toss: Option<&Toss>) {
        self.wants_recheck = false;
        let side = toss.and_then(|Toss { set, side }| Some((self.state.proofs.position(set.as_ref()?)?, *side)));
        self.tossed.extend(side.map(|side| (id, side)));
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

    /// Takes the result of a run, and adds it to the ledger. The selection is that of the trial, as this test sees it.
    pub(super) fn take(
        &mut self,
        id: TrialId,
        selection: &Selection,
        observation: Observation,
        ledger: &mut Ledger,
        options: &Options,
    ) {
        let side = self.tossed.remove(&id);
        if let Some((proof, side)) = side {
            self.state.prove(proof, side, observation.outcome);
        }
        let run = Run::new(id, selection, &observation).map(|run| Run { by_coin: side.is_some(), ..run });
        if let Some(run) = &run {
            ledger.add_run(self.test, run.clone());
        }
        self.state.take(id, selection, observation, run);
        self.conclude(ledger, options);
    }

    /// Takes the result of a run, in a search that has one test. The trial may be older than this search.
    pub(super) fn record(&mut self, id: TrialId, observation: Observation, ledger: &mut Ledger, options: &Options) {
        // What it reported is not needed again.
        ledger[id].record(vec![Observation { outcome: observation.outcome, reported: Vec::new() }]);
        let selection = ledger[id].trial.selection.clone();
        if ledger[id].is_evidence_for(self.test) {
            self.take(id, &selection, observation, ledger, options);
        } else if let Some(run) = Run::new(id, &selection, &observation) {
            self.learn(run, ledger, options);
        }
    }

    /// Takes a run that this search did not ask for, or another execution within one run.
    pub(super) fn learn(&mut self, run: Run, ledger: &mut Ledger, options: &Options) {
        ledger.add_run(self.test, run.clone());
        if self.state.verdict().is_none() {
            self.state.keep(run, false);
            self.conclude(ledger, options);
        }
    }

    fn conclude(&mut self, ledger: &Ledger, options: &Options) {
        if self.state.verdict().is_none() {
            stopping_rule::conclude(&mut self.state, ledger.runs(self.test), options);
        }
    }

    /// Sets the costs of a failing run and of a passing run.
    pub(super) fn set_costs(&mut self, failing: f64, passing: f64) {
        self.state.set_costs(failing, passing);
    }
}

/// Returns the trials that are evidence for a test.
fn evidence(ledger: &Ledger, test: usize) -> impl Iterator<Item = &Entry> {
    ledger.iter().filter(move |entry| entry.is_evidence_for(test))
}

/// Returns the trials in flight that are evidence for a test.
fn in_flight(ledger: &Ledger, test: usize) -> impl Iterator<Item = &Trial> {
    evidence(ledger, test).filter(|entry| entry.in_flight() > 0).map(|entry| &entry.trial)
}
