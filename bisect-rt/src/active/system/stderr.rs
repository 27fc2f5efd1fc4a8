//! Standard error, by system calls alone.
//!
//! Its lock may be held by code that a signal has interrupted, or by a thread that does not exist after a `fork`.
//! Output by system calls also bypasses the capture of test output, which applies only to the print macros.

use std::{fmt, io::Write as _};

/// The number of bytes of the longest line; a longer one is cut.
const LINE: usize = 512;

/// Prints a message about this crate's own work, with a prefix that the driver recognises. Nothing is allocated.
pub(crate) fn say(text: fmt::Arguments<'_>) {
    let mut line = [0; LINE];
    let mut rest = &mut line[..LINE - 1];
    // Text that does not fit is left out.
    let _ = write!(rest, "bisect-rt: {text}");
    let len = LINE - 1 - rest.len();
    line[len] = b'\n';
    write(&line[..=len]);
}

/// Writes all bytes, as far as that is possible.
#[cfg(unix)]
pub(crate) fn write(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: the length is that of the bytes.
        let written = unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) => bytes = &bytes[written..],
            Err(_) if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Writes all bytes, as far as that is possible.
#[cfg(not(unix))]
pub(crate) fn write(bytes: &[u8]) {
    let _ = std::io::stderr().lock().write_all(bytes);
}
