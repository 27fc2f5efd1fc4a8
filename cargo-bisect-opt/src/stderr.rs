//! Standard error as a shared stream: the trace may leave a line open, or show live lines below all others.

use std::{
    fmt,
    io::{self, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError},
};

/// The end of standard error.
static END: Mutex<StreamEnd> = Mutex::new(StreamEnd { is_open: false, live_lines: None });

#[derive(Debug)]
struct StreamEnd {
    /// True if the last line is incomplete.
    is_open: bool,
    /// The lines that stay below all others.
    live_lines: Option<Arc<dyn LiveLines>>,
}

/// Lines that stay below all others.
pub(crate) trait LiveLines: fmt::Debug + Send + Sync {
    /// Writes whole lines above these.
    ///
    /// # Errors
    /// If they cannot be written.
    fn write_above(&self, text: &str) -> io::Result<()>;

    /// Removes these lines, calls `write` once, which may write to the terminal, and shows them again.
    fn while_hidden(&self, write: &mut dyn FnMut());
}

/// Exclusive access to the end of standard error.
#[derive(Debug)]
pub(crate) struct LastLine(MutexGuard<'static, StreamEnd>);

/// Waits until no other writer uses standard error.
pub(crate) fn line() -> LastLine {
    // It is valid whatever its owner did.
    LastLine(END.lock().unwrap_or_else(PoisonError::into_inner))
}

impl LastLine {
    /// Returns true if the line is incomplete.
    pub(crate) fn is_open(&self) -> bool {
        self.0.is_open
    }

    /// Records whether the line is incomplete.
    pub(crate) fn set_open(&mut self, is_open: bool) {
        self.0.is_open = is_open;
    }

    /// Sets the lines that stay below all others.
    pub(crate) fn set_live_lines(&mut self, live_lines: Option<Arc<dyn LiveLines>>) {
        self.0.live_lines = live_lines;
    }
}

/// Returns true if live lines are shown.
pub(crate) fn has_live_lines() -> bool {
    line().0.live_lines.is_some()
}

/// Writes whole lines, after the end of an open line, and above live lines.
///
/// # Errors
/// If they cannot be written.
pub(crate) fn write_lines(text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let mut line = line();
    if let Some(live_lines) = &line.0.live_lines {
        return live_lines.write_above(text);
    }
    let break_before = if line.is_open() { "\n" } else { "" };
    line.set_open(false);
    write!(io::stderr(), "{break_before}{text}")
}

/// Calls a function that writes to the terminal by other means, while no live lines are shown. The function must not
/// use this module.
pub(crate) fn beside_live_lines<T>(write: impl FnOnce() -> T) -> T {
    beside(Some(line()), write)
}

/// Calls a function that stops or ends this process, while no live lines are shown. It does not wait for another writer.
pub(crate) fn while_stopped(stop: impl FnOnce()) {
    let line = match END.try_lock() {
        Ok(end) => Some(LastLine(end)),
        Err(TryLockError::Poisoned(end)) => Some(LastLine(end.into_inner())),
        Err(TryLockError::WouldBlock) => None,
    };
    beside(line, stop);
}

fn beside<T>(line: Option<LastLine>, write: impl FnOnce() -> T) -> T {
    let Some(live_lines) = line.as_ref().and_then(|line| line.0.live_lines.as_ref()) else {
        drop(line);
        return write();
    };
    let (mut write, mut written) = (Some(write), None);
    live_lines.while_hidden(&mut || written = write.take().map(|write| write()));
    written.expect("live lines call it")
}
