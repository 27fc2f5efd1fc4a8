//! The journal of a command: the end of each run, from which an interrupted search continues.
//!
//! A search is determined by its seed and by the ends of its runs, in their order. So an interrupted search is made
//! again from the beginning, and the runs in the journal are not repeated: they end at once, in the recorded order, with
//! their recorded observations. Runs that had begun and not ended are made again. If the search asks for another run
//! than the recorded one, the rest of the journal is discarded.
//!
//! The state of the engine, the judge and the axis is not saved. Exceptions are what builds have shown
//! (`Axis::knowledge`), and results of checks outside runs (`Axis::keep_in`).

use std::{
    cell::RefCell,
    collections::VecDeque,
    fs::File,
    io,
    path::Path,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::{RawValue, to_raw_value};

use super::target::Runner;
use crate::{
    output::json_lines,
    process::own_file,
    record::milliseconds::in_milliseconds,
    run::{repetition::Repetition, spec::RunSpec},
};

/// A journal that runs are read from and written to.
#[derive(Debug, Default)]
pub(crate) struct Journal(RefCell<State>);

#[derive(Debug, Default)]
struct State {
    /// The file; `None` if nothing is recorded, because there is none or it cannot be written.
    file: Option<File>,
    /// The runs of the interrupted command that are not yet taken, in the order in which they ended.
    earlier: VecDeque<(u64, JournalEntry)>,
    /// The knowledge of the runner that was written last.
    knowledge: Option<String>,
    notes: Vec<String>,
    clock: Clock,
}

/// The time that a command has taken, without the time between an interruption and its continuation.
#[derive(Debug)]
struct Clock {
    begun: Instant,
    /// The time before the interruption that recorded runs have taken so far.
    ahead: Duration,
}

impl Default for Clock {
    fn default() -> Self {
        Self { begun: Instant::now(), ahead: Duration::ZERO }
    }
}

impl Clock {
    fn elapsed(&self) -> Duration {
        self.begun.elapsed() + self.ahead
    }

    /// Advances to this time. Does nothing if it has passed.
    fn advance(&mut self, to: Duration) {
        self.ahead += to.saturating_sub(self.elapsed());
    }
}

/// The end of a run.
#[derive(Debug, Serialize, Deserialize)]
struct JournalEntry {
    run: usize,
    /// The time of the command, in milliseconds.
    at_ms: u64,
    asked: AskedRun,
    /// True if the loop processed it in the same batch as the previous entry.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    joined: bool,
    /// The observations; none if the run was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shown: Option<Box<RawValue>>,
    /// The knowledge of the runner after the run, if it was new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    knowledge: Option<Box<RawValue>>,
}

/// The part of a specification that must match for a recorded run to be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct AskedRun {
    choice: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tests: Option<Vec<usize>>,
    #[serde(default)]
    repetition: Repetition,
}

impl From<&RunSpec> for AskedRun {
    fn from(RunSpec { choice, tests, repetition, .. }: &RunSpec) -> Self {
        Self { choice: choice.to_string(), tests: tests.clone(), repetition: *repetition }
    }
}

/// The recorded end of a run.
#[derive(Debug)]
pub(super) struct EndedRun<S> {
    /// The number of the run.
    pub(super) run: usize,
    /// The observations; none if the run was cancelled.
    pub(super) shown: Option<S>,
    /// True if the next end was taken together with this one.
    pub(super) is_next_joined: bool,
}

impl Journal {
    /// Creates an empty journal in this file.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let file = own_file::create(path)?.into_parts().0;
        Ok(Self(RefCell::new(State { file: Some(file), ..State::default() })))
    }

    /// Returns a journal that records nothing and reports this error.
    pub(crate) fn lost(error: &io::Error) -> Self {
        Self(RefCell::new(State { notes: vec![lost(error)], ..State::default() }))
    }

    /// Opens the journal of an interrupted command, to continue it. A line that is not complete, and all after it, are
    /// removed: their runs had not ended for the search.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let (file, earlier) = json_lines::open(path)?;
        Ok(Self(RefCell::new(State { file: Some(file), earlier: earlier.into(), ..State::default() })))
    }

    /// Returns true if the ends of runs are recorded.
    pub(crate) fn is_kept(&self) -> bool {
        self.0.borrow().file.is_some()
    }

    /// Records nothing more: the file was deleted. Returns true if one was written.
    pub(crate) fn lose(&self) -> bool {
        self.0.borrow_mut().file.take().is_some()
    }

    /// Returns the time that the command has taken. A continued command goes on from the time of its recorded runs.
    pub(crate) fn elapsed(&self) -> Duration {
        self.0.borrow().clock.elapsed()
    }

    /// Returns the number of runs that do not have to be repeated.
    pub(crate) fn earlier_runs(&self) -> usize {
        self.0.borrow().earlier.iter().filter(|(_, entry)| entry.shown.is_some()).count()
    }

    /// Returns true if the journal has the end of this run. If it has another run of this number, discards the rest.
    pub(super) fn has(&self, spec: &RunSpec) -> bool {
        let mut state = self.0.borrow_mut();
        let Some((_, entry)) = state.earlier.iter().find(|(_, entry)| entry.run == spec.number) else { return false };
        let is_same = entry.asked == spec.into();
        if !is_same {
            state.discard(spec.number);
        }
        is_same
    }

    /// Takes the next recorded end of a run, which must be in flight. With `joined`, returns only an
    /// entry of the same batch as the previous one. The runner gets its recorded knowledge.
    ///
    /// Returns an error if the rest of the journal was discarded: then the runs in flight have to be made.
    pub(super) fn take<R: Runner>(
        &self,
        runner: &R,
        running: impl Fn(usize) -> Option<Need>,
        joined: bool,
    ) -> Result<Option<EndedRun<R::Observations>>, Discarded> {
        let mut state = self.0.borrow_mut();
        let Some((_, entry)) = state.earlier.front() else { return Ok(None) };
        if joined && !entry.joined {
            return Ok(None);
        }
        let (run, at) = (entry.run, Duration::from_millis(entry.at_ms));
        // At a limit or an interruption, runs were cancelled that the search still needs.
        let fits = |in_flight| entry.shown.is_some() || in_flight == Need::Unwanted;
        if !running(run).is_some_and(fits) {
            return Err(state.discard(run));
        }
        let Some(shown) = entry.shown.as_deref().map(read::<R::Observations>).transpose().ok() else {
            return Err(state.discard(run));
        };
        let knowledge = entry.knowledge.as_deref().map(|knowledge| knowledge.get().to_owned());
        if let Some(knowledge) = knowledge {
            if runner.restore(&knowledge).is_err() {
                return Err(state.discard(run));
            }
            state.knowledge = Some(knowledge);
        }
        state.clock.advance(at);
        state.earlier.pop_front();
        let is_next_joined = state.earlier.front().is_some_and(|(_, next)| next.joined);
        Ok(Some(EndedRun { run, shown, is_next_joined }))
    }

    /// Returns true if ends of runs are left that were recorded earlier.
    pub(super) fn has_earlier(&self) -> bool {
        !self.0.borrow().earlier.is_empty()
    }

    /// Records the end of a run. `shown` are its observations, none if it was cancelled.
    pub(super) fn add<R: Runner>(&self, runner: &R, spec: &RunSpec, shown: Option<&R::Observations>, joined: bool) {
        let mut state = self.0.borrow_mut();
        if state.file.is_none() {
            return;
        }
        let knowledge = runner.knowledge().filter(|knowledge| state.knowledge.as_ref() != Some(knowledge));
        if let Err(error) = state.write(spec, shown, joined, knowledge) {
            state.file = None;
            state.notes.push(lost(&error));
        }
    }

    /// Takes the notes for the user since the last call.
    pub(super) fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut self.0.borrow_mut().notes)
    }
}

/// The state of a run in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// The search waits for its end.
    Wanted,
    /// Its end does not matter any more.
    Unwanted,
}

/// The rest of the journal was discarded.
#[derive(Debug)]
pub(super) struct Discarded;

impl State {
    /// Removes all runs that are not yet taken, because the search asks for another run of this number.
    fn discard(&mut self, run: usize) -> Discarded {
        let runs = self.earlier.iter().filter(|(_, entry)| entry.shown.is_some()).count();
        let from = self.earlier.front().map(|(at, _)| *at);
        self.earlier.clear();
        if let (Some(file), Some(from)) = (&self.file, from)
            && let Err(error) = file.set_len(from)
        {
            self.file = None;
            self.notes.push(lost(&error));
        }
        if runs == 0 {
            return Discarded;
        }
        self.notes.push(format!(
            "the search asks for another run {run} than before it was interrupted, so {runs} of the earlier runs do not count"
        ));
        Discarded
    }

    fn write(
        &mut self,
        spec: &RunSpec,
        shown: Option<&impl Serialize>,
        joined: bool,
        knowledge: Option<String>,
    ) -> io::Result<()> {
        let entry = JournalEntry {
            run: spec.number,
            at_ms: in_milliseconds(self.clock.elapsed()),
            asked: spec.into(),
            joined,
            shown: shown.map(to_raw_value).transpose()?,
            knowledge: knowledge.clone().map(RawValue::from_string).transpose()?,
        };
        let Some(file) = &self.file else { return Ok(()) };
        json_lines::add(file, &entry)?;
        if knowledge.is_some() {
            self.knowledge = knowledge;
        }
        Ok(())
    }
}

/// Returns the note that the ends of runs are not recorded.
fn lost(error: &io::Error) -> String {
    format!("the ends of runs cannot be recorded, so --resume cannot continue this search: {error}")
}

fn read<T: DeserializeOwned>(value: &RawValue) -> serde_json::Result<T> {
    serde_json::from_str(value.get())
}
