//! The sequential search: one trial after the other, each of which is believed.
//!
//! [`Procedure`] defines the next question and the effect of its answer. Where several trials may be in flight,
//! [`group_tests`] narrows the candidates, and [`speculation`] asks questions early. [`checks`] defines the runs that are
//! made before a culprit is named, and [`early_checks`] those that are made beside its proof.

mod bracket;
mod checks;
mod density;
mod early_checks;
pub(super) mod group_tests;
mod pairs;
mod procedure;
mod progress;
mod speculation;
mod suspects;
mod trials;
mod weights;

use alloc::vec::Vec;

pub(super) use bracket::Bracket;
pub(super) use checks::{left_out, of_change, under_check};
use early_checks::EarlyChecks;
pub(super) use early_checks::expected_culprit;
use pairs::Pairs;
use procedure::lookahead;
pub(super) use procedure::{Answer, Asked, Procedure};
use speculation::Early;
use suspects::Suspects;
pub(super) use trials::Trials;

use super::{
    model::{
        Options, Step, ranked,
        rng::SeededRng,
        trial::{Observation, Outcome, Question, TrialId},
        verdict::{Culprit, Incomplete, Inconsistency, Unusable, Verdict},
    },
    noisy::{NoisySearch, Run},
};
use crate::before::model::likely_groups::LikelyGroups;
use crate::before::model::rank::{Order, Rank};
use crate::before::tuning;

/// The sequential engine: a procedure, its trials and its checks.
#[derive(Clone, Debug)]
pub(super) struct Sequential {
    procedure: Procedure,
    trials: Trials,
    /// The trials whose answers are wanted; the one that the procedure waits for is first. Each answer invalidates this
    /// list.
    wanted: Option<Vec<usize>>,
    /// Every change ever reported, in order.
    seen: Vec<Rank>,
    /// A verdict that overrides the procedure.
    stopped: Option<Verdict>,
    /// The procedure right after both answers of the calibration.
    calibrated: Option<Procedure>,
    /// All resolved runs; kept only if noise is suspected.
    history: Vec<Run>,
    /// Number of culprits for which checks were chosen.
    checked_culprits: usize,
    /// Number of needed changes after which the failing end is run again.
    recheck_at: usize,
    /// The only suspect when the wanted trials were chosen, if there was one.
    sole_suspect: Option<Rank>,
    /// Repeats of the proof of a suspect.
    early_checks: EarlyChecks,
    /// The culprit that was checked last.
    under_check: Option<Culprit>,
    rng: SeededRng,
}

impl Sequential {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            procedure: Procedure::new(options.clone()),
            trials: Trials::default(),
            wanted: None,
            seen: Vec::new(),
            stopped: None,
            calibrated: None,
            history: Vec::new(),
            checked_culprits: 0,
            recheck_at: tuning::LARGE_SET,
            sole_suspect: None,
            early_checks: EarlyChecks::default(),
            under_check: None,
            rng: SeededRng::new(options.seed),
        }
    }

    /// Returns the next step, after `runs` runs were started.
    pub(super) fn step(&mut self, options: &Options, runs: usize) -> Step {
        if let Some(verdict) = self.verdict() {
            return Step::Done(verdict.clone());
        }
        let wanted = self.wanted(options);
        let may_start = |&&trial: &&usize| self.trials[trial].started < self.trials.runs_wanted(trial, options);
        let Some(&next) = wanted.iter().find(may_start) else { return Step::Wait };
        if options.max_runs.is_some_and(|max| runs >= max) {
            // The answer that the search waits for may still arrive.
            if self.trials[wanted[0]].in_flight() > 0 {
                return Step::Wait;
            }
            let verdict = Verdict::Incomplete(Incomplete::MaxRuns);
            self.stopped = Some(verdict.clone());
            return Step::Done(verdict);
        }
        let progress = &mut self.trials[next];
        if progress.started == 0 {
            progress.sole_suspect = self.sole_suspect;
        }
        progress.started += 1;
        Step::Run(self.trials[next].trial.clone())
    }

    /// Takes the result of one run of a trial.
    ///
    /// # Panics
    /// If no run of this trial is in flight.
    pub(super) fn record(&mut self, id: TrialId, mut observation: Observation, options: &Options) {
        self.trials.note(id, observation.outcome);
        let progress = &mut self.trials[id.0];
        let run = Run::new(id, &progress.trial.selection, &observation);
        // What a group reports is not needed: it answers no question of the procedure.
        if !progress.is_over && progress.asked.selection.gaps.is_empty() {
            ranked::sort(&mut observation.reported);
            ranked::merge(&mut observation.reported, &progress.reported);
            progress.reported = observation.reported.into();
        }
        self.history.extend(run.filter(|_| checks::may_check(options)));
        self.wanted = None;
        self.advance(options);
    }

    pub(super) fn cancel(&mut self, id: TrialId) {
        self.trials.cancel(id);
    }

    /// Discards the list of wanted trials, so that it is computed again.
    pub(super) fn reconsider(&mut self) {
        self.wanted = None;
    }

    /// Favours these groups from now on.
    pub(super) fn favour(&mut self, likely: LikelyGroups, options: &Options) {
        if let Some(calibrated) = &mut self.calibrated {
            calibrated.favour(likely.clone());
        }
        self.procedure.favour(likely);
        self.wanted = None;
        // The procedure's new question may have been answered early.
        self.advance(options);
    }

    /// Schedules one more run of the end that failed, before anything else.
    pub(super) fn recheck_failing_end(&mut self) {
        let failed = self.trials.iter().find(|progress| {
            matches!(progress.asked.question, Question::AllOn | Question::AllOff)
                && progress.outcomes.first() == Some(&Outcome::Fail)
        });
        if let Some(asked) = failed.map(|progress| progress.asked.clone()) {
            self.trials.check(asked, Outcome::Fail);
        }
        self.wanted = None;
    }

    /// Returns the trials with runs in flight that no longer matter.
    pub(super) fn obsolete(&mut self, options: &Options) -> Vec<TrialId> {
        let wanted = if self.verdict().is_some() { Vec::new() } else { self.wanted(options) };
        self.trials.in_flight().filter(|trial| !wanted.contains(trial)).map(TrialId).collect()
    }

    /// Gives the procedure all known answers that it waits for.
    fn advance(&mut self, options: &Options) {
        while self.stopped.is_none() && self.trials.checks_due().next().is_none() {
            self.steer(options);
            let Ok(asked) = self.procedure.question() else { return self.check_before_giving_up(options) };
            if asked.question == Question::Baseline && self.replace_baseline(options) {
                continue;
            }
            let Some((trial, _)) = self.trials.find(&asked) else { return };
            self.stopped = self.distrust(TrialId(trial));
            let progress = &self.trials[trial];
            let (outcome, reported) = match progress.answer(options.runs_per_trial.get()) {
                Some((outcome, reported)) if self.stopped.is_none() => (outcome, reported.clone()),
                _ => return,
            };
            let answer = Answer { trial: TrialId(trial), outcome, reported: Some(&reported) };
            if self.check_before_naming(&answer, options) {
                return;
            }
            ranked::merge(&mut self.seen, &reported);
            self.procedure.answer(&answer);
            if asked.question == Question::AllOff {
                self.calibrated = Some(self.procedure.clone());
            }
            self.check_large_set(options);
            self.trials.end(|other, asked| other == trial || !lookahead::may_ask(&self.procedure, asked));
        }
    }

    /// Schedules one more run of the end that failed, each time the number of changes that are needed together has
    /// doubled. A flaky target that mostly passes looks like a large set: with each pass one more change seems needed,
    /// and a search for all of them takes as many runs as there are changes.
    fn check_large_set(&mut self, options: &Options) {
        if !checks::may_check(options) {
            return;
        }
        let needed = self.procedure.question().map_or(0, |asked| asked.selection.forced.len());
        if needed >= self.recheck_at {
            self.recheck_at = 2 * needed;
            self.recheck_failing_end();
        }
    }

    /// Lets the next cut halve the suspects that the groups leave, unless it is already tested.
    fn steer(&mut self, options: &Options) {
        let is_tested = |asked| self.trials.find(&asked).is_some_and(|(_, progress)| progress.started > 0);
        if may_test_groups(options) && !self.procedure.question().is_ok_and(is_tested) {
            match self.suspects(&self.procedure) {
                Some(suspects) => suspects.steer(&mut self.procedure),
                None => lookahead::suspect(&mut self.procedure, Vec::new()),
            }
        }
    }

    /// Returns a verdict if the observations of a trial cannot be believed.
    fn distrust(&self, id: TrialId) -> Option<Verdict> {
        let progress = &self.trials[id.0];
        let reported = &progress.reported;
        let unasked = |change: &Rank| !progress.trial.selection.contains(*change);
        let changes: Vec<_> = reported.iter().copied().filter(unasked).take(tuning::MAX_UNASKED_LISTED).collect();
        if !changes.is_empty() {
            // The run reported every change that it could have left out.
            let ignores_pattern = self.seen.iter().all(|&change| ranked::contains(reported, change));
            return Some(Verdict::Unusable(Unusable::Unasked { trial: id, changes, ignores_pattern }));
        }
        (!progress.agrees()).then_some(Verdict::Inconsistent(Inconsistency::Runs(id)))
    }

    /// Returns the verdict, if the search has ended.
    pub(super) fn verdict(&self) -> Option<&Verdict> {
        match &self.stopped {
            Some(stopped) => Some(stopped),
            None if self.trials.checks_due().next().is_some() => None,
            None => self.procedure.question().err(),
        }
    }

    pub(super) fn found(&self) -> &[Culprit] {
        self.procedure.found()
    }

    pub(super) fn trials(&self) -> &Trials {
        &self.trials
    }

    /// Returns every change ever reported, in order.
    pub(super) fn known(&self) -> &[Rank] {
        &self.seen
    }

    /// Estimates the number of trials left, if one more change is needed.
    pub(super) fn trials_left(&self) -> Option<usize> {
        let candidates = candidates(self)?;
        // Trials to halve the candidates, one of the set alone, one of the rest.
        Some(candidates.next_power_of_two().ilog2() as usize + 2)
    }

    /// Returns the trials whose answers are wanted; the one that the procedure waits for is first.
    fn wanted(&mut self, options: &Options) -> Vec<usize> {
        let checks: Vec<_> = self.trials.checks_due().take(options.in_flight.get()).collect();
        if !checks.is_empty() {
            return checks;
        }
        if let Some(wanted) = &self.wanted {
            return wanted.clone();
        }
        let early_answer = |asked: &Asked| self.early_answer(asked, options);
        let count = options.in_flight.get();
        let (mut asked, sole_suspect) = self
            .with_groups(options, early_answer)
            .unwrap_or_else(|| (speculation::wanted(&self.procedure, Pairs::default(), count, early_answer), None));
        let sole_suspect = sole_suspect.or_else(|| self.early_checks.suspect_in_proof(&self.procedure));
        self.sole_suspect = sole_suspect;
        asked.retain(|asked| asked.question != Question::Baseline || !checks::may_check(options));
        let trials = &mut self.trials;
        let index = |asked: Asked| match trials.find(&asked) {
            Some((trial, _)) => trial,
            None => trials.add(asked),
        };
        let mut wanted: Vec<_> = asked.into_iter().map(index).collect();
        if let Some(suspect) = sole_suspect {
            self.early_checks.add(suspect, &mut wanted, &mut self.trials, &mut self.rng, options);
        }
        self.wanted = Some(wanted.clone());
        wanted
    }

    /// Returns the answer to a question that was asked before the procedure reached it.
    fn early_answer(&self, asked: &Asked, options: &Options) -> Option<Early<'_>> {
        let (trial, progress) = self.trials.find(asked)?;
        let (outcome, reported) = progress.answer(options.runs_per_trial.get())?;
        Some((TrialId(trial), outcome, reported))
    }

    /// Returns the wanted questions if groups are tested. The question of the procedure comes first, so that a group that
    /// hangs cannot block the search. The second value is the only suspect, if one is left.
    fn with_groups<'a>(
        &'a self,
        options: &Options,
        early_answer: impl Fn(&Asked) -> Option<Early<'a>>,
    ) -> Option<(Vec<Asked>, Option<Rank>)> {
        let count = options.in_flight.get();
        let (mut wanted, mut next) = lookahead::to_first_cut(&self.procedure).filter(|_| may_test_groups(options))?;
        let suspects = self.suspects(&next)?;
        wanted.push(next.question().ok()?);
        let running = self.trials.iter().filter(|progress| progress.in_flight() > 0).map(|progress| &progress.asked);
        for asked in running {
            if suspects.are_separated_by(&next, &asked.selection) && !wanted.contains(asked) {
                wanted.push(asked.clone());
            }
        }
        let groups = count.saturating_sub(wanted.len());
        let asked = wanted.iter().map(|asked| &asked.selection);
        let groups = suspects.groups(&next, asked, groups);
        wanted.extend(groups);
        let sole_suspect = suspects.sole();
        let pairs = suspects.pairs();
        suspects.steer(&mut next);
        for asked in speculation::wanted(&next, pairs, count, early_answer) {
            if !wanted.contains(&asked) {
                wanted.push(asked);
            }
        }
        wanted.truncate(count);
        Some((wanted, sole_suspect))
    }

    fn suspects(&self, procedure: &Procedure) -> Option<Suspects> {
        let runs = self.trials.iter().filter(|progress| !progress.outcomes.is_empty() && progress.agrees());
        let runs: Vec<_> = runs.map(|progress| (&progress.trial.selection, progress.outcomes[0])).collect();
        Suspects::of(procedure, &runs)
    }

    /// Returns true if the outcomes so far show that the target is not reliable, and noise is suspected.
    pub(super) fn is_contradicted(&self, options: &Options) -> bool {
        if !checks::may_check(options) {
            return false;
        }
        match self.verdict() {
            Some(Verdict::Inconsistent(Inconsistency::Endless)) => false,
            Some(Verdict::Inconsistent(_)) => true,
            _ => self.trials.contradict(),
        }
    }

    /// Converts this search into a noisy one, in which all runs are only evidence.
    pub(super) fn into_noisy(self, confidence: f64, options: &Options) -> (NoisySearch, Trials) {
        let first = self.trials.len();
        (NoisySearch::new(confidence, options).after(options, self.seen, self.history, first), self.trials)
    }

    /// Returns the procedure at the time when it was known that the changes make a difference; `None` if they make
    /// none.
    pub(super) fn calibrated(&self) -> Option<&Procedure> {
        self.calibrated.as_ref().filter(|procedure| procedure.question().is_ok())
    }

    /// Returns the trials, and every change ever reported, in order.
    pub(super) fn into_trials(self) -> (Trials, Vec<Rank>) {
        (self.trials, self.seen)
    }
}

/// Returns true if groups are tested. A counter can only be run with a prefix of its steps.
fn may_test_groups(options: &Options) -> bool {
    options.in_flight.get() > 1 && options.order != Order::Counter
}

/// Returns the number of changes that may be the next one that the present culprit needs.
pub(super) fn candidates(search: &Sequential) -> Option<usize> {
    search.procedure.narrowing().map(|(_, bracket)| bracket.candidates().len())
}
