//! What a target reported: the changes named by match markers, and the text that came with them.
//!
//! Targets are read as bytes, since what they print need not be UTF-8, and as a stream, since they may print a lot:
//! nothing is allocated for a line that has no marker or repeats what is known.

use std::{
    collections::{HashMap, HashSet},
    io::Read,
    path::Path,
};

use bisect_core::{ChangeId, marker};
use memchr::{memchr, memmem, memrchr, memrchr2};

use super::{content::Report, text};
use crate::process::ReadAlong;

/// How every marker begins.
const PREFIX: &[u8] = b"[bisect-match ";
/// Bytes of the longest marker: 64 binary digits.
const LONGEST: usize = PREFIX.len() + 64 + 1;
/// A longer line is scanned in pieces, so that a target that never ends a line does not fill our memory.
const LINE: usize = 64 << 10;
/// So much of the text before a marker, and so much of that behind it, is kept for people.
const CONTEXT: usize = 2 << 10;
/// Bytes of a line that is shown.
const SHOWN: usize = 200;
/// So many lines are kept for one change: more than the frames of any stack.
const LINES: usize = 256;

/// The changes that a run reported.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reports {
    keep_text: bool,
    /// In the order of their first reports.
    ids: Vec<ChangeId>,
    known: HashSet<ChangeId>,
    /// If text is kept.
    sources: HashMap<ChangeId, Source>,
}

/// Where the report of a change comes from.
#[derive(Clone, Debug)]
enum Source {
    Scanned(Text),
    Added(Box<Report>),
}

/// What was said about one change. Other processes may say the same again, which is left out.
///
/// A report begins with a line that is not indented, and goes on with indented lines. A report of Go's runtime is a call
/// stack: two lines a frame, the second begins with a tab, and at the end a line with nothing but the marker. A
/// recursive stack has the same lines several times.
#[derive(Clone, Debug, Default)]
struct Text {
    lines: Vec<String>,
    /// The first line of a report that is known. The lines that follow it are left out.
    repeated: Option<String>,
    /// Where Go's call stack begins that has not come to its end yet.
    stack: Option<usize>,
}

impl Reports {
    /// No reports yet. Where nobody will read the text of reports, `keep_text` should be false: it costs memory.
    #[must_use]
    pub(crate) fn new(keep_text: bool) -> Self {
        Self { keep_text, ..Self::default() }
    }

    /// Adds the reports in a file, which may still be written to.
    ///
    /// # Errors
    /// If the file cannot be read; what was read of it counts.
    pub(crate) fn read_file(&mut self, path: &Path) -> std::io::Result<()> {
        let mut file = fs_err::File::open(path)?;
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

    /// Returns a scanner that adds what a stream reports.
    pub(crate) fn scanner(&mut self) -> Scanner<'_> {
        Scanner { reports: self, partial: Vec::new() }
    }

    /// The changes, each once, in the order of their first reports.
    #[must_use]
    pub(crate) fn ids(&self) -> &[ChangeId] {
        &self.ids
    }

    /// How many changes were reported.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns what was reported about a change. Its text has the lines of each distinct report once, without markers and
    /// without empty lines.
    #[must_use]
    pub(crate) fn get(&self, id: ChangeId) -> Report {
        match self.sources.get(&id) {
            Some(Source::Added(report)) => Report::clone(report),
            Some(Source::Scanned(text)) => text::parse(id, text.lines.clone()),
            None => Report::new(id),
        }
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

    /// Adds changes of which nothing is said, each once: there may be millions.
    pub(crate) fn add_known(&mut self, ids: impl IntoIterator<Item = ChangeId>) {
        self.ids.extend(ids);
    }

    /// Adds what whole lines report. Every marker on a line counts: where two processes write to one terminal, line breaks get
    /// lost.
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
        // As `marker::cut` has it: a space beside the marker goes with it.
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
            // The line before is the function, and no report that is known: other stacks go through it, too.
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

    /// Leaves out Go's call stack that has just come to its end, if the same one was reported before.
    fn end_stack(&mut self) {
        self.repeated = None;
        let Some(start) = self.stack.take() else { return };
        let (before, stack) = self.lines.split_at(start);
        if before.windows(stack.len()).any(|lines| lines == stack) {
            self.lines.truncate(start);
        }
    }
}

/// The first line of a file that reports a change, for people.
pub(crate) fn line_with(path: &Path, id: ChangeId) -> Option<String> {
    let bytes = fs_err::read(path).ok()?;
    let reports = |line: &[u8]| {
        memmem::find_iter(line, PREFIX).any(|start| {
            marker::find(&line[start..line.len().min(start + LONGEST)]).is_some_and(|(found, _)| found == id)
        })
    };
    let line = bytes.split(|&byte| byte == b'\n').find(|line| reports(line))?;
    Some(String::from_utf8_lossy(&line[..line.len().min(SHOWN)]).trim().to_owned())
}

/// Cuts a stream into lines for [`Reports`], however its reads fall.
#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    reports: &'a mut Reports,
    /// What came since the last line break.
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

/// Where a marker begins that `bytes` ends within, or the end of `bytes`.
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
