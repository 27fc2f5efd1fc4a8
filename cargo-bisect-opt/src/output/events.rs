//! Events of a search. In their serialized form they are the lines of `--json`.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use bisect_core::search::{Mode, Order, Question, TrialId};
use serde::{Deserialize, Serialize, Serializer};

use super::{moments::BrokenMoment, terms::Terms};
use crate::{
    process::shell,
    record::{
        change,
        conclusion_kind::ConclusionKind,
        exit_status::Exit,
        mode_name,
        noise::{CulpritEstimate, NoiseEstimate},
        pasted::PastedLines,
        trial::TrialContext,
    },
    report::content::Report,
    run::{result::Failed, seed::Seed},
    vcs::blame::LastChange,
};

/// An event of a search.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(crate) enum Event<'a> {
    /// A search begins.
    Start(&'a Start),
    /// A run begins. A trial may take several.
    #[serde(skip)]
    Run(&'a RunBegins<'a>),
    /// A trial was answered.
    Trial(&'a TrialDone),
    /// A run failed with fewer changes than all before it. Only `result.json` shows it.
    #[serde(skip)]
    Smallest(&'a Smallest),
    /// A culprit of one of several tests was found and confirmed. It comes again at the end of the search as
    /// [`Found`](Self::Found), with the other tests that it breaks.
    #[serde(skip)]
    Preliminary(&'a Found),
    /// A culprit was found and confirmed.
    Found(&'a Found),
    /// The culprits with these numbers are withdrawn: they were named before the target contradicted itself. It comes
    /// before [`Searched`](Self::Searched), until which an answer keeps culprits back.
    #[serde(skip)]
    Withdrawn(&'a [usize]),
    /// All culprits of several tests. They are shown in groups that differ only in the test.
    #[serde(skip)]
    Groups(&'a [Found]),
    /// All culprits, if there are several.
    #[serde(skip)]
    List(&'a [&'a Found]),
    /// A search has ended, and others may follow. Only `result.json` shows it.
    #[serde(skip)]
    Searched(&'a SearchedChanges),
    /// Something the user should know.
    #[serde(skip)]
    Note(&'a str),
    /// Another output can no longer be written, and why.
    #[serde(skip)]
    OutputLost(&'a str),
    /// The common answer of several searches about one culprit.
    #[serde(skip)]
    Answer(&'a Answer),
    /// The search is over.
    End(&'a End),
}

/// A receiver of events.
pub(crate) trait Sink {
    /// Takes one event.
    ///
    /// # Errors
    /// If it cannot be shown or kept.
    fn event(&mut self, event: &Event<'_>) -> std::io::Result<()>;
}

/// The beginning of a search.
#[derive(Debug, Serialize)]
pub(crate) struct Start {
    /// The number of the search, from 1: a command may make several.
    pub(crate) search: usize,
    /// The axis: its name in the JSON, and words for people.
    pub(crate) axis: Terms,
    /// A description of what is searched, for people, where the axis does not say it.
    #[serde(skip)]
    pub(crate) subject: Option<String>,
    /// The command that is run.
    pub(crate) target: String,
    /// The number of parallel runs.
    pub(crate) jobs: usize,
    /// The seed of all random choices. The same seed and the same outcomes give the same search.
    pub(crate) seed: Seed,
    /// The order of the changes. Only `result.json` shows it.
    #[serde(skip)]
    pub(crate) order: Order,
    /// The number of the culprit that the search examines, if it examines one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) within: Option<usize>,
    /// The compiler, if cargo calls one: the first line of `rustc -vV`.
    #[serde(skip)]
    pub(crate) rustc: Option<String>,
}

/// The changes of a search that has ended.
#[derive(Debug)]
pub(crate) struct SearchedChanges {
    /// The number of changes that were reported.
    pub(crate) changes: usize,
    /// For each culprit, by its number, the positions of its changes among them.
    pub(crate) culprits: Vec<(usize, Vec<usize>)>,
}

/// The beginning of a run.
#[derive(Debug)]
pub(crate) struct RunBegins<'a> {
    /// The trial, within its search.
    pub(crate) trial: TrialId,
    /// The number of the run among those of all searches.
    pub(crate) number: usize,
    /// The number of the trial, from 1, in the order in which trials are shown. With one run at a time, a trial is
    /// shown when its first run begins. With parallel runs, it is shown when it is answered, so it has no number yet. A
    /// repeated run has none.
    pub(crate) n: Option<usize>,
    /// True for a run that only repeats an earlier one, to see whether the outcome stays the same.
    pub(crate) is_repeat: bool,
    /// The file for all its output.
    pub(crate) log: PathBuf,
    /// The number of the run within its trial, from 1, and the number of runs of that trial.
    pub(crate) run: (usize, usize),
    /// The question that the trial answers.
    pub(crate) question: Question,
    /// The direction in which the run switches the selected changes.
    pub(crate) mode: Mode,
    /// A description of the run, if it is not of a selection of changes.
    pub(crate) subject: Option<String>,
    /// The numbers of known changes that are selected, and of all known changes.
    pub(crate) selected: Option<(usize, usize)>,
    /// The numbers of tests in this run, and of all tests, if each test is searched on its own.
    pub(crate) tests: Option<(usize, usize)>,
    /// The pattern that the target gets.
    pub(crate) pattern: &'a str,
    /// The estimated number of trials left for this culprit.
    pub(crate) left: Option<usize>,
    /// The number of changes that may still be needed for the present culprit, where that is known.
    pub(crate) candidates: Option<usize>,
}

/// The answer to a trial.
#[derive(Debug, Serialize)]
pub(crate) struct TrialDone {
    /// The number of the trial, from 1, in the order in which trials are shown. Repeated runs have 0.
    pub(crate) n: usize,
    /// The trial, within its search.
    #[serde(skip)]
    pub(crate) trial: TrialId,
    /// True for a repeated run with the same outcome as before. Only `trials.jsonl` shows it.
    #[serde(rename = "repeat", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_repeat: bool,
    /// The pattern that the target got.
    pub(crate) pattern: String,
    /// The number of distinct changes that were reported.
    pub(crate) matches: usize,
    /// `pass`, `fail` or `unresolved`.
    pub(crate) outcome: &'static str,
    /// The reason for the outcome; empty if it passed.
    pub(crate) reason: String,
    /// The number of runs.
    pub(crate) runs: usize,
    /// The time of all runs together, in milliseconds.
    #[serde(rename = "ms", serialize_with = "milliseconds")]
    pub(crate) duration: Duration,
    /// Its place in the search.
    #[serde(flatten)]
    pub(crate) context: TrialContext,
}

/// The smallest set of changes that has failed in the search for the present culprit.
#[derive(Debug, Serialize)]
pub(crate) struct Smallest {
    /// The operation that breaks the target.
    #[serde(with = "mode_name")]
    pub(crate) mode: Mode,
    /// The number of its changes.
    pub(crate) changes: usize,
    /// The number of all changes known by then.
    pub(crate) of: usize,
    /// The tests that failed, where that is known.
    pub(crate) tests: Vec<String>,
    /// A command line that runs the target with exactly these changes.
    pub(crate) reproduce: String,
}

/// A confirmed culprit.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(Default))]
pub(crate) struct Found {
    /// The number of the set, from 1.
    pub(crate) set: usize,
    /// The operation that breaks the target.
    #[serde(with = "mode_name")]
    pub(crate) mode: Mode,
    /// Always true: an unconfirmed set is never shown as found.
    pub(crate) confirmed: bool,
    /// The changes.
    #[serde(serialize_with = "change::serialize")]
    pub(crate) changes: Vec<Report>,
    /// The tests that fail with exactly these changes, where that is known.
    pub(crate) tests: Vec<String>,
    /// The ways in which they fail, if these are distinguished: one test may have several culprits, each with its own
    /// failure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) failures: Vec<Failed>,
    /// A command line that runs the target with exactly these changes.
    pub(crate) reproduce: String,
    /// A command line that runs the target in a neighbouring state that has passed: with all other changes, or else
    /// with none of the changes that break it. `None` if there is no such line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) passes: Option<String>,
    /// A short command line about the changes, without files of this search, to quote in an issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) short: Option<String>,
    /// The results of the command lines, which were run as printed; `None` for a moment, and before the answer is final.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pasted: Option<PastedLines>,
    /// The failure at the other end of the search, which these changes replace by another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replaces: Option<String>,
    /// The last change of the decisive place, if git tracks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_change: Option<LastChange>,
    /// The command lines for `replay`. Only the run directory keeps them.
    #[serde(skip)]
    pub(crate) replay: Replay,
    /// A workaround, if the search has shown one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stop_gap: Option<StopGap>,
    /// The files with the changes as patches, if they are edits of source files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) patches: Option<PatchFiles>,
    /// The next step, as lines for a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
    /// The confidence in it, if the search was noisy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) noise: Option<CulpritEstimate>,
    /// The moments, if the culprit is one.
    #[serde(rename = "moment", skip_serializing_if = "Option::is_none")]
    pub(crate) moments: Option<BrokenMoment>,
    /// The number of the culprit that this one is a part of, if a search within that culprit found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) within: Option<usize>,
    /// The headline, if it is not that the changes are enabled or disabled.
    #[serde(skip)]
    pub(crate) headline: Option<String>,
    /// True if each of several tests is searched on its own.
    #[serde(skip)]
    pub(crate) is_of_tests: bool,
}

/// The changes of a culprit as patches.
#[derive(Clone, Debug)]
pub(crate) struct Patches {
    /// The patch that makes the old sources fail.
    pub(crate) culprit: Vec<u8>,
    /// The patch that undoes the changes in the new sources.
    pub(crate) undo: Vec<u8>,
    /// The names of the old and the new sources.
    pub(crate) versions: (String, String),
    /// The directory to which the paths in the patches are relative, unless it is the working directory.
    pub(crate) top: Option<PathBuf>,
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

/// Shell command lines that run the target once more, in any directory. The words of a debugger are their arguments.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Replay {
    /// The line with exactly the changes of the culprit.
    pub(crate) culprit: String,
    /// The line with all other changes.
    pub(crate) others: String,
}

/// A workaround until a culprit is fixed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct StopGap {
    /// The place for it, in a few words.
    #[serde(rename = "where")]
    pub(crate) place: &'static str,
    /// The text to write there, or the action to take.
    pub(crate) text: String,
}

/// The common answer of several searches about one culprit.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Answer {
    /// The number of the culprit, from 1.
    pub(crate) set: usize,
    /// The facts about it, from the outside in.
    pub(crate) facts: Vec<Fact>,
    /// The next steps.
    pub(crate) advice: Vec<String>,
}

/// A fact about a culprit.
#[derive(Debug, Serialize)]
pub(crate) struct Fact {
    /// The subject, in one word.
    pub(crate) of: &'static str,
    /// The fact.
    pub(crate) text: String,
}

/// The end of a search.
#[derive(Debug, Serialize)]
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
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) pasted: usize,
    /// The time of the search, in milliseconds.
    #[serde(rename = "ms", serialize_with = "milliseconds")]
    pub(crate) duration: Duration,
    /// The final estimate, if the search was noisy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) noise: Option<NoiseEstimate>,
    /// The common answers of several searches, one for each culprit that was searched further.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) answers: Vec<Answer>,
    /// The kind of the conclusion, if the exit status does not show it. With several tests, the kind that all
    /// inconsistent ones share, even if culprits were found for others.
    #[serde(rename = "conclusion", skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<ConclusionKind>,
    /// The conclusion, for people.
    #[serde(rename = "message")]
    pub(crate) words: String,
    /// The end of a log, if it explains the conclusion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) log: Option<LogEnd>,
    /// Command lines that the user may run next. They are known when the end is emitted.
    pub(crate) next: Vec<String>,
    /// The one of them that continues a search which was stopped.
    #[serde(skip)]
    pub(crate) continuation: Option<String>,
}

/// The end of a run's log, for people.
#[derive(Debug, Serialize)]
pub(crate) struct LogEnd {
    /// The file.
    #[serde(serialize_with = "path_text")]
    pub(crate) path: PathBuf,
    /// Its last lines.
    pub(crate) lines: Vec<String>,
}

/// Returns a duration in whole milliseconds.
pub(crate) fn in_milliseconds(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
pub(super) fn is_zero(number: &usize) -> bool {
    *number == 0
}

fn milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(in_milliseconds(*duration))
}

impl Start {
    /// Returns the name of the order of the changes.
    pub(crate) fn order_name(&self) -> &'static str {
        match self.order {
            Order::ByHash => "hash",
            Order::Given => "given",
            Order::Counter => "counter",
        }
    }
}

fn path_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    // A path that is no Unicode would be an error.
    serializer.serialize_str(&path.to_string_lossy())
}
