//! The search of a target that contradicts itself: every run is evidence, and none is proof.
//!
//! The question is the same as in the sequential search, the smallest prefix that fails, and so are the steps after it:
//! force its last change, search below it, leave the set out and search for another. But no single run is conclusive. A
//! run with the culprit fails at one rate, and a run without it at a lower rate. Both rates are unknown.
//! [`ChangePoint`](crate::search::posterior::ChangePoint) keeps the probability of each explanation and chooses the run
//! that is worth most. A change is named when it is likely enough, was seen to fail alone, and the target was seen to
//! pass without it after that.
//!
//! The allowed probability of an error is divided among the culprits: most of the total is spent on the first one, most
//! of the rest on the second, and so on.

mod alternatives;
pub(super) mod carry_over;
mod direction;
mod history;
mod minimize;
mod next_question;
mod noisy_bracket;
mod proof;
mod stopping_rule;

use alloc::{vec, vec::Vec};

use direction::Direction;
use minimize::Minimizing;
use noisy_bracket::{NoisyBracket, SearchContext};
use proof::{Proof, Side};

pub(super) use alternatives::Alternatives;
pub(super) use history::Run;
pub(super) use proof::Toss;

use crate::search::tuning;
use crate::{
    search::model::rank::Rank,
    search::model::{
        Options, Step,
        noise::{Certainty, Estimate, Suspect},
        ranked,
        rng::SeededRng,
        selection::{Prefix, Selection},
        trial::{Observation, Outcome, Question, Reason, Trial, TrialId},
        verdict::{Culprit, Mode, Unusable, Verdict},
    },
};

/// The noisy search.
#[derive(Clone, Debug)]
pub(super) struct NoisySearch {
    confidence: f64,
    direction: Direction,
    costs: (f64, f64),
    /// Every change ever reported, in order.
    known: Vec<Rank>,
    runs: Vec<Run>,
    /// All runs in the order in which they were made, in either direction.
    sequence: Vec<Run>,
    /// The random generator that chooses the side of each run of a proof.
    rng: SeededRng,
    /// The proofs, one for each suspect so far.
    proofs: Vec<Proof>,
    /// The trials that were begun, numbered from `first` on; each is one run.
    trials: Vec<NoisyTrial>,
    first: usize,
    stage: Stage,
    /// True if the end that failed is to be run once more before anything else.
    wants_recheck: bool,
    found: Vec<Culprit>,
    certainties: Vec<Certainty>,
    /// The sets of the culprits found, which later selections leave out.
    sets: Vec<Vec<Rank>>,
    verdict: Option<Verdict>,
}

/// A question that is worth a run.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) question: Question,
    pub(super) selection: Selection,
    /// The coin toss that selected this question, if it is part of a proof.
    pub(super) toss: Option<Toss>,
}

impl Ask {
    fn new(question: Question, selection: Selection) -> Self {
        Self { question, selection, toss: None }
    }
}

#[derive(Clone, Debug)]
struct NoisyTrial {
    trial: Trial,
    is_in_flight: bool,
    /// The index of the proof to which this run belongs, and its side.
    side: Option<(usize, Side)>,
    /// The reason why the run is unresolved.
    unresolved: Option<Reason>,
}

#[derive(Clone, Debug)]
enum Stage {
    /// Does the target fail with every change, and with none?
    Ends,
    /// Which change does the failure need beside the forced ones?
    Narrow(NoisyBracket),
    /// Is each change of this set needed?
    Minimize(Minimizing),
}

impl NoisySearch {
    /// Returns a search without any runs.
    pub(super) fn new(confidence: f64, options: &Options) -> Self {
        Self {
            confidence,
            direction: Direction::of(&[]),
            costs: (1.0, 1.0),
            known: Vec::new(),
            runs: Vec::new(),
            sequence: Vec::new(),
            rng: SeededRng::new(options.seed),
            proofs: Vec::new(),
            trials: Vec::new(),
            first: 0,
            stage: Stage::Ends,
            wants_recheck: false,
            found: Vec::new(),
            certainties: Vec::new(),
            sets: Vec::new(),
            verdict: None,
        }
    }

    /// Continues after a search that made these runs, in which these changes were reported, in order. Trials are
    /// numbered from `first` on.
    pub(super) fn after(mut self, options: &Options, known: Vec<Rank>, runs: Vec<Run>, first: usize) -> Self {
        self.sequence.clone_from(&runs);
        (self.known, self.runs, self.first) = (known, runs, first);
        self.turn();
        self.conclude(options);
        self
    }

    /// Returns the next step, after `runs` runs were started.
    pub(super) fn step(&mut self, options: &Options, runs: usize) -> Step {
        if let Some(verdict) = &self.verdict {
            return Step::Done(verdict.clone());
        }
        let in_flight = self.in_flight().count();
        if in_flight >= options.in_flight.get() {
            return Step::Wait;
        }
        if options.max_runs.is_some_and(|max| runs >= max) {
            // The runs in flight may still be evidence.
            if in_flight > 0 {
                return Step::Wait;
            }
            return Step::Done(self.end(self.at_limit()));
        }
        let Some(Ask { question, selection, toss }) = self.next() else {
            return self.verdict.clone().map_or(Step::Wait, Step::Done);
        };
        let trial = Trial { id: TrialId(self.first + self.trials.len()), question, selection, tests: vec![0] };
        self.begin(trial.clone(), toss.as_ref());
        Step::Run(trial)
    }

    /// Returns the question that is most worth a run. Returns `None` if the result of a run in flight must be known
    /// first, or if the search is over, which this call may find out.
    pub(super) fn next(&mut self) -> Option<Ask> {
        if self.verdict.is_some() {
            return None;
        }
        match self.ask() {
            Ok(ask) => {
                if let Some(Toss { set, .. }) = &ask.toss {
                    self.rng.coin();
                    if self.proof_of(set).is_none() {
                        self.proofs.push(Proof::new(set));
                    }
                }
                return Some(ask);
            }
            Err(_) if self.in_flight().next().is_some() => {}
            Err(verdict) => {
                self.end(verdict);
            }
        }
        None
    }

    /// Returns the index of the proof of a set, if the set was ever a suspect.
    fn proof_of(&self, set: &[Rank]) -> Option<usize> {
        self.proofs.iter().position(|proof| proof.is_of(set))
    }

    /// Starts a run of this trial. A coin toss, by this search or by that of another test, may have selected its side
    /// of a proof.
    pub(super) fn begin(&mut self, trial: Trial, toss: Option<&Toss>) {
        self.wants_recheck = false;
        let side = toss.and_then(|Toss { set, side }| Some((self.proof_of(set)?, *side)));
        self.trials.push(NoisyTrial { trial, is_in_flight: true, side, unresolved: None });
    }

    pub(super) fn has_begun(&self, id: TrialId) -> bool {
        self.find(id).is_some()
    }

    /// Schedules one more run of the end that failed, before anything else.
    pub(super) fn recheck_failing_end(&mut self) {
        self.wants_recheck = true;
    }

    /// Returns true if it is known that there is something to find, and nothing was found yet.
    pub(super) fn is_under_way(&self) -> bool {
        let is_open = self.verdict.is_none() && self.found.is_empty() && !matches!(self.stage, Stage::Ends);
        is_open && self.always().is_none()
    }

    /// Returns true if a run with this selection is evidence at the present stage.
    pub(super) fn is_evidence(&self, selection: &Selection) -> bool {
        match &self.stage {
            Stage::Ends => selection.prefix == Prefix::All && selection.excluded.is_empty(),
            Stage::Narrow(narrowing) => narrowing.candidate_set(selection, |id| selection.contains(id)).is_some(),
            Stage::Minimize(minimizing) => minimizing.is_about(selection),
        }
    }

    /// Returns the trials that were begun, with the outcome of each that has ended.
    pub(super) fn into_trials(self) -> impl Iterator<Item = (Trial, Option<Outcome>)> {
        let Self { trials, runs, .. } = self;
        trials.into_iter().map(move |NoisyTrial { trial, is_in_flight, unresolved, .. }| {
            let failed = runs.iter().find(|run| run.trial == trial.id).map(|run| run.failed);
            let told = failed.map(|failed| if failed { Outcome::Fail } else { Outcome::Pass });
            let untold = Outcome::Unresolved(unresolved.unwrap_or(Reason::Skip));
            (trial, (!is_in_flight).then(|| told.unwrap_or(untold)))
        })
    }

    /// Ends the search, if it has not ended, because no more runs may be made.
    pub(super) fn stop_at_limit(&mut self) {
        if self.verdict.is_none() {
            self.end(self.at_limit());
        }
    }

    fn end(&mut self, verdict: Verdict) -> Verdict {
        self.verdict.insert(verdict).clone()
    }

    fn in_flight(&self) -> impl Iterator<Item = &Trial> {
        self.trials.iter().filter(|asked| asked.is_in_flight).map(|asked| &asked.trial)
    }

    /// Returns the index of a trial among those that were begun.
    fn find(&self, id: TrialId) -> Option<usize> {
        self.trials.binary_search_by_key(&id, |asked| asked.trial.id).ok()
    }

    /// Takes the result of one run.
    ///
    /// # Panics
    /// If no run of this trial is in flight.
    pub(super) fn record(&mut self, id: TrialId, observation: Observation, options: &Options) {
        let index = self.find(id).filter(|&index| self.trials[index].is_in_flight);
        let asked = &mut self.trials[index.unwrap_or_else(|| panic!("trial {} has no run in flight", id.0))];
        asked.is_in_flight = false;
        if let Outcome::Unresolved(reason) = observation.outcome {
            asked.unresolved = Some(reason);
        }
        let (selection, side) = (asked.trial.selection.clone(), asked.side);
        if let Some((proof, side)) = side {
            self.prove(proof, side, observation.outcome);
        }
        self.take(id, &selection, observation, options);
    }

    /// Takes the result of a run of any trial, from this search or another.
    pub(super) fn take(&mut self, id: TrialId, selection: &Selection, mut observation: Observation, options: &Options) {
        if self.verdict.is_some() {
            return;
        }
        let unasked = |change: &Rank| !selection.contains(*change);
        let changes: Vec<_> =
            observation.reported.iter().copied().filter(unasked).take(tuning::MAX_UNASKED_LISTED).collect();
        if !changes.is_empty() {
            self.verdict = Some(Verdict::Unusable(Unusable::Unasked { trial: id, changes, ignores_pattern: false }));
            return;
        }
        ranked::sort(&mut observation.reported);
        let run = Run::new(id, selection, &observation);
        let known = self.known.len();
        ranked::merge(&mut self.known, &observation.reported);
        let is_new = self.known.len() > known;
        if let Some(run) = run {
            self.keep(run, is_new);
        } else if is_new {
            self.restart();
        }
        self.conclude(options);
    }

    /// Adds a run to its proof.
    fn prove(&mut self, proof: usize, side: Side, outcome: Outcome) {
        let (Stage::Narrow(narrowing), Outcome::Pass | Outcome::Fail) = (&self.stage, outcome) else { return };
        let rates = narrowing.point().rates().map(|rate| rate.mean);
        self.proofs[proof].observe(side, outcome == Outcome::Fail, rates);
    }

    /// Takes a run as evidence. Restarts the present set if the run has shown new changes, or has changed the
    /// direction.
    fn keep(&mut self, run: Run, is_new: bool) {
        match &mut self.stage {
            Stage::Narrow(narrowing) => narrowing.observe(&run),
            Stage::Minimize(minimizing) => minimizing.observe(&run),
            Stage::Ends => {}
        }
        self.sequence.push(run.clone());
        self.runs.push(run);
        if self.found.is_empty() && self.turn() || is_new {
            self.restart();
        }
    }

    /// Takes a run that this search did not ask for, or another execution within one run.
    pub(super) fn learn(&mut self, run: Run, options: &Options) {
        if self.verdict.is_none() {
            self.keep(run, false);
            self.conclude(options);
        }
    }

    pub(super) fn cancel(&mut self, id: TrialId) {
        let index = self.find(id).expect("it was begun");
        self.trials[index].is_in_flight = false;
    }

    /// Returns the trials in flight if the search is over; before that, all of them are evidence.
    pub(super) fn obsolete(&self) -> Vec<TrialId> {
        let in_flight = self.in_flight().map(|trial| trial.id);
        if self.verdict.is_some() { in_flight.collect() } else { Vec::new() }
    }

    /// Updates the direction of the search. Returns true if it has changed.
    fn turn(&mut self) -> bool {
        let before = self.direction.mode();
        self.direction = Direction::of(&self.runs);
        let has_turned = self.direction.mode() != before;
        if has_turned {
            let mode = self.direction.mode();
            let ends = [history::base(mode), history::everything(mode)];
            let inverted = mode == Mode::Disable;
            self.runs.retain(|run| run.selection.inverted == inverted || ends.contains(&run.selection));
        }
        has_turned
    }

    fn context(&self) -> SearchContext<'_> {
        SearchContext {
            mode: self.direction.mode(),
            known: &self.known,
            found: &self.sets,
            runs: &self.runs,
            costs: self.costs,
        }
    }

    /// Restarts the present set with all runs so far.
    fn restart(&mut self) {
        let stage = NoisyBracket::new(self.context(), Vec::new());
        self.stage = stage.map_or(Stage::Ends, Stage::Narrow);
    }

    pub(super) fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    pub(super) fn found(&self) -> &[Culprit] {
        &self.found
    }

    /// Returns the certainty of a culprit, by its index in `found`.
    pub(super) fn certainty(&self, index: usize) -> Option<Certainty> {
        self.certainties.get(index).copied()
    }

    /// Estimates the number of runs left until a culprit is named.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of runs, within reason")]
    pub(super) fn runs_left(&self) -> Option<usize> {
        let Stage::Narrow(narrowing) = &self.stage else { return None };
        Some(narrowing.point().runs_left(1.0 - self.allowed()).clamp(1.0, 1e6) as usize)
    }

    pub(super) fn trial(&self, id: TrialId) -> &Trial {
        &self.trials[id.0 - self.first].trial
    }

    pub(super) fn trials(&self) -> usize {
        self.trials.len()
    }

    /// Returns every change ever reported, in order.
    pub(super) fn known(&self) -> &[Rank] {
        &self.known
    }

    /// Sets the costs of a failing run and of a passing run.
    pub(super) fn set_costs(&mut self, failing: f64, passing: f64) {
        self.costs = (failing, passing);
        match &mut self.stage {
            Stage::Narrow(narrowing) => narrowing.set_costs(failing, passing),
            Stage::Ends | Stage::Minimize(_) => {}
        }
    }

    /// Returns the present estimate.
    pub(super) fn estimate(&self) -> Option<Estimate> {
        let Stage::Narrow(narrowing) = &self.stage else { return None };
        let point = narrowing.point();
        let suspects = point.suspects().into_iter().take(tuning::MAX_SUSPECTS_LISTED).map(|candidate| Suspect {
            changes: narrowing.with(candidate.index),
            probability: candidate.alone + candidate.in_company,
        });
        let [without, with] = point.rates();
        Some(Estimate {
            without,
            with,
            nothing: point.probability_of_nothing(),
            suspects: suspects.collect(),
            runs_left: point.runs_left(1.0 - self.allowed()),
            confidence: self.confidence,
        })
    }
}
