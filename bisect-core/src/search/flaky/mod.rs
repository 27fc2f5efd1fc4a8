//! The search of a target that contradicts itself: every run is evidence, and none is proof.
//!
//! The question is the same, the smallest prefix that fails, and so is the way from there: force its last change, search
//! on below it, leave the set out and look for another. But nothing follows from one run. A run with what breaks the
//! target fails at one rate, and one without it at a lower one, both unknown; [`ChangePoint`](crate::noise::ChangePoint)
//! keeps how likely each explanation is and says which run is worth most. Something is named when it is likely enough,
//! and was seen to fail alone, and the target to pass without it after that.
//!
//! What may go wrong is shared out: of the chance of a mistake that is allowed in all, a half is spent on the first
//! culprit, a quarter on the second, and so on; and of each part, a half on the name itself.

mod direction;
mod history;
mod narrowing;
mod thinning;

use alloc::{vec, vec::Vec};

use direction::Direction;
use narrowing::{Context, Narrowing};
use thinning::Thinning;

pub(super) use history::Run;

use super::{
    Options, Step,
    noise::{Certainty, Estimate, Suspect},
    ranked,
    selection::{Prefix, Selection},
    trial::{Observation, Outcome, Question, Reason, Trial, TrialId},
    verdict::{Culprit, Incomplete, Inconsistency, Mode, Unusable, Verdict},
};
use crate::{ChangeId, noise::Part};

/// A target that fails more rarely than this, or passes more rarely, does not count as one that does.
const RAREST: f64 = 0.05;

/// A question that told nothing so often more than it told something is not asked again.
const UNRESOLVED_LIMIT: usize = 3;

/// In place of a cut that does not resolve, others are asked up to so many candidates away.
const FARTHEST: usize = 16;

/// After so many runs it is given up if it is as likely as this that nothing makes a difference: nobody is accused by it,
/// and to be surer would take as long again.
const LONG: usize = 500;
const MOOT: f64 = 0.9;

/// So many suspects are told.
const SUSPECTS: usize = 8;

/// The search under noise.
#[derive(Clone, Debug)]
pub(super) struct Flaky {
    confidence: f64,
    direction: Direction,
    costs: (f64, f64),
    /// Every change ever reported, in order.
    known: Vec<ChangeId>,
    runs: Vec<Run>,
    /// The trials that were begun, numbered from `first` on; each is one run.
    trials: Vec<Asked>,
    first: usize,
    stage: Stage,
    found: Vec<Culprit>,
    certainties: Vec<Certainty>,
    /// What is left out from now on.
    sets: Vec<Vec<ChangeId>>,
    verdict: Option<Verdict>,
}

#[derive(Clone, Debug)]
struct Asked {
    trial: Trial,
    is_in_flight: bool,
    /// Why it told nothing.
    unresolved: Option<Reason>,
}

#[derive(Clone, Debug)]
enum Stage {
    /// What happens with every change, and with none?
    Ends,
    /// Which change does the failure need beside the forced ones?
    Narrow(Narrowing),
    /// Is each change of this set needed?
    Thin(Thinning),
}

impl Flaky {
    /// A search that knows nothing yet.
    pub(super) fn new(confidence: f64, options: &Options) -> Self {
        Self {
            confidence,
            direction: Direction::of(options.order, &[]),
            costs: (1.0, 1.0),
            known: Vec::new(),
            runs: Vec::new(),
            trials: Vec::new(),
            first: 0,
            stage: Stage::Ends,
            found: Vec::new(),
            certainties: Vec::new(),
            sets: Vec::new(),
            verdict: None,
        }
    }

    /// Goes on after a search that knew these runs, in which these changes were reported, in order, and that has found
    /// something already. Trials are numbered from `first` on.
    pub(super) fn after(
        mut self,
        options: &Options,
        (known, runs): (Vec<ChangeId>, Vec<Run>),
        found: Vec<Culprit>,
        first: usize,
    ) -> Self {
        self.sets = found.iter().map(|culprit| culprit.changes.clone()).collect();
        (self.known, self.runs, self.found, self.first) = (known, runs, found, first);
        self.turn(options);
        self.conclude(options);
        self
    }

    /// What to do next, where so many runs were started before.
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
        match self.ask(options) {
            Ok((question, selection)) => {
                let id = TrialId(self.first + self.trials.len());
                let trial = Trial { id, question, selection, tests: vec![0] };
                self.trials.push(Asked { trial: trial.clone(), is_in_flight: true, unresolved: None });
                Step::Run(trial)
            }
            Err(_) if in_flight > 0 => Step::Wait,
            Err(verdict) => Step::Done(self.end(verdict)),
        }
    }

    fn end(&mut self, verdict: Verdict) -> Verdict {
        self.verdict.insert(verdict).clone()
    }

    fn in_flight(&self) -> impl Iterator<Item = &Trial> {
        self.trials.iter().filter(|asked| asked.is_in_flight).map(|asked| &asked.trial)
    }

    /// The question that is most worth a run, or how the search ends for want of one.
    fn ask(&self, options: &Options) -> Result<(Question, Selection), Verdict> {
        let unresolved = |reason| Verdict::Incomplete(Incomplete::Unresolved(reason));
        if let Some(end) = self.direction.wants(options.order, &self.runs, self.in_flight()) {
            if let Some(reason) = self.refusal(&end.1) {
                return Err(Verdict::Unusable(Unusable::Unresolved(end.0, reason)));
            }
            return Ok(end);
        }
        match &self.stage {
            Stage::Ends => Err(match self.always() {
                Some(outcome) => Verdict::NoDifference(outcome),
                None => Verdict::Unusable(Unusable::NoReports),
            }),
            Stage::Thin(thinning) => {
                let selection = self.alone(options, &thinning.others());
                self.refusal(&selection).map_or(Ok((Question::Exactly, selection)), |reason| Err(unresolved(reason)))
            }
            Stage::Narrow(narrowing) => {
                let in_flight = self.in_flight().filter_map(|trial| {
                    let has = |id| trial.selection.contains(id);
                    narrowing.part(&trial.selection, has)
                });
                let part = match self.confirming(narrowing) {
                    Some(Confirming::Alone(candidate)) => Part::alone(candidate),
                    Some(Confirming::Base) => {
                        let question = (Question::Without, history::base(options.order, self.direction.mode()));
                        return Ok(self.named(narrowing, question));
                    }
                    None => narrowing.point().next(&in_flight.collect::<Vec<_>>()),
                };
                self.nearest(narrowing, part).map_err(unresolved)
            }
        }
    }

    /// What is still to be seen of a candidate that is likely enough to be named.
    fn confirming(&self, narrowing: &Narrowing) -> Option<Confirming> {
        let candidate = narrowing.point().likeliest()?;
        if candidate.alone >= 1.0 - self.allowed() / 2.0 {
            return Some(match self.failed_alone(&narrowing.with(candidate.index)) {
                None => Confirming::Alone(candidate.index),
                Some(_) => Confirming::Base,
            });
        }
        // It is the one; only whether it suffices is open.
        (candidate.probability() >= 1.0 - self.allowed() / 8.0).then_some(Confirming::Alone(candidate.index))
    }

    /// The question about these candidates, or the nearest one that may tell something.
    fn nearest(&self, narrowing: &Narrowing, part: Part) -> Result<(Question, Selection), Reason> {
        let first = narrowing.question(part);
        let Some(reason) = self.refusal(&first.1) else { return Ok(self.named(narrowing, first)) };
        let Part { below, also: None } = part else { return Err(reason) };
        let cuts = (1..=FARTHEST).flat_map(|away| [below.checked_sub(away), below.checked_add(away)]).flatten();
        let mut others =
            cuts.filter(|&cut| cut <= narrowing.candidates()).map(|cut| narrowing.question(Part::below(cut)));
        let other = others.find(|(_, selection)| self.refusal(selection).is_none());
        other.map(|other| self.named(narrowing, other)).ok_or(reason)
    }

    /// With no culprit found, the ends are what they were called in the calibration.
    fn named(&self, narrowing: &Narrowing, (question, selection): (Question, Selection)) -> (Question, Selection) {
        let question = match (question, selection.inverted) {
            (Question::Rest | Question::Without, false) if narrowing.is_first() => Question::All,
            (Question::Rest | Question::Without, true) if narrowing.is_first() => Question::None,
            _ => question,
        };
        (question, selection)
    }

    /// Why a selection is not asked for again.
    fn refusal(&self, selection: &Selection) -> Option<Reason> {
        let told = self.runs.iter().filter(|run| run.selection == *selection).count();
        let untold = self.trials.iter().filter(|asked| asked.trial.selection == *selection);
        let reasons: Vec<_> = untold.filter_map(|asked| asked.unresolved).collect();
        (reasons.len() >= told + UNRESOLVED_LIMIT).then(|| reasons[0])
    }

    fn alone(&self, options: &Options, changes: &[ChangeId]) -> Selection {
        Selection {
            prefix: Prefix::NONE,
            forced: changes.to_vec(),
            ..history::everything(options.order, self.direction.mode())
        }
    }

    /// Takes what one run showed.
    ///
    /// # Panics
    /// If no run of such a trial is in flight.
    pub(super) fn record(&mut self, id: TrialId, mut observation: Observation, options: &Options) {
        let asked = &mut self.trials[id.0 - self.first];
        assert!(asked.is_in_flight, "trial {} has no run in flight", id.0);
        asked.is_in_flight = false;
        if self.verdict.is_some() {
            return;
        }
        let unasked = |change: &ChangeId| !asked.trial.selection.contains(*change);
        let changes: Vec<_> = observation.reported.iter().copied().filter(unasked).take(8).collect();
        if !changes.is_empty() {
            self.verdict = Some(Verdict::Unusable(Unusable::Unasked { trial: id, changes, ignores_pattern: false }));
            return;
        }
        ranked::sort(options.order, &mut observation.reported);
        let run = Run::new(id, &asked.trial.selection, &observation);
        if let Outcome::Unresolved(reason) = observation.outcome {
            asked.unresolved = Some(reason);
        }
        let known = self.known.len();
        ranked::merge(options.order, &mut self.known, &observation.reported);
        let is_new = self.known.len() > known;
        if let Some(run) = run {
            match &mut self.stage {
                Stage::Narrow(narrowing) if !is_new => narrowing.observe(&run),
                Stage::Thin(thinning) => thinning.observe(&run),
                _ => {}
            }
            self.runs.push(run);
        }
        if self.found.is_empty() && self.turn(options) || is_new && !matches!(self.stage, Stage::Thin(_)) {
            self.restart(options);
        }
        self.conclude(options);
    }

    /// Takes what a run showed that was begun before there was noise.
    pub(super) fn learn(&mut self, run: Run, options: &Options) {
        if self.verdict.is_none() {
            self.runs.push(run);
            self.turn(options);
            self.restart(options);
            self.conclude(options);
        }
    }

    pub(super) fn cancel(&mut self, id: TrialId) {
        self.trials[id.0 - self.first].is_in_flight = false;
    }

    /// The trials in flight, once the search is over: before, all of them tell something.
    pub(super) fn obsolete(&self) -> Vec<TrialId> {
        let in_flight = self.in_flight().map(|trial| trial.id);
        if self.verdict.is_some() { in_flight.collect() } else { Vec::new() }
    }

    /// Sees anew what breaks the target, enabled changes or disabled ones; says whether that is another than before.
    fn turn(&mut self, options: &Options) -> bool {
        let before = self.direction.mode();
        self.direction = Direction::of(options.order, &self.runs);
        let has_turned = self.direction.mode() != before;
        if has_turned {
            let mode = self.direction.mode();
            let ends = [history::base(options.order, mode), history::everything(options.order, mode)];
            let inverted = mode == Mode::Disable;
            self.runs.retain(|run| run.selection.inverted == inverted || ends.contains(&run.selection));
        }
        has_turned
    }

    fn context(&self, options: &Options) -> Context<'_> {
        Context {
            order: options.order,
            mode: self.direction.mode(),
            known: &self.known,
            found: &self.sets,
            runs: &self.runs,
            costs: self.costs,
        }
    }

    /// Begins the present set anew, with all that is known.
    fn restart(&mut self, options: &Options) {
        let stage = Narrowing::new(self.context(options), Vec::new());
        self.stage = stage.map_or(Stage::Ends, Stage::Narrow);
    }

    /// The chance of a mistake that may be spent on the present culprit.
    fn allowed(&self) -> f64 {
        self.found.iter().fold((1.0 - self.confidence) / 2.0, |allowed, _| allowed / 2.0)
    }

    /// Follows from what is known as far as it goes.
    fn conclude(&mut self, options: &Options) {
        if matches!(self.stage, Stage::Ends) && !self.known.is_empty() && self.direction.is_known(&self.runs) {
            self.restart(options);
        }
        while self.verdict.is_none() {
            let next = match &self.stage {
                Stage::Ends => None,
                Stage::Narrow(narrowing) => self.after_narrowing(options, narrowing),
                Stage::Thin(thinning) => self.after_thinning(options, thinning),
            };
            match next {
                None => break,
                Some(Next::Stage(stage)) => self.stage = stage,
                Some(Next::End(verdict)) => self.verdict = Some(verdict),
                Some(Next::Found(culprit, certainty)) => self.take_culprit(options, culprit, certainty),
            }
        }
    }

    fn after_narrowing(&self, options: &Options, narrowing: &Narrowing) -> Option<Next> {
        let point = narrowing.point();
        if let Some(outcome) = self.always().filter(|_| self.would_show()) {
            return Some(Next::End(Verdict::NoDifference(outcome)));
        }
        if point.nothing() >= self.confidence || point.nothing() >= MOOT && self.runs.len() >= LONG {
            let how = match (narrowing.is_first(), narrowing.forced()) {
                (false, []) => return Some(Next::End(Verdict::Complete)),
                (_, []) => Inconsistency::Noise,
                (_, _) => Inconsistency::Unexplained(self.runs.last()?.trial),
            };
            return Some(Next::End(Verdict::Inconsistent(how)));
        }
        let candidate = point.likeliest()?;
        let set = narrowing.with(candidate.index);
        if candidate.alone >= 1.0 - self.allowed() / 2.0 {
            let failed = self.failed_alone(&set)?;
            if !self.passed_since(options, failed) {
                return None;
            }
            return Some(self.with_set(options, set, candidate.alone));
        }
        if candidate.in_company >= 1.0 - self.allowed() / 4.0 {
            if options.max_set_size.is_some_and(|max| set.len() >= max.get()) {
                return Some(Next::End(Verdict::Incomplete(Incomplete::MaxSetSize)));
            }
            return Narrowing::new(self.context(options), set).map(|next| Next::Stage(Stage::Narrow(next)));
        }
        None
    }

    /// A set fails alone: it is a culprit, once it is known that each of its changes is needed.
    fn with_set(&self, options: &Options, set: Vec<ChangeId>, confidence: f64) -> Next {
        match set[..] {
            [_] => self.name(set, confidence),
            _ => Next::Stage(Stage::Thin(Thinning::new(self.context(options), set, 0))),
        }
    }

    fn after_thinning(&self, options: &Options, thinning: &Thinning) -> Option<Next> {
        let allowed = self.allowed() / 4.0;
        let point = thinning.point();
        if point.nothing() >= 1.0 - allowed {
            let next = thinning.index() + 1;
            let set = thinning.set().to_vec();
            return Some(if next < set.len() {
                Next::Stage(Stage::Thin(Thinning::new(self.context(options), set, next)))
            } else {
                self.name(set, 1.0 - 2.0 * self.allowed())
            });
        }
        let suffices = point.likeliest()?.alone;
        let others = thinning.others();
        (suffices >= 1.0 - allowed && self.failed_alone(&others).is_some())
            .then(|| self.with_set(options, others, suffices))
    }

    fn name(&self, changes: Vec<ChangeId>, confidence: f64) -> Next {
        let confirmed_by = self.failed_alone(&changes).map_or(TrialId(0), |index| self.runs[index].trial);
        let culprit = Culprit { changes, mode: self.direction.mode(), confirmed_by };
        let [without, with] = match &self.stage {
            Stage::Narrow(narrowing) => narrowing.point().rates(),
            Stage::Thin(thinning) => thinning.point().rates(),
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
        match Narrowing::new(self.context(options), Vec::new()) {
            Some(narrowing) => self.stage = Stage::Narrow(narrowing),
            None => self.verdict = Some(Verdict::Complete),
        }
    }

    /// The index of the first run that failed with exactly these changes.
    fn failed_alone(&self, changes: &[ChangeId]) -> Option<usize> {
        self.runs.iter().position(|run| run.failed && run.is_exactly(changes))
    }

    /// Whether the target has passed as it does without any of the changes, after this run.
    fn passed_since(&self, options: &Options, index: usize) -> bool {
        let base = history::base(options.order, self.direction.mode());
        self.runs[index..].iter().any(|run| !run.failed && run.selection == base)
    }

    /// How all runs have ended, if they have ended alike.
    fn always(&self) -> Option<Outcome> {
        let failed = self.runs.first()?.failed;
        let outcome = if failed { Outcome::Fail } else { Outcome::Pass };
        self.runs.iter().all(|run| run.failed == failed).then_some(outcome)
    }

    /// Whether there were so many runs that it would be a wonder if none had ended as few do.
    fn would_show(&self) -> bool {
        // What matters is switched in all prefixes only if it is switched with everything.
        let ends = self.runs.iter().filter(|run| run.selection.prefix == Prefix::All).count();
        let mut chance = 1.0;
        (0..ends).for_each(|_| chance *= 1.0 - RAREST);
        chance < 1.0 - self.confidence
    }

    /// How the search ends if no more runs may be made.
    fn at_limit(&self) -> Verdict {
        match &self.stage {
            Stage::Narrow(narrowing) if narrowing.is_first() && narrowing.point().nothing() > 1.0 - self.confidence => {
                Verdict::Inconsistent(Inconsistency::Noise)
            }
            Stage::Ends | Stage::Narrow(_) | Stage::Thin(_) => Verdict::Incomplete(Incomplete::MaxRuns),
        }
    }

    pub(super) fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    pub(super) fn found(&self) -> &[Culprit] {
        &self.found
    }

    /// How sure one of those is; nothing, if it was found before there was noise.
    pub(super) fn certainty(&self, index: usize) -> Option<Certainty> {
        let before = self.found.len() - self.certainties.len();
        self.certainties.get(index.checked_sub(before)?).copied()
    }

    pub(super) fn runs_left(&self) -> Option<usize> {
        None
    }

    pub(super) fn trial(&self, id: TrialId) -> &Trial {
        &self.trials[id.0 - self.first].trial
    }

    pub(super) fn trials(&self) -> usize {
        self.trials.len()
    }

    /// Every change ever reported, in order.
    pub(super) fn known(&self) -> &[ChangeId] {
        &self.known
    }

    /// Sets what a failing run and a passing one cost.
    pub(super) fn set_costs(&mut self, failing: f64, passing: f64) {
        self.costs = (failing, passing);
        match &mut self.stage {
            Stage::Narrow(narrowing) => narrowing.set_costs(failing, passing),
            Stage::Ends | Stage::Thin(_) => {}
        }
    }

    /// What is believed at the moment.
    pub(super) fn estimate(&self) -> Option<Estimate> {
        let Stage::Narrow(narrowing) = &self.stage else { return None };
        let point = narrowing.point();
        let suspects = point.suspects().into_iter().take(SUSPECTS).map(|candidate| Suspect {
            changes: narrowing.with(candidate.index),
            probability: candidate.alone + candidate.in_company,
        });
        let [without, with] = point.rates();
        Some(Estimate {
            without,
            with,
            nothing: point.nothing(),
            suspects: suspects.collect(),
            runs_left: point.runs_left(1.0 - self.allowed() / 2.0),
            confidence: self.confidence,
        })
    }
}

/// What is still to be seen of a candidate.
enum Confirming {
    /// That it fails by itself, beside the forced ones.
    Alone(usize),
    /// That the target passes without it after that.
    Base,
}

/// What follows from what is known.
enum Next {
    Stage(Stage),
    Found(Culprit, Certainty),
    End(Verdict),
}
