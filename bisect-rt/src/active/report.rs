//! Reports of the changes that the pattern selects: each is written once, before any thread acts on the decision.
//!
//! The file is opened with `O_APPEND`, so a crash, captured output and child processes lose nothing.

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

/// The IDs that this process has reported.
static REPORTED: Table = Table::new();

/// The tag of reported IDs.
const DONE: u64 = 2;

/// The file for reports, which is set before the first report. Without one, reports go to standard error.
static FILE: OnceLock<File> = OnceLock::new();

/// True if the file is one that the user or a driver named, and not a copy of standard error.
static IS_NAMED: AtomicBool = AtomicBool::new(false);

/// True once this process has reported a change.
static ANY: AtomicBool = AtomicBool::new(false);

/// True once a line on standard error has said that reports are lost.
static LOST: AtomicBool = AtomicBool::new(false);

/// Sends the reports of this process to an existing file. Because of `append`, each `write` is a whole report, even
/// when other threads and processes write at the same time.
pub(crate) fn open(path: &OsStr) -> io::Result<()> {
    if FILE.get().is_some() {
        return Ok(());
    }
    let file = open_without_waiting(path)?;
    IS_NAMED.store(true, Relaxed);
    size_limit::note();
    // Only the start of the process calls this, once.
    let _ = FILE.set(file);
    Ok(())
}

/// Duplicates standard error for reports, if there is no file: copies of this process redirect standard error to
/// discard what the program prints there.
pub(crate) fn keep_stderr() {
    #[cfg(unix)]
    if FILE.get().is_none()
        && let Ok(file) = std::os::fd::AsFd::as_fd(&io::stderr()).try_clone_to_owned()
    {
        let _ = FILE.set(file.into());
    }
}

/// Returns true if reports go to a file that the user or a driver named.
pub(crate) fn has_named_file() -> bool {
    IS_NAMED.load(Relaxed)
}

/// Returns the descriptor of the file for reports.
#[cfg(target_os = "linux")]
pub(crate) fn file_number() -> Option<std::ffi::c_int> {
    FILE.get().map(std::os::fd::AsRawFd::as_raw_fd)
}

/// Writes lines about a watched condition.
pub(crate) fn write_lines(lines: &str) {
    write(lines.as_bytes());
}

/// Opens the file, and refuses a pipe: opening one waits for a reader, and writing to one can wait, too.
#[cfg(unix)]
fn open_without_waiting(path: &OsStr) -> io::Result<File> {
    use std::os::{
        fd::AsRawFd as _,
        unix::fs::{FileTypeExt as _, OpenOptionsExt as _},
    };

    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let opened = OpenOptions::new().append(true).custom_flags(flags).open(path);
    let pipe = || io::Error::new(io::ErrorKind::InvalidInput, "it is a pipe, which might block the program");
    // The error of a pipe without a reader.
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

/// Returns true if this process has reported a change.
pub(crate) fn any() -> bool {
    ANY.load(Relaxed)
}

/// A closure that makes the text of a report.
pub(crate) type MakesText<'a> = &'a mut dyn FnMut(&mut Text);

/// Reports a change, unless this was done before. The report is written when this returns.
///
/// Without a text, the report is the marker alone. The text is made before the ID is claimed, so other threads wait
/// only for a `write`.
///
/// Not generic, so that a program has it once.
pub(crate) fn once(id: ChangeId, text: Option<MakesText<'_>>) {
    // This check avoids making a text that is not needed. Without a text it would save nothing, because most callers
    // have a new change to report.
    if text.is_some() && REPORTED.get(id.0) == Some(DONE) {
        return;
    }
    let report = Report::new(id, text);
    REPORTED.once(id.0, DONE, || report.write());
}

/// The lines that report a change.
pub(crate) enum Report {
    /// The report for the driver.
    Marker([u8; marker::LEN + 1]),
    /// The report for people.
    Text(Text),
}

impl Report {
    /// Makes a report. Without a text it is the marker alone, and nothing is allocated.
    pub(crate) fn new(id: ChangeId, text: Option<MakesText<'_>>) -> Self {
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

    /// Writes the report, even if it was written before.
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

/// Writes a line for the driver that reports no change, if there is a file for reports.
pub(crate) fn note(text: fmt::Arguments<'_>) {
    if FILE.get().is_some() {
        write(format!("bisect-rt: {text}\n").as_bytes());
    }
}

/// Writes a report. If this fails, the program goes on without it, but the driver must know that.
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
        // If this fails, there is no other place for a message.
        None => stderr::write(report),
    }
}
