//! A change of a culprit in the JSON.

use serde::{Deserialize, Serialize, Serializer};

use crate::report::content::{Frame, Location, Report};

/// One change of a culprit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChangeFacts {
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
    /// True for the user's own code. Only `result.json` has it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) own: bool,
}

impl From<&Report> for ChangeFacts {
    fn from(report: &Report) -> Self {
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
            frames: report.frames.iter().map(StackFrame::from).collect(),
            package: report.package.clone(),
        }
    }
}

impl From<&Frame> for StackFrame {
    fn from(Frame { function, location }: &Frame) -> Self {
        let location = location.as_ref();
        Self {
            function: function.clone(),
            file: location.map(|location| location.file.clone()),
            line: location.and_then(|location| location.line),
            column: location.and_then(|location| location.column),
            own: false,
        }
    }
}

impl ChangeFacts {
    /// Returns the place of the change.
    pub(crate) fn location(&self) -> Option<Location> {
        let (file, line, column, end) = (self.file.clone()?, self.line, self.column, self.end);
        Some(Location { file, line, column, end })
    }

    /// Returns a toggle with its caller, or the change with its location. `hunk` is the noun for a part of a patch.
    pub(crate) fn one_line(&self, hunk: Option<&str>) -> String {
        let line = |location: Option<Location>| {
            let location = location?;
            Some(format!(" {}:{}", location.file, location.line?))
        };
        // The lines of a patch say less than its place.
        if let (Some(noun), Some(place), "") = (hunk, line(self.location()), &*self.name) {
            return format!("{noun} at{place}");
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
    /// Returns the place of the call.
    pub(crate) fn location(&self) -> Option<Location> {
        Some(Location { file: self.file.clone()?, line: self.line, column: self.column, end: None })
    }
}

/// Serializes the changes of a culprit.
pub(crate) fn serialize<S: Serializer>(reports: &[Report], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(reports.iter().map(ChangeFacts::from))
}
