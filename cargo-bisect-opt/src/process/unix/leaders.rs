//! The children that [`run`](super::super::run) has started and not yet reaped, in all threads.
//!
//! The search for orphans must not take them for orphans.

use std::{
    collections::BTreeSet,
    io,
    process::{Child, Command, ExitStatus},
    sync::{Mutex, MutexGuard, PoisonError, TryLockError},
    thread,
};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::process::machine_fault::patiently;

/// The IDs of the leaders. Locked while children are started, listed or reaped.
static LEADERS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Locks the IDs of the leaders: while the lock is held, no child is started or reaped.
pub(super) fn lock() -> MutexGuard<'static, BTreeSet<i32>> {
    // The set is consistent even if a thread panicked.
    LEADERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks them like [`lock`], unless another thread has the lock.
pub(super) fn try_lock() -> Option<MutexGuard<'static, BTreeSet<i32>>> {
    match LEADERS.try_lock() {
        Ok(leaders) => Some(leaders),
        Err(TryLockError::Poisoned(leaders)) => Some(leaders.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

pub(super) fn spawn(command: &mut Command) -> io::Result<Child> {
    // The lock is not held during the pauses.
    patiently(|| {
        let mut leaders = lock();
        let child = command.spawn()?;
        leaders.insert(raw(Pid::from_child(&child)));
        Ok(child)
    })
}

/// Reaps a leader that has exited. One that was killed but has not exited hangs in the kernel: a thread waits for it.
pub(super) fn reap(mut child: Child) -> io::Result<ExitStatus> {
    let pid = Pid::from_child(&child);
    let mut leaders = lock();
    if let Some(status) = uninterrupted(|| child.try_wait())? {
        leaders.remove(&raw(pid));
        return Ok(status);
    }
    drop(leaders);
    thread::Builder::new().name("reaper".into()).spawn(move || {
        // Without reaping it: that must not happen while another thread lists the children.
        let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        let mut leaders = lock();
        let _ = child.wait();
        leaders.remove(&raw(pid));
    })?;
    Err(io::Error::new(io::ErrorKind::TimedOut, "the process was killed but does not exit"))
}

/// Makes a system call again while signals interrupt it.
fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Returns a process ID as a number, which can be ordered.
pub(super) fn raw(pid: Pid) -> i32 {
    pid.as_raw_nonzero().get()
}
