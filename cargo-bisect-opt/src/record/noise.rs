//! Estimates for a noisy search: in words, and in the JSON.

use std::{num::NonZeroUsize, time::Duration};

use bisect_core::{
    ChangeId,
    search::{Certainty, Estimate, posterior},
};
use serde::{Deserialize, Serialize};

use crate::{
    report::content::Report,
    run::{numbering::Numbering, repetition::Repetition},
    units::{percent, percentage, plural, seconds},
};

/// The probability that a rate above the stated bound would have shown no failure.
const MISSED: f64 = 0.05;

/// Returns the statement about the rates that this number of executions without a failure excludes.
pub(crate) fn excluded(executions: usize) -> String {
    let number = f64::from(u32::try_from(executions.max(1)).unwrap_or(u32::MAX));
    let rate = -(MISSED.ln() / number).exp_m1();
    format!("a rate above {} is excluded at 95%", percent(rate))
}

/// The confidence that is asked for by default.
pub(crate) const CONFIDENCE: f64 = 0.99;

/// The probability that all runs of a line that shows a culprit pass.
const UNSEEN: f64 = 0.01;
/// The maximum number of these runs.
const MOST_SHOWING: i32 = 10_000;

/// A failure rate of an execution with its 95% interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FailureRate {
    mean: f64,
    low: f64,
    high: f64,
    /// The number of executions in the runs that have shown it.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    executions: usize,
}

fn once() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_once(executions: &usize) -> bool {
    *executions == 1
}

impl From<posterior::Rate> for FailureRate {
    fn from(posterior::Rate { mean, low, high }: posterior::Rate) -> Self {
        Self { mean, low, high, executions: 1 }
    }
}

impl FailureRate {
    /// Returns the rate of an execution, if this is the rate of runs with this repetition.
    pub(crate) fn per_execution(self, repetition: Repetition) -> Self {
        let [mean, low, high] = [self.mean, self.low, self.high].map(|rate| repetition.rate_of_execution(rate));
        let executions = match repetition {
            Repetition::UntilFailure(times) => times.get(),
            _ => 1,
        };
        Self { mean, low, high, executions }
    }

    fn is_never(self) -> bool {
        let in_a_run = f64::from(u32::try_from(self.executions).unwrap_or(u32::MAX));
        self.low <= 0.0 && self.mean < 0.01 / in_a_run
    }

    /// `about 31% of the time (22–42%)`
    pub(crate) fn describe(self) -> String {
        let is_once = self.executions == 1;
        let shown = |rate: f64| if is_once { format!("{:.0}", 100.0 * rate) } else { percentage(rate) };
        let range = format!("{}–{}%", shown(self.low), shown(self.high));
        match self {
            rate if rate.is_never() => "never".to_owned(),
            FailureRate { mean, high, .. } if high >= 1.0 && mean > 0.99 => "always".to_owned(),
            FailureRate { mean, .. } => format!("about {}% of the time ({range})", shown(mean)),
        }
    }
}

/// The confidence in a culprit of a noisy search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CulpritEstimate {
    /// The test, if each test is searched on its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) test: Option<String>,
    /// The probability that it is a culprit.
    pub(crate) confidence: f64,
    /// The failure rate without it.
    pub(crate) without: FailureRate,
    /// The failure rate with it.
    pub(crate) with: FailureRate,
}

impl From<Certainty> for CulpritEstimate {
    fn from(Certainty { confidence, without, with }: Certainty) -> Self {
        Self { test: None, confidence, without: without.into(), with: with.into() }
    }
}

impl CulpritEstimate {
    /// Returns the estimate with rates of executions, if these are rates of runs with this repetition.
    pub(crate) fn per_execution(self, repetition: Repetition) -> Self {
        let [without, with] = [self.without, self.with].map(|rate| rate.per_execution(repetition));
        Self { without, with, ..self }
    }

    /// Returns the number of executions of which at least one fails with the culprit, except in 1% of the cases. It is 1 if
    /// the target has also failed without the culprit, because the line that passes, repeated, would often fail, too; and
    /// if it fails always or never with it.
    pub(crate) fn executions_that_show_it(&self) -> NonZeroUsize {
        let FailureRate { mean, low, .. } = self.with;
        let rate = if low > 0.0 { low } else { mean };
        // The lower bound of this rate is 0 as long as no run has failed. The mean is above 0 even then, and the higher, the
        // fewer runs there were.
        let has_failed_without = self.without.low > 0.0;
        if has_failed_without || rate <= 0.0 || mean > 0.99 {
            return NonZeroUsize::MIN;
        }
        let runs = (1..MOST_SHOWING).find(|&runs| (1.0 - rate).powi(runs) <= UNSEEN).unwrap_or(MOST_SHOWING);
        usize::try_from(runs).ok().and_then(NonZeroUsize::new).unwrap_or(NonZeroUsize::MIN)
    }

    /// Returns the confidence and the failure rates in words.
    pub(crate) fn describe(&self) -> String {
        let (with, without) = (self.with.describe(), self.without.describe());
        format!("{}%; it fails {with} with it, {without} without", percent_down(self.confidence))
    }
}

/// The estimate at the end of a noisy search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct NoiseEstimate {
    /// The test, if each test is searched on its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) test: Option<String>,
    /// The confidence asked for.
    pub(crate) confidence: f64,
    /// The failure rate without the last culprit that was searched for.
    pub(crate) without: FailureRate,
    /// The failure rate with it.
    pub(crate) with: FailureRate,
    /// The probability that no remaining change makes a difference.
    pub(crate) nothing: f64,
    /// The failure rate if no remaining change makes a difference: one rate for all selections.
    pub(crate) rate_if_nothing: FailureRate,
    /// The likeliest changes to be a culprit, or part of one.
    pub(crate) suspects: Vec<Suspect>,
    /// The estimates for other tests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) others: Vec<NoiseEstimate>,
}

/// A change that may be a culprit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Suspect {
    /// `0x` and 16 hex digits.
    pub(crate) id: String,
    /// The report, line by line.
    pub(crate) text: Vec<String>,
    /// Its probability.
    pub(crate) probability: f64,
}

/// Less likely suspects are not shown.
const MIN_SHOWN_PROBABILITY: f64 = 0.02;

/// From this probability on, the message that no change makes a difference does not state it.
const USUAL_PROBABILITY_OF_NOTHING: f64 = 0.9;

impl NoiseEstimate {
    /// Converts an estimate of the search, with the reports of its suspects.
    pub(crate) fn new<'a>(
        numbering: Numbering,
        estimate: &Estimate,
        report: impl Fn(ChangeId) -> Option<&'a Report>,
    ) -> Self {
        let suspects = estimate.suspects.iter().filter(|suspect| suspect.probability >= MIN_SHOWN_PROBABILITY);
        let suspect = |suspect: &bisect_core::search::Suspect| {
            let id = numbering.id(estimate.mode, *suspect.changes.last().expect("a suspect is a change"));
            Suspect {
                id: id.to_string(),
                text: report(id).map(|report| report.text.clone()).unwrap_or_default(),
                probability: suspect.probability,
            }
        };
        Self {
            test: None,
            confidence: estimate.confidence,
            without: estimate.without.into(),
            with: estimate.with.into(),
            nothing: estimate.nothing,
            rate_if_nothing: estimate.rate_if_nothing.into(),
            suspects: suspects.map(suspect).collect(),
            others: Vec::new(),
        }
    }

    /// Returns the estimate with rates of executions, if these are rates of runs with this repetition.
    pub(crate) fn per_execution(self, repetition: Repetition) -> Self {
        let [without, with, rate_if_nothing] =
            [self.without, self.with, self.rate_if_nothing].map(|rate| rate.per_execution(repetition));
        Self { without, with, rate_if_nothing, ..self }
    }

    /// Names the test of the estimate.
    pub(crate) fn with_test(self, test: String) -> Self {
        Self { test: Some(test), ..self }
    }

    /// Adds the estimates for other tests.
    pub(crate) fn with_others(self, others: Vec<Self>) -> Self {
        Self { others, ..self }
    }

    /// Returns the failure rates in words.
    pub(crate) fn rates(&self) -> String {
        let (with, without) = (self.with.describe(), self.without.describe());
        format!("it fails {with} with the suspected change, {without} without it")
    }

    /// Returns the failure rate in words, if no change makes a difference.
    pub(crate) fn rate_if_nothing(&self) -> String {
        self.rate_if_nothing.describe()
    }

    /// Returns the probability that no change makes a difference, if it is lower than usual for that answer.
    pub(crate) fn low_probability_of_nothing(&self) -> Option<String> {
        (self.nothing < USUAL_PROBABILITY_OF_NOTHING).then(|| format!("{}%", percent_down(self.nothing)))
    }

    /// Returns true if the target never failed without the culprit.
    pub(crate) fn never_fails_without(&self) -> bool {
        self.without.is_never()
    }

    /// Returns the confidence that no other change matters, if it is lower than asked for.
    pub(crate) fn low_confidence_in_rest(&self) -> Option<String> {
        (self.nothing < self.confidence).then(|| format!("{}%", percent_down(self.nothing)))
    }

    /// Returns the likeliest changes in words.
    pub(crate) fn likeliest(&self) -> Option<String> {
        let suspect = |suspect: &Suspect| {
            let text = suspect.text.first().map(|text| format!(" {text}")).unwrap_or_default();
            format!("{}{text} ({:.0}%)", suspect.id, 100.0 * suspect.probability)
        };
        (!self.suspects.is_empty()).then(|| self.suspects.iter().map(suspect).collect::<Vec<_>>().join(", "))
    }
}

/// Returns the remaining effort in words: `about 160 more runs, 0.8s each: 2m08s`.
pub(crate) fn remaining(runs_left: f64, run: Duration) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of runs, rounded")]
    let runs = runs_left.clamp(1.0, 1e6).round() as usize;
    let time = seconds(run.mul_f64(f64::from(u32::try_from(runs).unwrap_or(u32::MAX))));
    format!("about {}, {} each: {time}", plural(runs, "more run"), seconds(run))
}

/// Returns a percentage that is never rounded up: `99.97`.
fn percent_down(share: f64) -> String {
    let percent = (share * 1e4).floor() / 100.0;
    if percent >= 99.99 { "over 99.99".to_owned() } else { format!("{percent}") }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;

    #[test]
    fn rates_are_described() {
        for ((mean, low, high), words) in [
            ((0.0, 0.0, 0.04), "never"),
            ((1.0, 0.9, 1.0), "always"),
            ((0.31, 0.22, 0.42), "about 31% of the time (22–42%)"),
            ((0.03, 0.0, 0.1), "about 3% of the time (0–10%)"),
        ] {
            assert_eq!(FailureRate { mean, low, high, executions: 1 }.describe(), words);
        }
    }

    #[test]
    fn rates_of_repeated_executions_are_described() {
        let repetition = Repetition::new(NonZeroUsize::new(100), None);
        for ((mean, low, high), words) in [
            ((0.63, 0.3, 0.85), "about 1% of the time (0.4–2%)"),
            ((0.03, 0.0, 0.2), "about 0.03% of the time (0–0.2%)"),
            ((0.005, 0.0, 0.04), "never"),
        ] {
            let rate = FailureRate { mean, low, high, executions: 1 };
            assert_eq!(rate.per_execution(repetition).describe(), words);
        }
    }

    #[test]
    fn lines_are_repeated_if_only_the_culprit_makes_the_target_fail_now_and_then() {
        let rate = |(mean, low, high)| FailureRate { mean, low, high, executions: 1 };
        let (never, hardly_run) = ((0.001, 0.0, 0.01), (0.015, 0.0, 0.1));
        for (with, without, executions) in [
            ((0.6, 0.5, 0.8), never, 7),
            ((0.6, 0.5, 0.8), hardly_run, 7),
            ((0.02, 0.01, 0.05), never, 459),
            ((0.01, 0.0, 0.05), never, 459),
            ((1.0, 0.9, 1.0), never, 1),
            ((0.6, 0.5, 0.8), (0.015, 0.001, 0.1), 1),
            ((0.0, 0.0, 0.1), never, 1),
        ] {
            let estimate = CulpritEstimate { test: None, confidence: 0.99, without: rate(without), with: rate(with) };
            assert_eq!(estimate.executions_that_show_it().get(), executions, "{with:?} {without:?}");
        }
    }

    #[test]
    fn confidence_is_not_rounded_up() {
        assert_eq!(percent_down(0.989_99), "98.99");
        assert_eq!(percent_down(0.999_999_9), "over 99.99");
    }

    #[test]
    fn the_remaining_effort_is_runs_and_time() {
        assert_eq!(remaining(160.4, Duration::from_millis(800)), "about 160 more runs, 0.8s each: 2m08s");
    }
}
