//! What happens during a search: told to whoever shows or keeps it. The serialized events are the `--json` lines.

use std::{path::PathBuf, time::Duration};

use bisect_core::search::{Question, TrialId};
use serde::{Serialize, Serializer};

use super::{
    change,
    exit_status::Exit,
    groups::Group,
    noise::{Beliefs, Sureness},
};
use crate::{
    report::content::Report,
    run::{result::Failed, seed::Seed},
};

/// One thing that happened.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(crate) enum Event<'a> {
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
pub(crate) trait Sink {
    /// Takes one event.
    ///
    /// # Errors
    /// If it cannot be shown or kept.
    fn event(&mut self, event: &Event<'_>) -> std::io::Result<()>;
}

/// What is searched.
#[derive(Debug, Serialize)]
pub(crate) struct Start {
    /// What the changes are: `toggles`, …
    pub(crate) axis: &'static str,
    /// What is searched, for people, where that is not plain.
    #[serde(skip)]
    pub(crate) subject: Option<String>,
    /// What is run.
    pub(crate) target: String,
    /// Runs at once.
    pub(crate) jobs: usize,
    /// Seed of all random choices: with the same answers it leads to the same search.
    pub(crate) seed: Seed,
}

/// What is about to be run, and why.
#[derive(Debug)]
pub(crate) struct RunBegins<'a> {
    /// The trial, within its search.
    pub(crate) trial: TrialId,
    /// Number of the trial, from 1: trials are numbered in the order in which they are shown. With one run at a time that is
    /// when the first run begins. With several it is when the trial is answered, so there is no number yet. A repeated run
    /// has none.
    pub(crate) n: Option<usize>,
    /// Whether its only purpose is to see whether the target ends like that once more.
    pub(crate) is_repeat: bool,
    /// The file that everything it prints goes to.
    pub(crate) log: PathBuf,
    /// Which run of it, from 1, and of how many.
    pub(crate) run: (usize, usize),
    /// What the search wants to know.
    pub(crate) question: Question,
    /// What is run, if it is not a selection of changes.
    pub(crate) subject: Option<String>,
    /// Changes selected, as far as they are known, and changes known.
    pub(crate) selected: Option<(usize, usize)>,
    /// Tests that are run, and tests that are searched for each on its own, if they are.
    pub(crate) tests: Option<(usize, usize)>,
    /// The pattern, as the target gets it.
    pub(crate) pattern: &'a str,
    /// About how many trials are left for this culprit.
    pub(crate) left: Option<usize>,
}

/// The answer to a trial.
#[derive(Debug, Serialize)]
pub(crate) struct TrialDone {
    /// Number of the trial, from 1: each trial that is shown has the next one. Repeated runs have none: 0.
    pub(crate) n: usize,
    /// The trial, within its search.
    #[serde(skip)]
    pub(crate) trial: TrialId,
    /// It ended like that before, and was told then.
    #[serde(skip)]
    pub(crate) is_repeat: bool,
    /// The pattern, as the target got it.
    pub(crate) pattern: String,
    /// Distinct changes reported.
    pub(crate) matches: usize,
    /// `pass`, `fail` or `unresolved`.
    pub(crate) outcome: &'static str,
    /// More about the outcome; empty if it passed.
    pub(crate) reason: String,
    /// Runs that answered it.
    pub(crate) runs: usize,
    /// Milliseconds that they took together.
    #[serde(rename = "ms", serialize_with = "milliseconds")]
    pub(crate) duration: Duration,
}

/// A confirmed culprit.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Found {
    /// Number of the set, from 1.
    pub(crate) set: usize,
    /// `enable` or `disable`: which of them breaks the target.
    pub(crate) mode: &'static str,
    /// Always true: what is not confirmed is not found.
    pub(crate) confirmed: bool,
    /// The changes.
    #[serde(serialize_with = "change::serialize")]
    pub(crate) changes: Vec<Report>,
    /// The tests that fail with exactly these changes, where that is known.
    pub(crate) tests: Vec<String>,
    /// How they fail, where failures are told from one another: one test may have several culprits, each with a failure of
    /// its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) failures: Vec<Failed>,
    /// A command line that runs the target with exactly these changes.
    pub(crate) reproduce: String,
    /// What keeps a user going until it is mended, where the search has shown such a thing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stop_gap: Option<StopGap>,
    /// How sure it is, where runs are only evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) noise: Option<Sureness>,
    /// The number of the culprit that this is a part of, if it was found by looking into one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) within: Option<usize>,
    /// What it says, for people, where that is not that the changes are enabled or disabled.
    #[serde(skip)]
    pub(crate) headline: Option<String>,
    /// Whether each of several tests is searched.
    #[serde(skip)]
    pub(crate) is_of_tests: bool,
}

/// What keeps a user going until a culprit is mended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct StopGap {
    /// Where it belongs, in a few words.
    #[serde(rename = "where")]
    pub(crate) place: &'static str,
    /// What to write there, or what to do.
    pub(crate) text: String,
}

/// What several searches have found about one culprit.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Answer {
    /// Number of the culprit, from 1.
    pub(crate) set: usize,
    /// What there is to know about it, from the outside in: what it is, and which one.
    pub(crate) facts: Vec<Fact>,
    /// What to try next.
    pub(crate) advice: Vec<String>,
}

/// One thing that is known.
#[derive(Debug, Serialize)]
pub(crate) struct Fact {
    /// What it is about, in a word.
    pub(crate) of: &'static str,
    /// What it is.
    pub(crate) text: String,
}

/// How a search ended.
#[derive(Debug, Serialize)]
pub(crate) struct End {
    /// The exit status.
    pub(crate) status: Exit,
    /// Culprits found.
    pub(crate) sets: usize,
    /// Trials made.
    pub(crate) trials: usize,
    /// Runs made.
    pub(crate) runs: usize,
    /// Milliseconds the search took.
    #[serde(rename = "ms", serialize_with = "milliseconds")]
    pub(crate) duration: Duration,
    /// What is believed in the end, where runs are only evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) noise: Option<Beliefs>,
    /// What several searches together have to say, of each culprit that was looked into.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) answers: Vec<Answer>,
    /// What it means, for people.
    #[serde(skip)]
    pub(crate) conclusion: String,
    /// What the target itself says, if that is what matters.
    #[serde(skip)]
    pub(crate) log: Option<LogEnd>,
}

/// The end of a run's log, for people.
#[derive(Debug)]
pub(crate) struct LogEnd {
    /// The file.
    pub(crate) path: PathBuf,
    /// Its last lines.
    pub(crate) lines: Vec<String>,
}

fn milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(duration.as_millis().try_into().unwrap_or(u64::MAX))
}
