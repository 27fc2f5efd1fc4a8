//! A culprit: everything that an answer shows. To show it needs neither the sources nor the target.

use std::borrow::Cow;

use bisect_core::search::Mode;
use serde::{Deserialize, Serialize};

use super::{change::ChangeRecord, noise::CulpritEstimate, pasted::PastedLines};
use crate::{process::shell, run::result::Failed, vcs::blame::LastChange};

/// A confirmed culprit of a search.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct CulpritRecord {
    /// The number of the culprit, from 1.
    pub(crate) set: usize,
    /// The number of the search that found it, from 1; 0 if that is unknown.
    #[serde(default)]
    pub(crate) search: usize,
    /// The operation that breaks the target.
    #[serde(with = "ModeName")]
    pub(crate) mode: Mode,
    /// Always true in files of this version: only confirmed sets are recorded.
    #[serde(default)]
    pub(crate) confirmed: bool,
    /// The sentence that says what the culprit does; empty in a preliminary culprit.
    #[serde(default)]
    pub(crate) headline: String,
    pub(crate) changes: Vec<ChangeRecord>,
    /// The tests that fail with exactly these changes, where that is known.
    #[serde(default)]
    pub(crate) tests: Vec<String>,
    /// True if each of several tests is searched on its own.
    #[serde(default)]
    pub(crate) is_of_tests: bool,
    /// The ways in which the tests fail, if these are distinguished: one test may have several culprits, each with its own
    /// failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) failures: Vec<Failed>,
    /// A command line that runs the target with exactly these changes.
    #[serde(default)]
    pub(crate) reproduce: String,
    /// A command line that runs the target in a neighbouring state that has passed: with all other changes, or else
    /// with none of the changes that break it. `None` if there is no such line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) passes: Option<String>,
    /// A short command line about the changes, without files of this search, to quote in an issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) short: Option<String>,
    /// The results of the command lines, which were run as printed; `None` for a moment, and before the answer is final.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pasted: Option<PastedLines>,
    /// The failure at the other end of the search, which these changes replace by another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) replaces: Option<String>,
    /// The last change of the decisive place of the first change, if git tracks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last_change: Option<LastChange>,
    /// The command lines for `replay`.
    pub(crate) replay: Replay,
    /// A workaround, if the search has shown one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stop_gap: Option<StopGap>,
    /// The files with the changes as patches, if they are edits of source files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) patches: Option<PatchFiles>,
    /// The next step, as lines for a shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
    /// The confidence in it, if the search was noisy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) noise: Option<CulpritEstimate>,
    /// The moments, if the culprit is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) moment: Option<BrokenMoment>,
    /// The number of the culprit that this one is a part of, if a search within that culprit found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) within: Option<usize>,
}

/// The direction of a culprit in the JSON: the engine's type has no serialized form of its own.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Mode", rename_all = "lowercase")]
pub(crate) enum ModeName {
    Enable,
    Disable,
}

/// Shell command lines that run the target once more, in any directory. The words of a debugger are their arguments.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Replay {
    /// The line with exactly the changes of the culprit.
    pub(crate) culprit: String,
    /// The line with all other changes.
    pub(crate) others: String,
}

/// A workaround until a culprit is fixed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StopGap {
    /// The place for it, in a few words.
    #[serde(rename = "where")]
    pub(crate) place: Cow<'static, str>,
    /// The text to write there, or the action to take.
    pub(crate) text: String,
}

/// The moments of a condition that breaks: the first bad one, the last good one, and how they were found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BrokenMoment {
    /// The first bad moment.
    pub(crate) n: u64,
    /// The number of moments of the program, if it came to its end.
    pub(crate) of: Option<u64>,
    /// The number of evaluations of the condition.
    pub(crate) evaluations: usize,
    /// The way in which the program came to earlier moments.
    pub(crate) by: WayBack,
    /// The reason why the evaluation failed, if it did: a panic or a crash.
    pub(crate) failure: Option<String>,
    /// True if the condition was false before the last good moment: it changes more than once.
    pub(crate) was_false_before: bool,
    /// The user's values at the first bad moment.
    pub(crate) values: Vec<String>,
    /// The last good moment; empty if the condition was false at the first one.
    pub(crate) last_good: Vec<ChangeRecord>,
    /// The user's values at the last good moment.
    pub(crate) last_good_values: Vec<String>,
}

/// The way in which a program came to earlier moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WayBack {
    /// Copies of the process were kept.
    Copies,
    /// The program was run again.
    #[serde(other)]
    Reruns,
}

/// The files with the patches of a culprit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PatchFiles {
    /// The patch that makes the old sources fail.
    pub(crate) culprit: String,
    /// The patch that undoes the changes in the new sources.
    pub(crate) undo: String,
    /// The directory in which they are applied, unless it is the user's; then their paths are absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) top: Option<String>,
    /// The names of the old and the new sources.
    pub(crate) versions: (String, String),
}

impl CulpritRecord {
    /// Returns remarks about the line that fails and the one that passes, if they were not run or ended in another way.
    pub(crate) fn remarks(&self) -> [&'static str; 2] {
        self.pasted.map_or([""; 2], PastedLines::remarks)
    }
}

impl PatchFiles {
    /// Returns the command lines that apply the files, each with a comment.
    pub(crate) fn commands(&self, mode: Mode) -> [(String, String); 2] {
        // Below the directory, git would skip files elsewhere, and report no error.
        let of_top = self.top.as_ref().map(|top| format!("-C {} ", shell::quote(top))).unwrap_or_default();
        let apply = |file: &str| format!("git {of_top}apply {}", shell::quote(file));
        let (old, new) = &self.versions;
        let (undoes, adds) = match mode {
            Mode::Enable => ("undoes the culprit", "makes the target fail"),
            Mode::Disable => ("makes the target fail", "adds what repairs it"),
        };
        [(apply(&self.undo), format!("# on {new}: {undoes}")), (apply(&self.culprit), format!("# on {old}: {adds}"))]
    }
}
