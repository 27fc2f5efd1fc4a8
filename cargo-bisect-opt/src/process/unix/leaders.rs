//! The children that [`run`](super::super::run) has started and not yet reaped, in all threads.
//!
//! Who looks for orphans must know which children are none.

use std::{
    collections::BTreeSet,
    io,
    process::{Child, Command, ExitStatus},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// Locked while children are started, listed or reaped.
static LEADERS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// The IDs of the leaders; as long as this is held, no child is started or reaped.
pub(super) fn lock() -> MutexGuard<'static, BTreeSet<i32>> {
    // What is done under the lock cannot stop halfway.
    LEADERS.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn spawn(command: &mut Command) -> io::Result<Child> {
    let mut leaders = lock();
    let child = command.spawn()?;
    leaders.insert(raw(Pid::from_child(&child)));
    Ok(child)
}

/// Reaps a leader that has exited. One that has been killed and still has not exited hangs in the kernel; then a thread
/// is left to wait for it.
pub(super) fn reap(mut child: Child) -> io::Result<ExitStatus> {
    let pid = Pid::from_child(&child);
    let mut leaders = lock();
    if let Some(status) = child.try_wait()? {
        leaders.remove(&raw(pid));
        return Ok(status);
    }
    drop(leaders);
    thread::Builder::new().name("reaper".into()).spawn(move || {
        // Without reaping it, so that this is not done while someone lists the children.
        let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        let mut leaders = lock();
        let _ = child.wait();
        leaders.remove(&raw(pid));
    })?;
    Err(io::Error::new(io::ErrorKind::TimedOut, "the process was killed but does not exit"))
}

/// A process ID as a number, which can be ordered.
pub(super) fn raw(pid: Pid) -> i32 {
    pid.as_raw_nonzero().get()
}
