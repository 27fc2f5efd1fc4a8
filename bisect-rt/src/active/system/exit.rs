//! The end of this process without the end of the program: no code of the user runs.

use std::io::Write as _;

/// Ends the process at once.
#[cfg(unix)]
pub(crate) fn at_once(status: i32) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(status) }
}

/// Ends the process at once.
#[cfg(not(unix))]
pub(crate) fn at_once(status: i32) -> ! {
    std::process::exit(status)
}

/// Writes what the program has printed and the libraries still buffer, unless another thread may hold their locks.
pub(crate) fn flush_output(is_allowed: bool) {
    if !is_allowed {
        return;
    }
    // The program may be in the middle of printing: then this panics, and the rest of its line is left out.
    let flushed = std::panic::catch_unwind(|| {
        let _ = std::io::stdout().flush();
    });
    drop(flushed);
    #[cfg(unix)]
    // SAFETY: a null pointer stands for all streams. The caller has checked that no other thread can hold their locks.
    unsafe {
        libc::fflush(std::ptr::null_mut());
    }
}
