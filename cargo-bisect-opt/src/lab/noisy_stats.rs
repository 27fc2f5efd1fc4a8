//! What the user is told of a target that contradicts itself, while it is searched.

use std::{
    collections::{HashMap, hash_map::Entry},
    io,
    num::NonZeroUsize,
    time::Duration,
};

use bisect_core::search::{Noise, Outcome};

use super::{session::Session, target::Target};
use crate::{
    output::{
        events::Event,
        noise::{self, NoiseEstimate},
    },
    run::{repetition::Repetition, result::RunResult},
};

/// After so many runs under noise there is something to say, and again whenever they have doubled.
const FIRST_WORD: usize = 8;

/// Of more tests than this it is not told how each of them stands.
const FEW: usize = 3;

/// Executions in a run, at most: of many with the same changes the last ones tell little.
const MOST: usize = 16;

/// What the runs so far say beside their outcomes.
#[derive(Debug, Default)]
pub(super) struct NoisyStats {
    /// For each test of which it was told that its runs are only evidence: the number of runs at which there is more to say.
    next_words: HashMap<usize, usize>,
    failing: Costs,
    passing: Costs,
    /// How long builds took, and how often the target was executed in how long.
    build_time: Duration,
    runs: u32,
    executions: u32,
    executed_in: Duration,
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

impl NoisyStats {
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
    /// From here on it is about single tests, each in a process of its own.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// How often a run is best executed, where each execution counts.
    pub(super) fn repetition(&self) -> Repetition {
        let (Some(build), Some(execution)) =
            (self.build_time.checked_div(self.runs), self.executed_in.checked_div(self.executions))
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
    /// What is believed at the moment of what was searched under noise.
    pub(super) fn beliefs(&self) -> Option<NoiseEstimate> {
        let mut each = (0..self.search.tests()).filter_map(|test| self.beliefs_of(test));
        let first = each.next()?;
        Some(first.with_others(each.collect()))
    }

    /// What is believed of one test, or of the whole target, if its runs are only evidence.
    pub(super) fn beliefs_of(&self, test: usize) -> Option<NoiseEstimate> {
        let estimate = self.search.test(test).estimate()?;
        let beliefs = NoiseEstimate::new(self.search.order(), &estimate, |id| self.texts.of(id));
        Some(match &self.tests {
            Some(tests) => beliefs.with_test(tests[test].clone()),
            None => beliefs,
        })
    }

    /// Tells how things stand, now and then, and the search what runs cost.
    pub(super) fn tell_doubts(&mut self) -> io::Result<()> {
        let is_open = |&test: &usize| self.search.test(test).is_noisy() && self.search.test(test).verdict().is_none();
        let noisy: Vec<_> = (0..self.search.tests()).filter(is_open).collect();
        if noisy.is_empty() || self.search.verdict().is_some() {
            return Ok(());
        }
        let (failing, passing) = (self.noisy_stats.failing.mean(), self.noisy_stats.passing.mean());
        if let (Some(failing), Some(passing), false) = (failing, passing, self.lab.is_repeated) {
            self.search.set_costs(failing.as_secs_f64(), passing.as_secs_f64());
        }
        let mean = [failing, passing].into_iter().flatten().sum::<Duration>() / 2;
        noisy.iter().try_for_each(|&test| self.tell_doubts_of(test, noisy.len() <= FEW, mean))
    }

    fn tell_doubts_of(&mut self, test: usize, in_full: bool, mean: Duration) -> io::Result<()> {
        let name = self.tests.as_ref().map(|tests| &tests[test]);
        let (runs, confidence) = (self.search.runs(), self.lab.options.noise);
        if let (Entry::Vacant(word), Noise::Suspected(_)) = (self.noisy_stats.next_words.entry(test), confidence) {
            word.insert(0);
            let what = name.map_or("the target", String::as_str);
            let note =
                format!("{what} contradicts itself: from here on, every run so far and to come is only evidence");
            self.lab.emit(&Event::Note(&note))?;
        }
        let next_word = self.noisy_stats.next_words.entry(test).or_default();
        if runs < (*next_word).max(FIRST_WORD) || !in_full {
            return Ok(());
        }
        let Some(estimate) = self.search.test(test).estimate() else { return Ok(()) };
        *next_word = 2 * runs;
        let beliefs = NoiseEstimate::new(self.search.order(), &estimate, |_| None);
        let of = name.map(|name| format!("{name}: ")).unwrap_or_default();
        let note = format!("{of}{}; {}", beliefs.rates(), noise::remaining(estimate.runs_left, mean));
        self.lab.emit(&Event::Note(&note))
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
            ((60_000, 10, 1), each(MOST)),
            ((100, 0, 1), each(MOST)),
        ] {
            assert_eq!(repetition(build, execution, executions), expected, "{build} ms, {execution} ms");
        }
        assert_eq!(NoisyStats::default().repetition(), Repetition::Once);
    }
}
