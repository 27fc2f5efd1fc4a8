//! Worker threads that make runs, one in each slot.
//!
//! The loop starts runs, ends those that have become obsolete, and waits for the next run to end, or for the user's
//! request to stop. A run that the journal has is not made: it ends as it ended before the search was interrupted.

use std::{
    io,
    path::PathBuf,
    rc::Rc,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, Scope},
    time::{Duration, Instant},
};

use bisect_core::search::Trial;

use super::{
    journal::{Discarded, EndedRun, Journal, Need},
    target::Runner,
};
use crate::{
    process::{
        interrupt::{Interrupt, Registration},
        machine_fault::{MachineFault, patiently, pause_before_run},
        remove_tree::remove_tree,
        scratch_dir::ScratchDir,
        slots::Slots,
    },
    run::{
        error::RunError,
        in_flight::{InFlight, RunEntry},
        spec::{RunSpec, Surroundings},
    },
    units::plural,
};

/// The runs in flight of one target.
pub(super) struct Workers<'scope, 'env, R: Runner> {
    scope: &'scope Scope<'scope, 'env>,
    runner: Arc<R>,
    slots: Arc<Slots>,
    /// The runs in flight, by slot.
    running: Vec<Option<Running<R::KnownFailures>>>,
    journal: Rc<Journal>,
    /// The directory for temporary files of all runs, once the first one has made it.
    scratch: Arc<Mutex<Option<ScratchDir>>>,
    /// The directories of runs that could not be deleted.
    left: Vec<PathBuf>,
    notes: Vec<String>,
    /// True once a run was made again after a fault of the machine.
    has_repeated: bool,
    in_flight: InFlight,
    sender: Sender<Message<R::Observations>>,
    messages: Receiver<Message<R::Observations>>,
    _registration: Registration<'env>,
}

struct Running<B> {
    spec: Arc<RunSpec>,
    started: Instant,
    interrupt: Interrupt,
    /// The brief of a run that is not made, because the journal has its end.
    recorded: Option<Arc<B>>,
    /// True if the result of the run is discarded.
    is_abandoned: bool,
}

enum Message<S> {
    /// The end of the run in this slot; `None` if its thread panicked.
    Over(usize, Option<Ended<S>>),
    /// The user's request to stop.
    Interrupt,
}

/// A run that has ended.
struct Ended<S> {
    result: Result<S, RunError>,
    /// Its directory for temporary files, if that could not be deleted.
    left: Option<(PathBuf, io::Error)>,
    /// The fault of the machine after which it was made again.
    repeated: Option<RunError>,
}

impl<S> From<RunError> for Ended<S> {
    /// Returns the end of a run that was not made.
    fn from(error: RunError) -> Self {
        Self { result: Err(error), left: None, repeated: None }
    }
}

/// The time that the loop waits for the next event.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wait {
    /// As long as it takes, or until this time is over.
    Until(Option<Duration>),
    /// At most this time, for an event that is taken together with the one before.
    Joined(Duration),
}

/// The next event for the loop.
pub(super) enum Next<S> {
    /// The end of a run.
    Over {
        /// The specification of the run.
        spec: Arc<RunSpec>,
        /// The observations of the run, or the error that ended it.
        result: Result<S, RunError>,
        /// The time that is worth waiting for other runs, which began with this one and so may end with it; `None` if
        /// there are none.
        coalesce_window: Option<Duration>,
    },
    /// The end of a run that was asked to end. Its files were deleted.
    Cancelled,
    /// The user's request to stop. All runs were asked to end.
    Interrupted,
}

impl<'scope, 'env, R: Runner> Workers<'scope, 'env, R> {
    /// Returns workers for this number of parallel runs, which they add to those in flight.
    pub(super) fn new(
        scope: &'scope Scope<'scope, 'env>,
        runner: Arc<R>,
        slots: usize,
        interrupt: &'env Interrupt,
        journal: Rc<Journal>,
        in_flight: &InFlight,
    ) -> Self {
        let (sender, messages) = channel();
        let waker = sender.clone();
        let registration = interrupt.on_request(move || drop(waker.send(Message::Interrupt)));
        let running = std::iter::repeat_with(|| None).take(slots).collect();
        let slots = Arc::new(Slots::inherited());
        let scratch = Arc::new(Mutex::new(None));
        let (left, notes) = (Vec::new(), Vec::new());
        let in_flight = in_flight.clone();
        Self {
            scope,
            runner,
            slots,
            running,
            journal,
            scratch,
            left,
            notes,
            has_repeated: false,
            in_flight,
            sender,
            messages,
            _registration: registration,
        }
    }

    /// Returns a slot in which another run can be started.
    pub(super) fn free_slot(&self) -> Option<usize> {
        self.running.iter().position(Option::is_none)
    }

    /// Returns the number of further runs that can be started.
    pub(super) fn free_slots(&self) -> usize {
        self.running.iter().filter(|running| running.is_none()).count()
    }

    /// Returns true if no run is in flight.
    pub(super) fn is_idle(&self) -> bool {
        self.running.iter().all(Option::is_none)
    }

    /// Returns the trials of the runs in flight, except those whose results are discarded.
    pub(super) fn trials(&self) -> impl Iterator<Item = &Trial> {
        self.running.iter().flatten().filter(|running| !running.is_abandoned).map(|running| &running.spec.trial)
    }

    /// Starts a run in its slot.
    ///
    /// # Panics
    /// If another run is in flight there.
    pub(super) fn start(&mut self, spec: RunSpec, known_failures: &Arc<R::KnownFailures>) {
        let slot = spec.slot;
        assert!(self.running[slot].is_none(), "a run begins in a free slot");
        let recorded = self.journal.has(&spec).then(|| known_failures.clone());
        let is_recorded = recorded.is_some();
        let (spec, interrupt, started) = (Arc::new(spec), Interrupt::default(), Instant::now());
        let running =
            Running { spec: spec.clone(), started, interrupt: interrupt.clone(), recorded, is_abandoned: false };
        self.running[slot] = Some(running);
        if !is_recorded {
            self.make(&spec, known_failures, &interrupt);
        }
        if !self.journal.has_earlier() {
            self.make_recorded();
        }
    }

    /// Makes the runs whose ends the journal had. It was discarded meanwhile.
    fn make_recorded(&mut self) {
        let recorded = |running: &mut Running<R::KnownFailures>| {
            let known_failures = running.recorded.take()?;
            Some((running.spec.clone(), known_failures, running.interrupt.clone()))
        };
        let recorded: Vec<_> = self.running.iter_mut().flatten().filter_map(recorded).collect();
        for (spec, known_failures, interrupt) in recorded {
            self.make(&spec, &known_failures, &interrupt);
        }
    }

    /// Makes a run in a thread of its own.
    fn make(&self, spec: &Arc<RunSpec>, known_failures: &Arc<R::KnownFailures>, interrupt: &Interrupt) {
        let slot = spec.slot;
        let begun = patiently(|| {
            let (runner, sender, spec) = (self.runner.clone(), self.sender.clone(), spec.clone());
            let (slots, scratch) = (self.slots.clone(), self.scratch.clone());
            let (known_failures, interrupt) = (known_failures.clone(), interrupt.clone());
            let seat = self.in_flight.begin(slot, spec.number);
            thread::Builder::new().spawn_scoped(self.scope, move || {
                let mut on_drop = SendOnDrop { sender, slot, ended: None };
                // The entry ends before the loop learns of the end, which may use the slot again.
                let seat = seat;
                on_drop.ended = Some(make(&*runner, &spec, &known_failures, (&slots, &scratch, &interrupt, &seat)));
            })
        });
        if let Err(error) = begun {
            drop(SendOnDrop { sender: self.sender.clone(), slot, ended: Some(RunError::Io(error).into()) });
        }
    }

    /// Asks the runs that match to end, and returns their number. Their files are deleted when they have
    /// ended.
    pub(super) fn end(&mut self, is_one: impl Fn(&RunSpec) -> bool) -> usize {
        let mut ended = 0;
        for running in self.running.iter_mut().flatten() {
            if !running.is_abandoned && is_one(&running.spec) {
                running.is_abandoned = true;
                running.interrupt.raise();
                ended += 1;
            }
        }
        ended
    }

    /// Waits for the next event. Returns `None` if none came in this time. At least one run must be in flight.
    ///
    /// # Panics
    /// If the thread of a run panicked.
    pub(super) fn next(&mut self, wait: Wait) -> Option<Next<R::Observations>> {
        let is_joined = matches!(wait, Wait::Joined(_));
        if self.journal.has_earlier() {
            let running = |run| {
                let running = self.running.iter().flatten().find(|running| running.spec.number == run)?;
                Some(if running.is_abandoned { Need::Unwanted } else { Need::Wanted })
            };
            match self.journal.take(&*self.runner, running, is_joined) {
                Ok(Some(end)) => return Some(self.end_as_recorded(end)),
                Ok(None) => return None,
                Err(Discarded) => self.make_recorded(),
            }
        }
        #[cfg(test)]
        if !is_joined {
            self.runner.loop_waits(self.running.iter().flatten().count());
        }
        let message = match wait {
            // `self` holds a sender too, so one always exists.
            Wait::Until(None) => self.messages.recv().expect("a sender exists"),
            Wait::Until(Some(time)) | Wait::Joined(time) => self.messages.recv_timeout(time).ok()?,
        };
        Some(self.take(message, is_joined))
    }

    /// Ends a run as it ended before the search was interrupted.
    fn end_as_recorded(&mut self, end: EndedRun<R::Observations>) -> Next<R::Observations> {
        let EndedRun { run, shown, is_next_joined } = end;
        let is_it = |running: &Option<Running<_>>| running.as_ref().is_some_and(|running| running.spec.number == run);
        let slot = self.running.iter().position(is_it).expect("it is in flight");
        let Running { spec, is_abandoned, .. } = self.running[slot].take().expect("it is in flight");
        match shown.filter(|_| !is_abandoned) {
            // The duration does not matter: the journal says which ends come together.
            Some(shown) => {
                Next::Over { spec, result: Ok(shown), coalesce_window: is_next_joined.then_some(Duration::ZERO) }
            }
            None => Next::Cancelled,
        }
    }

    fn take(&mut self, message: Message<R::Observations>, is_joined: bool) -> Next<R::Observations> {
        match message {
            Message::Interrupt => {
                for running in self.running.iter_mut().flatten() {
                    running.is_abandoned = true;
                    running.interrupt.raise();
                }
                Next::Interrupted
            }
            Message::Over(slot, ended) => {
                let Running { spec, started, is_abandoned, .. } = self.running[slot].take().expect("a run was there");
                let Ended { result, left, repeated } = ended.expect("no run panics");
                if let Some(error) = repeated.filter(|_| !self.has_repeated) {
                    self.has_repeated = true;
                    self.notes.push(format!("this machine kept a run from being made, so it was made again: {error}"));
                }
                if let Some((path, error)) = left {
                    if self.left.is_empty() {
                        self.notes.push(format!(
                            "a run has left what cannot be deleted: {error}; it is tried again when the search is over"
                        ));
                    }
                    self.left.push(path);
                }
                if !is_abandoned {
                    if let Ok(shown) = &result {
                        self.journal.add(&*self.runner, &spec, Some(shown), is_joined);
                    }
                    return Next::Over { spec, result, coalesce_window: self.coalesce_window(started) };
                }
                delete_files(&spec);
                self.journal.add(&*self.runner, &spec, None, is_joined);
                Next::Cancelled
            }
        }
    }

    /// Returns the coalesce window (see [`Next::Over`]) of a run that began at `started` and ends now.
    fn coalesce_window(&self, started: Instant) -> Option<Duration> {
        let took = started.elapsed();
        let began_with_it = |running: &Running<_>| {
            !running.is_abandoned && running.started.saturating_duration_since(started) < took / 8
        };
        self.running.iter().flatten().any(began_with_it).then(|| took / 8)
    }

    /// Takes the notes for the user since the last call.
    pub(super) fn take_notes(&mut self) -> Vec<String> {
        [self.journal.take_notes(), std::mem::take(&mut self.notes)].concat()
    }

    /// Ends all runs, waits for them, and tries once more to delete the directories that could not be deleted.
    pub(super) fn finish(&mut self) {
        self.end(|_| true);
        while !self.is_idle() {
            self.next(Wait::Until(None));
        }
        let stays = |path: PathBuf| Some((remove_tree(&path).err()?, path));
        let stays: Vec<_> = self.left.drain(..).filter_map(stays).collect();
        if let Some((error, _)) = stays.first() {
            let count = plural(stays.len(), "run");
            self.notes.push(format!("temporary files of {count} stay, which the next search tries to delete: {error}"));
        }
    }
}

impl<R: Runner> Drop for Workers<'_, '_, R> {
    /// Ends all runs. After an error they may still be in flight, and the scope waits for their threads.
    fn drop(&mut self) {
        self.end(|_| true);
        #[cfg(test)]
        self.runner.loop_left();
    }
}

/// Deletes the files of a run whose result is discarded. If one stays, it does no harm.
pub(super) fn delete_files(spec: &RunSpec) {
    for file in [&spec.log, &spec.report_file] {
        let _ = fs_err::remove_file(file);
    }
}

/// Deletes the reports of a run, which were read. If they stay, they do no harm.
pub(super) fn delete_reports(spec: &RunSpec) {
    let _ = fs_err::remove_file(&spec.report_file);
}

/// The means that a run gets beside its specification.
type Means<'a> = (&'a Slots, &'a Mutex<Option<ScratchDir>>, &'a Interrupt, &'a RunEntry);

/// Makes a run, and once more after a fault of the machine. Called by the thread of the run.
fn make<R: Runner>(
    runner: &R,
    spec: &RunSpec,
    known_failures: &R::KnownFailures,
    means: Means<'_>,
) -> Ended<R::Observations> {
    let (_, outer, interrupt, _) = means;
    let Ended { result, left, .. } = make_once(runner, spec, known_failures, means, scratch_for_run(outer));
    let (error, fault) = match result {
        Err(error) => match error.machine_fault() {
            Some(fault) => (error, fault),
            None => return Ended { result: Err(error), left, repeated: None },
        },
        result => return Ended { result, left, repeated: None },
    };
    let scratch = if fault == MachineFault::Space {
        scratch_in_run_dir(spec).or_else(|_| scratch_for_run(outer))
    } else {
        pause_before_run(interrupt);
        scratch_for_run(outer)
    };
    let again = make_once(runner, spec, known_failures, means, scratch);
    Ended { left: again.left.or(left), repeated: Some(error), result: again.result }
}

/// Returns a directory for the temporary files of one run. If that of all runs cannot be made, the next attempt makes it.
fn scratch_for_run(outer: &Mutex<Option<ScratchDir>>) -> io::Result<ScratchDir> {
    // A thread that panicked with this lock left a valid value.
    let mut outer = outer.lock().unwrap_or_else(PoisonError::into_inner);
    match &*outer {
        Some(outer) => outer.inner(),
        None => outer.insert(ScratchDir::new()?).inner(),
    }
}

/// Returns a directory for the temporary files of one run in the run directory, which may be on another disk.
fn scratch_in_run_dir(spec: &RunSpec) -> io::Result<ScratchDir> {
    let runs = spec.log.parent().ok_or(io::ErrorKind::NotFound)?;
    ScratchDir::below(runs)
}

fn make_once<R: Runner>(
    runner: &R,
    spec: &RunSpec,
    known_failures: &R::KnownFailures,
    (slots, _, interrupt, seat): Means<'_>,
    scratch: io::Result<ScratchDir>,
) -> Ended<R::Observations> {
    let scratch = match scratch {
        Ok(scratch) => scratch,
        Err(error) => return RunError::Io(error).into(),
    };
    let result = runner.run(spec, known_failures, &Surroundings { slots, scratch: &scratch, interrupt, seat });
    let path = scratch.path().to_owned();
    Ended { result, left: scratch.delete().err().map(|error| (path, error)), repeated: None }
}

/// A guard that sends the end of a run, even if its thread panics.
struct SendOnDrop<S> {
    sender: Sender<Message<S>>,
    slot: usize,
    ended: Option<Ended<S>>,
}

impl<S> Drop for SendOnDrop<S> {
    fn drop(&mut self) {
        // A loop that has ended does not receive messages.
        let _ = self.sender.send(Message::Over(self.slot, self.ended.take()));
    }
}
