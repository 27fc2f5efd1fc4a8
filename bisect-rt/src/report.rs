//! Reports: which changes the pattern selected, told once each and before anyone acts on them.

use std::{
    ffi::OsString,
    fmt::{self, Write as _},
    fs::{File, OpenOptions},
    io::{self, Write as _},
};

use bisect_core::{ChangeId, marker};
use once_cell::race::OnceBox;

use crate::table::Table;

/// The IDs that were reported in this process.
static REPORTED: Table = Table::new();

/// The tag of those that are.
const DONE: u64 = 2;

/// The file that takes the reports. None: standard error does.
static FILE: OnceBox<File> = OnceBox::new();

/// Where reports go; it has to exist.
pub(crate) const VARIABLE: &str = "BISECT_REPORT";

/// Sends the reports of this process to an existing file. `append` makes each `write` a whole report, whatever other
/// threads and processes write.
pub(crate) fn open(path: OsString) -> io::Result<()> {
    let file = OpenOptions::new().append(true).open(path)?;
    // Only the start of the process comes here, once.
    let _ = FILE.set(Box::new(file));
    Ok(())
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

/// What a report is to people: lines that all carry its marker.
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

/// Writes a report. If that fails there is nobody left to tell.
fn write(report: &[u8]) {
    let _ = match FILE.get() {
        Some(mut file) => file.write_all(report),
        // Under the lock, and past the capture of test output, which only the print macros go through.
        None => io::stderr().lock().write_all(report),
    };
}
