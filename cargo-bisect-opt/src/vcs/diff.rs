//! Parser of `git diff`: the changed lines of each file.

use std::{ops::RangeInclusive, path::PathBuf};

/// The changed lines of one file, numbered as in its new version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// Any line may have changed: nothing more is known.
    Whole,
    /// These lines, from 1: ascending ranges with unchanged lines between them.
    Ranges(Vec<RangeInclusive<u32>>),
}

impl Lines {
    /// Returns whether one of these lines is among them.
    pub(crate) fn meet(&self, lines: RangeInclusive<u32>) -> bool {
        match self {
            Lines::Whole => true,
            Lines::Ranges(ranges) => {
                let next = ranges.partition_point(|range| range.end() < lines.start());
                ranges.get(next).is_some_and(|range| range.start() <= lines.end())
            }
        }
    }

    /// Adds a line. It must not come before the last line by more than one.
    fn add(&mut self, line: u32) {
        let Lines::Ranges(ranges) = self else { return };
        match ranges.last_mut() {
            Some(last) if line <= last.end().saturating_add(1) => *last = *last.start()..=line.max(*last.end()),
            _ => ranges.push(line..=line),
        }
    }
}

/// A reason why a text is no valid diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot parse line {line} of the output of `git diff`: {reason}; leave out `--since`, and report this with the version of git"
)]
pub(crate) struct DiffError {
    /// The line, from 1.
    pub(crate) line: usize,
    /// The problem.
    pub(crate) reason: &'static str,
}

/// Parses a diff with the prefixes `a/` and `b/`, and returns its files under their new names, without deleted ones.
///
/// # Errors
/// If the text is no such diff.
pub(crate) fn parse(text: &[u8]) -> Result<Vec<(PathBuf, Lines)>, DiffError> {
    let mut parser = Parser { rest: text.split(|&byte| byte == b'\n'), line: 0, files: Vec::new() };
    parser.parse().map_err(|reason| DiffError { line: parser.line, reason })?;
    let files = parser.files.into_iter().filter(|file| file.lines != Lines::Ranges(Vec::new()));
    Ok(files.filter_map(|file| Some((to_path(&file.path?), file.lines))).collect())
}

struct Parser<I> {
    rest: I,
    /// The number of the line that was read last.
    line: usize,
    files: Vec<File>,
}

struct File {
    /// The new name; `None` if the file is deleted.
    path: Option<Vec<u8>>,
    lines: Lines,
}

/// A range in the header of a hunk: `12,3`.
#[derive(Clone, Copy)]
struct Extent {
    start: u32,
    count: u32,
}

impl<'a, I: Iterator<Item = &'a [u8]>> Parser<I> {
    fn next(&mut self) -> Option<&'a [u8]> {
        self.line += 1;
        self.rest.next()
    }

    fn parse(&mut self) -> Result<(), &'static str> {
        while let Some(line) = self.next() {
            if let Some(names) = line.strip_prefix(b"diff --git ") {
                self.files.push(File { path: name_of_both(names), lines: Lines::Ranges(Vec::new()) });
            } else if line.strip_prefix(b"deleted file mode ").is_some() {
                self.file()?.path = None;
            } else if let Some(name) = line.strip_prefix(b"rename to ") {
                self.file()?.path = Some(unquote(name)?);
            } else if let Some(name) = line.strip_prefix(b"+++ ") {
                self.file()?.path = new_name(name)?;
            } else if line.starts_with(b"Binary files ") {
                self.file()?.lines = Lines::Whole;
            } else if let Some(head) = line.strip_prefix(b"@@") {
                let (old, new) = extents(head).ok_or("malformed header of a hunk")?;
                self.hunk(old, new)?;
            }
            // Other lines (modes, hashes) are irrelevant.
        }
        Ok(())
    }

    fn file(&mut self) -> Result<&mut File, &'static str> {
        self.files.last_mut().ok_or("no `diff --git` line before it")
    }

    /// Reads the number of lines that the header gives: a changed line may look like any other line of a diff.
    fn hunk(&mut self, old: Extent, new: Extent) -> Result<(), &'static str> {
        self.file()?;
        let (mut old_left, mut new_left) = (old.count, new.count);
        // If the new range is empty, the header gives the line before it.
        let mut at = if new.count == 0 { new.start.saturating_add(1) } else { new.start };
        let (mut removed, mut added) = (false, false);
        while old_left > 0 || new_left > 0 {
            const TOO_MANY: &str = "more lines than the header of the hunk says";
            let line = self.next().ok_or("the hunk ends too early")?;
            let lines = &mut self.file()?.lines;
            match line.first() {
                Some(b'+') => {
                    new_left = new_left.checked_sub(1).ok_or(TOO_MANY)?;
                    lines.add(at);
                    at = at.saturating_add(1);
                    added = true;
                }
                Some(b'-') => {
                    old_left = old_left.checked_sub(1).ok_or(TOO_MANY)?;
                    removed = true;
                }
                // Unchanged lines come with `diff.interHunkContext`; `diff.suppressBlankEmpty` omits their blank.
                Some(b' ') | None => {
                    old_left = old_left.checked_sub(1).ok_or(TOO_MANY)?;
                    new_left = new_left.checked_sub(1).ok_or(TOO_MANY)?;
                    if removed && !added {
                        mark_gap(lines, at);
                    }
                    (removed, added) = (false, false);
                    at = at.saturating_add(1);
                }
                Some(b'\\') => {}
                Some(_) => return Err("not a line of a hunk"),
            }
        }
        if removed && !added {
            mark_gap(&mut self.file()?.lines, at);
        }
        Ok(())
    }
}

/// Marks both neighbours of the place before line `at`, where lines were removed.
fn mark_gap(lines: &mut Lines, at: u32) {
    if at > 1 {
        lines.add(at - 1);
    }
    lines.add(at);
}

/// Parses ` -1,2 +3 @@…`, where a missing count means 1.
fn extents(head: &[u8]) -> Option<(Extent, Extent)> {
    let head = str::from_utf8(head.strip_prefix(b" -")?.split(|&byte| byte == b'@').next()?).ok()?;
    let (old, new) = head.strip_suffix(' ')?.split_once(" +")?;
    let number = |text: &str| text.parse().ok().filter(|_| text.starts_with(|c: char| c.is_ascii_digit()));
    let extent = |text: &str| {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some(Extent { start: number(start)?, count: number(count)? })
    };
    Some((extent(old)?, extent(new)?))
}

/// Returns the name in `a/name b/name`, if both are the same. Where they differ, other lines give the new name.
fn name_of_both(names: &[u8]) -> Option<Vec<u8>> {
    if names.starts_with(b"\"") {
        return unquote(names).ok()?.strip_prefix(b"a/").map(<[u8]>::to_vec);
    }
    let (old, new) = names.split_at_checked(names.len() / 2)?;
    let (old, new) = (old.strip_prefix(b"a/")?, new.strip_prefix(b" b/")?);
    (old == new).then(|| new.to_vec())
}

/// Parses the name after `+++ `; `None` if there is no new file.
fn new_name(name: &[u8]) -> Result<Option<Vec<u8>>, &'static str> {
    if name == b"/dev/null" {
        return Ok(None);
    }
    // Git adds a tab to names with spaces, for tools that split at spaces.
    let name = unquote(name.strip_suffix(b"\t").unwrap_or(name))?;
    name.strip_prefix(b"b/").map(|name| Some(name.to_vec())).ok_or("a name without the prefix `b/`")
}

/// Decodes a name as git writes it: in quotes and with escapes if it has unusual bytes. Ignores text after the quotes.
fn unquote(name: &[u8]) -> Result<Vec<u8>, &'static str> {
    const OPEN: &str = "an unterminated quoted name";
    let Some(quoted) = name.strip_prefix(b"\"") else { return Ok(name.to_vec()) };
    let mut bytes = quoted.iter().copied();
    let mut plain = Vec::new();
    loop {
        let byte = match bytes.next().ok_or(OPEN)? {
            b'"' => return Ok(plain),
            b'\\' => match bytes.next().ok_or(OPEN)? {
                b'a' => 7,
                b'b' => 8,
                b't' => b'\t',
                b'n' => b'\n',
                b'v' => 11,
                b'f' => 12,
                b'r' => b'\r',
                byte @ (b'"' | b'\\') => byte,
                first @ b'0'..=b'3' => {
                    let mut digit = || bytes.next().filter(|digit| (b'0'..=b'7').contains(digit));
                    let (Some(second), Some(third)) = (digit(), digit()) else {
                        return Err("an octal escape without three digits");
                    };
                    (first - b'0') << 6 | (second - b'0') << 3 | (third - b'0')
                }
                _ => return Err("an unknown escape in a name"),
            },
            byte => byte,
        };
        plain.push(byte);
    }
}

/// Converts a name that git printed to a path.
pub(crate) fn to_path(name: &[u8]) -> PathBuf {
    #[cfg(unix)]
    let name = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(name);
    #[cfg(not(unix))]
    let name = &*String::from_utf8_lossy(name);
    PathBuf::from(name)
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
