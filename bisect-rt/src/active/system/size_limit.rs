//! The limit on the size of files (`ulimit -f`), at which a report must fail without a signal.
//!
//! By default, the kernel sends a signal to a process that writes beyond the limit, which ends the process.

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use self::system::{note, without_its_signal};

/// Does nothing on other platforms.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn note() {}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn without_its_signal<T>(work: impl FnOnce() -> T) -> T {
    work()
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use std::{
        mem::MaybeUninit,
        ptr,
        sync::atomic::{AtomicBool, Ordering::Relaxed},
    };

    /// True if there was a limit when the process began. Without one, a report takes one system call instead of four.
    static EXISTS: AtomicBool = AtomicBool::new(false);

    /// Checks if there is a limit.
    pub(crate) fn note() {
        let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: the limit is written to, or left as it is.
        unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
        EXISTS.store(limit.rlim_cur != libc::RLIM_INFINITY, Relaxed);
    }

    /// Runs work that may write to a file. At the limit, a write ends with an error instead of a signal.
    pub(crate) fn without_its_signal<T>(work: impl FnOnce() -> T) -> T {
        if !EXISTS.load(Relaxed) {
            return work();
        }
        let (mut signal, mut before) = (MaybeUninit::uninit(), MaybeUninit::zeroed());
        // SAFETY: the set is initialized before it is used; the other is initialized as an empty one.
        unsafe {
            libc::sigemptyset(signal.as_mut_ptr());
            libc::sigaddset(signal.as_mut_ptr(), libc::SIGXFSZ);
            libc::pthread_sigmask(libc::SIG_BLOCK, signal.as_ptr(), before.as_mut_ptr());
        }
        let done = work();
        // SAFETY: as above. A signal that was blocked before must not be consumed here.
        unsafe {
            if libc::sigismember(before.as_ptr(), libc::SIGXFSZ) == 0 {
                let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
                libc::sigtimedwait(signal.as_ptr(), ptr::null_mut(), &raw const at_once);
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut());
        }
        done
    }
}
