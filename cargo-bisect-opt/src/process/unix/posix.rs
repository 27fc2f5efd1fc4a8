//! The descendants of a process on other Unix systems: its process group.
//!
//! Processes that leave the group are out of reach here.
#![expect(clippy::unused_self, reason = "the same interface as on Linux")]

use std::{
    io,
    os::fd::{BorrowedFd, OwnedFd},
    process::Command,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// The interval of checks for ended members: nothing announces their ends.
pub(super) const POLL_INTERVAL: Option<Duration> = Some(Duration::from_millis(5));

/// A process that leads its group, with the rest of the group.
#[derive(Debug)]
pub(super) struct Family {
    leader: Pid,
}

/// The part of a family to act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The members in the leader's group.
    Group,
    /// All members; here the same.
    Descendants,
}

/// The number of a run. It does not mark processes here.
#[derive(Debug)]
pub(super) struct RunMark(String);

impl RunMark {
    /// The number as text.
    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

/// Sends a signal to the rest of a group whose driver has ended. Returns whether there was any.
pub(super) fn end_orphans(leader: Option<Pid>, _: &str, signal: Signal) -> bool {
    let Some(leader) = leader else { return false };
    let _ = kill_process_group(leader, signal);
    let _ = kill_process_group(leader, Signal::CONT);
    test_kill_process_group(leader).is_ok()
}

/// Numbers the run. The command needs no preparation here.
pub(super) fn prepare(_: &mut Command) -> RunMark {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    RunMark(COUNT.fetch_add(1, Ordering::Relaxed).to_string())
}

/// Fails: there are no process descriptors here.
pub(super) fn watch_exit(_: Pid) -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Does nothing: `init` adopts orphans and reaps them.
pub(super) fn reap_orphans() {}

impl Family {
    pub(super) fn new(leader: Pid, _: RunMark) -> Self {
        Self { leader }
    }

    pub(super) fn leader(&self) -> Pid {
        self.leader
    }

    /// Returns the rest of the group as one member, if there is any.
    pub(super) fn members(&self, _: Scope) -> Vec<Member> {
        let rest = Member { group: self.leader };
        if rest.is_gone() { Vec::new() } else { vec![rest] }
    }
}

/// The rest of a group.
#[derive(Debug)]
pub(super) struct Member {
    group: Pid,
}

impl Member {
    /// Does nothing: the group was signalled.
    pub(super) fn signal(&self, _: Signal) {}

    pub(super) fn reap(&self) {}

    /// Returns whether the group is empty. Unlike on Linux, an exited leader that is not yet reaped does not count.
    pub(super) fn is_gone(&self) -> bool {
        test_kill_process_group(self.group).is_err()
    }

    pub(super) fn set_gone(&mut self, _: bool) {}

    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}
