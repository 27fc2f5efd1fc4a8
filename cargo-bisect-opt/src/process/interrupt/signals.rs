//! Signal handlers on Unix.
//!
//! Signals that the parent process ignores stay ignored, as for `nohup` and background jobs of shells.

use std::{
    io, mem, ptr,
    sync::{Arc, atomic::AtomicBool},
    thread,
};

use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGXFSZ},
    flag,
    iterator::Signals,
    low_level::emulate_default_handler,
};

use crate::{process, stderr};

/// Has another thread call `stop` at every signal that asks this process to end.
///
/// # Errors
/// If handlers cannot be installed.
pub(super) fn handle(stop: impl Fn() + Send + 'static) -> io::Result<()> {
    // By default, SIGXFSZ kills a process that writes beyond the limit for file sizes. With a handler, the write fails
    // instead. An ignored signal would stay ignored in our children; one with a handler gets its default action there.
    flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    let handled = [SIGINT, SIGTERM, SIGHUP, SIGTSTP].into_iter().filter(|&signal| !is_ignored(signal));
    let mut signals = Signals::new(handled)?;
    thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            if signal == SIGTSTP {
                // Ctrl-Z does not reach runs, since they have their own sessions.
                stderr::while_stopped(|| {
                    process::pause_all();
                    let _ = emulate_default_handler(signal);
                    process::resume_all();
                });
            } else {
                stop();
            }
        }
    })?;
    Ok(())
}

/// Returns whether the signal is ignored since the start of this process.
fn is_ignored(signal: i32) -> bool {
    // SAFETY: `sigaction` is plain data, for which zeros are valid.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    // SAFETY: without a new action this changes nothing, and `action` can be written to.
    let result = unsafe { libc::sigaction(signal, ptr::null(), &raw mut action) };
    result == 0 && action.sa_sigaction == libc::SIG_IGN
}
