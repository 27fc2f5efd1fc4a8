//! The state of a noisy search: all runs as evidence, and the stage that follows from them. It makes no runs.

use alloc::vec::Vec;

use super::{
    direction::Direction,
    minimize::Minimizing,
    noisy_bracket::{NoisyBracket, SearchContext},
    proof::{Proofs, Side},
    untestable_steps::UntestableSteps,
};
use crate::search::{
    ledger::Run,
    model::{
        Options,
        mode::Mode,
        noise::{Certainty, Estimate, LikelyPlace, Suspect},
        rank::{Order, Rank},
        ranked,
        selection::Selection,
        trial::{Observation, Outcome, TrialId},
        verdict::{Culprit, Unusable, Verdict},
    },
    tuning,
};

/// The state of a noisy search.
#[derive(Clone, Debug)]
pub(in crate::search) struct NoisyState {
    order: Order,
    /// The direction that is asked for.
    asked: Option<Mode>,
    pub(super) confidence: f64,
    pub(super) direction: Direction,
    costs: (f64, f64),
    /// Every change ever reported, in order.
    pub(super) known: Vec<Rank>,
    /// The runs that are evidence in the present direction.
    pub(super) runs: Vec<Run>,
    pub(super) proofs: Proofs,
    pub(super) untestable: UntestableSteps,
    pub(super) stage: Stage,
    pub(super) found: Vec<Culprit>,
    pub(super) certainties: Vec<Certainty>,
    /// The sets of the culprits found, which later selections leave out.
    pub(super) sets: Vec<Vec<Rank>>,
    pub(super) verdict: Option<Verdict>,
}

/// The question that a noisy search asks by several runs.
#[derive(Clone, Debug)]
pub(super) enum Stage {
    /// Does the target fail with every change, and with none?
    Ends,
    /// Which change does the failure need beside the forced ones?
    Narrow(NoisyBracket),
    /// Is each change of this set needed?
    Minimize(Minimizing),
}

impl NoisyState {
    /// Returns the state after these runs. `known` are the changes that they reported, in order.
    pub(super) fn new(confidence: f64, options: &Options, known: Vec<Rank>, runs: Vec<Run>) -> Self {
        let mut this = Self {
            order: options.order,
            asked: options.direction,
            confidence,
            direction: Direction::of(&[], options.direction),
            costs: (1.0, 1.0),
            known,
            runs,
            proofs: Proofs::new(options.seed),
            untestable: UntestableSteps::default(),
            stage: Stage::Ends,
            found: Vec::new(),
            certainties: Vec::new(),
            sets: Vec::new(),
            verdict: None,
        };
        this.turn();
        this
    }

    /// Takes the result of a run. `run` is `None` if it is unresolved. The trial may be one that another test asked for.
    pub(super) fn take(&mut self, id: TrialId, selection: &Selection, mut observation: Observation, run: Option<Run>) {
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
        let known = self.known.len();
        ranked::merge(&mut self.known, &observation.reported);
        let is_new = self.known.len() > known;
        if let Some(run) = run {
            self.keep(run, is_new);
        } else if is_new || self.gives_up(selection, observation.outcome) {
            self.restart();
        }
    }

    /// Counts an unresolved run of a counter. Returns true if the next step stands for its last one from now on.
    fn gives_up(&mut self, selection: &Selection, outcome: Outcome) -> bool {
        let known = self.known.len();
        let steps =
            |selection: &Selection| Some(selection.switched_steps(known)).filter(|steps| (1..known).contains(steps));
        let Some(taken) = steps(selection).filter(|_| self.order == Order::Counter) else { return false };
        let is_resolved = self.runs.iter().any(|run| steps(&run.selection) == Some(taken));
        let Outcome::Unresolved(reason) = outcome else { return false };
        !is_resolved && self.untestable.count(taken, reason)
    }

    /// Takes a run as evidence. Restarts the present set if the run has shown new changes, or has changed the
    /// direction.
    pub(super) fn keep(&mut self, run: Run, is_new: bool) {
        if let Stage::Narrow(narrowing) = &mut self.stage {
            narrowing.observe(&run);
        }
        self.runs.push(run);
        if let Stage::Minimize(minimizing) = &self.stage {
            self.stage = Stage::Minimize(minimizing.with_runs(self.context()));
        }
        if self.found.is_empty() && self.turn() || is_new {
            self.restart();
        }
    }

    /// Updates the direction of the search. Returns true if it has changed.
    fn turn(&mut self) -> bool {
        let before = self.direction.mode();
        self.direction = Direction::of(&self.runs, self.asked);
        let has_turned = self.direction.mode() != before;
        if has_turned {
            let mode = self.direction.mode();
            let ends = [mode.nothing(), mode.everything()];
            let inverted = mode == Mode::Disable;
            self.runs.retain(|run| run.selection.inverted == inverted || ends.contains(&run.selection));
        }
        has_turned
    }

    /// Restarts the present set with all runs so far.
    pub(super) fn restart(&mut self) {
        let stage = NoisyBracket::new(self.context(), Vec::new());
        self.stage = stage.map_or(Stage::Ends, Stage::Narrow);
    }

    pub(super) fn context(&self) -> SearchContext<'_> {
        SearchContext {
            order: self.order,
            mode: self.direction.mode(),
            known: &self.known,
            found: &self.sets,
            runs: &self.runs,
            merged: self.untestable.merged(),
            costs: self.costs,
        }
    }

    /// Adds a run to its proof.
    pub(super) fn prove(&mut self, proof: usize, side: Side, outcome: Outcome) {
        let (Stage::Narrow(narrowing), Outcome::Pass | Outcome::Fail) = (&self.stage, outcome) else { return };
        let rates = narrowing.point().rates().map(|rate| rate.mean);
        self.proofs.observe(proof, side, outcome == Outcome::Fail, rates);
    }

    /// Returns the index of the first run that failed with exactly these changes.
    pub(super) fn failed_alone(&self, changes: &[Rank]) -> Option<usize> {
        self.runs.iter().position(|run| run.failed && run.is_exactly(changes))
    }

    /// Returns true if the target has passed without any change, in a run after this one.
    pub(super) fn passed_since(&self, index: usize) -> bool {
        let nothing = self.direction.mode().nothing();
        self.runs[index..].iter().any(|run| !run.failed && run.selection == nothing)
    }

    /// Returns the outcome of all runs, if they have the same outcome.
    pub(super) fn always(&self) -> Option<Outcome> {
        let failed = self.runs.first()?.failed;
        let outcome = if failed { Outcome::Fail } else { Outcome::Pass };
        self.runs.iter().all(|run| run.failed == failed).then_some(outcome)
    }

    /// Returns the probability of an error that may be spent on the present culprit.
    pub(super) fn allowed(&self) -> f64 {
        let first = (1.0 - self.confidence) * (1.0 - tuning::NEXT_CULPRIT_SHARE);
        self.found.iter().fold(first, |allowed, _| allowed * tuning::NEXT_CULPRIT_SHARE)
    }

    /// Sets the costs of a failing run and of a passing run.
    pub(super) fn set_costs(&mut self, failing: f64, passing: f64) {
        self.costs = (failing, passing);
        match &mut self.stage {
            Stage::Narrow(narrowing) => narrowing.set_costs(failing, passing),
            Stage::Ends | Stage::Minimize(_) => {}
        }
    }
}

/// The results so far.
impl NoisyState {
    pub(in crate::search) fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    pub(in crate::search) fn found(&self) -> &[Culprit] {
        &self.found
    }

    /// Returns the certainty of a culprit, by its index in `found`.
    pub(in crate::search) fn certainty(&self, index: usize) -> Option<Certainty> {
        self.certainties.get(index).copied()
    }

    /// Returns every change ever reported, in order.
    pub(in crate::search) fn known(&self) -> &[Rank] {
        &self.known
    }

    /// Returns true if it is known that there is something to find, and nothing was found yet.
    pub(in crate::search) fn is_under_way(&self) -> bool {
        let is_open = self.verdict.is_none() && self.found.is_empty() && !matches!(self.stage, Stage::Ends);
        is_open && self.always().is_none()
    }

    /// Returns true if a run with this selection is evidence at the present stage.
    pub(in crate::search) fn is_evidence(&self, selection: &Selection) -> bool {
        match &self.stage {
            // No change is known yet. Runs of prefixes are kept: they are evidence as soon as changes are known.
            Stage::Ends => selection.forced.is_empty() && selection.excluded.is_empty(),
            Stage::Narrow(narrowing) => narrowing.candidate_set(selection, |id| selection.contains(id)).is_some(),
            Stage::Minimize(minimizing) => minimizing.is_about(selection),
        }
    }

    /// Estimates the number of runs left until a culprit is named.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of runs, within reason")]
    pub(in crate::search) fn runs_left(&self) -> Option<usize> {
        let Stage::Narrow(narrowing) = &self.stage else { return None };
        // The forecast is of a culprit. If there is probably none, it would grow with each run.
        if !narrowing.is_first() && narrowing.point().probability_of_nothing() >= tuning::STAND_OUT_NOTHING {
            return None;
        }
        Some(narrowing.point().runs_left(1.0 - self.allowed()).clamp(1.0, 1e6) as usize)
    }

    /// Returns the present estimate.
    pub(in crate::search) fn estimate(&self) -> Option<Estimate> {
        let Stage::Narrow(narrowing) = &self.stage else { return None };
        let point = narrowing.point();
        let suspects = point.suspects().into_iter().take(tuning::MAX_SUSPECTS_LISTED).map(|candidate| Suspect {
            changes: narrowing.with(candidate.index),
            probability: candidate.alone + candidate.in_company,
        });
        let places = point.places().map(|(range, probability)| LikelyPlace {
            positions: narrowing.positions(range, &self.known),
            probability,
        });
        let [without, with] = point.rates();
        Some(Estimate {
            mode: self.direction.mode(),
            without,
            with,
            nothing: point.probability_of_nothing(),
            rate_if_nothing: point.rate_if_nothing(),
            places: places.collect(),
            suspects: suspects.collect(),
            runs_left: point.runs_left(1.0 - self.allowed()),
            confidence: self.confidence,
        })
    }
}
