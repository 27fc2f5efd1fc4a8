//! The stop for a debugger.

/// Stops in the debugger that runs this process. Without a debugger, the process ends.
#[cfg(unix)]
pub(crate) fn stop() {
    // SAFETY: `raise` has no preconditions.
    unsafe { libc::raise(libc::SIGTRAP) };
}

/// Does nothing: only on Unix can the process be stopped.
#[cfg(not(unix))]
pub(crate) fn stop() {}
