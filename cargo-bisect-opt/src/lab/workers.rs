//! Threads that make runs, one in each slot. The loop starts runs, ends those that do not matter any more, and waits for
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

use bisect_core::search::Trial;

use super::target::Runner;
use crate::{
    process::{
        interrupt::{Interrupt, Registration},
        remove_tree::remove_tree,
        scratch_dir::ScratchDir,
        slots::Slots,
    },
    run::{
        error::RunError,
        spec::{RunSpec, Surroundings},
    },
    units::plural,
};

/// The runs in flight of one target.
pub(super) struct Workers<'scope, 'env, R: Runner> {
    scope: &'scope Scope<'scope, 'env>,
    runner: Arc<R>,
    slots: Arc<Slots>,
    /// By slot.
    running: Vec<Option<Running>>,
    /// For temporary files of all runs.
    scratch: Arc<io::Result<ScratchDir>>,
    /// Directories of runs that cannot be deleted yet.
    left: Vec<PathBuf>,
    notes: Vec<String>,
    sender: Sender<Message<R::Shown>>,
    messages: Receiver<Message<R::Shown>>,
    _registration: Registration<'env>,
}

#[derive(Debug)]
struct Running {
    spec: Arc<RunSpec>,
    started: Instant,
    interrupt: Interrupt,
    /// What it shows is not waited for any more.
    is_abandoned: bool,
}

enum Message<S> {
    /// The run in this slot is over; `None`: its thread panicked.
    Over(usize, Option<Ended<S>>),
    /// The user wants to stop.
    Interrupt,
}

/// A run that is over.
struct Ended<S> {
    result: Result<S, RunError>,
    /// Its directory for temporary files, if that cannot be deleted.
    left: Option<(PathBuf, io::Error)>,
}

/// What comes next.
pub(super) enum Next<S> {
    /// A run is over.
    Over {
        /// The run.
        spec: Arc<RunSpec>,
        /// What it showed.
        result: Result<S, RunError>,
        /// How long it is worth waiting for others that began with it, and so may end with it; `None` if there are none.
        coalesce_window: Option<Duration>,
    },
    /// A run that was asked to end has done so, without a trace.
    Cancelled,
    /// The user wants to stop, and all runs were asked to end.
    Interrupted,
}

impl<'scope, 'env, R: Runner> Workers<'scope, 'env, R> {
    /// Returns workers for this number of runs at once.
    pub(super) fn new(
        scope: &'scope Scope<'scope, 'env>,
        runner: Arc<R>,
        slots: usize,
        interrupt: &'env Interrupt,
    ) -> Self {
        let (sender, messages) = channel();
        let waker = sender.clone();
        let registration = interrupt.on_request(move || drop(waker.send(Message::Interrupt)));
        let running = std::iter::repeat_with(|| None).take(slots).collect();
        let slots = Arc::new(Slots::inherited());
        let scratch = Arc::new(ScratchDir::new());
        let (left, notes) = (Vec::new(), Vec::new());
        Self { scope, runner, slots, running, scratch, left, notes, sender, messages, _registration: registration }
    }

    /// Returns a slot in which another run can be started.
    pub(super) fn free_slot(&self) -> Option<usize> {
        self.running.iter().position(Option::is_none)
    }

    /// Whether no run is going on.
    pub(super) fn is_idle(&self) -> bool {
        self.running.iter().all(Option::is_none)
    }

    /// Returns the trials that runs are being made of.
    pub(super) fn trials(&self) -> impl Iterator<Item = &Trial> {
        self.running.iter().flatten().filter(|running| !running.is_abandoned).map(|running| &running.spec.trial)
    }

    /// Starts a run in its slot.
    ///
    /// # Panics
    /// If another run is going on there.
    pub(super) fn start(&mut self, spec: RunSpec, brief: Arc<R::Brief>) {
        let slot = spec.slot;
        assert!(self.running[slot].is_none(), "a run begins in a free slot");
        let (spec, interrupt) = (Arc::new(spec), Interrupt::default());
        let running =
            Running { spec: spec.clone(), started: Instant::now(), interrupt: interrupt.clone(), is_abandoned: false };
        self.running[slot] = Some(running);
        let (runner, sender) = (self.runner.clone(), self.sender.clone());
        let (slots, scratch) = (self.slots.clone(), self.scratch.clone());
        self.scope.spawn(move || {
            let mut on_drop = SendOnDrop { sender, slot, ended: None };
            on_drop.ended = Some(make(&*runner, &spec, &brief, &slots, &scratch, &interrupt));
        });
    }

    /// Asks the runs of these trials to end, and returns how many there were. Nothing is left of them in the end.
    pub(super) fn end(&mut self, is_one: impl Fn(&Trial) -> bool) -> usize {
        let mut ended = 0;
        for running in self.running.iter_mut().flatten() {
            if !running.is_abandoned && is_one(&running.spec.trial) {
                running.is_abandoned = true;
                running.interrupt.raise();
                ended += 1;
            }
        }
        ended
    }

    /// Waits for what comes next, no longer than `window`; `None`: nothing came. At least one run must be going on.
    ///
    /// # Panics
    /// If the thread of a run did.
    pub(super) fn next(&mut self, window: Option<Duration>) -> Option<Next<R::Shown>> {
        let message = match window {
            None => {
                #[cfg(test)]
                self.runner.loop_waits(self.running.iter().flatten().count());
                // The sender is ours as well, so there is always one.
                self.messages.recv().expect("a sender exists")
            }
            Some(window) => match self.messages.recv_timeout(window) {
                Ok(message) => message,
                Err(_) => return None,
            },
        };
        Some(self.take(message))
    }

    fn take(&mut self, message: Message<R::Shown>) -> Next<R::Shown> {
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
                    return Next::Over { spec, result, coalesce_window: self.coalesce_window(started) };
                }
                for file in [&spec.log, &spec.report_file] {
                    // A file of a run that did not count does no harm, should it stay.
                    let _ = fs_err::remove_file(file);
                }
                Next::Cancelled
            }
        }
    }

    /// See [`Next::Over`], for a run that began then and ends now.
    fn coalesce_window(&self, started: Instant) -> Option<Duration> {
        let took = started.elapsed();
        let began_with_it =
            |running: &Running| !running.is_abandoned && running.started.saturating_duration_since(started) < took / 8;
        self.running.iter().flatten().any(began_with_it).then(|| took / 16)
    }

    /// Takes what the user should know, since this was last asked.
    pub(super) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Ends everything that is going on, waits for it, and tries once more to delete what runs have left.
    pub(super) fn finish(&mut self) {
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

impl<R: Runner> Drop for Workers<'_, '_, R> {
    /// Ends all runs, on the way out with an error: the scope waits for their threads.
    fn drop(&mut self) {
        self.end(|_| true);
        #[cfg(test)]
        self.runner.loop_left();
    }
}

/// Makes a run, in its thread.
fn make<R: Runner>(
    runner: &R,
    spec: &RunSpec,
    brief: &R::Brief,
    slots: &Slots,
    scratch: &io::Result<ScratchDir>,
    interrupt: &Interrupt,
) -> Ended<R::Shown> {
    let scratch = match scratch {
        Ok(outer) => outer.inner(),
        Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
    };
    let scratch = match scratch {
        Ok(scratch) => scratch,
        Err(error) => return Ended { result: Err(error.into()), left: None },
    };
    let result = runner.run(spec, brief, &Surroundings { slots, scratch: &scratch, interrupt });
    let path = scratch.path().to_owned();
    Ended { result, left: scratch.delete().err().map(|error| (path, error)) }
}

/// Sends that a run is over, also where its thread panics.
struct SendOnDrop<S> {
    sender: Sender<Message<S>>,
    slot: usize,
    ended: Option<Ended<S>>,
}

impl<S> Drop for SendOnDrop<S> {
    fn drop(&mut self) {
        // A loop that has ended does not listen any more.
        let _ = self.sender.send(Message::Over(self.slot, self.ended.take()));
    }
}
