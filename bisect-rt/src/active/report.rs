//! Reports of the changes that the pattern selects: each is written once, before any thread acts on the decision.

use std::{
    ffi::OsStr,
    fmt::{self, Write as _},
    fs::{File, OpenOptions},
    io::{self, Write as _},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use bisect_core::{ChangeId, marker, protocol::names::REPORT};

use super::{
    system::{size_limit, stderr},
    table::Table,
};

/// The IDs that were reported in this process.
static REPORTED: Table = Table::new();

/// The tag of those that are.
const DONE: u64 = 2;

/// The file that takes the reports, which is set before the first one. None: standard error does.
static FILE: OnceLock<File> = OnceLock::new();

/// Set once something was reported.
static ANY: AtomicBool = AtomicBool::new(false);

/// Set once standard error says that reports are lost.
static LOST: AtomicBool = AtomicBool::new(false);

/// Sends the reports of this process to an existing file. `append` makes each `write` a whole report, whatever other
/// threads and processes write.
pub(crate) fn open(path: &OsStr) -> io::Result<()> {
    let file = open_without_waiting(path)?;
    size_limit::note();
    // Only the start of the process comes here, once.
    let _ = FILE.set(file);
    Ok(())
}

/// A pipe is refused: to open it waits for a reader, and to write to it waits for what the reader does.
#[cfg(unix)]
fn open_without_waiting(path: &OsStr) -> io::Result<File> {
    use std::os::{
        fd::AsRawFd as _,
        unix::fs::{FileTypeExt as _, OpenOptionsExt as _},
    };

    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let opened = OpenOptions::new().append(true).custom_flags(flags).open(path);
    let pipe = || io::Error::new(io::ErrorKind::InvalidInput, "it is a pipe, which might block the program");
    // What nobody reads from.
    let file = opened.map_err(|error| if error.raw_os_error() == Some(libc::ENXIO) { pipe() } else { error })?;
    let kind = file.metadata()?.file_type();
    if kind.is_fifo() || kind.is_socket() {
        return Err(pipe());
    }
    // SAFETY: a file of ours.
    unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, libc::O_APPEND) };
    Ok(file)
}

#[cfg(not(unix))]
fn open_without_waiting(path: &OsStr) -> io::Result<File> {
    OpenOptions::new().append(true).open(path)
}

/// Returns whether this process has reported anything.
pub(crate) fn any() -> bool {
    ANY.load(Relaxed)
}

/// Reports a change, if that was not done before; it is written when this returns.
///
/// Without a text the report is the marker alone. The text is made before the ID is claimed, so that other threads wait
/// for no more than a `write`.
pub(crate) fn once(id: ChangeId, text: Option<impl FnOnce(&mut Text)>) {
    // Asked first only where the text would be made in vain: most who come here have something new to report.
    if text.is_some() && REPORTED.get(id.0) == Some(DONE) {
        return;
    }
    let report = Report::new(id, text);
    REPORTED.once(id.0, DONE, || report.write());
}

/// The lines that report a change.
pub(crate) enum Report {
    /// For the driver.
    Marker([u8; marker::LEN + 1]),
    /// For people.
    Text(Text),
}

impl Report {
    /// Without a text it is the marker alone, and nothing is allocated.
    pub(crate) fn new(id: ChangeId, text: Option<impl FnOnce(&mut Text)>) -> Self {
        let marker = marker::format(id);
        let Some(text) = text else {
            let mut line = [b'\n'; marker::LEN + 1];
            line[..marker::LEN].copy_from_slice(&marker);
            return Self::Marker(line);
        };
        let mut lines = Text { marker, lines: String::new() };
        text(&mut lines);
        Self::Text(lines)
    }

    /// Writes it, however often it was written before.
    pub(crate) fn write(&self) {
        write(match self {
            Self::Marker(line) => line,
            Self::Text(text) => text.lines.as_bytes(),
        });
    }
}

/// A report for people: lines that all carry its marker.
pub(crate) struct Text {
    marker: [u8; marker::LEN],
    lines: String,
}

impl Text {
    /// Adds a line.
    pub(crate) fn line(&mut self, text: fmt::Arguments<'_>) {
        let marker = str::from_utf8(&self.marker).expect("a marker is ASCII");
        writeln!(self.lines, "{text} {marker}").expect("a `String` takes everything");
    }
}

/// Writes a report. The program goes on without it if that fails, but the driver must know that.
fn write(report: &[u8]) {
    ANY.store(true, Relaxed);
    match FILE.get() {
        Some(mut file) => {
            if let Err(error) = size_limit::without_its_signal(|| file.write_all(report))
                && !LOST.swap(true, Relaxed)
            {
                stderr::say(format_args!("{REPORT}: {}: reports are lost", error.kind()));
            }
        }
        // If that fails there is nobody left to tell.
        None => stderr::write(report),
    }
}
