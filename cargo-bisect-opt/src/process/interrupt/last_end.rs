//! The end of this process at the second Ctrl-C, even if a thread hangs in a system call.
//!
//! The orderly end waits for all threads. One that waits for a dead file system or for a terminal hears no request. So
//! some time after the second request the process ends without its threads.

use std::{
    sync::{Once, mpsc},
    thread,
    time::Duration,
};

#[cfg(unix)]
use crate::process;
use crate::{process::scratch_dir, stderr};

/// The time that the orderly end has after the second request.
const ORDERLY_END: Duration = Duration::from_secs(2);
/// The time to delete files and to restore the terminal, which may hang as well.
const CLEANING: Duration = Duration::from_secs(1);

/// Has this process end soon with this status, even if threads hang. Does nothing if it was called before.
pub(super) fn end_soon(status: u8) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let end = move || {
            thread::sleep(ORDERLY_END);
            clean_up(status);
            end_now(status);
        };
        if thread::Builder::new().name("end".into()).spawn(end).is_err() {
            end_now(status);
        }
    });
}

/// Ends runs and deletes files, as far as that is possible in a short time. The guard and the next search do the rest.
fn clean_up(status: u8) {
    let (done, is_done) = mpsc::channel::<()>();
    let cleaning = thread::Builder::new().name("cleaning".into()).spawn(move || {
        #[cfg(unix)]
        process::kill_all();
        scratch_dir::delete_all();
        // Live lines would be shown again after this.
        stderr::while_stopped(|| end_now(status));
        drop(done);
    });
    if cleaning.is_ok() {
        let _ = is_done.recv_timeout(CLEANING);
    }
}

/// Ends this process without waiting for anything.
fn end_now(status: u8) -> ! {
    #[cfg(unix)]
    // SAFETY: `_exit` only ends the process. Neither destructors nor handlers run.
    unsafe {
        libc::_exit(status.into())
    }
    #[cfg(not(unix))]
    std::process::exit(status.into())
}
