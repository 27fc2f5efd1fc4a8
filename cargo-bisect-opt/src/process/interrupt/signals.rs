//! Signals on Unix: which ones are handled, and those that are left alone because whoever started us has ignored them, as
//! `nohup` does, and shells that start something in the background.

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

use crate::process;

/// Has `stop` called at every signal that asks us to end, from another thread.
///
/// # Errors
/// If handlers cannot be installed.
pub(super) fn handle(stop: impl Fn() + Send + 'static) -> io::Result<()> {
    // The default action for a file that is too large for a limit is to die. So it is an error of the write instead; and
    // unlike one that is ignored, a signal with a handler has its default action in the processes that we start.
    flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    let handled = [SIGINT, SIGTERM, SIGHUP, SIGTSTP].into_iter().filter(|&signal| !is_ignored(signal));
    let mut signals = Signals::new(handled)?;
    thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            if signal == SIGTSTP {
                // Runs are in sessions of their own, where Ctrl-Z does not reach them.
                process::pause_all();
                let _ = emulate_default_handler(signal);
                process::resume_all();
            } else {
                stop();
            }
        }
    })?;
    Ok(())
}

/// Whether the signal was ignored when we were started.
fn is_ignored(signal: i32) -> bool {
    // SAFETY: `sigaction` is plain data, for which zeros are valid.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    // SAFETY: without a new action this changes nothing, and `action` can be written to.
    let result = unsafe { libc::sigaction(signal, ptr::null(), &raw mut action) };
    result == 0 && action.sa_sigaction == libc::SIG_IGN
}
