//! The answer as diagnostics of rustc, in the lines that cargo prints with `--message-format=json`. Editors show them.

use serde::Serialize;

use super::{
    summary::{self, DecisivePlace},
    text,
};
use crate::{
    output::{groups, terminal},
    record::{CommandRecord, ResultRecord, change::StackFrame, culprit::CulpritRecord},
};

/// A line of cargo.
#[derive(Debug, Serialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum CargoLine {
    CompilerMessage { package_id: String, manifest_path: String, target: CargoTarget, message: Box<Diagnostic> },
    BuildFinished { success: bool },
}

/// The target that cargo compiles. Here it stands for the whole workspace.
#[derive(Debug, Serialize)]
struct CargoTarget {
    kind: [&'static str; 1],
    crate_types: [&'static str; 1],
    name: &'static str,
    src_path: String,
    edition: &'static str,
    doc: bool,
    doctest: bool,
    test: bool,
}

/// A message of the compiler.
#[derive(Debug, Default, Serialize)]
struct Diagnostic {
    #[serde(rename = "$message_type")]
    message_type: &'static str,
    message: String,
    code: Option<DiagnosticCode>,
    level: &'static str,
    spans: Vec<DiagnosticSpan>,
    children: Vec<Diagnostic>,
    rendered: Option<String>,
}

#[derive(Debug, Serialize)]
struct DiagnosticCode {
    code: String,
    explanation: Option<String>,
}

/// A place in the source code. The record has lines and columns only, so the byte offsets are 0.
#[derive(Debug, Default, Serialize)]
struct DiagnosticSpan {
    file_name: String,
    byte_start: u32,
    byte_end: u32,
    line_start: usize,
    line_end: usize,
    column_start: usize,
    column_end: usize,
    is_primary: bool,
    text: Vec<DiagnosticText>,
    label: Option<String>,
    suggested_replacement: Option<String>,
    suggestion_applicability: Option<String>,
    expansion: Option<String>,
}

/// A line of source code, and the highlighted columns.
#[derive(Debug, Serialize)]
struct DiagnosticText {
    text: String,
    highlight_start: usize,
    highlight_end: usize,
}

/// Renders the answer: a message for each culprit, or one with the conclusion, and the end of the build.
pub(crate) fn render(run: &CommandRecord) -> String {
    let result = &run.result;
    let messages: Vec<_> = if result.found.is_empty() {
        vec![conclusion(result)]
    } else {
        result.found.iter().map(|found| diagnostic(result, found)).collect()
    };
    let lines = messages.into_iter().map(|message| compiler_message(result, message));
    let mut out = String::new();
    for line in lines.chain([CargoLine::BuildFinished { success: result.found.is_empty() }]) {
        out += &serde_json::to_string(&line).expect("all keys are text");
        out.push('\n');
    }
    out
}

/// Returns a line of cargo. Its package is the workspace: a culprit belongs to no compilation.
fn compiler_message(result: &ResultRecord, message: Diagnostic) -> CargoLine {
    let root = result.provenance.root.trim_end_matches('/');
    let manifest_path = format!("{root}/Cargo.toml");
    let target = CargoTarget {
        kind: ["bin"],
        crate_types: ["bin"],
        name: "cargo-bisect-opt",
        src_path: manifest_path.clone(),
        edition: "2021",
        doc: false,
        doctest: false,
        test: false,
    };
    CargoLine::CompilerMessage {
        package_id: format!("path+file://{root}#0.0.0"),
        manifest_path,
        target,
        message: Box::new(message),
    }
}

impl Diagnostic {
    fn new(level: &'static str, message: String) -> Self {
        Self { message_type: "diagnostic", level, message, ..Self::default() }
    }
}

fn conclusion(result: &ResultRecord) -> Diagnostic {
    let text = summary::conclusion(result);
    let rendered = Some(format!("warning: {text}\n"));
    Diagnostic { code: Some(code(result, None)), rendered, ..Diagnostic::new("warning", text) }
}

fn diagnostic(result: &ResultRecord, found: &CulpritRecord) -> Diagnostic {
    let places = found.changes.iter().filter_map(summary::decisive_place);
    let spans = places.map(|place| DiagnosticSpan { label: Some(label(found)), ..span(&place) }).collect();
    let frames = found.changes.iter().flat_map(|change| change.frames.iter().enumerate());
    let calls = frames.filter(|(_, frame)| frame.own).filter_map(|(index, frame)| {
        let does = if index == 0 { "decided" } else { "called" };
        let note = Diagnostic::new("note", format!("{does} in `{}`", frame.function));
        Some(Diagnostic { spans: vec![span_of_frame(result, frame)?], ..note })
    });
    let reproduce = format!("to reproduce: {}", found.reproduce);
    let passing = summary::passing_line(found).map(|line| format!("without the culprit, it passes: {line}"));
    let help = [Some(reproduce), passing].into_iter().flatten().map(|text| Diagnostic::new("help", text));
    Diagnostic {
        code: Some(code(result, Some(found))),
        spans,
        children: calls.chain(help).collect(),
        rendered: Some(rendered(result, found)),
        ..Diagnostic::new("error", summary::message(found))
    }
}

fn label(found: &CulpritRecord) -> String {
    let tests = match found.tests.as_slice() {
        [] => String::new(),
        [test] => format!(": `{test}` fails"),
        [test, rest @ ..] => format!(": `{test}` and {} more fail", rest.len()),
    };
    format!("culprit {}{tests}", found.set)
}

/// Returns what a terminal shows.
fn rendered(result: &ResultRecord, found: &CulpritRecord) -> String {
    let (alone, provenance) = (vec![found.clone()], result.provenance.clone());
    let text = text::of_culprits(&ResultRecord { found: alone, provenance, ..ResultRecord::default() });
    format!("error: {}\n{}", groups::one_line(found), terminal::without_colors(&text))
}

/// Returns the code of a message: the axis of the search.
fn code(result: &ResultRecord, found: Option<&CulpritRecord>) -> DiagnosticCode {
    let search = found.and_then(|found| result.searches.iter().find(|search| search.search == found.search));
    let axis = search.or(result.start.as_ref()).map_or("search", |search| &search.axis);
    DiagnosticCode { code: format!("bisect-opt::{axis}"), explanation: None }
}

fn span(place: &DecisivePlace<'_>) -> DiagnosticSpan {
    let DecisivePlace { file, from, to, source, .. } = *place;
    let lines = source.into_iter().flat_map(|source| source.lines.iter().zip(source.first_line..));
    let text = lines.filter(|&(_, number)| (from.0..=to.0).contains(&number)).map(|(line, number)| DiagnosticText {
        text: line.clone(),
        highlight_start: if number == from.0 { from.1 } else { 1 },
        highlight_end: if number == to.0 { to.1 } else { line.chars().count() + 1 },
    });
    DiagnosticSpan {
        file_name: file.to_owned(),
        line_start: from.0,
        line_end: to.0,
        column_start: from.1,
        column_end: to.1,
        is_primary: true,
        text: text.collect(),
        ..DiagnosticSpan::default()
    }
}

fn span_of_frame(result: &ResultRecord, frame: &StackFrame) -> Option<DiagnosticSpan> {
    let (file, line) = (frame.file.as_ref()?, usize::try_from(frame.line?).ok()?);
    let column = frame.column.and_then(|column| usize::try_from(column).ok()).unwrap_or(1);
    let (file, place) = (result.provenance.shorten(file), (line, column));
    Some(span(&DecisivePlace { file, from: place, to: place, source: None, function: None }))
}
