//! Estimates for a noisy search: in words, and in the JSON.

use std::{num::NonZeroUsize, time::Duration};

use bisect_core::{
    ChangeId,
    search::{Certainty, Estimate, Order, posterior},
};
use serde::{Deserialize, Serialize};

use crate::{
    report::content::Report,
    units::{plural, seconds},
};

/// The confidence that is asked for by default.
pub(crate) const CONFIDENCE: f64 = 0.99;

/// The probability that all runs of a line that shows a culprit pass.
const UNSEEN: f64 = 0.01;
/// The maximum number of these runs.
const MOST_SHOWING: i32 = 10_000;

/// A failure rate with its 95% interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FailureRate {
    mean: f64,
    low: f64,
    high: f64,
}

impl From<posterior::Rate> for FailureRate {
    fn from(posterior::Rate { mean, low, high }: posterior::Rate) -> Self {
        Self { mean, low, high }
    }
}

impl FailureRate {
    fn is_never(self) -> bool {
        self.low <= 0.0 && self.mean < 0.01
    }

    /// `about 31% of the time (22–42%)`
    pub(super) fn describe(self) -> String {
        let percent = |rate: f64| format!("{:.0}", 100.0 * rate);
        let range = format!("{}–{}%", percent(self.low), percent(self.high));
        match self {
            rate if rate.is_never() => "never".to_owned(),
            FailureRate { mean, high, .. } if high >= 1.0 && mean > 0.99 => "always".to_owned(),
            FailureRate { mean, .. } => format!("about {}% of the time ({range})", percent(mean)),
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
    /// Returns the number of runs with the culprit of which at least one fails, except in 1% of the cases. If the target
    /// also fails without it, more runs would show less: then it is one.
    pub(crate) fn runs_that_show_it(&self) -> NonZeroUsize {
        let FailureRate { mean, low, .. } = self.with;
        let rate = if low > 0.0 { low } else { mean };
        if !self.without.is_never() || rate <= 0.0 || mean > 0.99 {
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
    pub(crate) fn new<'a>(order: Order, estimate: &Estimate, report: impl Fn(ChangeId) -> Option<&'a Report>) -> Self {
        let suspects = estimate.suspects.iter().filter(|suspect| suspect.probability >= MIN_SHOWN_PROBABILITY);
        let suspect = |suspect: &bisect_core::search::Suspect| {
            let id = order.id(*suspect.changes.last().expect("a suspect is a change"));
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
    use super::*;

    #[test]
    fn rates_are_described() {
        for ((mean, low, high), words) in [
            ((0.0, 0.0, 0.04), "never"),
            ((1.0, 0.9, 1.0), "always"),
            ((0.31, 0.22, 0.42), "about 31% of the time (22–42%)"),
            ((0.03, 0.0, 0.1), "about 3% of the time (0–10%)"),
        ] {
            assert_eq!(FailureRate { mean, low, high }.describe(), words);
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
