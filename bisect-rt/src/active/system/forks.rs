//! Copies of this process.

#[cfg(target_os = "linux")]
pub(crate) use self::copies::{Side, fork_orphan, fork_program};

use std::sync::{
    OnceLock,
    atomic::{AtomicBool, Ordering::Relaxed},
};

/// True while this crate, and not the program, forks the process.
static IS_OURS: AtomicBool = AtomicBool::new(false);
static IN_CHILD: OnceLock<fn()> = OnceLock::new();

/// Registers a function to be called in each child that the program itself forks.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(crate) fn in_each_child(function: fn()) {
    extern "C" fn in_child() {
        if !IS_OURS.load(Relaxed)
            && let Some(function) = IN_CHILD.get()
        {
            function();
        }
    }
    // Only the start of the process calls this, once.
    if IN_CHILD.set(function).is_ok() {
        // SAFETY: the function stays as long as its module, which is the program's own.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub(crate) fn in_each_child(_: fn()) {}

#[cfg(target_os = "linux")]
mod copies {
    use std::{io, mem::MaybeUninit, ptr};

    use super::{IS_OURS, Relaxed};
    use crate::active::system::exit;

    /// The process in which a call returns that has made a copy.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Side {
        Original,
        Copy,
    }

    /// The supervisor of the program, which adopts orphans.
    static SUPERVISOR: std::sync::OnceLock<i32> = std::sync::OnceLock::new();

    /// Forks the program off. Returns the child, or `None` in the child, which ends when this process ends.
    pub(crate) fn fork_program() -> io::Result<Option<i32>> {
        let supervisor = this_process();
        // Only the start of the process calls this, once.
        let _ = SUPERVISOR.set(supervisor);
        match fork()? {
            0 => {
                end_with(supervisor);
                Ok(None)
            }
            child => Ok(Some(child)),
        }
    }

    /// Makes a copy of this process that is not its child: the program might wait for all of its children. The
    /// supervisor adopts the copy. `announce` gets the process ID of the copy, before this returns in the original.
    pub(crate) fn fork_orphan(announce: impl FnOnce(i32)) -> io::Result<Side> {
        let signals = BlockedSignals::block();
        IS_OURS.store(true, Relaxed);
        let forked = fork().and_then(|child| if child == 0 { in_between(announce) } else { reap(child, &signals) });
        IS_OURS.store(false, Relaxed);
        forked
    }

    /// Makes the copy, in the intermediate child. Returns in the copy.
    fn in_between(announce: impl FnOnce(i32)) -> io::Result<Side> {
        let parent = this_process();
        match fork() {
            Ok(0) => {
                // The parent ends at once; then the supervisor is the parent.
                while parent_process() == parent {
                    // SAFETY: it has no preconditions.
                    unsafe { libc::sched_yield() };
                }
                if let Some(&supervisor) = SUPERVISOR.get() {
                    end_with(supervisor);
                }
                Ok(Side::Copy)
            }
            Ok(copy) => {
                announce(copy);
                exit::at_once(0)
            }
            Err(error) => exit::at_once(error.raw_os_error().unwrap_or(libc::EAGAIN)),
        }
    }

    /// Waits for the intermediate child, and consumes its signal, so that the program does not notice it.
    fn reap(child: i32, signals: &BlockedSignals) -> io::Result<Side> {
        let mut status = 0;
        loop {
            // SAFETY: the status is written to.
            let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
            match io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR) if waited < 0 => {}
                // The program ignores its children, so nothing is known about this one.
                Some(libc::ECHILD) if waited < 0 => return Ok(Side::Original),
                _ => break,
            }
        }
        signals.take_back(child);
        match libc::WEXITSTATUS(status) {
            0 if libc::WIFEXITED(status) => Ok(Side::Original),
            errno => Err(io::Error::from_raw_os_error(errno)),
        }
    }

    fn fork() -> io::Result<i32> {
        // SAFETY: the callers make copies only where no other thread runs that a copy would need.
        let process = unsafe { libc::fork() };
        if process < 0 { Err(io::Error::last_os_error()) } else { Ok(process) }
    }

    /// Lets this process end when its parent does.
    fn end_with(parent: i32) {
        // SAFETY: it has no preconditions.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        if parent_process() != parent {
            exit::at_once(0);
        }
    }

    fn this_process() -> i32 {
        // SAFETY: it has no preconditions.
        unsafe { libc::getpid() }
    }

    fn parent_process() -> i32 {
        // SAFETY: it has no preconditions.
        unsafe { libc::getppid() }
    }

    /// All signals of this thread, blocked until this is dropped.
    struct BlockedSignals {
        before: libc::sigset_t,
        /// True if the signal of a child was pending before.
        had_child: bool,
    }

    impl BlockedSignals {
        fn block() -> Self {
            let (mut all, mut before, mut pending) =
                (MaybeUninit::uninit(), MaybeUninit::zeroed(), MaybeUninit::zeroed());
            // SAFETY: the first set is initialized before it is used, and the others as empty ones.
            unsafe {
                libc::sigfillset(all.as_mut_ptr());
                libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
                libc::sigpending(pending.as_mut_ptr());
                let had_child = libc::sigismember(pending.as_ptr(), libc::SIGCHLD) == 1;
                Self { before: before.assume_init(), had_child }
            }
        }

        /// Consumes the signal of our child.
        fn take_back(&self, child: i32) {
            if self.had_child {
                return;
            }
            let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            let (mut signal, mut info) = (MaybeUninit::uninit(), MaybeUninit::<libc::siginfo_t>::zeroed());
            // SAFETY: the set is initialized before it is used. If there was a signal, the information is about a
            // child.
            unsafe {
                libc::sigemptyset(signal.as_mut_ptr());
                libc::sigaddset(signal.as_mut_ptr(), libc::SIGCHLD);
                let taken = libc::sigtimedwait(signal.as_ptr(), info.as_mut_ptr(), &raw const at_once);
                if taken == libc::SIGCHLD && info.assume_init().si_pid() != child {
                    libc::kill(libc::getpid(), libc::SIGCHLD);
                }
            }
        }
    }

    impl Drop for BlockedSignals {
        fn drop(&mut self) {
            // SAFETY: the set was read from the system.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, ptr::null_mut()) };
        }
    }
}
