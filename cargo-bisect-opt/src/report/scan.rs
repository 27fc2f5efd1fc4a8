//! Scanning of output for reports: the changes named by match markers, and their text.
//!
//! Output is read as bytes, since it need not be UTF-8, and as a stream, since it may be long. Nothing is allocated for
//! a line without a marker, or for a line that repeats a known report.

use std::{
    collections::{HashMap, HashSet},
    io::Read,
    path::Path,
};

use bisect_core::{ChangeId, marker};
use memchr::{memchr, memmem, memrchr, memrchr2};

use super::{content::Report, text};
use crate::process::{ReadAlong, own_file};

/// The beginning of every marker.
const PREFIX: &[u8] = b"[bisect-match ";
/// The length of the longest marker, which has 64 binary digits.
const LONGEST: usize = PREFIX.len() + 64 + 1;
/// Longer lines are scanned in pieces: a target that never ends a line must not fill the memory.
const LINE: usize = 64 << 10;
/// The maximum length of text that is kept before a marker, and after it.
const CONTEXT: usize = 2 << 10;
/// The maximum length of a line that is shown.
const SHOWN: usize = 200;
/// The maximum number of lines that are kept for one change: more than the frames of any stack.
const LINES: usize = 256;

/// The reports of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reports {
    pub(super) keep_text: bool,
    /// In the order of their first reports.
    pub(super) ids: Vec<ChangeId>,
    pub(super) known: HashSet<ChangeId>,
    /// If text is kept.
    pub(super) sources: HashMap<ChangeId, Source>,
}

/// The source of a report.
#[derive(Clone, Debug)]
pub(super) enum Source {
    Scanned(Text),
    Added(Box<Report>),
}

/// The text about one change. Repetitions by other processes are left out.
///
/// A report begins with a line that is not indented, and goes on with indented lines. A report of Go's runtime is a
/// call stack: two lines a frame, the second begins with a tab, and at the end a line with nothing but the marker. A
/// recursive stack has the same lines several times.
#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    pub(super) lines: Vec<String>,
    /// The first line of a known report, whose further lines are left out.
    pub(super) repeated: Option<String>,
    /// The first line of a call stack of Go that is not complete yet.
    pub(super) stack: Option<usize>,
}

impl Reports {
    /// Creates an empty set of reports. Text costs memory; `keep_text` is false if nobody reads it.
    #[must_use]
    pub(crate) fn new(keep_text: bool) -> Self {
        Self { keep_text, ..Self::default() }
    }

    /// Adds the reports in a file, which may still be written to.
    ///
    /// # Errors
    /// If the file cannot be read. Reports before the error are added.
    pub(crate) fn read_file(&mut self, path: &Path) -> std::io::Result<()> {
        let mut file = own_file::open(path)?;
        let mut scanner = self.scanner();
        let mut buffer = vec![0; LINE];
        let result = loop {
            match file.read(&mut buffer) {
                Ok(0) => break Ok(()),
                Ok(len) => scanner.read(&buffer[..len]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        scanner.end();
        result
    }

    /// Returns a scanner that adds the reports in a stream.
    pub(crate) fn scanner(&mut self) -> Scanner<'_> {
        Scanner { reports: self, partial: Vec::new() }
    }

    /// Returns the changes, each once, in the order of their first reports.
    #[must_use]
    pub(crate) fn ids(&self) -> &[ChangeId] {
        &self.ids
    }

    /// Returns the number of reported changes.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns what was reported about a change. Its text has the lines of each distinct report once, without markers
    /// and without empty lines.
    #[must_use]
    pub(crate) fn get(&self, id: ChangeId) -> Report {
        match self.sources.get(&id) {
            Some(Source::Added(report)) => Report::clone(report),
            Some(Source::Scanned(text)) => text::parse(id, text.lines.clone()),
            None => Report::new(id),
        }
    }

    /// Returns the changes for which text was kept, in any order. Changes of which only the ID is known may be millions.
    pub(crate) fn described(&self) -> impl Iterator<Item = ChangeId> + '_ {
        self.sources.keys().copied()
    }

    /// Adds a report that the target did not write itself.
    pub(crate) fn add(&mut self, report: Report) {
        if self.known.insert(report.id) {
            self.ids.push(report.id);
            if self.keep_text {
                self.sources.insert(report.id, Source::Added(report.into()));
            }
        }
    }

    /// Adds changes without text, each once: there may be millions.
    pub(crate) fn add_known(&mut self, ids: impl IntoIterator<Item = ChangeId>) {
        self.ids.extend(ids);
    }

    /// Adds the reports on whole lines. Every marker on a line counts: line breaks may get lost if two processes write
    /// to one terminal.
    fn scan(&mut self, lines: &[u8]) {
        for start in memmem::find_iter(lines, PREFIX) {
            let window = &lines[start..lines.len().min(start + LONGEST)];
            // A later marker in the window has its own turn.
            let Some((id, range)) = marker::find(window).filter(|(_, range)| range.start == 0) else { continue };
            if self.known.insert(id) {
                self.ids.push(id);
            }
            if self.keep_text {
                let source = self.sources.entry(id).or_insert_with(|| Source::Scanned(Text::default()));
                if let Source::Scanned(text) = source
                    && text.lines.len() < LINES
                {
                    text.add(lines, start, start + range.end);
                }
            }
        }
    }
}

impl Text {
    /// Adds the line around the marker at `lines[start..end]` without the marker.
    fn add(&mut self, lines: &[u8], start: usize, end: usize) {
        let before = &lines[start.saturating_sub(CONTEXT)..start];
        let before = memrchr(b'\n', before).map_or(before, |at| &before[at + 1..]);
        let after = &lines[end..lines.len().min(end + CONTEXT)];
        let after = memchr(b'\n', after).map_or(after, |at| &after[..at]);
        // As in `marker::cut`, one space beside the marker belongs to it.
        let (before, after) = match (before.strip_suffix(b" "), after.strip_prefix(b" ")) {
            (Some(before), _) => (before, after),
            (None, Some(after)) => (before, after),
            (None, None) => (before, after),
        };
        let after = after.strip_suffix(b"\r").unwrap_or(after);
        self.add_line(String::from_utf8_lossy(&[before, after].concat()).into_owned());
    }

    fn add_line(&mut self, line: String) {
        if line.is_empty() {
            self.end_stack();
        } else if line.starts_with('\t') {
            // The line before is a function, not a known report: other stacks also go through it.
            self.lines.extend(self.repeated.take());
            self.stack = self.stack.or(self.lines.len().checked_sub(1));
            self.lines.push(line);
        } else if self.stack.is_some() {
            self.lines.push(line);
        } else if line.starts_with(' ') {
            if self.repeated.is_none() {
                self.lines.push(line);
            }
        } else if self.lines.contains(&line) {
            self.repeated = Some(line);
        } else {
            self.repeated = None;
            self.lines.push(line);
        }
    }

    /// Ends a call stack of Go, and leaves it out if it was reported before.
    fn end_stack(&mut self) {
        self.repeated = None;
        let Some(start) = self.stack.take() else { return };
        let (before, stack) = self.lines.split_at(start);
        if before.windows(stack.len()).any(|lines| lines == stack) {
            self.lines.truncate(start);
        }
    }
}

/// Returns the first line of a file that reports a change.
pub(crate) fn line_with(path: &Path, id: ChangeId) -> Option<String> {
    let bytes = own_file::read(path).ok()?;
    let reports = |line: &[u8]| {
        memmem::find_iter(line, PREFIX).any(|start| {
            marker::find(&line[start..line.len().min(start + LONGEST)]).is_some_and(|(found, _)| found == id)
        })
    };
    let line = bytes.split(|&byte| byte == b'\n').find(|line| reports(line))?;
    Some(String::from_utf8_lossy(&line[..line.len().min(SHOWN)]).trim().to_owned())
}

/// A reader that cuts a stream into lines for [`Reports`].
#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    reports: &'a mut Reports,
    /// The bytes since the last line break.
    partial: Vec<u8>,
}

impl ReadAlong for Scanner<'_> {
    fn read(&mut self, mut bytes: &[u8]) {
        if !self.partial.is_empty() {
            let line = memchr(b'\n', bytes).map_or(bytes, |end| &bytes[..=end]);
            bytes = &bytes[line.len()..];
            self.extend(line);
            if line.ends_with(b"\n") {
                self.end();
            }
        }
        let lines = memrchr(b'\n', bytes).map_or(0, |end| end + 1);
        self.reports.scan(&bytes[..lines]);
        self.extend(&bytes[lines..]);
    }

    /// The last line need not have a line break.
    fn end(&mut self) {
        self.reports.scan(&self.partial);
        self.partial.clear();
    }
}

impl Scanner<'_> {
    fn extend(&mut self, bytes: &[u8]) {
        self.partial.extend_from_slice(bytes);
        if self.partial.len() > LINE {
            let end = unfinished_marker(&self.partial);
            self.reports.scan(&self.partial[..end]);
            self.partial.drain(..end);
        }
    }
}

/// Returns the beginning of an incomplete marker at the end of `bytes`, or the end of `bytes`.
fn unfinished_marker(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(LONGEST - 1);
    match memrchr2(b'[', b']', &bytes[from..]) {
        Some(at) if bytes[from + at] == b'[' => from + at,
        _ => bytes.len(),
    }
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
