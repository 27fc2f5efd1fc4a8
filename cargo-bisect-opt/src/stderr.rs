//! Standard error as a shared stream: the trace may leave a line open, which other writers end first.

use std::{
    io::{self, Write},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// True if the last line on standard error is incomplete.
static IS_OPEN: Mutex<bool> = Mutex::new(false);

/// Exclusive access to the last line on standard error.
#[derive(Debug)]
pub(crate) struct LastLine(MutexGuard<'static, bool>);

/// Waits until no other writer uses standard error.
pub(crate) fn line() -> LastLine {
    // A flag is valid whatever its owner did.
    LastLine(IS_OPEN.lock().unwrap_or_else(PoisonError::into_inner))
}

impl LastLine {
    /// Returns true if the line is incomplete.
    pub(crate) fn is_open(&self) -> bool {
        *self.0
    }

    /// Records whether the line is incomplete.
    pub(crate) fn set_open(&mut self, is_open: bool) {
        *self.0 = is_open;
    }
}

/// Writes whole lines, after the end of an open line.
///
/// # Errors
/// If they cannot be written.
pub(crate) fn write_lines(text: &str) -> io::Result<()> {
    let mut line = line();
    let break_before = if line.is_open() { "\n" } else { "" };
    line.set_open(false);
    write!(io::stderr(), "{break_before}{text}")
}
