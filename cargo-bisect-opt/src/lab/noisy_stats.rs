//! The cost of runs of a noisy target.

use std::{collections::HashMap, num::NonZeroUsize, time::Duration};

use bisect_core::search::Outcome;

use crate::run::{repetition::Repetition, result::RunResult};

/// The largest number of executions in a run: further ones with the same changes add little evidence.
const MAX_EXECUTIONS: usize = 16;

/// The facts about runs that are not their outcomes.
#[derive(Debug, Default)]
pub(super) struct NoisyStats {
    /// The number of runs at which the next note about a test is due, for each test that a note was about.
    pub(super) next_note_at: HashMap<usize, usize>,
    pub(super) failing: Costs,
    pub(super) passing: Costs,
    /// The time of all builds; then the number of runs, and of executions and their time.
    build_time: Duration,
    runs: u32,
    executions: u32,
    executed_in: Duration,
}

/// The time of runs.
#[derive(Debug, Default)]
pub(super) struct Costs {
    runs: u32,
    duration: Duration,
}

impl Costs {
    /// Returns the mean; `None` if there is nothing to average.
    pub(super) fn mean(&self) -> Option<Duration> {
        self.duration.checked_div(self.runs).filter(|mean| !mean.is_zero())
    }
}

impl NoisyStats {
    /// Adds runs.
    pub(super) fn add<'a>(&mut self, runs: impl Iterator<Item = &'a RunResult>) {
        for run in runs {
            self.build_time += run.build_time;
            self.executed_in += run.duration;
            self.executions += u32::try_from(run.executions).unwrap_or(u32::MAX);
            self.runs += 1;
            let costs = match run.outcome {
                Outcome::Fail => &mut self.failing,
                Outcome::Pass => &mut self.passing,
                Outcome::Unresolved(_) => continue,
            };
            costs.runs += 1;
            costs.duration += run.build_time + run.duration;
        }
    }
}

impl NoisyStats {
    /// Forgets all runs: from here on they are of single tests, each in its own process.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Returns the best number of executions in a run, if each execution counts.
    pub(super) fn repetition(&self) -> Repetition {
        let (Some(build), Some(execution)) =
            (self.build_time.checked_div(self.runs), self.executed_in.checked_div(self.executions))
        else {
            return Repetition::Once;
        };
        let times = build.as_nanos() / execution.as_nanos().max(1);
        match NonZeroUsize::new(usize::try_from(times).unwrap_or(usize::MAX).min(MAX_EXECUTIONS)) {
            Some(times) if times.get() > 1 => Repetition::Each(times),
            _ => Repetition::Once,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::report::scan::Reports;

    /// Runs that took so long to build, and so long for each of their executions.
    fn repetition(build: u64, execution: u64, executions: usize) -> Repetition {
        let mut doubts = NoisyStats::default();
        for outcome in [Outcome::Pass, Outcome::Fail] {
            let run = RunResult {
                outcome,
                reason: String::new(),
                reports: Reports::new(false),
                failed_tests: Vec::new(),
                failures: Vec::new(),
                duration: Duration::from_millis(execution) * u32::try_from(executions).unwrap(),
                executions,
                extra_outcomes: Vec::new(),
                build_time: Duration::from_millis(build),
            };
            doubts.add([&run].into_iter());
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
            ((60_000, 10, 1), each(MAX_EXECUTIONS)),
            ((100, 0, 1), each(MAX_EXECUTIONS)),
        ] {
            assert_eq!(repetition(build, execution, executions), expected, "{build} ms, {execution} ms");
        }
        assert_eq!(NoisyStats::default().repetition(), Repetition::Once);
    }
}
