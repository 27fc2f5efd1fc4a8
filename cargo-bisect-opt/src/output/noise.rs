//! What is believed of a target that does not always end the same way: in words, and in the JSON.

use std::time::Duration;

use bisect_core::{
    ChangeId,
    search::{Certainty, Estimate, Order, posterior},
};
use serde::Serialize;

use crate::{
    report::content::Report,
    units::{plural, seconds},
};

/// How sure an answer is.
pub(crate) const CONFIDENCE: f64 = 0.99;

/// How often runs fail, with an interval that holds it in 95 of 100 cases.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Rate {
    mean: f64,
    low: f64,
    high: f64,
}

impl From<posterior::Rate> for Rate {
    fn from(posterior::Rate { mean, low, high }: posterior::Rate) -> Self {
        Self { mean, low, high }
    }
}

impl Rate {
    fn is_never(self) -> bool {
        self.low <= 0.0 && self.mean < 0.01
    }

    /// `about 31% of the time (22–42%)`
    fn words(self) -> String {
        let percent = |rate: f64| format!("{:.0}", 100.0 * rate);
        let range = format!("{}–{}%", percent(self.low), percent(self.high));
        match self {
            rate if rate.is_never() => "never".to_owned(),
            Rate { mean, high, .. } if high >= 1.0 && mean > 0.99 => "always".to_owned(),
            Rate { mean, .. } => format!("about {}% of the time ({range})", percent(mean)),
        }
    }
}

/// How sure a culprit of a flaky target is.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Sureness {
    /// The test of which this is said, where each is searched on its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) test: Option<String>,
    /// How likely it is one, from 0 to 1.
    pub(crate) confidence: f64,
    /// How often runs fail without it.
    pub(crate) without: Rate,
    /// And with it.
    pub(crate) with: Rate,
}

impl From<Certainty> for Sureness {
    fn from(Certainty { confidence, without, with }: Certainty) -> Self {
        Self { test: None, confidence, without: without.into(), with: with.into() }
    }
}

impl Sureness {
    /// For people: how sure, and how often it fails.
    pub(crate) fn words(&self) -> String {
        let (with, without) = (self.with.words(), self.without.words());
        format!("{}% sure; it fails {with} with it, {without} without", percent_down(self.confidence))
    }
}

/// What is believed of a flaky target when the search ends.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Beliefs {
    /// The test of which this is said, where each is searched on its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) test: Option<String>,
    /// The confidence that was asked for.
    pub(crate) confidence: f64,
    /// How often runs fail without what was searched for last.
    pub(crate) without: Rate,
    /// And with it.
    pub(crate) with: Rate,
    /// How likely it is that no change that is left makes a difference.
    pub(crate) nothing: f64,
    /// What is likeliest to be a culprit, or part of one.
    pub(crate) suspects: Vec<Suspect>,
    /// The same of other tests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) others: Vec<Beliefs>,
}

/// A change that may be what was searched for.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Suspect {
    /// `0x` and 16 hex digits.
    pub(crate) id: String,
    /// Where it is and what it is called, as far as the target has said so.
    pub(crate) text: Vec<String>,
    /// How likely it is.
    pub(crate) probability: f64,
}

/// Suspects that are less likely than this are not worth a word.
const WORTH_A_WORD: f64 = 0.02;

impl Beliefs {
    /// What `estimate` says, with the text that the target has for a change.
    pub(crate) fn new<'a>(
        order: Order,
        estimate: &Estimate,
        report: impl Fn(ChangeId) -> Option<&'a Report>,
    ) -> Self {
        let suspects = estimate.suspects.iter().filter(|suspect| suspect.probability >= WORTH_A_WORD);
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
            suspects: suspects.map(suspect).collect(),
            others: Vec::new(),
        }
    }

    /// The same, said of this test.
    pub(crate) fn of_test(self, test: String) -> Self {
        Self { test: Some(test), ..self }
    }

    /// The same, and what is believed of other tests.
    pub(crate) fn and(self, others: Vec<Self>) -> Self {
        Self { others, ..self }
    }

    /// For people: how often it fails.
    pub(crate) fn rates(&self) -> String {
        let (with, without) = (self.with.words(), self.without.words());
        format!("it fails {with} with what is searched for, {without} without")
    }

    /// Whether it has never failed without.
    pub(crate) fn never_without(&self) -> bool {
        self.without.is_never()
    }

    /// How sure it is that no other change matters, where that is less than was asked for.
    pub(crate) fn doubt_that_this_is_all(&self) -> Option<String> {
        (self.nothing < self.confidence).then(|| format!("{}%", percent_down(self.nothing)))
    }

    /// For people: what is likeliest.
    pub(crate) fn likeliest(&self) -> Option<String> {
        let suspect = |suspect: &Suspect| {
            let text = suspect.text.first().map(|text| format!(" {text}")).unwrap_or_default();
            format!("{}{text} ({:.0}%)", suspect.id, 100.0 * suspect.probability)
        };
        (!self.suspects.is_empty()).then(|| self.suspects.iter().map(suspect).collect::<Vec<_>>().join(", "))
    }
}

/// What is ahead, for people: `about 160 runs more, 0.8s each: 2m08s`.
pub(crate) fn ahead(runs_left: f64, run: Duration) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of runs, rounded")]
    let runs = runs_left.clamp(1.0, 1e6).round() as usize;
    let time = seconds(run.mul_f64(f64::from(u32::try_from(runs).unwrap_or(u32::MAX))));
    format!("about {} more, {} each: {time}", plural(runs, "run"), seconds(run))
}

/// A share that is not rounded up to what it is not: `99.97`.
fn percent_down(share: f64) -> String {
    let percent = (share * 1e4).floor() / 100.0;
    if percent >= 99.99 { "over 99.99".to_owned() } else { format!("{percent}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_words() {
        for ((mean, low, high), words) in [
            ((0.0, 0.0, 0.04), "never"),
            ((1.0, 0.9, 1.0), "always"),
            ((0.31, 0.22, 0.42), "about 31% of the time (22–42%)"),
            ((0.03, 0.0, 0.1), "about 3% of the time (0–10%)"),
        ] {
            assert_eq!(Rate { mean, low, high }.words(), words);
        }
    }

    #[test]
    fn confidence_is_not_rounded_up() {
        assert_eq!(percent_down(0.989_99), "98.99");
        assert_eq!(percent_down(0.999_999_9), "over 99.99");
    }

    #[test]
    fn what_is_ahead_is_runs_and_time() {
        assert_eq!(ahead(160.4, Duration::from_millis(800)), "about 160 runs more, 0.8s each: 2m08s");
    }
}
