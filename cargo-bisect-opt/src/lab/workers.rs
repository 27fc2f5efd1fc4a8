//! Runs in flight: each in a thread and a slot of its own, until it is over or told to end.
//!
//! The search loop is one thread, and everything that it decides it decides between two of its waits. Here it waits for
//! whichever run is over next, or for the user's wish to stop.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    thread::Scope,
    time::{Duration, Instant},
};

use bisect_core::{Pattern, search::Trial};

use super::target::Target;
use crate::{
    process::{
        interrupt::{Interrupt, Registration},
        remove_tree::remove_tree,
        scratch_dir::ScratchDir,
        slots::Slots,
    },
    run::{error::RunError, repetition::Repetition, spec::Request},
    units::plural,
};

/// The runs in flight of one target.
pub(crate) struct Crew<'scope, 'env, T: Target> {
    scope: &'scope Scope<'scope, 'env>,
    target: &'env T,
    slots: Arc<Slots>,
    /// By slot.
    running: Vec<Option<Running>>,
    /// For temporary files of all runs.
    scratch: Arc<io::Result<ScratchDir>>,
    /// What runs have left that cannot be deleted yet.
    left: Vec<PathBuf>,
    notes: Vec<String>,
    sender: Sender<Message<T::Shown>>,
    messages: Receiver<Message<T::Shown>>,
    _registration: Registration<'env>,
}

/// One run to start.
#[derive(Debug)]
pub(crate) struct Assignment {
    /// What is asked.
    pub(crate) trial: Trial,
    /// How the target gets to know it.
    pub(crate) pattern: Pattern,
    /// Which run it is, from 1.
    pub(crate) run: usize,
    /// How often the target is executed in it.
    pub(crate) repetition: Repetition,
    /// Whether it is asked of single tests.
    pub(crate) is_split: bool,
    /// Where everything that the run prints goes.
    pub(crate) log: PathBuf,
    /// Where its reports go.
    pub(crate) report_file: PathBuf,
}

#[derive(Debug)]
struct Running {
    assignment: Assignment,
    started: Instant,
    interrupt: Interrupt,
    /// Nobody waits for what it shows any more.
    is_abandoned: bool,
}

enum Message<S> {
    /// The run in this slot is over; nothing, if its thread panicked.
    Over(usize, Option<Ended<S>>),
    /// The user wants to stop.
    Woken,
}

/// What came of a run.
struct Ended<S> {
    result: Result<S, RunError>,
    /// Its directory for temporary files, if that cannot be deleted.
    left: Option<(PathBuf, io::Error)>,
}

/// What came next.
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub(crate) enum Next<S> {
    /// A run is over.
    Over {
        /// What was asked.
        trial: Trial,
        /// What it showed.
        result: Result<S, RunError>,
        /// How long it is worth waiting for others that have begun with it, and so may end with it; not at all if there
        /// are none.
        patience: Option<Duration>,
    },
    /// A run that was told to end has done so, without a trace.
    Gone,
    /// The user wants to stop, and all runs were told to end.
    Interrupted,
}

impl<'scope, 'env, T: Target> Crew<'scope, 'env, T> {
    /// A crew for so many runs at once.
    pub(crate) fn new(
        scope: &'scope Scope<'scope, 'env>,
        target: &'env T,
        slots: usize,
        interrupt: &'env Interrupt,
    ) -> Self {
        let (sender, messages) = channel();
        let waker = sender.clone();
        let registration = interrupt.on_request(move || drop(waker.send(Message::Woken)));
        let running = std::iter::repeat_with(|| None).take(slots).collect();
        let slots = Arc::new(Slots::inherited());
        let scratch = Arc::new(ScratchDir::new());
        let (left, notes) = (Vec::new(), Vec::new());
        Self { scope, target, slots, running, scratch, left, notes, sender, messages, _registration: registration }
    }

    /// Whether another run can be started.
    pub(crate) fn has_room(&self) -> bool {
        self.running.iter().any(Option::is_none)
    }

    /// Whether no run is going on.
    pub(crate) fn is_idle(&self) -> bool {
        self.running.iter().all(Option::is_none)
    }

    /// The trials that runs are being made of.
    pub(crate) fn trials(&self) -> impl Iterator<Item = &Trial> {
        let awaited = self.running.iter().flatten().filter(|running| !running.is_abandoned);
        awaited.map(|running| &running.assignment.trial)
    }

    /// Starts a run.
    ///
    /// # Panics
    /// If there is no room.
    pub(crate) fn start(&mut self, assignment: Assignment) {
        let slot = self.running.iter().position(Option::is_none).expect("there is room");
        let interrupt = Interrupt::default();
        let job = Job {
            pattern: assignment.pattern.clone(),
            tests: assignment.is_split.then(|| assignment.trial.tests.clone()),
            run: assignment.run,
            repetition: assignment.repetition,
            slot,
            slots: self.slots.clone(),
            scratch: self.scratch.clone(),
            log: assignment.log.clone(),
            report_file: assignment.report_file.clone(),
            interrupt: interrupt.clone(),
        };
        self.running[slot] = Some(Running { assignment, started: Instant::now(), interrupt, is_abandoned: false });
        let (target, sender) = (self.target, self.sender.clone());
        self.scope.spawn(move || {
            let mut farewell = Farewell { sender, slot, ended: None };
            farewell.ended = Some(job.run(target));
        });
    }

    /// Tells the runs that `is_meant` to end, and says how many there were. Nothing is left of them in the end.
    pub(crate) fn end(&mut self, is_meant: impl Fn(&Trial) -> bool) -> usize {
        let mut ended = 0;
        for running in self.running.iter_mut().flatten() {
            if !running.is_abandoned && is_meant(&running.assignment.trial) {
                running.is_abandoned = true;
                running.interrupt.raise();
                ended += 1;
            }
        }
        ended
    }

    /// Waits for what comes next, but no longer than this; then there is nothing. At least one run must be going on.
    ///
    /// # Panics
    /// If the thread of a run did.
    pub(crate) fn next(&mut self, patience: Option<Duration>) -> Option<Next<T::Shown>> {
        let message = match patience {
            None => {
                #[cfg(test)]
                self.target.loop_waits(self.running.iter().flatten().count());
                // The sender is ours as well, so there is always one.
                self.messages.recv().expect("somebody can still send")
            }
            Some(patience) => match self.messages.recv_timeout(patience) {
                Ok(message) => message,
                Err(_) => return None,
            },
        };
        Some(self.take(message))
    }

    fn take(&mut self, message: Message<T::Shown>) -> Next<T::Shown> {
        match message {
            Message::Woken => {
                for running in self.running.iter_mut().flatten() {
                    running.is_abandoned = true;
                    running.interrupt.raise();
                }
                Next::Interrupted
            }
            Message::Over(slot, ended) => {
                let Running { assignment, started, is_abandoned, .. } =
                    self.running[slot].take().expect("a run was there");
                let Ended { result, left } = ended.expect("no run panics");
                if let Some((path, error)) = left {
                    if self.left.is_empty() {
                        self.notes.push(format!(
                            "a run has left what cannot be deleted: {error}; it is tried again when the search is over"
                        ));
                    }
                    self.left.push(path);
                }
                if !is_abandoned {
                    return Next::Over { trial: assignment.trial, result, patience: self.patience(started) };
                }
                for file in [assignment.log, assignment.report_file] {
                    // A file of a run that did not count does no harm, should it stay.
                    let _ = fs_err::remove_file(file);
                }
                Next::Gone
            }
        }
    }

    /// See [`Next::Over`], for a run that began then and ends now.
    fn patience(&self, started: Instant) -> Option<Duration> {
        let took = started.elapsed();
        let is_companion =
            |running: &Running| !running.is_abandoned && running.started.saturating_duration_since(started) < took / 8;
        self.running.iter().flatten().any(is_companion).then(|| took / 16)
    }

    /// What the user should be told, since this was last asked.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Ends everything that is going on, waits for it, and tries once more to delete what runs have left.
    pub(crate) fn finish(&mut self) {
        self.end(|_| true);
        while !self.is_idle() {
            self.next(None);
        }
        let stays = |path: PathBuf| Some((remove_tree(&path).err()?, path));
        let stays: Vec<_> = self.left.drain(..).filter_map(stays).collect();
        if let Some((error, _)) = stays.first() {
            let count = plural(stays.len(), "run");
            self.notes.push(format!("temporary files of {count} stay, which the next search tries to delete: {error}"));
        }
    }
}

impl<T: Target> Drop for Crew<'_, '_, T> {
    /// On the way out with an error: whoever waits for the threads must not wait for ever.
    fn drop(&mut self) {
        self.end(|_| true);
        #[cfg(test)]
        self.target.loop_left();
    }
}

/// What the thread of a run needs.
struct Job {
    pattern: Pattern,
    tests: Option<Vec<usize>>,
    run: usize,
    repetition: Repetition,
    slot: usize,
    slots: Arc<Slots>,
    scratch: Arc<io::Result<ScratchDir>>,
    log: PathBuf,
    report_file: PathBuf,
    interrupt: Interrupt,
}

impl Job {
    fn run<T: Target>(&self, target: &T) -> Ended<T::Shown> {
        let scratch = match &*self.scratch {
            Ok(outer) => outer.inner(),
            Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
        };
        let scratch = match scratch {
            Ok(scratch) => scratch,
            Err(error) => return Ended { result: Err(error.into()), left: None },
        };
        let result = target.run(&Request {
            pattern: &self.pattern,
            tests: self.tests.as_deref(),
            run: self.run,
            repetition: self.repetition,
            slot: self.slot,
            slots: &self.slots,
            scratch: &scratch,
            log: &self.log,
            report_file: &self.report_file,
            interrupt: &self.interrupt,
        });
        let path = scratch.path().to_owned();
        Ended { result, left: scratch.delete().err().map(|error| (path, error)) }
    }
}

/// Says that a run is over, also where its thread panics.
struct Farewell<S> {
    sender: Sender<Message<S>>,
    slot: usize,
    ended: Option<Ended<S>>,
}

impl<S> Drop for Farewell<S> {
    fn drop(&mut self) {
        // Whoever does not listen any more does not need to know.
        let _ = self.sender.send(Message::Over(self.slot, self.ended.take()));
    }
}
