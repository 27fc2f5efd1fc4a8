//! The trials of the sequential engine. When a search switches engines, some of them may still be in flight.

use alloc::{collections::BTreeMap, vec, vec::Vec};
use core::ops::{Index, IndexMut};

use super::{
    procedure::Asked,
    progress::{self, Progress},
};
use crate::before::model::{
    options::Options,
    selection::{Prefix, Selection},
    trial::{Outcome, Trial, TrialId},
};

/// Trials, numbered from 0 in the order in which they were first wanted.
#[derive(Clone, Debug, Default)]
pub(in crate::before) struct Trials {
    all: Vec<Progress>,
    /// The trials that are not over, by the prefixes of their selections: with many runs in flight, a search wants
    /// thousands of trials, and each guess about the next outcomes looks for the trial of one question.
    open: BTreeMap<Prefix, Vec<usize>>,
    checks: Vec<Check>,
}

/// A run that checks if the target is reliable.
#[derive(Clone, Copy, Debug)]
struct Check {
    /// The trial that makes this check.
    trial: usize,
    /// The earlier trial with the same selection, if there is one.
    of: Option<usize>,
    /// The outcome of the run if the target is reliable. `None`: that of the earlier trial.
    expected: Option<Outcome>,
    /// True if the search makes no other runs until this one has ended.
    is_due: bool,
}

impl Trials {
    pub(in crate::before) fn len(&self) -> usize {
        self.all.len()
    }

    pub(in crate::before) fn iter(&self) -> impl Iterator<Item = &Progress> {
        self.all.iter()
    }

    /// Returns the trial that answers a question of the procedure, if it was wanted before.
    pub(super) fn find(&self, asked: &Asked) -> Option<(usize, &Progress)> {
        let open = self.open.get(&asked.selection.prefix)?;
        open.iter().map(|&trial| (trial, &self.all[trial])).find(|(_, progress)| progress.asked == *asked)
    }

    /// Adds a trial, which is open.
    pub(super) fn add(&mut self, asked: Asked) -> usize {
        let prefix = asked.selection.prefix;
        let trial = self.push(asked);
        self.open.entry(prefix).or_default().push(trial);
        trial
    }

    fn push(&mut self, asked: Asked) -> usize {
        let id = TrialId(self.all.len());
        let trial = Trial { id, question: asked.question, selection: asked.selection.clone(), tests: vec![0] };
        self.all.push(Progress::new(asked, trial));
        id.0
    }

    /// Ends the open trials for which `is_over` returns true: the procedure has taken the answer, or will never ask.
    pub(super) fn end(&mut self, is_over: impl Fn(usize, &Asked) -> bool) {
        let all = &mut self.all;
        self.open.retain(|_, open| {
            open.retain(|&trial| {
                let is_over = is_over(trial, &all[trial].asked);
                if is_over {
                    all[trial].put_away();
                }
                !is_over
            });
            !open.is_empty()
        });
    }

    /// Adds trials that another engine has made, or is making, with the outcome of each that has ended.
    pub(in crate::before) fn extend(&mut self, trials: impl Iterator<Item = (Trial, Option<Outcome>)>) {
        self.all.extend(trials.map(|(trial, outcome)| Progress::of_others(trial, outcome)));
    }

    /// Adds a check, which is run before anything else. It is a separate trial, which the procedure does not wait for.
    pub(super) fn check(&mut self, asked: Asked, expected: Outcome) {
        self.push_check(asked, Some(expected), true);
    }

    /// Adds a check that is run beside the trial with the same selection. Returns the number of the new trial.
    pub(super) fn check_early(&mut self, asked: Asked) -> usize {
        self.push_check(asked, None, false)
    }

    fn push_check(&mut self, asked: Asked, expected: Option<Outcome>, is_due: bool) -> usize {
        let of = self.all.iter().position(|progress| progress.asked.selection == asked.selection);
        let trial = self.push(asked);
        self.all[trial].put_away();
        self.checks.push(Check { trial, of, expected, is_due });
        trial
    }

    /// Makes the search wait for this early check.
    pub(super) fn wait_for(&mut self, trial: usize) {
        if let Some(check) = self.checks.iter_mut().find(|check| check.trial == trial) {
            check.is_due = true;
        }
    }

    /// Returns true if a check repeats this selection.
    pub(super) fn is_checked(&self, selection: &Selection) -> bool {
        self.checks.iter().any(|check| self.all[check.trial].asked.selection == *selection)
    }

    /// Returns the trials of the due checks that have no outcome yet.
    pub(super) fn checks_due(&self) -> impl Iterator<Item = usize> {
        let checks = self.checks.iter().filter(|check| check.is_due).map(|check| check.trial);
        checks.filter(|&trial| self.all[trial].outcomes.is_empty())
    }

    /// Returns true if a check has ended as expected, is unresolved, or has no outcome yet.
    fn agrees(&self, check: &Check) -> bool {
        let mut outcomes = self.all[check.trial].outcomes.clone();
        match check.expected {
            Some(expected) => outcomes.push(expected),
            None => outcomes.extend(check.of.iter().flat_map(|&of| &self.all[of].outcomes)),
        }
        !progress::differ(&outcomes)
    }

    /// Returns true if a trial has both passed and failed, or a check ended differently from its expected outcome.
    pub(super) fn contradict(&self) -> bool {
        self.all.iter().any(|progress| progress::differ(&progress.outcomes))
            || self.checks.iter().any(|check| !self.agrees(check))
    }

    /// Returns the earlier trial that this check repeats, unless the check ended differently from its expected outcome.
    pub(in crate::before) fn repeated(&self, id: TrialId) -> Option<TrialId> {
        let check = self.checks.iter().find(|check| check.trial == id.0).filter(|check| self.agrees(check))?;
        check.of.map(TrialId)
    }

    /// Returns the number of trials begun, without checks that only repeat another trial.
    pub(in crate::before) fn begun(&self) -> usize {
        let repeats = self.checks.iter().filter(|check| check.of.is_some() && self.agrees(check));
        let repeats = repeats.filter(|check| self.all[check.trial].started > 0).count();
        self.all.iter().filter(|progress| progress.started > 0).count() - repeats
    }

    /// Returns the trials that have runs in flight.
    pub(in crate::before) fn in_flight(&self) -> impl Iterator<Item = usize> {
        (0..self.all.len()).filter(|&trial| self.all[trial].in_flight() > 0)
    }

    /// Records the outcome of a run of a trial.
    ///
    /// # Panics
    /// If no run of the trial is in flight.
    pub(in crate::before) fn note(&mut self, id: TrialId, outcome: Outcome) {
        self.in_flight_of(id).outcomes.push(outcome);
    }

    /// Takes back the start of a run.
    ///
    /// # Panics
    /// If no run of the trial is in flight.
    pub(in crate::before) fn cancel(&mut self, id: TrialId) {
        self.in_flight_of(id).started -= 1;
    }

    fn in_flight_of(&mut self, id: TrialId) -> &mut Progress {
        let progress = &mut self.all[id.0];
        assert!(progress.in_flight() > 0, "trial {} has no run in flight", id.0);
        progress
    }

    /// Returns the number of runs that a trial takes.
    pub(in crate::before) fn runs_wanted(&self, trial: usize, options: &Options) -> usize {
        let is_check = self.checks.iter().any(|check| check.trial == trial);
        if is_check { 1 } else { options.runs_per_trial.get() }
    }
}

impl Index<usize> for Trials {
    type Output = Progress;

    fn index(&self, trial: usize) -> &Progress {
        &self.all[trial]
    }
}

impl IndexMut<usize> for Trials {
    fn index_mut(&mut self, trial: usize) -> &mut Progress {
        &mut self.all[trial]
    }
}
