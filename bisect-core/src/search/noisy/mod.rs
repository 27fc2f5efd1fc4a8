//! The search of a target that contradicts itself: every run is evidence, and none is proof.
//!
//! The question is the same, the smallest prefix that fails, and so is the way from there: force its last change, search
//! on below it, leave the set out and look for another. But nothing follows from one run. A run with what breaks the
//! target fails at one rate, and one without it at a lower one, both unknown; [`ChangePoint`](crate::search::posterior::ChangePoint)
//! keeps how likely each explanation is and says which run is worth most. Something is named when it is likely enough,
//! and was seen to fail alone, and the target to pass without it after that.
//!
//! What may go wrong is shared out: of the chance of a mistake that is allowed in all, most is spent on the first culprit,
//! most of the rest on the second, and so on.

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

/// The search under noise.
#[derive(Clone, Debug)]
pub(super) struct NoisySearch {
    confidence: f64,
    direction: Direction,
    costs: (f64, f64),
    /// Every change ever reported, in order.
    known: Vec<Rank>,
    runs: Vec<Run>,
    /// All runs, in the order in which they were made, whichever way round they were.
    sequence: Vec<Run>,
    /// Decides of which side a run of a proof is.
    rng: SeededRng,
    /// One for each suspect so far.
    proofs: Vec<Proof>,
    /// The trials that were begun, numbered from `first` on; each is one run.
    trials: Vec<NoisyTrial>,
    first: usize,
    stage: Stage,
    /// The end that failed is run once more before anything else.
    wants_recheck: bool,
    found: Vec<Culprit>,
    certainties: Vec<Certainty>,
    /// What is left out from now on.
    sets: Vec<Vec<Rank>>,
    verdict: Option<Verdict>,
}

/// A question that is worth a run.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) question: Question,
    pub(super) selection: Selection,
    /// The coin that has said that it is asked, if it is part of a proof.
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
    /// The proof that it is part of, and its side.
    side: Option<(usize, Side)>,
    /// Why it told nothing.
    unresolved: Option<Reason>,
}

#[derive(Clone, Debug)]
enum Stage {
    /// What happens with every change, and with none?
    Ends,
    /// Which change does the failure need beside the forced ones?
    Narrow(NoisyBracket),
    /// Is each change of this set needed?
    Minimize(Minimizing),
}

impl NoisySearch {
    /// A search that knows nothing yet.
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

    /// Goes on after a search that made these runs, in which these changes were reported, in order. Trials are numbered
    /// from `first` on.
    pub(super) fn after(mut self, options: &Options, known: Vec<Rank>, runs: Vec<Run>, first: usize) -> Self {
        self.sequence.clone_from(&runs);
        (self.known, self.runs, self.first) = (known, runs, first);
        self.turn();
        self.conclude(options);
        self
    }

    /// What to do next, after `runs` runs were started.
    pub(super) fn step(&mut self, options: &Options, runs: usize) -> Step {
        if let Some(verdict) = &self.verdict {
            return Step::Done(verdict.clone());
        }
        let in_flight = self.in_flight().count();
        if in_flight >= options.in_flight.get() {
            return Step::Wait;
        }
        if options.max_runs.is_some_and(|max| runs >= max) {
            // What is in flight may still tell something.
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

    /// The question that is most worth a run; none if something in flight must be known first, or if the search is over, as it
    /// may turn out to be.
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

    /// The proof of a set, if it was ever a suspect.
    fn proof_of(&self, set: &[Rank]) -> Option<usize> {
        self.proofs.iter().position(|proof| proof.is_of(set))
    }

    /// A run of this trial is started. A coin may have said of which side of a proof it is, tossed by this search or by
    /// that of another test.
    pub(super) fn begin(&mut self, trial: Trial, toss: Option<&Toss>) {
        self.wants_recheck = false;
        let side = toss.and_then(|Toss { set, side }| Some((self.proof_of(set)?, *side)));
        self.trials.push(NoisyTrial { trial, is_in_flight: true, side, unresolved: None });
    }

    pub(super) fn has_begun(&self, id: TrialId) -> bool {
        self.find(id).is_some()
    }

    /// Has the end that failed run once more before anything else.
    pub(super) fn recheck_failing_end(&mut self) {
        self.wants_recheck = true;
    }

    /// Whether it is known that there is something to find, and nothing was found yet.
    pub(super) fn is_under_way(&self) -> bool {
        let is_open = self.verdict.is_none() && self.found.is_empty() && !matches!(self.stage, Stage::Ends);
        is_open && self.always().is_none()
    }

    /// Whether a run with this selection tells something.
    pub(super) fn is_evidence(&self, selection: &Selection) -> bool {
        match &self.stage {
            Stage::Ends => selection.prefix == Prefix::All && selection.excluded.is_empty(),
            Stage::Narrow(narrowing) => narrowing.candidate_set(selection, |id| selection.contains(id)).is_some(),
            Stage::Minimize(minimizing) => minimizing.is_about(selection),
        }
    }

    /// The trials that were begun, and how each ended, as far as it did.
    pub(super) fn into_trials(self) -> impl Iterator<Item = (Trial, Option<Outcome>)> {
        let Self { trials, runs, .. } = self;
        trials.into_iter().map(move |NoisyTrial { trial, is_in_flight, unresolved, .. }| {
            let failed = runs.iter().find(|run| run.trial == trial.id).map(|run| run.failed);
            let told = failed.map(|failed| if failed { Outcome::Fail } else { Outcome::Pass });
            let untold = Outcome::Unresolved(unresolved.unwrap_or(Reason::Skip));
            (trial, (!is_in_flight).then(|| told.unwrap_or(untold)))
        })
    }

    /// Ends the search unless it has ended, as no more runs may be made.
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

    /// Where a trial is among those that were begun.
    fn find(&self, id: TrialId) -> Option<usize> {
        self.trials.binary_search_by_key(&id, |asked| asked.trial.id).ok()
    }

    /// Takes what one run showed.
    ///
    /// # Panics
    /// If no run of such a trial is in flight.
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

    /// Takes what a run of any trial showed, whether it was begun by this search or not.
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

    /// Takes how a run of a proof ended.
    fn prove(&mut self, proof: usize, side: Side, outcome: Outcome) {
        let (Stage::Narrow(narrowing), Outcome::Pass | Outcome::Fail) = (&self.stage, outcome) else { return };
        let rates = narrowing.point().rates().map(|rate| rate.mean);
        self.proofs[proof].observe(side, outcome == Outcome::Fail, rates);
    }

    /// Takes a run as evidence; or begins the present set anew, if it has shown new changes.
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

    /// Takes what a run showed that was not asked for by this search, or what another execution within one run did.
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

    /// The trials in flight, once the search is over: before, all of them tell something.
    pub(super) fn obsolete(&self) -> Vec<TrialId> {
        let in_flight = self.in_flight().map(|trial| trial.id);
        if self.verdict.is_some() { in_flight.collect() } else { Vec::new() }
    }

    /// Sees anew what breaks the target, enabled changes or disabled ones; says whether that is another than before.
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

    /// Begins the present set anew, with all that is known.
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

    /// How sure one of those is.
    pub(super) fn certainty(&self, index: usize) -> Option<Certainty> {
        self.certainties.get(index).copied()
    }

    /// About how many runs are left until something is named.
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

    /// Every change ever reported, in order.
    pub(super) fn known(&self) -> &[Rank] {
        &self.known
    }

    /// Sets what a failing run and a passing one cost.
    pub(super) fn set_costs(&mut self, failing: f64, passing: f64) {
        self.costs = (failing, passing);
        match &mut self.stage {
            Stage::Narrow(narrowing) => narrowing.set_costs(failing, passing),
            Stage::Ends | Stage::Minimize(_) => {}
        }
    }

    /// What is believed at the moment.
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
