//! The choice of the next trial while the search has one test.
//!
//! While its runs are believed, the test's [`Procedure`] asks one question after the other. Where several trials may be in
//! flight, the [`proposer`] fills the free slots. [`checks`] defines the runs that are made before a culprit is named, and
//! [`early_checks`] those that are made beside its proof. If the test is noisy, its noisy search chooses.

mod checks;
mod early_checks;

use alloc::{vec, vec::Vec};

pub(super) use checks::{left_out, of_change};
use early_checks::EarlyChecks;
pub(super) use early_checks::expected_culprit;

use super::{
    ledger::{Asked, Entry, Ledger, Run},
    model::{
        Options, Step,
        noise::Noise,
        ranked,
        rng::SeededRng,
        trial::{Observation, Outcome, Question, TrialId},
        verdict::{Culprit, Incomplete, Inconsistency, Unusable, Verdict},
    },
    noisy::NoisyState,
    proposer::{self, Proposal},
    sequential::{Answer, Procedure, lookahead},
    test::Test,
};
use crate::search::model::likely_groups::LikelyGroups;
use crate::search::model::rank::Rank;
use crate::search::tuning;

/// The state from which the next trial follows while the search has one test, beside that test and the ledger.
#[derive(Clone, Debug)]
pub(super) struct Unsplit {
    /// The trials whose answers are wanted; the one that the procedure waits for is first. Each answer invalidates this
    /// list.
    wanted: Option<Vec<TrialId>>,
    /// Every change ever reported, in order.
    known: Vec<Rank>,
    /// The procedure right after both answers of the calibration.
    calibrated: Option<Procedure>,
    /// The only suspect when the wanted trials were chosen, if there was one.
    sole_suspect: Option<Rank>,
    /// Repeats of the proof of a suspect.
    early_checks: EarlyChecks,
    /// The culprit that was checked last.
    under_check: Option<Culprit>,
    rng: SeededRng,
}

impl Unsplit {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            wanted: None,
            known: Vec::new(),
            calibrated: None,
            sole_suspect: None,
            early_checks: EarlyChecks::default(),
            under_check: None,
            rng: SeededRng::new(options.seed),
        }
    }

    /// Returns the next step.
    pub(super) fn step(&mut self, test: &mut Test, ledger: &mut Ledger, options: &Options) -> Step {
        if let Some(noisy) = &mut test.noisy {
            return noisy.step(ledger, options);
        }
        if let Some(verdict) = test.settled(ledger) {
            return Step::Done(verdict.clone());
        }
        let wanted = self.wanted(test, ledger, options);
        let Some(&next) = wanted.iter().find(|&&trial| ledger[trial].may_start()) else { return Step::Wait };
        if options.max_runs.is_some_and(|max| ledger.started >= max) {
            // The answer that the search waits for may still arrive.
            if ledger[wanted[0]].in_flight() > 0 {
                return Step::Wait;
            }
            let verdict = Verdict::Incomplete(Incomplete::MaxRuns);
            test.stopped = Some(verdict.clone());
            return Step::Done(verdict);
        }
        if !ledger[next].is_started() {
            self.early_checks.begin(next, self.sole_suspect);
        }
        Step::Run(ledger.start(next))
    }

    /// Takes the result of one run of a trial.
    ///
    /// # Panics
    /// If no run of this trial is in flight.
    pub(super) fn record(
        &mut self,
        id: TrialId,
        mut observation: Observation,
        test: &mut Test,
        ledger: &mut Ledger,
        options: &Options,
    ) {
        if let Some(noisy) = &mut test.noisy {
            return noisy.record(id, observation, ledger, options);
        }
        let selection = &ledger[id].trial.selection;
        let run = Run::new(id, selection, &observation);
        // What a group reports is not needed: it answers no question of the procedure.
        if !selection.gaps.is_empty() {
            observation.reported.clear();
        }
        ledger[id].record(vec![observation]);
        if let Some(run) = run.filter(|_| checks::may_check(options)) {
            ledger.add_run(0, run);
        }
        self.wanted = None;
        self.advance(test, ledger, options);
    }

    /// Discards the list of wanted trials, so that it is computed again.
    pub(super) fn reconsider(&mut self) {
        self.wanted = None;
    }

    /// Favours these groups from now on.
    pub(super) fn favour(&mut self, likely: LikelyGroups, test: &mut Test, ledger: &mut Ledger, options: &Options) {
        if test.noisy.is_some() {
            return;
        }
        if let Some(calibrated) = &mut self.calibrated {
            calibrated.favour(likely.clone());
        }
        test.procedure.favour(likely);
        self.wanted = None;
        // The procedure's new question may have been answered early.
        self.advance(test, ledger, options);
    }

    /// Schedules one more run of the end that failed, before anything else.
    pub(super) fn recheck_failing_end(&mut self, test: &mut Test, ledger: &mut Ledger) {
        if let Some(noisy) = &mut test.noisy {
            return noisy.recheck_failing_end();
        }
        let failed = ledger.iter().find(|entry| {
            matches!(entry.trial.question, Question::AllOn | Question::AllOff)
                && entry.outcomes().first() == Some(&Outcome::Fail)
        });
        if let Some(asked) = failed.map(Entry::asked) {
            ledger.check(asked, Some(Outcome::Fail));
        }
        self.wanted = None;
    }

    /// Returns the trials with runs in flight that no longer matter.
    pub(super) fn obsolete(&mut self, test: &Test, ledger: &mut Ledger, options: &Options) -> Vec<TrialId> {
        let wanted = match test.settled(ledger) {
            Some(_) => Vec::new(),
            // All runs are evidence.
            None if test.noisy.is_some() => return Vec::new(),
            None => self.wanted(test, ledger, options),
        };
        ledger.in_flight().filter(|trial| !wanted.contains(trial)).collect()
    }

    /// Gives the procedure all known answers that it waits for.
    fn advance(&mut self, test: &mut Test, ledger: &mut Ledger, options: &Options) {
        while test.stopped.is_none() && ledger.checks_due().next().is_none() {
            proposer::steer(&mut test.procedure, ledger, options);
            let Ok(asked) = test.procedure.question() else {
                return checks::before_giving_up(test, ledger, options);
            };
            if asked.question == Question::Baseline && self.replace_baseline(test, ledger, options) {
                continue;
            }
            let Some(entry) = ledger.find(&asked) else { return };
            if let Some(verdict) = self.distrust(entry) {
                return test.stop(verdict);
            }
            let trial = entry.trial.id;
            let Some((outcome, reported)) = entry.answer(0) else { return };
            let reported = reported.clone();
            let answer = Answer { trial: Some(trial), outcome, reported: Some(&reported) };
            if self.check_before_naming(&answer, test, ledger, options) {
                return;
            }
            ranked::merge(&mut self.known, &reported);
            test.procedure.answer(&answer);
            if asked.question == Question::AllOff {
                self.calibrated = Some(test.procedure.clone());
            }
            self.check_large_set(test, ledger, options);
            ledger.end(|other| other.trial.id == trial || !lookahead::may_ask(&test.procedure, other));
        }
    }

    /// Schedules one more run of the end that failed, each time the number of changes that are needed together has
    /// doubled. A flaky target that mostly passes looks like a large set: with each pass one more change seems needed,
    /// and a search for all of them takes as many runs as there are changes.
    fn check_large_set(&mut self, test: &mut Test, ledger: &mut Ledger, options: &Options) {
        if !checks::may_check(options) {
            return;
        }
        let needed = test.procedure.question().map_or(0, |asked| asked.selection.forced.len());
        if needed >= test.recheck_at {
            test.recheck_at = 2 * needed;
            self.recheck_failing_end(test, ledger);
        }
    }

    /// Returns a verdict if the observations of a trial cannot be believed.
    fn distrust(&self, entry: &Entry) -> Option<Verdict> {
        let (trial, reported) = (entry.trial.id, entry.reported());
        let unasked = |change: &Rank| !entry.trial.selection.contains(*change);
        let changes: Vec<_> = reported.iter().copied().filter(unasked).take(tuning::MAX_UNASKED_LISTED).collect();
        if !changes.is_empty() {
            // The run reported every change that it could have left out.
            let ignores_pattern = self.known.iter().all(|&change| ranked::contains(reported, change));
            return Some(Verdict::Unusable(Unusable::Unasked { trial, changes, ignores_pattern }));
        }
        (!entry.agree(0)).then_some(Verdict::Inconsistent(Inconsistency::Runs(trial)))
    }

    /// Returns every change ever reported, in order.
    pub(super) fn known<'a>(&'a self, test: &'a Test) -> &'a [Rank] {
        test.noisy().map_or(&self.known, NoisyState::known)
    }

    /// Returns the trials whose answers are wanted; the one that the procedure waits for is first.
    fn wanted(&mut self, test: &Test, ledger: &mut Ledger, options: &Options) -> Vec<TrialId> {
        let checks: Vec<_> = ledger.checks_due().take(options.in_flight.get()).collect();
        if !checks.is_empty() {
            return checks;
        }
        if let Some(wanted) = &self.wanted {
            return wanted.clone();
        }
        let Proposal { wanted: mut asked, sole_suspect } = proposer::propose(&test.procedure, ledger, options);
        let sole_suspect = sole_suspect.or_else(|| self.early_checks.suspect_in_proof(&test.procedure));
        self.sole_suspect = sole_suspect;
        asked.retain(|asked| asked.question != Question::Baseline || !checks::may_check(options));
        let trial = |asked: Asked| match ledger.find(&asked) {
            Some(entry) => entry.trial.id,
            None => ledger.ask(asked, options.runs_per_trial.get()),
        };
        let mut wanted: Vec<_> = asked.into_iter().map(trial).collect();
        if let Some(suspect) = sole_suspect {
            self.early_checks.add(suspect, &mut wanted, ledger, &mut self.rng, options);
        }
        self.wanted = Some(wanted.clone());
        wanted
    }

    /// Returns true if the search can be split: see [`Search::can_split`](super::Search::can_split).
    pub(super) fn can_split(&self, test: &Test, options: &Options) -> bool {
        match test.noisy() {
            None => self.calibrated().is_some(),
            // A target that became noisy is searched as one test.
            Some(noisy) => matches!(options.noise, Noise::Expected(_)) && noisy.is_under_way(),
        }
    }

    /// Returns the procedure at the time when it was known that the changes make a difference; `None` if they make
    /// none.
    pub(super) fn calibrated(&self) -> Option<&Procedure> {
        self.calibrated.as_ref().filter(|procedure| procedure.question().is_ok())
    }
}

/// Returns true if the outcomes so far show that a test is not reliable, and noise is suspected.
pub(super) fn is_contradicted(test: &Test, ledger: &Ledger, options: &Options) -> bool {
    if !checks::may_check(options) || test.noisy.is_some() {
        return false;
    }
    match test.settled(ledger) {
        Some(Verdict::Inconsistent(Inconsistency::Endless)) => false,
        Some(Verdict::Inconsistent(_)) => true,
        _ => ledger.is_contradictory(),
    }
}

/// Returns the number of changes that may be the next one that the present culprit needs.
pub(super) fn candidates(test: &Test) -> Option<usize> {
    let (_, bracket) = test.procedure.narrowing().filter(|_| test.noisy.is_none())?;
    Some(bracket.candidates().len())
}

/// Estimates the number of trials left, if one more change is needed.
pub(super) fn trials_left(test: &Test) -> Option<usize> {
    if let Some(noisy) = test.noisy() {
        return noisy.runs_left();
    }
    // Trials to halve the candidates, one of the set alone, one of the rest.
    Some(candidates(test)?.next_power_of_two().ilog2() as usize + 2)
}
