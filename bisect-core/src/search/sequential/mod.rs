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
mod speculation;
mod suspects;
mod weights;

use alloc::{vec, vec::Vec};

pub(super) use bracket::Bracket;
pub(super) use checks::{left_out, of_change, under_check};
use early_checks::EarlyChecks;
pub(super) use early_checks::expected_culprit;
use pairs::Pairs;
use procedure::lookahead;
pub(super) use procedure::{Answer, Procedure};
use speculation::Early;
use suspects::Suspects;

use super::{
    ledger::{Asked, Entry, Ledger, Run},
    model::{
        Options, Step, ranked,
        rng::SeededRng,
        trial::{Observation, Outcome, Question, TrialId},
        verdict::{Culprit, Incomplete, Inconsistency, Unusable, Verdict},
    },
};
use crate::search::model::likely_groups::LikelyGroups;
use crate::search::model::rank::{Order, Rank};
use crate::search::tuning;

/// The sequential engine: a procedure, its trials and its checks.
#[derive(Clone, Debug)]
pub(super) struct Sequential {
    procedure: Procedure,
    /// The trials whose answers are wanted; the one that the procedure waits for is first. Each answer invalidates this
    /// list.
    wanted: Option<Vec<TrialId>>,
    /// Every change ever reported, in order.
    seen: Vec<Rank>,
    /// A verdict that overrides the procedure.
    stopped: Option<Verdict>,
    /// The procedure right after both answers of the calibration.
    calibrated: Option<Procedure>,
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
            wanted: None,
            seen: Vec::new(),
            stopped: None,
            calibrated: None,
            checked_culprits: 0,
            recheck_at: tuning::LARGE_SET,
            sole_suspect: None,
            early_checks: EarlyChecks::default(),
            under_check: None,
            rng: SeededRng::new(options.seed),
        }
    }

    /// Returns the next step.
    pub(super) fn step(&mut self, ledger: &mut Ledger, options: &Options) -> Step {
        if let Some(verdict) = self.verdict(ledger) {
            return Step::Done(verdict.clone());
        }
        let wanted = self.wanted(ledger, options);
        let Some(&next) = wanted.iter().find(|&&trial| ledger[trial].may_start()) else { return Step::Wait };
        if options.max_runs.is_some_and(|max| ledger.started >= max) {
            // The answer that the search waits for may still arrive.
            if ledger[wanted[0]].in_flight() > 0 {
                return Step::Wait;
            }
            let verdict = Verdict::Incomplete(Incomplete::MaxRuns);
            self.stopped = Some(verdict.clone());
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
    pub(super) fn record(&mut self, id: TrialId, mut observation: Observation, ledger: &mut Ledger, options: &Options) {
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
        self.advance(ledger, options);
    }

    /// Discards the list of wanted trials, so that it is computed again.
    pub(super) fn reconsider(&mut self) {
        self.wanted = None;
    }

    /// Favours these groups from now on.
    pub(super) fn favour(&mut self, likely: LikelyGroups, ledger: &mut Ledger, options: &Options) {
        if let Some(calibrated) = &mut self.calibrated {
            calibrated.favour(likely.clone());
        }
        self.procedure.favour(likely);
        self.wanted = None;
        // The procedure's new question may have been answered early.
        self.advance(ledger, options);
    }

    /// Schedules one more run of the end that failed, before anything else.
    pub(super) fn recheck_failing_end(&mut self, ledger: &mut Ledger) {
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
    pub(super) fn obsolete(&mut self, ledger: &mut Ledger, options: &Options) -> Vec<TrialId> {
        let wanted = if self.verdict(ledger).is_some() { Vec::new() } else { self.wanted(ledger, options) };
        ledger.in_flight().filter(|trial| !wanted.contains(trial)).collect()
    }

    /// Gives the procedure all known answers that it waits for.
    fn advance(&mut self, ledger: &mut Ledger, options: &Options) {
        while self.stopped.is_none() && ledger.checks_due().next().is_none() {
            self.steer(ledger, options);
            let Ok(asked) = self.procedure.question() else { return self.check_before_giving_up(ledger, options) };
            if asked.question == Question::Baseline && self.replace_baseline(ledger, options) {
                continue;
            }
            let Some(entry) = ledger.find(&asked) else { return };
            self.stopped = self.distrust(entry);
            let trial = entry.trial.id;
            let (outcome, reported) = match entry.answer(0) {
                Some((outcome, reported)) if self.stopped.is_none() => (outcome, reported.clone()),
                _ => return,
            };
            let answer = Answer { trial, outcome, reported: Some(&reported) };
            if self.check_before_naming(&answer, ledger, options) {
                return;
            }
            ranked::merge(&mut self.seen, &reported);
            self.procedure.answer(&answer);
            if asked.question == Question::AllOff {
                self.calibrated = Some(self.procedure.clone());
            }
            self.check_large_set(ledger, options);
            ledger.end(|other| other.trial.id == trial || !lookahead::may_ask(&self.procedure, other));
        }
    }

    /// Schedules one more run of the end that failed, each time the number of changes that are needed together has
    /// doubled. A flaky target that mostly passes looks like a large set: with each pass one more change seems needed,
    /// and a search for all of them takes as many runs as there are changes.
    fn check_large_set(&mut self, ledger: &mut Ledger, options: &Options) {
        if !checks::may_check(options) {
            return;
        }
        let needed = self.procedure.question().map_or(0, |asked| asked.selection.forced.len());
        if needed >= self.recheck_at {
            self.recheck_at = 2 * needed;
            self.recheck_failing_end(ledger);
        }
    }

    /// Lets the next cut halve the suspects that the groups leave, unless it is already tested.
    fn steer(&mut self, ledger: &Ledger, options: &Options) {
        let is_tested = |asked| ledger.find(&asked).is_some_and(Entry::is_started);
        if may_test_groups(options) && !self.procedure.question().is_ok_and(is_tested) {
            match suspects(&self.procedure, ledger) {
                Some(suspects) => suspects.steer(&mut self.procedure),
                None => lookahead::suspect(&mut self.procedure, Vec::new()),
            }
        }
    }

    /// Returns a verdict if the observations of a trial cannot be believed.
    fn distrust(&self, entry: &Entry) -> Option<Verdict> {
        let (trial, reported) = (entry.trial.id, entry.reported());
        let unasked = |change: &Rank| !entry.trial.selection.contains(*change);
        let changes: Vec<_> = reported.iter().copied().filter(unasked).take(tuning::MAX_UNASKED_LISTED).collect();
        if !changes.is_empty() {
            // The run reported every change that it could have left out.
            let ignores_pattern = self.seen.iter().all(|&change| ranked::contains(reported, change));
            return Some(Verdict::Unusable(Unusable::Unasked { trial, changes, ignores_pattern }));
        }
        (!entry.agree(0)).then_some(Verdict::Inconsistent(Inconsistency::Runs(trial)))
    }

    /// Returns the verdict, if the search has ended.
    pub(super) fn verdict(&self, ledger: &Ledger) -> Option<&Verdict> {
        match &self.stopped {
            Some(stopped) => Some(stopped),
            None if ledger.checks_due().next().is_some() => None,
            None => self.procedure.question().err(),
        }
    }

    pub(super) fn found(&self) -> &[Culprit] {
        self.procedure.found()
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
    fn wanted(&mut self, ledger: &mut Ledger, options: &Options) -> Vec<TrialId> {
        let checks: Vec<_> = ledger.checks_due().take(options.in_flight.get()).collect();
        if !checks.is_empty() {
            return checks;
        }
        if let Some(wanted) = &self.wanted {
            return wanted.clone();
        }
        let count = options.in_flight.get();
        let (mut asked, sole_suspect) = self.with_groups(ledger, options).unwrap_or_else(|| {
            let early = |asked: &Asked| early_answer(asked, ledger);
            (speculation::wanted(&self.procedure, Pairs::default(), count, early), None)
        });
        let sole_suspect = sole_suspect.or_else(|| self.early_checks.suspect_in_proof(&self.procedure));
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

    /// Returns the wanted questions if groups are tested. The question of the procedure comes first, so that a group that
    /// hangs cannot block the search. The second value is the only suspect, if one is left.
    fn with_groups(&self, ledger: &Ledger, options: &Options) -> Option<(Vec<Asked>, Option<Rank>)> {
        let count = options.in_flight.get();
        let (mut wanted, mut next) = lookahead::to_first_cut(&self.procedure).filter(|_| may_test_groups(options))?;
        let suspects = suspects(&next, ledger)?;
        wanted.push(next.question().ok()?);
        for running in ledger.iter().filter(|entry| entry.in_flight() > 0) {
            if suspects.are_separated_by(&next, &running.trial.selection) {
                let asked = running.asked();
                if !wanted.contains(&asked) {
                    wanted.push(asked);
                }
            }
        }
        let groups = count.saturating_sub(wanted.len());
        let asked = wanted.iter().map(|asked| &asked.selection);
        let groups = suspects.groups(&next, asked, groups);
        wanted.extend(groups);
        let sole_suspect = suspects.sole();
        let pairs = suspects.pairs();
        suspects.steer(&mut next);
        for asked in speculation::wanted(&next, pairs, count, |asked| early_answer(asked, ledger)) {
            if !wanted.contains(&asked) {
                wanted.push(asked);
            }
        }
        wanted.truncate(count);
        Some((wanted, sole_suspect))
    }

    /// Returns true if the outcomes so far show that the target is not reliable, and noise is suspected.
    pub(super) fn is_contradicted(&self, ledger: &Ledger, options: &Options) -> bool {
        if !checks::may_check(options) {
            return false;
        }
        match self.verdict(ledger) {
            Some(Verdict::Inconsistent(Inconsistency::Endless)) => false,
            Some(Verdict::Inconsistent(_)) => true,
            _ => ledger.is_contradictory(),
        }
    }

    /// Returns the procedure at the time when it was known that the changes make a difference; `None` if they make
    /// none.
    pub(super) fn calibrated(&self) -> Option<&Procedure> {
        self.calibrated.as_ref().filter(|procedure| procedure.question().is_ok())
    }
}

/// Returns the answer to a question that was asked before the procedure reached it.
fn early_answer<'a>(asked: &Asked, ledger: &'a Ledger) -> Option<Early<'a>> {
    let entry = ledger.find(asked)?;
    let (outcome, reported) = entry.answer(0)?;
    Some((entry.trial.id, outcome, reported))
}

/// Returns the changes that explain the outcomes of all runs so far.
fn suspects(procedure: &Procedure, ledger: &Ledger) -> Option<Suspects> {
    let ended = ledger.iter().filter(|entry| entry.agree(0));
    let runs: Vec<_> = ended.filter_map(|entry| Some((&entry.trial.selection, *entry.outcomes().first()?))).collect();
    Suspects::of(procedure, &runs)
}

/// Returns true if groups are tested. A counter can only be run with a prefix of its steps.
fn may_test_groups(options: &Options) -> bool {
    options.in_flight.get() > 1 && options.order != Order::Counter
}

/// Returns the number of changes that may be the next one that the present culprit needs.
pub(super) fn candidates(search: &Sequential) -> Option<usize> {
    search.procedure.narrowing().map(|(_, bracket)| bracket.candidates().len())
}
