//! Events of a search: the increments of its record, and what only the terminal shows.

use std::{path::PathBuf, rc::Rc};

use bisect_core::search::{Mode, Question, TrialId};

use super::terms::Terms;
use crate::record::{
    CommandRecord, CulpritPositions, SearchRecord, SmallestSet,
    culprit::CulpritRecord,
    end::{Answer, End},
    trial::TrialRecord,
};

/// An event of a search.
#[derive(Debug)]
pub(crate) enum Event<'a> {
    /// A search begins.
    Start(&'a Start),
    /// A run begins. A trial may take several.
    Run(&'a RunBegins<'a>),
    /// A trial was answered.
    Trial(TrialId, &'a TrialRecord),
    /// A run failed with fewer changes than all before it. Only `result.json` shows it.
    Smallest(&'a SmallestSet),
    /// A culprit of one of several tests was found and confirmed. It comes again at the end of the search as
    /// [`Found`](Self::Found), with the other tests that it breaks, and with the code at its places.
    Preliminary(&'a CulpritRecord),
    /// A culprit was found and confirmed.
    Found(&'a Rc<CulpritRecord>),
    /// The culprits with these numbers are withdrawn: they were named before the target contradicted itself. It comes
    /// before [`Searched`](Self::Searched), until which an answer keeps culprits back.
    Withdrawn(&'a [usize]),
    /// All culprits of several tests. They are shown in groups that differ only in the test.
    Groups(&'a [&'a CulpritRecord]),
    /// All culprits, if there are several.
    List(&'a [&'a CulpritRecord]),
    /// A search has ended, and others may follow. Only `result.json` shows it.
    Searched(&'a SearchedChanges),
    /// Something the user should know.
    Note(&'a str),
    /// Another output can no longer be written, and why.
    OutputLost(&'a str),
    /// The common answer of several searches about one culprit.
    Answer(&'a Answer),
    /// The search is over.
    End(&'a End),
}

/// A receiver of events.
pub(crate) trait Sink {
    /// Takes one event. The record has it already.
    ///
    /// # Errors
    /// If it cannot be shown or kept.
    fn event(&mut self, event: &Event<'_>, record: &CommandRecord) -> std::io::Result<()>;
}

/// The beginning of a search.
#[derive(Debug)]
pub(crate) struct Start {
    /// The search.
    pub(crate) search: SearchRecord,
    /// The words for its changes.
    pub(crate) terms: Terms,
    /// The compiler, if cargo calls one: the first line of `rustc -vV`.
    pub(crate) rustc: Option<String>,
}

/// The changes of a search that has ended.
#[derive(Debug)]
pub(crate) struct SearchedChanges {
    /// The number of changes that were reported.
    pub(crate) changes: usize,
    /// The positions of the culprits' changes among them.
    pub(crate) culprits: Vec<CulpritPositions>,
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
