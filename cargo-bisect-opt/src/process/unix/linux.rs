//! The descendants of a process on Linux, found in `/proc`.
//!
//! This process is the *subreaper* of its descendants: a process that loses its parent becomes its child, over any
//! number of generations. So a daemon is found among the descendants, and a variable in its environment says to which
//! run it belongs. After nearly every run this process has no children except those that it started. Then no process
//! remains, and the check is cheap.
//!
//! Each process is held by a descriptor (since Linux 5.3), which never names another one. On older systems only the
//! process group is ended.

use std::{
    collections::BTreeSet,
    fs, io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    process::Command,
    sync::{
        Once,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{
        Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpgrp, getpid, pidfd_open, pidfd_send_signal,
        set_child_subreaper, waitid,
    },
};

use bisect_core::protocol::names;

use super::leaders::{self, raw};

/// The variable that says to which run an orphan belongs.
const MARK: &str = names::OPT_RUN;

/// The marking variable of one family, with its value. Members have it in their environment unless they cleared that.
#[derive(Debug)]
pub(super) struct RunMark(String);

impl RunMark {
    /// The variable and its value.
    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

/// The interval of checks for ended members: none is needed, since their descriptors can be polled.
pub(super) const POLL_INTERVAL: Option<Duration> = None;

/// A process that leads its group, with its descendants.
#[derive(Debug)]
pub(super) struct Family {
    leader: Pid,
    mark: RunMark,
}

/// The part of a family to act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The members in the leader's group. Others have left it to go on, such as a compiler cache.
    Group,
    /// All members.
    Descendants,
}

/// Makes this process adopt orphans, and marks the processes that `command` will start.
pub(super) fn prepare(command: &mut Command) -> RunMark {
    static ONCE: Once = Once::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    ONCE.call_once(|| {
        // If this is forbidden, orphans are out of reach.
        let _ = set_child_subreaper(Some(getpid()));
    });
    let value = format!("{}.{}", raw(getpid()), COUNT.fetch_add(1, Ordering::Relaxed));
    command.env(MARK, &value);
    RunMark(format!("{MARK}={value}"))
}

/// Returns a descriptor that is readable once the process has exited.
pub(super) fn watch_exit(process: Pid) -> io::Result<OwnedFd> {
    Ok(pidfd_open(process, PidfdFlags::empty())?)
}

/// Reaps the adopted orphans that have exited.
pub(super) fn reap_orphans() {
    let leaders = leaders::lock();
    for orphan in adopted_children(&leaders) {
        // Children of other parts of this program stay in its group, and these parts reap them.
        if Process::read(orphan).is_some_and(|process| process.group != raw(getpgrp())) {
            let _ = waitid(WaitId::Pid(orphan), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        }
    }
}

impl Family {
    pub(super) fn new(leader: Pid, mark: RunMark) -> Self {
        Self { leader, mark }
    }

    pub(super) fn leader(&self) -> Pid {
        self.leader
    }

    /// Returns the living members, without the leader.
    pub(super) fn members(&self, scope: Scope) -> Vec<Member> {
        let group = raw(self.leader);
        let ours = match scope {
            Scope::Group => {
                // The leader has exited. So the others are descendants of adopted children. Usually there are none, and
                // then this is cheap.
                let mut processes = with_descendants(adopted_children(&leaders::lock()));
                processes.retain(|process| process.group == group);
                processes
            }
            Scope::Descendants => {
                let orphans = adopted_children(&leaders::lock()).into_iter();
                let is_ours = |id: &Pid| {
                    Process::read(*id).is_some_and(|orphan| orphan.group == group || self.has_mark(orphan.id))
                };
                with_descendants(orphans.filter(is_ours).chain([self.leader]).collect())
            }
        };
        ours.iter().filter_map(|process| self.open(process)).collect()
    }

    fn has_mark(&self, process: i32) -> bool {
        has_mark(process, &self.mark.0)
    }

    fn open(&self, process: &Process) -> Option<Member> {
        let id = Pid::from_raw(process.id).filter(|&id| id != self.leader)?;
        let fd = pidfd_open(id, PidfdFlags::empty()).ok()?;
        // The descriptor names the process that had this ID when it was opened. Read afterwards, the start time shows
        // whether that is the process that was found before.
        (Process::read(id)?.start == process.start && !has_exited(&fd)).then(|| {
            let in_group = process.group == raw(self.leader);
            Member { fd, in_group, gone: false }
        })
    }
}

fn has_mark(process: i32, mark: &str) -> bool {
    let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    environment.split(|&byte| byte == 0).any(|variable| variable == mark.as_bytes())
}

/// Sends a signal to the remaining members of a family whose driver has ended. Returns whether there were any.
pub(super) fn end_orphans(leader: Option<Pid>, mark: &str, signal: Signal) -> bool {
    let is_ours =
        |process: &Process| leader.is_some_and(|leader| process.group == raw(leader)) || has_mark(process.id, mark);
    let mut is_left = false;
    for process in scan().iter().filter(|process| is_ours(process)) {
        let Some(id) = Pid::from_raw(process.id) else { continue };
        let Ok(fd) = pidfd_open(id, PidfdFlags::empty()) else { continue };
        // See `Family::open`.
        if Process::read(id).is_some_and(|now| now.start == process.start) && !has_exited(&fd) {
            is_left = true;
            for signal in [signal, Signal::CONT] {
                let _ = pidfd_send_signal(&fd, signal);
            }
        }
    }
    is_left
}

/// A member of the family other than the leader.
#[derive(Debug)]
pub(super) struct Member {
    fd: OwnedFd,
    in_group: bool,
    gone: bool,
}

impl Member {
    /// Sends a signal to a member outside of the group. Members in the group get it with the group, and many programs
    /// treat a second signal as a harsher request.
    pub(super) fn signal(&self, signal: Signal) {
        if !self.in_group {
            let _ = pidfd_send_signal(&self.fd, signal);
        }
    }

    /// Reaps it if it was adopted and has exited.
    pub(super) fn reap(&self) {
        let _leaders = leaders::lock();
        let _ = waitid(WaitId::PidFd(self.fd.as_fd()), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    }

    pub(super) fn is_gone(&self) -> bool {
        self.gone
    }

    pub(super) fn set_gone(&mut self, gone: bool) {
        self.gone = gone;
    }

    /// Returns a descriptor that is readable once it has exited; `None` if it has.
    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        (!self.gone).then(|| self.fd.as_fd())
    }
}

fn has_exited(fd: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(fd, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// Returns the children of this process that are no leaders. The caller must hold the lock: the kernel's list may skip
/// a child if another one is reaped meanwhile.
fn adopted_children(leaders: &BTreeSet<i32>) -> Vec<Pid> {
    children(getpid()).into_iter().filter(|child| !leaders.contains(&raw(*child))).collect()
}

/// Returns these processes and their descendants.
fn with_descendants(mut processes: Vec<Pid>) -> Vec<Process> {
    let mut found = Vec::new();
    while let Some(process) = processes.pop() {
        processes.extend(children(process));
        found.extend(Process::read(process));
    }
    found
}

fn children(process: Pid) -> Vec<Pid> {
    listed_children(process).unwrap_or_else(|| {
        let all = scan();
        let children = all.iter().filter(|other| other.parent == raw(process));
        children.filter_map(|child| Pid::from_raw(child.id)).collect()
    })
}

/// Returns the children that the kernel lists, if it does (`CONFIG_PROC_CHILDREN`): at the thread that started them or,
/// for orphans, at any.
fn listed_children(process: Pid) -> Option<Vec<Pid>> {
    let mut children = Vec::new();
    let mut listed = false;
    for thread in fs::read_dir(format!("/proc/{}/task", raw(process))).ok()?.flatten() {
        // A thread may have ended meanwhile.
        let Ok(list) = fs::read_to_string(thread.path().join("children")) else { continue };
        listed = true;
        children.extend(list.split_ascii_whitespace().filter_map(|id| Pid::from_raw(id.parse().ok()?)));
    }
    listed.then_some(children)
}

/// Returns all processes of the system.
fn scan() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(|id| Process::read(Pid::from_raw(id)?)).collect()
}

/// The facts about a process in `/proc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    id: i32,
    parent: i32,
    group: i32,
    /// The start time in clock ticks since boot.
    start: u64,
}

impl Process {
    fn read(id: Pid) -> Option<Self> {
        Self::parse(&fs::read(format!("/proc/{}/stat", raw(id))).ok()?)
    }

    /// Parses the line of `/proc/PID/stat`. Its second field is a name in parentheses, which may contain any byte.
    fn parse(line: &[u8]) -> Option<Self> {
        let name = memchr::memchr(b'(', line)?;
        let end_of_name = memchr::memrchr(b')', line)?;
        let id = std::str::from_utf8(&line[..name]).ok()?.trim().parse().ok()?;
        // From the third field on: state, parent, group, …; the start is the 22nd.
        let mut fields = std::str::from_utf8(&line[end_of_name + 1..]).ok()?.split_ascii_whitespace().skip(1);
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let start = fields.nth(16)?.parse().ok()?;
        Some(Self { id, parent, group, start })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_may_have_any_name() {
        let stat = b"4711 (a) R 1 (\xff)) S 815 4712 4713 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 99999 1 2 3\n";
        assert_eq!(Process::parse(stat), Some(Process { id: 4711, parent: 815, group: 4712, start: 99999 }));
        for broken in [b"".as_slice(), b"4711", b"4711 (a", b"4711 (a) S", b"4711 (a) S 1 2 3", b"x (a) S 1 2 3"] {
            assert_eq!(Process::parse(broken), None);
        }
    }

    #[test]
    fn we_are_a_process() {
        let we = Process::read(getpid()).unwrap();
        assert_eq!(we.id, i32::try_from(std::process::id()).unwrap());
        assert_eq!(we.group, raw(getpgrp()));
        assert!(scan().contains(&we));
    }
}
