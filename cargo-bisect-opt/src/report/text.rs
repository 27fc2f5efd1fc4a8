//! Reports for people, read back: which place, which toggle, which call stack.
//!
//! The forms are those of `bisect-rt` (ARCHITECTURE.md, "Text of verbose reports") and those of Go's standard library
//! and compiler. What has none of them is kept as text all the same.

use serde::Serialize;

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The file as the target names it.
    pub(crate) file: String,
    /// Line, from 1.
    pub(crate) line: u32,
    /// Column, from 1.
    pub(crate) column: Option<u32>,
}

/// A frame of a call stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Frame {
    /// The function.
    pub(crate) function: String,
    /// Its file; null if the program has no line information.
    pub(crate) file: Option<String>,
    /// The line of the call, from 1.
    pub(crate) line: Option<u32>,
    /// The column of the call, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<u32>,
}

/// What a report says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Description {
    /// Where the change is.
    pub(crate) place: Option<Place>,
    /// The name of its toggle.
    pub(crate) name: Option<String>,
    /// The call stack, innermost frame first.
    pub(crate) frames: Vec<Frame>,
}

impl Description {
    /// Reads the lines of one change's report, markers already cut out.
    pub(crate) fn parse(lines: &[String]) -> Self {
        let mut description = Self::default();
        let mut lines = lines.iter().peekable();
        while let Some(line) = lines.next() {
            if let Some(frame) = line.strip_prefix("  ") {
                description.frames.push(rust_frame(frame));
            } else if let Some(place) = lines.peek().and_then(|next| next.strip_prefix('\t')).and_then(place) {
                // Go: `function()`, and on the next line the file behind a tab.
                let function = line.trim().trim_end_matches("()").to_owned();
                description.frames.push(frame(function, Some(place)));
                lines.next();
            } else if description.place.is_none() {
                let (first, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
                description.place = place(first).or_else(|| line.split_whitespace().find_map(place));
                let is_ours = place(first).is_some_and(|place| place.column.is_some());
                let name = rest.trim();
                if is_ours && !name.is_empty() && !name.contains(char::is_whitespace) {
                    description.name = Some(name.to_owned());
                }
            }
        }
        // Go's stacks do not say where the change itself is: it is where the innermost function has asked.
        description.place = description.place.or_else(|| description.frames.first()?.place());
        description
    }
}

impl Frame {
    fn place(&self) -> Option<Place> {
        Some(Place { file: self.file.clone()?, line: self.line?, column: self.column })
    }
}

fn rust_frame(text: &str) -> Frame {
    match text.rsplit_once(" at ").and_then(|(function, file)| Some((function, place(file)?))) {
        Some((function, place)) => frame(function.to_owned(), Some(place)),
        None => frame(text.to_owned(), None),
    }
}

fn frame(function: String, place: Option<Place>) -> Frame {
    let (file, line, column) = match place {
        Some(place) => (Some(place.file), Some(place.line), place.column),
        None => (None, None, None),
    };
    Frame { function, file, line, column }
}

/// `file:line` or `file:line:column`; a colon may follow.
fn place(text: &str) -> Option<Place> {
    let text = text.trim_end_matches(':');
    let (head, last) = text.rsplit_once(':')?;
    let last = last.parse().ok()?;
    match head.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?))) {
        Some((file, line)) if !file.is_empty() => Some(Place { file: file.to_owned(), line, column: Some(last) }),
        _ if !head.is_empty() => Some(Place { file: head.to_owned(), line: last, column: None }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(lines: &[&str]) -> Description {
        Description::parse(&lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>())
    }

    fn at(file: &str, line: u32, column: Option<u32>) -> Place {
        Place { file: file.into(), line, column }
    }

    fn frame(function: &str, file: &str, line: u32, column: Option<u32>) -> Frame {
        Frame { function: function.into(), file: Some(file.into()), line: Some(line), column }
    }

    #[test]
    fn a_site() {
        let site = parse(&["src/lib.rs:12:5 newsort"]);
        assert_eq!((site.place, site.name.as_deref()), (Some(at("src/lib.rs", 12, Some(5))), Some("newsort")));
        assert!(site.frames.is_empty());
    }

    #[test]
    fn a_stack() {
        let stack = parse(&[
            "src/lib.rs:12:1 newsort",
            "  <a::B as c::D>::sort at src/my dir/lib.rs:14:9",
            "  main at C:\\x\\main.rs:3:5",
            "  0x1234 in libfoo.so",
        ]);
        assert_eq!(stack.place, Some(at("src/lib.rs", 12, Some(1))));
        assert_eq!(
            stack.frames,
            [
                frame("<a::B as c::D>::sort", "src/my dir/lib.rs", 14, Some(9)),
                frame("main", "C:\\x\\main.rs", 3, Some(5)),
                Frame { function: "0x1234 in libfoo.so".into(), file: None, line: None, column: None },
            ]
        );
    }

    #[test]
    fn gos_stacks_and_positions() {
        let stack = parse(&["time.newTimer()", "\t/go/src/time/sleep.go:94", "main.main()", "\t/x/main.go:8"]);
        assert_eq!(
            stack.frames,
            [frame("time.newTimer", "/go/src/time/sleep.go", 94, None), frame("main.main", "/x/main.go", 8, None)]
        );
        assert_eq!(stack.place, Some(at("/go/src/time/sleep.go", 94, None)));
        assert_eq!(
            parse(&["./x_test.go:7:6: loop variable i now per-iteration"]).place,
            Some(at("./x_test.go", 7, Some(6)))
        );
        assert_eq!(parse(&["DebugHashMatch x.go:9"]).place, Some(at("x.go", 9, None)));
    }

    #[test]
    fn free_text_is_no_place() {
        for text in ["amber", "", "12:30", ":5", "a: b", "x:y:z"] {
            let description = parse(&[text]);
            assert!(description.name.is_none() && description.frames.is_empty(), "{text}");
        }
    }
}
