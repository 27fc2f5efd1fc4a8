//! The guard: a process that ends the remaining runs if the driver is killed.
//!
//! The guard is another instance of this executable. It reads the beginnings and ends of runs from a pipe. When the
//! pipe is closed, the driver has ended, and all runs that have not ended are orphans. Daemons of ended runs are left
//! alone.
//!
//! `BISECT_OPT_GUARD` makes an instance of this executable the guard. `BISECT_OPT_RUN`, which has a unique value for
//! each run, identifies the processes that it ends.

use std::{
    collections::BTreeMap,
    env,
    io::{self, BufRead, Write},
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    sync::{Mutex, OnceLock, PoisonError},
    time::Instant,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, ioctl_fionbio},
    process::{Pid, Signal},
};

use bisect_core::protocol::names;

use super::{family, leaders};
use crate::process::own_executable::own_executable;

/// The variable that makes this executable a guard.
const VARIABLE: &str = names::OPT_GUARD;

static GUARD: OnceLock<Option<Mutex<Child>>> = OnceLock::new();

/// Starts a guard for this process. If that is impossible there is none.
pub(crate) fn start() {
    GUARD.get_or_init(|| spawn().ok().map(Mutex::new));
}

fn spawn() -> io::Result<Child> {
    let mut command = Command::new(own_executable()?);
    // A signal to the driver's group or terminal must not end the guard; and it must keep no directory busy.
    command.env_clear().env(VARIABLE, "1").current_dir("/").process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = leaders::spawn(&mut command)?;
    if let Some(pipe) = &child.stdin {
        // A guard that does not read must not block this process.
        ioctl_fionbio(pipe, true)?;
    }
    Ok(child)
}

/// Ends the guard and waits for it. Otherwise it stays a zombie where no process waits for orphans, as in many containers.
/// The guard first ends the processes that are left of runs.
pub(crate) fn finish() {
    let Some(guard) = GUARD.get().and_then(Option::as_ref) else { return };
    let mut guard = guard.lock().unwrap_or_else(PoisonError::into_inner);
    drop(guard.stdin.take());
    let process = Pid::from_child(&guard);
    if let Ok(exit) = family::watch_exit(process).or_else(|_| super::watch_exit_by_thread(process)) {
        let deadline = Instant::now() + super::GRACE_PERIOD + super::KILL_TIMEOUT + super::KILL_TIMEOUT;
        let left = || Timespec::try_from(deadline.saturating_duration_since(Instant::now())).ok();
        while poll(&mut [PollFd::new(&exit, PollFlags::IN)], left().as_ref()) == Err(Errno::INTR) {}
    }
    // A guard that was stopped stays.
    let _ = guard.try_wait();
}

/// Returns whether a process is the guard of this one.
pub(super) fn is_guard(process: Pid) -> bool {
    let guard = GUARD.get().and_then(Option::as_ref);
    guard.is_some_and(|guard| Pid::from_child(&guard.lock().unwrap_or_else(PoisonError::into_inner)) == process)
}

/// A guarded run.
#[derive(Debug)]
pub(super) struct Guarded(String);

impl Guarded {
    /// Has the guard end all processes with `mark`, which no other run has, if this process is killed.
    pub(super) fn new(mark: &str) -> Self {
        // The guard must know the mark before the first process exists.
        send(&format!("+{mark}\n"));
        Self(mark.to_owned())
    }

    /// Has the guard end the group of this process, too.
    pub(super) fn leads(&self, leader: Pid) {
        send(&format!("{} {}\n", leaders::raw(leader), self.0));
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        send(&format!("-{}\n", self.0));
    }
}

fn send(line: &str) {
    let Some(guard) = GUARD.get().and_then(Option::as_ref) else { return };
    let mut guard = guard.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pipe) = &mut guard.stdin {
        // If the guard has died, there is none, as on systems where none can be started.
        let _ = pipe.write_all(line.as_bytes());
    }
}

/// Does the work of a guard if this process is one. Returns whether it was one.
pub(crate) fn main() -> bool {
    if env::var_os(VARIABLE).is_none() {
        return false;
    }
    let mut families: Vec<_> = read(io::stdin().lock()).into_iter().collect();
    let mut signal = Signal::TERM;
    let mut deadline = Instant::now() + super::GRACE_PERIOD;
    while !families.is_empty() {
        families.retain(|(mark, leader)| family::end_orphans(*leader, mark, signal));
        if deadline <= Instant::now() {
            if signal == Signal::KILL {
                // A process hangs in the kernel, or may not be killed.
                break;
            }
            signal = Signal::KILL;
            deadline += super::KILL_TIMEOUT;
        }
        std::thread::sleep(CHECK_INTERVAL);
    }
    true
}

/// The interval of checks for remaining processes.
const CHECK_INTERVAL: std::time::Duration = std::time::Duration::from_millis(20);

/// Reads the pipe to its end. Returns the runs that have begun and not ended, by their marks, with their leaders.
fn read(pipe: impl BufRead) -> BTreeMap<String, Option<Pid>> {
    let mut runs = BTreeMap::new();
    for line in pipe.lines().map_while(Result::ok) {
        if let Some(mark) = line.strip_prefix('+') {
            runs.insert(mark.to_owned(), None);
        } else if let Some(mark) = line.strip_prefix('-') {
            runs.remove(mark);
        } else if let Some((leader, mark)) = line.split_once(' ')
            && let Some(run) = runs.get_mut(mark)
        {
            *run = leader.parse().ok().and_then(Pid::from_raw);
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_without_an_end_remain() {
        let text = b"+X=0\n12 X=0\n+X=1\n13 X=1\n-X=0\n+X=2\n99 X=9\n-X=8\nnoise\n+X=3\nx X=3\n";
        let expected = [("X=1", Pid::from_raw(13)), ("X=2", None), ("X=3", None)];
        assert_eq!(read(&text[..]), expected.map(|(mark, leader)| (mark.to_owned(), leader)).into());
    }
}
