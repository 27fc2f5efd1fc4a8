//! Standard error, by system calls alone.
//!
//! Its lock may be held by code that a signal has interrupted, or by a thread that does not exist after a `fork`.
//! Output by system calls also bypasses the capture of test output, which applies only to the print macros.

use std::{fmt, io::Write as _};

/// Bytes of the longest line; what is longer is cut.
const LINE: usize = 512;

/// Says something about this crate's own work, on a line by which the driver knows it. Nothing is allocated.
pub(crate) fn say(text: fmt::Arguments<'_>) {
    let mut line = [0; LINE];
    let mut rest = &mut line[..LINE - 1];
    // What does not fit is left out.
    let _ = write!(rest, "bisect-rt: {text}");
    let len = LINE - 1 - rest.len();
    line[len] = b'\n';
    write(&line[..=len]);
}

/// Writes all bytes, as far as that is possible.
#[cfg(unix)]
pub(crate) fn write(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: as many bytes as there are.
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
