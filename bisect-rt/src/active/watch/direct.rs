//! A watched program without a supervisor: it counts its moments itself, and records their number at its normal end.

use std::{
    ffi::c_int,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use super::{counter, record};

/// True once the process ends because the search stopped it.
static STOPPED: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
}

/// Records the number of moments at the end of the program.
pub(super) fn begin() {
    extern "C" fn at_exit() {
        if !STOPPED.load(Relaxed) {
            record::ended(counter().load(Relaxed));
        }
    }
    // SAFETY: the function stays as long as its module, and the C library forgets it when the module is unloaded.
    unsafe { atexit(at_exit) };
}

/// Notes that the process ends because the search stops it.
pub(super) fn stopped() {
    STOPPED.store(true, Relaxed);
}
