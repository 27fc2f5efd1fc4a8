//! The supervisor of a watched program: the process that the user started.
//!
//! The program runs in a child. The supervisor survives any end of the program. When the program has ended, or has
//! stopped at a bad moment, the supervisor sends the last checkpoint forward until the search is over. Then it ends as
//! the program has ended: with its exit status, or by its signal.
//!
//! If the driver sends SIGTERM, after a time limit, the supervisor ends the program and records the number of moments
//! that it passed.

use std::{io, sync::atomic::Ordering::Relaxed};

use bisect_core::moments::{Finding, MomentSearch, MomentStep, MomentVerdict};

use super::{
    messages::{BothEnds, Ends, Message, Order},
    record::{self, Purpose},
};
use crate::active::system::{
    children::{self, Children, Ended},
    forks,
};

/// Forks the program off. Returns in the program only.
pub(super) fn supervise(searches: bool) -> io::Result<()> {
    let ends = BothEnds::new()?;
    children::adopt_orphans()?;
    match forks::fork_program()? {
        None => {
            ends.into_programs();
            Ok(())
        }
        Some(program) => {
            let ended = Supervisor {
                ends: ends.into_supervisors(),
                children: Children::new()?,
                program,
                searches,
                search: MomentSearch::new(),
                is_stopped: false,
                is_partial: false,
                checkpoint: None,
                worker: None,
                no_worker: None,
            }
            .run();
            children::end_like(ended)
        }
    }
}

/// A copy of the program that waits.
#[derive(Clone, Copy, Debug)]
struct Checkpoint {
    moment: u64,
    process: i32,
}

#[derive(Debug)]
struct Supervisor {
    ends: Ends,
    children: Children,
    program: i32,
    /// True for a search; otherwise one moment is evaluated.
    searches: bool,
    search: MomentSearch,
    /// True once the program has sent that it ends at the decisive moment.
    is_stopped: bool,
    /// True if copies of the program lack a thread.
    is_partial: bool,
    checkpoint: Option<Checkpoint>,
    /// The copy that was sent to a moment and has not ended.
    worker: Option<i32>,
    /// The error of the system that keeps the checkpoint from being copied.
    no_worker: Option<i32>,
}

impl Supervisor {
    /// Follows the program to its end, and the search to its end.
    fn run(mut self) -> Ended {
        let ended = loop {
            self.children.wait_for_event(&self.ends.messages);
            self.take_messages();
            if let Some(ended) = self.children.ended(self.program) {
                break ended;
            }
            if self.children.got_sigterm() {
                self.children.kill(self.program);
                break Ended::Signal(libc::SIGTERM);
            }
        };
        self.take_messages();
        let is_cut_short = self.children.got_sigterm();
        self.record_end(ended, is_cut_short);
        if self.searches && !is_cut_short {
            self.go_back();
        }
        self.release(None);
        ended
    }

    /// Records how the way forward ended. `is_cut_short`: SIGTERM ended it.
    fn record_end(&mut self, ended: Ended, is_cut_short: bool) {
        if self.is_stopped {
            return;
        }
        let count = self.ends.shared.count.load(Relaxed);
        let evaluated = self.ends.shared.evaluated.swap(0, Relaxed);
        if evaluated > 0 {
            let how = ended.to_string();
            let how = if is_cut_short { "SIGTERM before its value was known" } else { &how };
            record::crash(Purpose::Probe, evaluated, how);
            let _ = self.search.record(evaluated, MomentVerdict::Bad);
        }
        let is_at_the_end = evaluated == 0 || matches!(self.search.step(), MomentStep::Forward(_));
        if is_cut_short && self.searches && is_at_the_end {
            record::cut_short(count);
        } else if !is_cut_short && (evaluated == 0 || self.searches && is_at_the_end) {
            record::ended(count);
            let _ = self.search.ended(count);
        }
    }

    /// Sends the checkpoint to moments until the search is over, or a new run is needed.
    fn go_back(&mut self) {
        loop {
            let (from, order) = match self.search.step() {
                MomentStep::Back { from, to } => (from, Order { to, describes: false }),
                MomentStep::Done(Finding::Change { good, bad }) => (good, Order { to: bad, describes: true }),
                MomentStep::Done(_) | MomentStep::Forward(_) => return,
            };
            if self.checkpoint.is_none_or(|checkpoint| checkpoint.moment != from) {
                return;
            }
            self.ends.order(order);
            let arrived = self.follow(order);
            self.await_worker();
            if !arrived || order.describes {
                return;
            }
        }
    }

    /// Follows a copy of the checkpoint to its moment. Returns false if it did not get there.
    fn follow(&mut self, order: Order) -> bool {
        let evaluations = self.search.evaluations();
        (self.worker, self.no_worker) = (None, None);
        // Look before waiting: if the checkpoint has already ended, no further event comes.
        loop {
            self.take_messages();
            if self.search.evaluations() > evaluations {
                return true;
            }
            // SIGTERM may have ended the copies, too. Then their end says nothing about the condition.
            if self.children.got_sigterm() {
                return false;
            }
            if let Some(errno) = self.no_worker {
                record::no_checkpoint(order.to, format_args!("{}", io::Error::from_raw_os_error(errno)));
                return false;
            }
            if let Some(ended) = self.worker.and_then(|worker| self.children.ended(worker)) {
                self.worker = None;
                // Its last message may have come since.
                self.take_messages();
                return self.search.evaluations() > evaluations || self.record_lost(order, ended);
            }
            if let Some(Checkpoint { process, .. }) = self.checkpoint
                && let Some(ended) = self.children.ended(process)
            {
                self.checkpoint = None;
                record::no_checkpoint(order.to, format_args!("the checkpoint ended with {ended}"));
                return false;
            }
            self.children.wait_for_event(&self.ends.messages);
        }
    }

    /// Records a copy that ended without a message. Returns false if it did not get to its moment.
    fn record_lost(&mut self, order: Order, ended: Ended) -> bool {
        let purpose = if order.describes { Purpose::Confirm } else { Purpose::Probe };
        if self.ends.shared.evaluated.swap(0, Relaxed) == order.to {
            record::crash(purpose, order.to, &ended.to_string());
            return self.search.record(order.to, MomentVerdict::Bad).is_ok();
        }
        // A witness sends nothing at its moment; its lines are in the file.
        if order.describes {
            return false;
        }
        if self.is_partial {
            record::no_checkpoint(order.to, format_args!("its main thread goes on between its moments"));
        } else {
            record::diverged(order.to, &ended.to_string());
        }
        false
    }

    /// Waits for the end of the copy that was on its way, unless it is the checkpoint now.
    fn await_worker(&mut self) {
        if let Some(worker) = self.worker.take()
            && self.checkpoint.is_none_or(|checkpoint| checkpoint.process != worker)
        {
            self.children.await_end(worker);
        }
    }

    fn take_messages(&mut self) {
        while let Some(message) = self.ends.message() {
            match message {
                Message::Probed { moment, verdict } => {
                    // In the program itself, this is a single moment if there is no search.
                    let _ = self.search.record(moment, verdict);
                }
                Message::Checkpoint { moment, process, is_whole } => {
                    self.is_partial |= !is_whole;
                    self.release(Some(Checkpoint { moment, process }));
                }
                Message::Worker { process } => self.worker = Some(process),
                Message::NoWorker { errno } => self.no_worker = Some(errno),
                Message::Stopped => self.is_stopped = true,
            }
        }
    }

    /// Ends the checkpoint, if there is one. `next` takes its place.
    fn release(&mut self, next: Option<Checkpoint>) {
        if let Some(Checkpoint { process, .. }) = std::mem::replace(&mut self.checkpoint, next) {
            self.children.kill(process);
        }
    }
}
