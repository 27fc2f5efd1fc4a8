//! A trial: its outcome, and what charts show: the enabled changes, its time, the estimate after it.

use std::{ops::Range, time::Duration};

use bisect_core::search::Estimate;
use serde::{Deserialize, Serialize};

use super::{
    milliseconds::{self, in_milliseconds},
    noise::FailureRate,
};
use crate::run::repetition::Repetition;

/// The answer to a trial: a line of `trials.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TrialRecord {
    /// The number of the trial, from 1, in the order in which trials are shown. Repeated runs have 0.
    pub(crate) n: usize,
    /// True for a repeated run with the same outcome as before. Only `trials.jsonl` has these.
    #[serde(default, rename = "repeat", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_repeat: bool,
    /// The pattern that the target got.
    pub(crate) pattern: String,
    /// The number of distinct changes that were reported.
    pub(crate) matches: usize,
    /// The outcome of all its runs.
    pub(crate) outcome: TrialOutcome,
    /// The reason for the outcome; empty if it passed.
    pub(crate) reason: String,
    /// The number of runs.
    pub(crate) runs: usize,
    /// The time of all runs together, in milliseconds.
    #[serde(rename = "ms", with = "milliseconds")]
    pub(crate) duration: Duration,
    /// Its place in the search.
    #[serde(flatten)]
    pub(crate) context: TrialContext,
}

/// The outcome of a trial, without the reason why its runs are unresolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TrialOutcome {
    /// The target passes.
    Pass,
    /// The target fails.
    Fail,
    /// Neither. An outcome that only a later version knows counts as unresolved.
    #[serde(other)]
    Unresolved,
}

/// The place of a trial in its search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TrialContext {
    /// The number of the search, from 1; 0 for a run before the first search.
    #[serde(default)]
    pub(crate) search: usize,
    /// The question that the trial answers: `all-on`, `all-off`, `prefix`, `found-alone`, `all-but-found`, `baseline`.
    #[serde(default)]
    pub(crate) question: String,
    /// The number of changes known when it ended.
    #[serde(default)]
    pub(crate) of: usize,
    /// The changes that the runs enable, as intervals of positions among the known changes: start, end.
    #[serde(default)]
    pub(crate) selected: Vec<(usize, usize)>,
    /// The start of its first run since the command began to search, in milliseconds.
    #[serde(default)]
    pub(crate) start_ms: u64,
    /// The slot of its first run.
    #[serde(default)]
    pub(crate) slot: usize,
    /// The logs of its runs: names of files in `runs/`.
    #[serde(default)]
    pub(crate) logs: Vec<String>,
    /// The estimate after it, if the search was noisy.
    #[serde(default)]
    pub(crate) estimate: Option<TrialEstimate>,
}

/// The estimate of a noisy search after a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TrialEstimate {
    /// The likeliest intervals for the change in question: positions among the known changes, and the probability.
    pub(crate) places: Vec<(usize, usize, f64)>,
    /// The failure rate without the change in question.
    pub(crate) without: FailureRate,
    /// The failure rate with it.
    pub(crate) with: FailureRate,
    /// The probability that no remaining change makes a difference.
    pub(crate) nothing: f64,
}

/// The maximum number of intervals in [`TrialContext::selected`].
const MAX_SELECTED: usize = 64;
/// The maximum number of intervals in [`TrialEstimate::places`].
const MAX_PLACES: usize = 16;

/// Returns the intervals, those with the smallest gaps between them merged if there are too many.
pub(crate) fn compact(ranges: &[Range<usize>]) -> Vec<(usize, usize)> {
    let mut gaps: Vec<usize> = (1..ranges.len()).collect();
    gaps.sort_by_key(|&index| ranges[index - 1].end.abs_diff(ranges[index].start));
    let mut kept = gaps.split_off(gaps.len().saturating_sub(MAX_SELECTED - 1));
    kept.sort_unstable();
    let firsts = std::iter::once(0).chain(kept.iter().copied());
    let lasts = kept.iter().copied().chain([ranges.len()]);
    firsts
        .zip(lasts)
        .filter_map(|(first, after)| Some((ranges.get(first)?.start, ranges.get(after.checked_sub(1)?)?.end)))
        .collect()
}

impl TrialRecord {
    /// Returns its title: `trial 7`.
    pub(crate) fn title(&self) -> String {
        if self.is_repeat { "repeated run".to_owned() } else { format!("trial {}", self.n) }
    }

    /// Returns the time of all runs together, in milliseconds.
    pub(crate) fn ms(&self) -> u64 {
        in_milliseconds(self.duration)
    }

    /// Returns the end of all runs if they followed each other, in milliseconds since the command began to search.
    pub(crate) fn end_ms(&self) -> u64 {
        self.context.start_ms.saturating_add(self.ms())
    }
}

impl TrialOutcome {
    /// Returns its name in the JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Unresolved => "unresolved",
        }
    }
}

impl TrialEstimate {
    /// Returns the estimate with rates of executions, if these are rates of runs with this repetition.
    pub(crate) fn per_execution(self, repetition: Repetition) -> Self {
        let [without, with] = [self.without, self.with].map(|rate| rate.per_execution(repetition));
        Self { without, with, ..self }
    }
}

impl From<&Estimate> for TrialEstimate {
    fn from(estimate: &Estimate) -> Self {
        let mut places: Vec<_> = estimate
            .places
            .iter()
            .map(|place| (place.positions.start, place.positions.end, place.probability))
            .collect();
        places.sort_by(|a, b| b.2.total_cmp(&a.2));
        places.truncate(MAX_PLACES);
        places.sort_by_key(|&(start, end, _)| (start, end));
        Self { places, without: estimate.without.into(), with: estimate.with.into(), nothing: estimate.nothing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_intervals_are_merged_where_the_gaps_are_small() {
        assert_eq!(compact(&[]), []);
        assert_eq!(compact(&[2..3, 7..9]), [(2, 3), (7, 9)]);
        // Gaps of 9, 1, 9, 1, …
        let many: Vec<_> = (0..100)
            .map(|i| {
                let start = i / 2 * 12 + i % 2 * 2;
                start..start + 1
            })
            .collect();
        let merged = compact(&many);
        assert_eq!(merged.len(), MAX_SELECTED);
        assert_eq!((merged[0].0, merged[MAX_SELECTED - 1].1), (0, many[99].end));
        // All large gaps are kept.
        let is_kept = |start: usize| merged.iter().any(|range| range.0 == start);
        assert!((0..50).all(|pair| is_kept(pair * 12)), "{merged:?}");
    }
}
