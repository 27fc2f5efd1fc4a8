//! The answer as Markdown, for an issue.

use std::fmt::Write;

use super::summary;
use crate::{
    output::{groups, source_lines, terminal},
    record::{
        CommandRecord, ResultRecord,
        change::{ChangeRecord, StackFrame},
        culprit::CulpritRecord,
    },
    report::content::Location,
    units::plural,
};

/// The maximum number of tests that are named for a culprit.
const MAX_TESTS: usize = 12;

/// Renders the answer.
pub(crate) fn render(run: &CommandRecord) -> String {
    let mut out = Document::default();
    let result = &run.result;
    for found in &result.found {
        culprit(&mut out, found);
    }
    for answer in result.end.iter().flat_map(|end| &end.answers) {
        out.paragraph(&format!("**Culprit {}, in short:**", answer.set));
        let facts = answer.facts.iter().map(|fact| format!("- {}: {}", fact.of, code(&fact.text)));
        out.paragraph(
            &facts
                .chain(answer.advice.iter().map(|advice| format!("- {}", escaped(advice))))
                .collect::<Vec<_>>()
                .join("\n"),
        );
    }
    out.paragraph(&format!("**Result** ({}): {}", summary::status(result), escaped(&summary::conclusion(result))));
    if let Some(smallest) = &result.smallest {
        out.paragraph("The smallest set so far **fails** with:");
        out.block("sh", &smallest.reproduce);
    }
    if let Some(log) = result.end.iter().find_map(|end| end.log.as_ref()) {
        out.paragraph(&format!("The end of {}:", code(&log.path.to_string_lossy())));
        out.block("text", &log.lines.join("\n"));
    }
    provenance(&mut out, result);
    out.0
}

fn culprit(out: &mut Document, found: &CulpritRecord) {
    let title = summary::title(found);
    let mut letters = title.chars();
    let title: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    out.paragraph(&format!("### {}", escaped(&title)));
    out.paragraph(&code(&groups::one_line(found)));
    for change in &found.changes {
        shown_change(out, change);
    }
    if let Some(moment) = &found.moment {
        let values = |when: &str, values: &[String]| {
            values.iter().map(|value| format!("- {when}: {}", code(value))).collect::<Vec<_>>()
        };
        let lines =
            [values("first bad moment", &moment.values), values("last good moment", &moment.last_good_values)].concat();
        out.paragraph(&lines.join("\n"));
    }
    tests(out, found);
    let [about_failing, about_passing] = found.remarks();
    out.paragraph(&format!("**Fails** with:{about_failing}"));
    out.block("sh", &found.reproduce);
    if let Some(line) = summary::passing_line(found) {
        out.paragraph(&format!("**Passes** with:{about_passing}"));
        out.block("sh", &line);
    }
    if let Some(short) = &found.short {
        out.paragraph("In short:");
        out.block("sh", short);
    }
    if let Some(gap) = &found.stop_gap {
        out.paragraph(&format!("Workaround, {}:", escaped(&gap.place)));
        out.block("text", &gap.text);
    }
    if let Some(noise) = &found.noise {
        out.paragraph(&format!("Confidence: {}", escaped(&noise.describe())));
    }
}

fn shown_change(out: &mut Document, change: &ChangeRecord) {
    match change.source.first() {
        Some(source) => out.block("text", &terminal::without_colors(&source_lines::render(source))),
        None if !change.details.is_empty() => {
            out.block(if change.is_patch { "diff" } else { "text" }, &change.details.join("\n"));
        }
        None => {}
    }
    if change.frames.is_empty() {
        return;
    }
    let name = if change.name.is_empty() { &change.id } else { &change.name };
    let frames = plural(change.frames.len(), "frame");
    // The empty lines make what is between them Markdown again.
    out.paragraph(&format!("<details><summary>call stack of {} ({frames})</summary>", escaped(name)));
    let frames: Vec<_> =
        change.frames.iter().enumerate().map(|(i, frame)| format!("{}. {}", i + 1, shown_frame(frame))).collect();
    out.paragraph(&frames.join("\n"));
    out.paragraph("</details>");
}

fn shown_frame(frame: &StackFrame) -> String {
    let place = frame.location().as_ref().map(Location::to_string);
    let place = place.map(|place| format!(" at {}", code(&place))).unwrap_or_default();
    let function = code(&frame.function);
    if frame.own { format!("**{function}**{place}") } else { format!("{function}{place}") }
}

fn tests(out: &mut Document, found: &CulpritRecord) {
    let how = |test: Option<&str>| {
        let failed = found.failures.iter().filter(|failed| failed.test.as_deref() == test || failed.test.is_none());
        let how: Vec<_> = failed.map(|failed| code(&failed.describe())).collect();
        if how.is_empty() { String::new() } else { format!(": {}", how.join(", ")) }
    };
    if found.tests.is_empty() {
        let how = how(None);
        if !how.is_empty() {
            out.paragraph(&format!("It fails{how}"));
        }
        return;
    }
    out.paragraph(&format!("{} with it:", if found.tests.len() == 1 { "This test fails" } else { "These tests fail" }));
    let mut lines: Vec<_> =
        found.tests.iter().take(MAX_TESTS).map(|test| format!("- {}{}", code(test), how(Some(test)))).collect();
    if let Some(more) = found.tests.len().checked_sub(MAX_TESTS).filter(|&more| more > 0) {
        lines.push(format!("- and {more} more"));
    }
    out.paragraph(&lines.join("\n"));
}

fn provenance(out: &mut Document, result: &ResultRecord) {
    let provenance = &result.provenance;
    let mut rows: Vec<(&str, String)> = Vec::new();
    if !provenance.command.is_empty() {
        rows.push(("command", code(&provenance.command_line())));
    }
    if let Some(start) = &result.start {
        rows.push(("target", code(&start.target)));
        rows.push(("seed", start.seed.to_string()));
    }
    if let Some(end) = &result.end {
        rows.push(("effort", format!("{}, {}", plural(end.trials, "trial"), plural(end.runs, "run"))));
    }
    if !provenance.driver.is_empty() {
        rows.push(("cargo-bisect-opt", format!("{} on {} {}", provenance.driver, provenance.arch, provenance.os)));
    }
    rows.extend(provenance.rustc.as_ref().map(|rustc| ("compiler", escaped(rustc))));
    let rows: Vec<_> = rows.iter().map(|(name, value)| format!("- {name}: {value}")).collect();
    out.paragraph(&rows.join("\n"));
}

/// A document in the making: paragraphs and blocks, with an empty line between them.
#[derive(Debug, Default)]
struct Document(String);

impl Document {
    /// Adds a paragraph, or nothing if there is no text.
    fn paragraph(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        writeln!(self.0, "{text}").expect("a string takes everything");
    }

    /// Adds a code block. Its fence is longer than any in the text.
    fn block(&mut self, language: &str, text: &str) {
        let fence = "`".repeat(longest_run(text).max(2) + 1);
        self.paragraph(&format!("{fence}{language}\n{}\n{fence}", text.trim_end()));
    }
}

/// Returns text as code within a line.
fn code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    let fence = "`".repeat(longest_run(&text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// Returns the length of the longest sequence of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

/// Returns text in which no character means Markdown or HTML, except code between backticks.
fn escaped(text: &str) -> String {
    // A backtick without its partner begins no code.
    let has_code = text.matches('`').count().is_multiple_of(2);
    let mut is_code = false;
    let mut escaped = String::new();
    for c in text.replace(['\n', '\r'], " ").chars() {
        is_code ^= has_code && c == '`';
        match c {
            '`' if !has_code => escaped.push_str("\\`"),
            '<' if !is_code => escaped.push_str("&lt;"),
            '&' if !is_code => escaped.push_str("&amp;"),
            '*' | '_' | '[' | ']' | '\\' | '#' | '|' if !is_code => escaped.extend(['\\', c]),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_target_stays_text() {
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`a"), "`` `a ``");
        assert_eq!(escaped("<b> & `<T>` *x* a_b [c](d)"), "&lt;b> &amp; `<T>` \\*x\\* a\\_b \\[c\\](d)");
        assert_eq!(escaped("it's ` <b>"), "it's \\` &lt;b>");
        let mut out = Document::default();
        out.block("text", "a\n```\nb");
        assert_eq!(out.0, "````text\na\n```\nb\n````\n");
    }
}
