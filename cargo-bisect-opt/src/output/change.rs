//! A change of a culprit in the JSON.

use serde::{Serialize, Serializer};

use crate::report::{
    content::{Frame, Report},
    kind::ChangeKind,
};

/// One change of a culprit.
#[derive(Serialize)]
struct Change<'a> {
    /// `0x` and 16 hex digits.
    id: String,
    kind: ChangeKind,
    /// The toggle's name; empty if the target does not say.
    name: &'a str,
    /// The report, line by line.
    text: &'a [String],
    /// Where the change is, if the report says so.
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    /// Line and column after its last character, if the report says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<(u32, u32)>,
    /// The call stack, innermost frame first.
    frames: Vec<StackFrame<'a>>,
    /// The package that has its source, if another package compiles it: name and version.
    #[serde(skip_serializing_if = "Option::is_none")]
    package: Option<&'a str>,
}

/// A frame of a call stack.
#[derive(Serialize)]
struct StackFrame<'a> {
    function: &'a str,
    /// Null if the program has no line information.
    file: Option<&'a str>,
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
}

impl<'a> From<&'a Report> for Change<'a> {
    fn from(report: &'a Report) -> Self {
        let location = report.location.as_ref();
        Self {
            id: report.id.to_string(),
            kind: report.kind,
            name: &report.name,
            text: &report.text,
            file: location.map(|location| &*location.file),
            line: location.and_then(|location| location.line),
            column: location.and_then(|location| location.column),
            end: location.and_then(|location| location.end),
            frames: report.frames.iter().map(StackFrame::from).collect(),
            package: report.package.as_deref(),
        }
    }
}

impl<'a> From<&'a Frame> for StackFrame<'a> {
    fn from(Frame { function, location }: &'a Frame) -> Self {
        let location = location.as_ref();
        Self {
            function,
            file: location.map(|location| &*location.file),
            line: location.and_then(|location| location.line),
            column: location.and_then(|location| location.column),
        }
    }
}

/// Serializes the changes of a culprit.
pub(super) fn serialize<S: Serializer>(reports: &[Report], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(reports.iter().map(Change::from))
}
