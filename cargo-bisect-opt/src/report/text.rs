//! Parses the text of a report: its location, its toggle, its call stack.
//!
//! The forms are those of `bisect-rt` and `bisect-rustc`, and those of Go's standard library and compiler. Text in another
//! form is kept, but has no meaning. All lines of a report are one `write`:
//!
//! ```text
//! src/lib.rs:12:1 newsort [bisect-match 0x…]              a place and a name: the answer shows the source
//!
//! src/lib.rs:12:1 newsort [bisect-match 0x…]              a call stack: the place and the name of a toggle,
//!   newsort::sort at src/lib.rs:14:9 [bisect-match 0x…]   then its frames, innermost first:
//!   newsort::top_ten at src/board.rs:31:5 [bisect-match 0x…]   two spaces, function, " at ", place
//!     stable sort of 3 rows [bisect-match 0x…]            four spaces: a detail, shown as it is
//! ```
//!
//! A frame without line information has no ` at …`.

use bisect_core::ChangeId;

use super::{
    content::{Frame, Location, Report},
    key_values::KeyValues,
    kind::ChangeKind,
};

/// Parses the lines about one change, without markers.
pub(crate) fn parse(id: ChangeId, text: Vec<String>) -> Report {
    let mut report = Report::new(id);
    let mut end = None;
    let mut lines = text.iter().peekable();
    while let Some(line) = lines.next() {
        if let Some(detail) = line.strip_prefix("    ") {
            if let Some((found, form)) = extent(detail) {
                end = end.or(Some(found));
                report.form.get_or_insert(form);
            } else if !report.details.iter().any(|known| known == detail) {
                // Several crates may report the same about a macro's expansion.
                report.details.push(detail.to_owned());
            }
        } else if let Some(frame) = line.strip_prefix("  ") {
            report.frames.push(rust_frame(frame));
        } else if let Some(location) = lines.peek().and_then(|next| next.strip_prefix('\t')).and_then(location) {
            // Go: `function()`, then a line with a tab and the file.
            let function = line.trim().trim_end_matches("()").to_owned();
            report.frames.push(Frame { function, location: Some(location) });
            lines.next();
        } else if report.location.is_none() {
            let (first, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
            report.location = location(first).or_else(|| line.split_whitespace().find_map(location));
            let is_ours = location(first).is_some_and(|location| location.column.is_some());
            let name = rest.trim();
            if is_ours && !name.is_empty() && !name.contains(char::is_whitespace) {
                name.clone_into(&mut report.name);
            }
        }
    }
    // A stack of Go does not name the change itself, which is where the innermost function asked.
    report.location = report.location.or_else(|| report.frames.first()?.location.clone());
    if let Some(location) = &mut report.location {
        location.end = end;
    }
    if !report.frames.is_empty() {
        report.kind = ChangeKind::STACK;
    }
    Report { text, ..report }
}

/// Parses `function at file:line:column`.
fn rust_frame(text: &str) -> Frame {
    match text.rsplit_once(" at ").and_then(|(function, at)| Some((function, location(at)?))) {
        Some((function, location)) => Frame { function: function.to_owned(), location: Some(location) },
        None => Frame { function: text.to_owned(), location: None },
    }
}

/// Parses `file:line` or `file:line:column`; a colon may follow.
fn location(text: &str) -> Option<Location> {
    let text = text.trim_end_matches(':');
    let (head, last) = text.rsplit_once(':')?;
    let last = last.parse().ok()?;
    match head.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?))) {
        Some((file, line)) if !file.is_empty() => Some(Location::new(file, line, Some(last))),
        _ if !head.is_empty() => Some(Location::new(head, last, None)),
        _ => None,
    }
}

/// Parses the end of an expression and its form: `expression="if let" start=7:14 end=7:101`.
fn extent(detail: &str) -> Option<((u32, u32), String)> {
    let pairs = KeyValues::parse(detail)?;
    let (line, column) = pairs.get("end")?.split_once(':')?;
    Some(((line.parse().ok()?, column.parse().ok()?), pairs.get("expression")?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(lines: &[&str]) -> Report {
        super::parse(ChangeId(1), lines.iter().map(|&line| line.to_owned()).collect())
    }

    fn at(file: &str, line: u32, column: Option<u32>) -> Location {
        Location::new(file, line, column)
    }

    fn frame(function: &str, file: &str, line: u32, column: Option<u32>) -> Frame {
        Frame { function: function.into(), location: Some(at(file, line, column)) }
    }

    #[test]
    fn a_site() {
        let site = parse(&["src/lib.rs:12:5 newsort"]);
        assert_eq!(
            (site.location, site.name.as_str(), site.kind),
            (Some(at("src/lib.rs", 12, Some(5))), "newsort", ChangeKind::SITE)
        );
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
        assert_eq!(stack.location, Some(at("src/lib.rs", 12, Some(1))));
        assert_eq!(
            stack.frames,
            [
                frame("<a::B as c::D>::sort", "src/my dir/lib.rs", 14, Some(9)),
                frame("main", "C:\\x\\main.rs", 3, Some(5)),
                Frame { function: "0x1234 in libfoo.so".into(), location: None },
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
        assert_eq!(stack.location, Some(at("/go/src/time/sleep.go", 94, None)));
        assert_eq!(
            parse(&["./x_test.go:7:6: loop variable i now per-iteration"]).location,
            Some(at("./x_test.go", 7, Some(6)))
        );
        assert_eq!(parse(&["DebugHashMatch x.go:9"]).location, Some(at("x.go", 9, None)));
    }

    #[test]
    fn free_text_is_no_location() {
        for text in ["amber", "", "12:30", ":5", "a: b", "x:y:z"] {
            let report = parse(&[text]);
            assert!(report.name.is_empty() && report.frames.is_empty(), "{text}");
            assert_eq!(report.text, [text]);
        }
    }

    #[test]
    fn an_expression_of_bisect_rustc() {
        let lines = [
            "src/lib.rs:7:14 drops",
            "  krate::f at src/lib.rs:7:14",
            r#"    expression="if let" start=7:14 end=9:6"#,
            "    dropped later: Guard",
            "    dropped later: Guard",
            r#"    expression="if let" start=7:14"#,
        ];
        let report = parse(&lines);
        assert_eq!(report.location, Some(Location { end: Some((9, 6)), ..at("src/lib.rs", 7, Some(14)) }));
        assert_eq!((report.name.as_str(), report.form.as_deref()), ("drops", Some("if let")));
        assert_eq!(report.frames, [frame("krate::f", "src/lib.rs", 7, Some(14))]);
        assert_eq!(report.details, ["dropped later: Guard", r#"expression="if let" start=7:14"#]);
        assert_eq!(report.text, lines);
    }

    #[test]
    fn where_an_expression_ends() {
        for (detail, expected) in [
            (r#"expression="if let" start=7:14 end=7:101"#, Some(((7, 101), "if let"))),
            (r#"expression="tail of a block" start=12:5 end=40:6"#, Some(((40, 6), "tail of a block"))),
            ("end=1:2 expression=x later=3", Some(((1, 2), "x"))),
            (r#"expression="if let" start=7:14"#, None),
            ("expression=if start=7:14 end=x:1", None),
            ("expression=if start=7:14 end=7", None),
            ("start=7:14 end=7:101", None),
            ("expression: 7:14-7:101 if let", None),
            ("krate::f at src/lib.rs:7:14", None),
        ] {
            assert_eq!(extent(detail), expected.map(|(end, form)| (end, form.to_owned())), "{detail}");
        }
    }
}
