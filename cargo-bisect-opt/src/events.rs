//! What happens during a search: told to whoever shows or keeps it. The serialized events are the `--json` lines.

use std::{path::PathBuf, time::Duration};

use bisect_core::{
    ChangeId,
    search::{Question, TrialId},
};
use serde::{Serialize, Serializer};

use crate::{
    chance::Seed,
    culprits::Group,
    describe::{Description, Frame, Place},
    exit_code::Exit,
    noise::{Beliefs, Sureness},
    target::Kind,
};

/// One thing that happened.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event<'a> {
    /// A search begins.
    Start(&'a Start),
    /// A run begins; its trial may take several.
    #[serde(skip)]
    Run(&'a RunBegins<'a>),
    /// A trial was answered.
    Trial(&'a TrialDone),
    /// A culprit of one of several tests was found and confirmed. Which of the others fail by it is known at the end: then
    /// it comes again, as [`Found`](Self::Found).
    #[serde(skip)]
    Sighted(&'a Found),
    /// A culprit was found and confirmed.
    Found(&'a Found),
    /// The culprits of several tests, all of which were found: those that are the same but for the test together.
    #[serde(skip)]
    Groups(&'a [Group]),
    /// All culprits, if there are several.
    #[serde(skip)]
    List(&'a [&'a Found]),
    /// Something the user should know.
    #[serde(skip)]
    Note(&'a str),
    /// That someone else cannot be told events any more, and why.
    #[serde(skip)]
    Lost(&'a str),
    /// What several searches together have to say about a culprit.
    #[serde(skip)]
    Answer(&'a Answer),
    /// The search is over.
    End(&'a End),
}

/// Someone who is told events.
pub trait Sink {
    /// Takes one event.
    ///
    /// # Errors
    /// If it cannot be shown or kept.
    fn event(&mut self, event: &Event<'_>) -> std::io::Result<()>;
}

/// What is searched.
#[derive(Debug, Serialize)]
pub struct Start {
    /// What the changes are: `toggles`, …
    pub axis: &'static str,
    /// What is searched, for people, where that is not plain.
    #[serde(skip)]
    pub subject: Option<String>,
    /// What is run.
    pub target: String,
    /// Runs at once.
    pub jobs: usize,
    /// Seed of all random choices: with the same answers it leads to the same search.
    pub seed: Seed,
}

/// What is about to be run, and why.
#[derive(Debug)]
pub struct RunBegins<'a> {
    /// The trial, within its search.
    pub trial: TrialId,
    /// Number of the trial, from 1: trials are numbered in the order in which they are shown. With one run at a time that is
    /// when the first run begins. With several it is when the trial is answered, so there is no number yet. A repeated run
    /// has none.
    pub n: Option<usize>,
    /// Whether its only purpose is to see whether the target ends like that once more.
    pub is_repeat: bool,
    /// The file that everything it prints goes to.
    pub log: PathBuf,
    /// Which run of it, from 1, and of how many.
    pub run: (usize, usize),
    /// What the search wants to know.
    pub question: Question,
    /// What is run, if it is not a selection of changes.
    pub subject: Option<String>,
    /// Changes selected, as far as they are known, and changes known.
    pub selected: Option<(usize, usize)>,
    /// Tests that are run, and tests that are searched for each on its own, if they are.
    pub tests: Option<(usize, usize)>,
    /// The pattern, as the target gets it.
    pub pattern: &'a str,
    /// About how many trials are left for this culprit.
    pub left: Option<usize>,
}

/// The answer to a trial.
#[derive(Debug, Serialize)]
pub struct TrialDone {
    /// Number of the trial, from 1: each trial that is shown has the next one. Repeated runs have none: 0.
    pub n: usize,
    /// The trial, within its search.
    #[serde(skip)]
    pub trial: TrialId,
    /// It ended like that before, and was told then.
    #[serde(skip)]
    pub is_repeat: bool,
    /// The pattern, as the target got it.
    pub pattern: String,
    /// Distinct changes reported.
    pub matches: usize,
    /// `pass`, `fail` or `unresolved`.
    pub outcome: &'static str,
    /// More about the outcome; empty if it passed.
    pub reason: String,
    /// Runs that answered it.
    pub runs: usize,
    /// Milliseconds that they took together.
    #[serde(rename = "ms", serialize_with = "milliseconds")]
    pub duration: Duration,
}

/// A confirmed culprit.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// Number of the set, from 1.
    pub set: usize,
    /// `enable` or `disable`: which of them breaks the target.
    pub mode: &'static str,
    /// Always true: what is not confirmed is not found.
    pub confirmed: bool,
    /// The changes.
    pub changes: Vec<Change>,
    /// The tests that fail with exactly these changes, where that is known.
    pub tests: Vec<String>,
    /// How they fail, where failures are told from one another: one test may have several culprits, each with a failure of
    /// its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failed>,
    /// A command line that runs the target with exactly these changes.
    pub reproduce: String,
    /// What keeps a user going until it is mended, where the search has shown such a thing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_gap: Option<StopGap>,
    /// How sure it is, where runs are only evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<Sureness>,
    /// The number of the culprit that this is a part of, if it was found by looking into one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<usize>,
    /// What it says, for people, where that is not that the changes are enabled or disabled.
    #[serde(skip)]
    pub headline: Option<String>,
    /// Whether each of several tests is searched.
    #[serde(skip)]
    pub is_of_tests: bool,
}

/// What keeps a user going until a culprit is mended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StopGap {
    /// Where it belongs, in a few words.
    #[serde(rename = "where")]
    pub place: &'static str,
    /// What to write there, or what to do.
    pub text: String,
}

/// How something failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failed {
    /// The test; nothing, if it is the whole target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// `panic at src/lib.rs:3:5`, `signal 11`, `timeout`.
    pub how: String,
}

/// One change of a culprit.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// `0x` and 16 hex digits.
    pub id: String,
    /// What sort of change it is.
    pub kind: Kind,
    /// The toggle's name; empty if the target does not say.
    pub name: String,
    /// What the target reported, line by line.
    pub text: Vec<String>,
    /// Where the change is, if the report says so.
    pub file: Option<String>,
    /// Line of that file, from 1.
    pub line: Option<u32>,
    /// Column of that line, from 1.
    pub column: Option<u32>,
    /// Where it ends, behind its last character, if the report says so: line and column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<(u32, u32)>,
    /// The call stack, innermost frame first.
    pub frames: Vec<Frame>,
    /// The package that has its source, where the package that it is compiled in may be another: name and version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// What of the report is neither of these, and is for people to read.
    #[serde(skip)]
    pub details: Vec<String>,
}

impl Change {
    /// A change that was reported with this text, at no place in particular.
    pub fn new(id: ChangeId, kind: Kind, name: String, text: &[String]) -> Self {
        let (id, text, frames, details) = (id.to_string(), text.to_vec(), Vec::new(), Vec::new());
        let (file, package) = (None, None);
        Self { id, kind, name, text, file, line: None, column: None, end: None, frames, package, details }
    }

    /// A change that was reported with this text, of a toggle whose kind may be known.
    pub fn reported(id: ChangeId, text: &[String], kind: impl FnOnce(&str) -> Option<Kind>) -> Self {
        let description = Description::parse(text);
        let name = description.name.unwrap_or_default();
        let by_form = if description.frames.is_empty() { Kind::Site } else { Kind::Stack };
        let kind = kind(&name).unwrap_or(by_form);
        Self { frames: description.frames, ..Self::new(id, kind, name, text).at(description.place) }
    }

    /// The same at a place, if there is one.
    #[must_use]
    pub fn at(self, place: Option<Place>) -> Self {
        let Some(Place { file, line, column }) = place else { return self };
        Self { file: Some(file), line: Some(line), column, ..self }
    }
}

/// What several searches have found about one culprit.
#[derive(Debug, Default, Serialize)]
pub struct Answer {
    /// Number of the culprit, from 1.
    pub set: usize,
    /// What there is to know about it, from the outside in: what it is, and which one.
    pub facts: Vec<Fact>,
    /// What to try next.
    pub advice: Vec<String>,
}

/// One thing that is known.
#[derive(Debug, Serialize)]
pub struct Fact {
    /// What it is about, in a word.
    pub of: &'static str,
    /// What it is.
    pub text: String,
}

/// How a search ended.
#[derive(Debug, Serialize)]
pub struct End {
    /// The exit status.
    pub status: Exit,
    /// Culprits found.
    pub sets: usize,
    /// Trials made.
    pub trials: usize,
    /// Runs made.
    pub runs: usize,
    /// Milliseconds the search took.
    #[serde(rename = "ms", serialize_with = "milliseconds")]
    pub duration: Duration,
    /// What is believed in the end, where runs are only evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<Beliefs>,
    /// What several searches together have to say, of each culprit that was looked into.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
    /// What it means, for people.
    #[serde(skip)]
    pub conclusion: String,
    /// What the target itself says, if that is what matters.
    #[serde(skip)]
    pub log: Option<LogEnd>,
}

/// The end of a run's log, for people.
#[derive(Debug)]
pub struct LogEnd {
    /// The file.
    pub path: PathBuf,
    /// Its last lines.
    pub lines: Vec<String>,
}

fn milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(duration.as_millis().try_into().unwrap_or(u64::MAX))
}
