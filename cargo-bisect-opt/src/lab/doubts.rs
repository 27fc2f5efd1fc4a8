//! What the user is told of a target that contradicts itself, while it is searched.

use std::{collections::HashMap, io, num::NonZeroUsize, time::Duration};

use bisect_core::{ChangeId, search::Outcome};

use super::Session;
use crate::{
    events::Event,
    noise::{self, Beliefs},
    repetition::Repetition,
    target::{Run, Target},
};

/// After so many runs under noise there is something to say, and again whenever they have doubled.
const FIRST_WORD: usize = 8;

/// Executions in a run, at most: of many with the same changes the last ones tell little.
const MOST: usize = 16;

/// What the runs so far say beside their outcomes.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    /// Whether it was told that runs are only evidence.
    was_told: bool,
    /// The number of runs at which there is more to say.
    next_word: usize,
    failing: Costs,
    passing: Costs,
    /// How long builds took, and how often the target was executed in how long.
    started_in: Duration,
    runs: u32,
    executions: u32,
    executed_in: Duration,
    /// What the target said about changes.
    texts: HashMap<ChangeId, Vec<String>>,
}

/// How long runs took.
#[derive(Debug, Default)]
struct Costs {
    runs: u32,
    duration: Duration,
}

impl Costs {
    fn mean(&self) -> Option<Duration> {
        self.duration.checked_div(self.runs).filter(|mean| !mean.is_zero())
    }
}

impl Doubts {
    pub(super) fn add(&mut self, runs: &[Run]) {
        for run in runs {
            self.started_in += run.started_in;
            self.executed_in += run.duration;
            self.executions += u32::try_from(run.executions).unwrap_or(u32::MAX);
            self.runs += 1;
            let costs = match run.outcome {
                Outcome::Fail => &mut self.failing,
                Outcome::Pass => &mut self.passing,
                Outcome::Unresolved(_) => continue,
            };
            costs.runs += 1;
            costs.duration += run.started_in + run.duration;
            for &id in run.reports.ids() {
                let text = run.reports.text(id);
                if !text.is_empty() {
                    self.texts.entry(id).or_insert_with(|| text.to_vec());
                }
            }
        }
    }
}

impl Doubts {
    /// How often a run is best executed, where each execution counts.
    pub(super) fn repetition(&self) -> Repetition {
        let (Some(build), Some(execution)) =
            (self.started_in.checked_div(self.runs), self.executed_in.checked_div(self.executions))
        else {
            return Repetition::Once;
        };
        let times = build.as_nanos() / execution.as_nanos().max(1);
        match NonZeroUsize::new(usize::try_from(times).unwrap_or(usize::MAX).min(MOST)) {
            Some(times) if times.get() > 1 => Repetition::Each(times),
            _ => Repetition::Once,
        }
    }
}

impl<T: Target> Session<'_, '_, '_, '_, T> {
    /// What is believed at the moment, if runs are only evidence.
    pub(super) fn beliefs(&self) -> Option<Beliefs> {
        let text = |id| self.doubts.texts.get(&id).cloned().unwrap_or_default();
        self.search.estimate().map(|estimate| Beliefs::new(&estimate, text))
    }

    /// Tells how things stand, now and then, and the search what runs cost.
    pub(super) fn tell_doubts(&mut self) -> io::Result<()> {
        if !self.search.is_noisy() || self.search.verdict().is_some() {
            return Ok(());
        }
        let (failing, passing) = (self.doubts.failing.mean(), self.doubts.passing.mean());
        if let (Some(failing), Some(passing), false) = (failing, passing, self.lab.is_repeated) {
            self.search.set_costs(failing.as_secs_f64(), passing.as_secs_f64());
        }
        let runs = self.search.runs();
        if !self.doubts.was_told {
            self.doubts.was_told = true;
            if self.lab.options.noise != bisect_core::search::Noise::Expected(noise::CONFIDENCE) && runs > 1 {
                let note = "the target contradicts itself: from here on, every run so far and to come is only evidence";
                self.lab.tell(&Event::Note(note))?;
            }
        }
        if runs < self.doubts.next_word.max(FIRST_WORD) {
            return Ok(());
        }
        let Some(estimate) = self.search.estimate() else { return Ok(()) };
        self.doubts.next_word = 2 * runs;
        let beliefs = Beliefs::new(&estimate, |_| Vec::new());
        let mean = [failing, passing].into_iter().flatten().sum::<Duration>() / 2;
        let note = format!("{}; {}", beliefs.rates(), noise::ahead(estimate.runs_left, mean));
        self.lab.tell(&Event::Note(&note))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reports::Reports;

    /// Runs that took so long to build, and so long for each of their executions.
    fn repetition(build: u64, execution: u64, executions: usize) -> Repetition {
        let mut doubts = Doubts::default();
        for outcome in [Outcome::Pass, Outcome::Fail] {
            doubts.add(&[Run {
                outcome,
                reason: String::new(),
                reports: Reports::new(false),
                failed_tests: Vec::new(),
                duration: Duration::from_millis(execution) * u32::try_from(executions).unwrap(),
                executions,
                also: Vec::new(),
                started_in: Duration::from_millis(build),
            }]);
        }
        doubts.repetition()
    }

    #[test]
    fn as_much_time_goes_into_executions_as_into_builds() {
        let each = |times| Repetition::Each(NonZeroUsize::new(times).unwrap());
        for ((build, execution, executions), expected) in [
            ((0, 100, 1), Repetition::Once),
            ((100, 100, 1), Repetition::Once),
            ((300, 100, 1), each(3)),
            ((300, 100, 3), each(3)),
            ((60_000, 10, 1), each(MOST)),
            ((100, 0, 1), each(MOST)),
        ] {
            assert_eq!(repetition(build, execution, executions), expected, "{build} ms, {execution} ms");
        }
        assert_eq!(Doubts::default().repetition(), Repetition::Once);
    }
}
