//! A change of a culprit: what its report says, and the code at its decisive places.

use serde::{Deserialize, Serialize};

use super::{
    snippets::{self, Own},
    source_place::SourcePlace,
};
use crate::report::{
    content::{Frame, Location, Report},
    kind::ShownSource,
};

/// A change of a culprit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChangeRecord {
    /// `0x` and 16 hex digits.
    pub(crate) id: String,
    /// The kind of the change: `site`, `stack`, `commit`.
    pub(crate) kind: String,
    /// The toggle's name; empty if the target does not say.
    pub(crate) name: String,
    /// The report, line by line.
    pub(crate) text: Vec<String>,
    /// Where the change is, if the report says so.
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
    pub(crate) column: Option<u32>,
    /// Line and column after its last character, if the report says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) end: Option<(u32, u32)>,
    /// The call stack, innermost frame first.
    pub(crate) frames: Vec<StackFrame>,
    /// The package that has its source, if another package compiles it: name and version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) package: Option<String>,
    /// The noun for its kind; `… of` only if there is a name.
    #[serde(default)]
    pub(crate) noun: String,
    /// Further lines about it, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) details: Vec<String>,
    /// True if the details are lines of a patch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_patch: bool,
    /// The code at the decisive places.
    #[serde(default)]
    pub(crate) source: Vec<SourcePlace>,
}

/// A frame of a call stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StackFrame {
    pub(crate) function: String,
    /// Null if the program has no line information.
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<u32>,
    /// True for the user's own code.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) own: bool,
}

impl ChangeRecord {
    /// Records a reported change, with the code at its places. Without `own`, no code is read.
    pub(crate) fn new(report: &Report, own: Option<&Own<'_>>) -> Self {
        let location = report.location.as_ref();
        Self {
            id: report.id.to_string(),
            kind: report.kind.name.to_owned(),
            name: report.name.clone(),
            text: report.text.clone(),
            file: location.map(|location| location.file.clone()),
            line: location.and_then(|location| location.line),
            column: location.and_then(|location| location.column),
            end: location.and_then(|location| location.end),
            frames: report.frames.iter().map(|frame| StackFrame::new(frame, own)).collect(),
            package: report.package.clone(),
            noun: report.kind.noun.to_owned(),
            details: report.details.clone(),
            is_patch: report.kind.source == ShownSource::Patch,
            source: own.map(|own| snippets::places(own, report)).unwrap_or_default(),
        }
    }

    /// Returns the place of the change.
    pub(crate) fn location(&self) -> Option<Location> {
        let (file, line, column, end) = (self.file.clone()?, self.line, self.column, self.end);
        Some(Location { file, line, column, end })
    }

    /// Returns a toggle with its caller, or the change with its location, on one line.
    pub(crate) fn one_line(&self) -> String {
        let line = |location: Option<Location>| {
            let location = location?;
            Some(format!(" {}:{}", location.file, location.line?))
        };
        // The lines of a patch say less than its place.
        if let (true, Some(place), "") = (self.is_patch, line(self.location()), &*self.name) {
            return format!("{} at{place}", self.noun);
        }
        let name = match (self.name.as_str(), self.text.first()) {
            ("", Some(text)) => text,
            ("", None) => &self.id,
            (name, _) => name,
        };
        let caller = self.frames.get(1);
        let place = match caller {
            Some(caller) => line(caller.location()),
            None if self.name.is_empty() => None,
            None => line(self.location()).map(|line| format!(" at{line}")),
        };
        let caller = caller.map(|caller| format!(" in {}", caller.function)).unwrap_or_default();
        format!("{name}{caller}{}", place.unwrap_or_default())
    }
}

impl StackFrame {
    fn new(frame: &Frame, own: Option<&Own<'_>>) -> Self {
        let location = frame.location.as_ref();
        Self {
            function: frame.function.clone(),
            file: location.map(|location| location.file.clone()),
            line: location.and_then(|location| location.line),
            column: location.and_then(|location| location.column),
            own: own.is_some_and(|own| own.is_own(frame)),
        }
    }

    /// Returns the place of the call.
    pub(crate) fn location(&self) -> Option<Location> {
        Some(Location { file: self.file.clone()?, line: self.line, column: self.column, end: None })
    }
}
