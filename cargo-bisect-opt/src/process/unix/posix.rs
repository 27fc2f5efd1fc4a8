//! What a process has started, where only its process group tells.
//!
//! What leaves the group is out of reach here.
#![expect(clippy::unused_self, reason = "the same interface as on Linux")]

use std::{
    io,
    os::fd::{BorrowedFd, OwnedFd},
    process::Command,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// How often to see who is gone; nothing tells.
pub(super) const LOOK_AGAIN: Option<Duration> = Some(Duration::from_millis(5));

/// A process, the leader of its group, and what it has started.
#[derive(Debug)]
pub(super) struct Family {
    leader: Pid,
}

/// Which of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Who is still in the leader's group.
    Group,
    /// Everyone; here the same.
    Descendants,
}

/// Nothing tells a descendant, but a run has a number.
#[derive(Debug)]
pub(super) struct RunMark(String);

impl RunMark {
    /// The number.
    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

/// Sends a signal to what is left of a group whose driver has ended. Whether there is anyone left.
pub(super) fn end_orphans(leader: Option<Pid>, _: &str, signal: Signal) -> bool {
    let Some(leader) = leader else { return false };
    let _ = kill_process_group(leader, signal);
    let _ = kill_process_group(leader, Signal::CONT);
    test_kill_process_group(leader).is_ok()
}

/// Nothing is needed in the command.
pub(super) fn prepare(_: &mut Command) -> RunMark {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    RunMark(COUNT.fetch_add(1, Ordering::Relaxed).to_string())
}

/// There are no process descriptors here.
pub(super) fn watch_exit(_: Pid) -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Orphans go to `init`, which reaps them.
pub(super) fn reap_orphans() {}

impl Family {
    pub(super) fn new(leader: Pid, _: RunMark) -> Self {
        Self { leader }
    }

    pub(super) fn leader(&self) -> Pid {
        self.leader
    }

    /// The rest of the group as one, if there is any.
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
    /// Whoever signals members has signalled the group.
    pub(super) fn signal(&self, _: Signal) {}

    pub(super) fn reap(&self) {}

    /// A leader that has exited and is not yet reaped does not count here, unlike on Linux.
    pub(super) fn is_gone(&self) -> bool {
        test_kill_process_group(self.group).is_err()
    }

    pub(super) fn set_gone(&mut self, _: bool) {}

    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}
