//! The end of a command: its status, its conclusion, and what a user may run next.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{conclusion_kind::ConclusionKind, exit_status::Exit, milliseconds, noise::NoiseEstimate};

/// The end of a search, or of a command with several.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct End {
    /// The exit status.
    pub(crate) status: Exit,
    /// The number of culprits found.
    pub(crate) sets: usize,
    /// The number of trials.
    pub(crate) trials: usize,
    /// The number of runs.
    pub(crate) runs: usize,
    /// The number of command lines of culprits that were run to check them. They are not included in `runs`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) pasted: usize,
    /// The time of the search, in milliseconds.
    #[serde(rename = "ms", with = "milliseconds")]
    pub(crate) duration: Duration,
    /// The final estimate, if the search was noisy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) noise: Option<NoiseEstimate>,
    /// The common answers of several searches, one for each culprit that was searched further.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) answers: Vec<Answer>,
    /// The kind of the conclusion, if the exit status does not show it. With several tests, the kind that all
    /// inconsistent ones share, even if culprits were found for others.
    #[serde(default, rename = "conclusion", skip_serializing_if = "Option::is_none", deserialize_with = "if_known")]
    pub(crate) kind: Option<ConclusionKind>,
    /// The conclusion, for people.
    #[serde(default, rename = "message")]
    pub(crate) words: String,
    /// The end of a log, if it explains the conclusion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) log: Option<LogEnd>,
    /// Command lines that the user may run next. They are known when the end is emitted.
    #[serde(default)]
    pub(crate) next: Vec<String>,
    /// The one of them that continues a search which was stopped.
    #[serde(skip)]
    pub(crate) continuation: Option<String>,
}

/// The common answer of several searches about one culprit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// The number of the culprit, from 1.
    pub(crate) set: usize,
    /// The facts about it, from the outside in.
    pub(crate) facts: Vec<Fact>,
    /// The next steps.
    pub(crate) advice: Vec<String>,
}

/// A fact about a culprit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fact {
    /// The subject, in one word.
    pub(crate) of: Cow<'static, str>,
    /// The fact.
    pub(crate) text: String,
}

/// The end of a run's log, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LogEnd {
    /// The file.
    #[serde(serialize_with = "path_text")]
    pub(crate) path: PathBuf,
    /// Its last lines.
    pub(crate) lines: Vec<String>,
}

impl End {
    /// Returns an end with this status and conclusion. All numbers are 0.
    pub(crate) fn new(status: Exit, words: String) -> Self {
        Self {
            status,
            sets: 0,
            trials: 0,
            runs: 0,
            pasted: 0,
            duration: Duration::ZERO,
            noise: None,
            answers: Vec::new(),
            kind: None,
            words,
            log: None,
            next: Vec::new(),
            continuation: None,
        }
    }
}

impl Fact {
    /// Returns a fact about this subject.
    pub(crate) fn new(of: &'static str, text: String) -> Self {
        Self { of: of.into(), text }
    }
}

/// Deserializes the kind of a conclusion. One that only a later version knows is left out.
fn if_known<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ConclusionKind>, D::Error> {
    Ok(serde_json::from_value(serde_json::Value::deserialize(deserializer)?).ok())
}

fn path_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    // A path that is no Unicode would be an error.
    serializer.serialize_str(&path.to_string_lossy())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}
