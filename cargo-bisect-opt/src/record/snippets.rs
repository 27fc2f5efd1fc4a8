//! Source lines for the answer: the user's own code around the decisive frames.

mod function;

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::source_place::{SourcePlace, byte_of, column_of};
use crate::{
    report::{
        content::{Frame, Location, Report},
        kind::ShownSource,
    },
    vcs::blame::{self, LastChange},
};

/// The maximum number of places that are shown of one call stack.
const MAX_SNIPPETS: usize = 3;

/// The number of context lines before and after a place.
const CONTEXT: usize = 2;

/// The maximum number of lines of a function that is shown whole.
const SHORT: usize = 24;

/// A test for the user's own code, as opposed to dependencies and the standard library.
#[derive(Debug)]
pub(crate) struct Own<'a> {
    root: &'a Path,
}

impl<'a> Own<'a> {
    /// Creates a test for code below `root`.
    pub(crate) fn new(root: &'a Path) -> Self {
        Self { root }
    }

    /// Returns true if a frame is in the user's own code.
    pub(crate) fn is_own(&self, frame: &Frame) -> bool {
        frame.location.as_ref().is_some_and(|location| self.find(&location.file).is_some())
    }

    /// Returns the place of the user's own code that decides about a change: the innermost call on its call stack, or
    /// else the location of the change, even if it is not the user's own.
    pub(crate) fn place<'c>(&self, change: &'c Report) -> Option<OwnPlace<'c>> {
        if change.kind.source == ShownSource::Patch {
            return None;
        }
        spots(self, change).first().map(|spot| OwnPlace { location: spot.location, caller: spot.caller })
    }

    /// Returns the line of a place, as a user would write it.
    pub(crate) fn line(&self, location: &Location) -> String {
        let file = self.shorten(&location.file).display();
        location.line.map_or_else(|| file.to_string(), |line| format!("{file}:{line}"))
    }

    /// Returns the last change of the decisive place, if git tracks it and it is the user's own.
    pub(crate) fn last_change(&self, change: &Report) -> Option<LastChange> {
        let location = self.place(change)?.location;
        blame::last_change(&self.find(&location.file)?, location.line?)
    }

    /// Returns the file, if it exists and is the user's own.
    fn find(&self, file: &str) -> Option<PathBuf> {
        let path = self.root.join(file);
        let is_kept = |below: &Path| !below.components().any(|part| part.as_os_str() == "target");
        let own = path.strip_prefix(self.root).is_ok_and(is_kept);
        (own && path.is_file()).then_some(path)
    }

    /// Returns the path as a user would write it.
    pub(crate) fn shorten<'p>(&self, file: &'p str) -> &'p Path {
        let path = Path::new(file);
        path.strip_prefix(self.root).unwrap_or(path)
    }
}

/// The decisive place of a change.
#[derive(Debug)]
pub(crate) struct OwnPlace<'a> {
    /// The place, with a line.
    pub(crate) location: &'a Location,
    /// The frame that calls: its number on the call stack, from 0 for the innermost, and its function. `None` for the
    /// location of the change itself.
    pub(crate) caller: Option<(usize, &'a str)>,
}

/// A place to show.
struct Spot<'a> {
    location: &'a Location,
    caller: Option<(usize, &'a str)>,
    /// Its line, from 1.
    line: u32,
    /// True for a function, which ends with its body.
    is_function: bool,
    label: &'a str,
}

/// Reads the source lines of a change: none if it has no source that is shown, or the files are not there.
pub(crate) fn places(own: &Own<'_>, change: &Report) -> Vec<SourcePlace> {
    if change.kind.source == ShownSource::Patch {
        return Vec::new();
    }
    let spots = spots(own, change);
    let place = |spot: &Spot<'_>| {
        // A function or expression that was compiled differently is shown even if it is not the user's own.
        let elsewhere = || {
            Some(PathBuf::from(&spot.location.file)).filter(|path| {
                matches!(change.kind.source, ShownSource::Any | ShownSource::Function) && path.is_absolute()
            })
        };
        let path = own.find(&spot.location.file).or_else(elsewhere)?;
        place(own, spot, &fs::read_to_string(path).ok()?)
    };
    spots.iter().filter_map(place).collect()
}

/// Returns the calls in the user's own code of a call stack, or else the location of the change.
fn spots<'a>(own: &Own<'_>, change: &'a Report) -> Vec<Spot<'a>> {
    let is_moment = change.kind.source == ShownSource::Moment;
    let callers = change.frames.iter().enumerate().skip(usize::from(!is_moment)).filter(|(_, frame)| own.is_own(frame));
    let of_frames = callers.filter_map(|(i, frame)| {
        let location = frame.location.as_ref()?;
        let label = if i == 0 { change.kind.label } else { "called here" };
        let caller = (i > 0).then_some((i, frame.function.as_str()));
        Some(Spot { location, caller, line: location.line?, is_function: false, label })
    });
    let mut spots: Vec<_> = of_frames.take(MAX_SNIPPETS).collect();
    if spots.is_empty()
        && let Some(location) = &change.location
        && let Some(line) = location.line
    {
        let is_function = change.kind.source == ShownSource::Function;
        spots.push(Spot { location, caller: None, line, is_function, label: change.kind.label });
    }
    spots
}

/// Returns the length of the expression at the beginning of a text, estimated without a parser: up to the bracket that
/// closes its first one, or else to the end of the line.
fn extent(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth <= 1 => return if depth == 1 { at + 1 } else { at },
            ')' | ']' | '}' => depth -= 1,
            ';' if depth == 0 => return at,
            _ => {}
        }
    }
    text.trim_end().len()
}

/// Returns the last line of a function and the byte offset of its end in that line. The function begins at the byte
/// `start` of the first of these lines, which is number `index` in its file. Returns `None` if it is long.
fn end_of_function(lines: &[&str], start: usize, index: usize) -> Option<(usize, usize)> {
    let text = lines[..lines.len().min(SHORT)].join("\n");
    let function = text.get(start..)?;
    let whole = &text[..start + function::extent(function)?];
    let last = whole.rfind('\n').map_or(0, |at| at + 1);
    Some((index + whole.matches('\n').count(), whole.len() - last))
}

/// Returns the lines of a spot with their context; `None` if the file has no such line.
fn place(own: &Own<'_>, spot: &Spot<'_>, text: &str) -> Option<SourcePlace> {
    let lines: Vec<&str> = text.lines().collect();
    let index = usize::try_from(spot.line).ok()?.checked_sub(1)?;
    let line = lines.get(index)?;
    let first = index.saturating_sub(CONTEXT);
    let column = |column: u32| usize::try_from(column).unwrap_or(usize::MAX);
    let start = match spot.location.column {
        Some(known) => byte_of(line, column(known)),
        None => line.len() - line.trim_start().len(),
    };
    let known_end = spot.location.end.and_then(|(end, known)| {
        let end = usize::try_from(end).ok()?.checked_sub(1).filter(|&end| end >= index)?;
        Some((end, byte_of(lines.get(end)?, column(known))))
    });
    let known_end =
        known_end.or_else(|| if spot.is_function { end_of_function(&lines[index..], start, index) } else { None });
    let (last, end) = known_end.unwrap_or_else(|| (index, start + extent(&line[start..])));
    let shown = &lines[first..lines.len().min(last + CONTEXT + 1)];
    Some(SourcePlace {
        file: own.shorten(&spot.location.file).display().to_string(),
        first_line: first + 1,
        lines: shown.iter().map(|&line| line.to_owned()).collect(),
        from: (index + 1, column_of(line, start)),
        to: (last + 1, column_of(lines.get(last)?, end)),
        label: spot.label.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use bisect_core::ChangeId;

    use super::*;
    use crate::report::kind::ChangeKind;

    fn snippets(own: &Own<'_>, change: &Report) -> String {
        places(own, change).iter().map(|place| place.lines.join("\n")).collect()
    }

    #[test]
    fn what_is_underlined() {
        for (line, underlined) in [
            ("sort(&mut rows);", "sort(&mut rows)"),
            ("ranked(rows) {", "ranked(rows)"),
            ("stats::finalists(all, 16).iter().enumerate() {", "stats::finalists(all, 16)"),
            ("bisect_build!(\"tuned\") { 256 } else { 255 };", "bisect_build!(\"tuned\")"),
            ("rounding!());", "rounding!()"),
            ("#[bisect_toggle(\"x\", off = (a))]", "#[bisect_toggle(\"x\", off = (a))]"),
            ("f(a, [b(c)", "f(a, [b(c)"),
            ("x)", "x"),
            ("x ", "x"),
            ("a + b; c", "a + b"),
            ("", ""),
        ] {
            assert_eq!(&line[..extent(line)], underlined, "{line}");
        }
    }

    #[test]
    fn places_that_are_not_there_are_not_shown() {
        let own = Own::new(Path::new("."));
        let shown = |line, column, text| {
            let location = Location::new("src/x.rs", line, column);
            let spot = Spot { location: &location, caller: None, line, is_function: false, label: "here" };
            place(&own, &spot, text).map(|place| place.lines.join("\n"))
        };
        for (line, column) in [(0, None), (9, None), (u32::MAX, Some(1))] {
            assert!(shown(line, column, "one\ntwo\n").is_none(), "{line}");
        }
        for column in [None, Some(0), Some(1), Some(4), Some(99)] {
            assert!(shown(2, column, "one\n  två(x)\n").unwrap().contains("två"), "{column:?}");
        }
    }

    #[test]
    fn code_of_others_is_shown_where_it_was_compiled_another_way() {
        let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = elsewhere.path().join("lib.rs");
        fs_err::write(&file, "fn before() {}\nif let 1 = x() {\n    y()\n}\n").unwrap();
        for (kind, is_shown) in [(ShownSource::Function, true), (ShownSource::Any, true), (ShownSource::Own, false)] {
            let place = Location::new(&file.display().to_string(), 2, Some(1));
            let location = Some(Location { end: Some((4, 2)), ..place });
            let kind = ChangeKind { source: kind, ..ChangeKind::SITE };
            let change = Report { kind, location, ..Report::new(ChangeId(1)) };
            let shown = snippets(&Own::new(root.path()), &change);
            assert_eq!(shown.contains("if let 1 = x()") && shown.contains("y()"), is_shown, "{kind:?}: {shown}");
        }
    }

    #[test]
    fn a_short_function_is_shown_as_a_whole() {
        let dir = tempfile::tempdir().unwrap();
        let shown = |lines: usize| {
            let body = "    work();\n".repeat(lines);
            fs_err::write(dir.path().join("lib.rs"), format!("fn f() {{\n{body}    last()\n}}\nfn g() {{}}\n"))
                .unwrap();
            let location = Some(Location::new("lib.rs", 1, Some(1)));
            let change = Report {
                kind: ChangeKind { source: ShownSource::Function, ..ChangeKind::SITE },
                location,
                ..Report::new(ChangeId(1))
            };
            snippets(&Own::new(dir.path()), &change)
        };
        assert!(shown(SHORT - 3).contains("last()"), "{}", shown(SHORT - 3));
        assert!(!shown(SHORT - 2).contains("last()"), "{}", shown(SHORT - 2));
    }
}
