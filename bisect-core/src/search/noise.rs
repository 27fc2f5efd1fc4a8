//! A target that does not always end the same way: what the search makes of it, and what it believes.

use alloc::vec::Vec;

use super::{
    Progress, Search,
    flaky::{Flaky, Run},
    progress,
    trial::{Observation, Outcome, Question, TrialId},
    verdict::{Inconsistency, Verdict},
};
use crate::{ChangeId, noise::Rate};

/// What to make of a target that contradicts itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Each run is believed. A contradiction ends the search: [`Inconsistency`].
    Refused,
    /// Each run is believed. Before a culprit of one change is named, a few runs are made to see whether that is right: five
    /// before the first one, three before each further one, or more if several are in flight. Before a set of several is
    /// named, runs without each of its changes show that it is minimal. Random choices of the [seed](super::Options::seed)
    /// say which runs these are. After a contradiction all runs, those before it as well, are only evidence, what was found
    /// before is no longer, and the search goes on until an answer is as likely as this.
    Suspected(f64),
    /// All runs are only evidence, from the first on. A change is named when it is as likely as this to be what is searched
    /// for, and runs in random order have proved that it matters, whatever else outcomes follow.
    Expected(f64),
}

/// What is believed of a target that contradicts itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// How often it fails without what is searched for.
    pub without: Rate,
    /// And with it.
    pub with: Rate,
    /// How likely it is that no change that is left makes a difference.
    pub nothing: f64,
    /// The changes that may be what is searched for, those that are known already first in each; the likeliest first.
    pub suspects: Vec<Suspect>,
    /// About how many more runs it takes to name the next culprit.
    pub runs_left: f64,
    /// How likely an answer must be.
    pub confidence: f64,
}

/// Changes that may be a culprit, or part of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// The last is the one in question; those before it are known to be needed.
    pub changes: Vec<ChangeId>,
    /// How likely that is.
    pub probability: f64,
}

/// How sure a culprit of such a target is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certainty {
    /// How likely it is one.
    pub confidence: f64,
    /// How often the target fails without it, as far as that was known when it was named.
    pub without: Rate,
    /// And with it.
    pub with: Rate,
}

impl Search {
    /// What is believed, if the target has contradicted itself or was expected to.
    #[must_use]
    pub fn estimate(&self) -> Option<Estimate> {
        self.flaky.as_ref().and_then(Flaky::estimate)
    }

    /// Whether runs are no more than evidence by now.
    #[must_use]
    pub fn is_noisy(&self) -> bool {
        self.flaky.is_some()
    }

    /// How sure a culprit is, by its index among those [found](Self::found); nothing, if each run was believed.
    #[must_use]
    pub fn certainty(&self, index: usize) -> Option<Certainty> {
        self.flaky.as_ref().and_then(|flaky| flaky.certainty(index))
    }

    /// How many runs a trial takes, as far as is known by now.
    ///
    /// # Panics
    /// If this search never wanted such a trial.
    #[must_use]
    pub fn runs_of_trial(&self, id: TrialId) -> usize {
        match (self.trials.get(id.0), &self.suite) {
            (Some(_), _) => self.runs_wanted(id.0).max(self.trials[id.0].outcomes.len()),
            (None, Some(suite)) => suite.runs_of_trial(id),
            (None, None) => 1,
        }
    }

    /// Says what a failing run and a passing one cost on average, for instance in seconds: of a noisy target, runs are chosen
    /// by what they tell for what they cost.
    ///
    /// # Panics
    /// If a cost is not a positive number.
    pub fn set_costs(&mut self, failing: f64, passing: f64) {
        if let Some(flaky) = &mut self.flaky {
            flaky.set_costs(failing, passing);
        }
        if let Some(suite) = &mut self.suite {
            suite.set_costs(failing, passing);
        }
    }

    /// Takes what one more execution within a run of a trial showed, where runs are only evidence; else it is ignored. It
    /// counts like another run with the same changes.
    ///
    /// # Panics
    /// If this search never wanted such a trial.
    pub fn record_also(&mut self, id: TrialId, observation: &Observation) {
        let run = Run::new(id, &self.trial(id).selection, observation);
        if let (Some(flaky), Some(run)) = (&mut self.flaky, run) {
            flaky.learn(run, &self.options);
        }
    }

    /// Has the end that failed run once more before anything else, to see whether it fails in the same way.
    ///
    /// # Panics
    /// If the search cannot be [split](Self::split), as it must be known that there is such an end, and only one.
    pub fn look_again(&mut self) {
        assert!(self.can_split(), "one end fails, and the other does not");
        if let Some(flaky) = &mut self.flaky {
            return flaky.look_again();
        }
        let failed = |progress: &Progress| {
            matches!(progress.asked.question, Question::All | Question::None)
                && progress.outcomes.first() == Some(&Outcome::Fail)
        };
        if let Some(trial) = self.trials.iter().position(failed) {
            self.check(self.trials[trial].asked.clone(), Outcome::Fail);
        }
        self.wanted = None;
    }

    /// Takes every run, those so far as well, for no more than evidence from here on: whoever calls this has seen that the
    /// target contradicts itself in what it shows beside outcomes.
    pub fn disbelieve(&mut self) {
        if let (Noise::Suspected(confidence), None, None) = (self.options.noise, &self.suite, &self.flaky) {
            self.go_on_under_noise(confidence);
        }
    }

    /// Goes on with all runs as mere evidence, if they contradict each other and that is wanted.
    pub(super) fn doubt(&mut self) {
        let Noise::Suspected(confidence) = self.options.noise else { return };
        let contradicts = match self.verdict() {
            Some(Verdict::Inconsistent(Inconsistency::Endless)) => false,
            Some(Verdict::Inconsistent(_)) => true,
            _ => {
                self.trials.iter().any(|progress| progress::differ(&progress.outcomes))
                    || self.checks.iter().any(|check| !self.agrees(check))
            }
        };
        if contradicts && self.suite.is_none() && self.flaky.is_none() {
            self.go_on_under_noise(confidence);
        }
    }

    fn go_on_under_noise(&mut self, confidence: f64) {
        let (known, runs) = (core::mem::take(&mut self.seen), core::mem::take(&mut self.history));
        self.stopped = None;
        let flaky = Flaky::new(confidence, &self.options);
        self.flaky = Some(flaky.after(&self.options, known, runs, self.trials.len()));
    }
}
