//! The content of a report: a change, and what the target says about it.

use std::fmt;

use bisect_core::ChangeId;
use serde::{Deserialize, Serialize};

use super::kind::ChangeKind;

/// A change as a target reported it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Report {
    /// The change.
    #[serde(with = "super::stored_fields::id")]
    pub(crate) id: ChangeId,
    /// Its kind. A report only shows whether there is a call stack; the axis may know better.
    #[serde(with = "super::stored_fields::kind")]
    pub(crate) kind: ChangeKind,
    /// The name of its toggle or gate; empty if the report has none.
    pub(crate) name: String,
    /// Where the change is.
    pub(crate) location: Option<Location>,
    /// The call stack, innermost frame first.
    pub(crate) frames: Vec<Frame>,
    /// The syntactic form of an expression, such as `if let`.
    pub(crate) form: Option<String>,
    /// The package that has the source, if another package compiles it: name and version.
    pub(crate) package: Option<String>,
    /// Further lines from `bisect-rustc`, for people.
    pub(crate) details: Vec<String>,
    /// All lines as the target wrote them, without markers. They are shown, and never parsed again.
    pub(crate) text: Vec<String>,
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Location {
    /// The file as the target names it.
    pub(crate) file: String,
    /// Line, from 1; none if the whole file is meant.
    pub(crate) line: Option<u32>,
    /// Column, from 1.
    pub(crate) column: Option<u32>,
    /// Line and column, from 1, after the last character.
    pub(crate) end: Option<(u32, u32)>,
}

/// A frame of a call stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Frame {
    /// The function.
    pub(crate) function: String,
    /// The call; none if the program has no line information.
    pub(crate) location: Option<Location>,
}

/// The words for the parts of a change that must be enabled together to compile, after their number.
pub(crate) const ONLY_COMPILE_TOGETHER: &str = "that only compile together";
/// The words before the range of the commits that a merge merges.
pub(crate) const MERGES: &str = "merges the commits ";

impl Report {
    /// Returns a report that says nothing about its change.
    pub(crate) fn new(id: ChangeId) -> Self {
        let (frames, details, text) = (Vec::new(), Vec::new(), Vec::new());
        let (name, kind) = (String::new(), ChangeKind::SITE);
        Self { id, kind, name, location: None, frames, form: None, package: None, details, text }
    }

    /// Returns a report of one line that is only shown.
    pub(crate) fn with_text(id: ChangeId, line: String) -> Self {
        Self { text: vec![line], ..Self::new(id) }
    }

    /// Returns true if the target said anything about the change.
    pub(crate) fn has_text(&self) -> bool {
        !self.text.is_empty()
    }

    /// Returns the words for its parts, if they have several names and only compile together.
    pub(crate) fn tied_parts(&self) -> Option<&str> {
        let mut words = self.details.iter().filter_map(|detail| Some(detail.split_once(" (")?.0));
        words.find(|words| words.ends_with(ONLY_COMPILE_TOGETHER))
    }

    /// Returns the range of the commits that it merges, if it is a merge.
    pub(crate) fn merged_commits(&self) -> Option<&str> {
        self.details.iter().find_map(|detail| detail.strip_prefix(MERGES))
    }

    /// Adds what another process reported about the same change.
    pub(crate) fn append(&mut self, other: &Self) {
        if !self.has_text() {
            self.clone_from(other);
            return;
        }
        self.text.extend_from_slice(&other.text);
        self.frames.extend_from_slice(&other.frames);
        for detail in &other.details {
            if !self.details.contains(detail) {
                self.details.push(detail.clone());
            }
        }
    }
}

impl Location {
    /// Returns a location with a line.
    pub(crate) fn new(file: &str, line: u32, column: Option<u32>) -> Self {
        Self { line: Some(line), column, ..Self::of_file(file.to_owned()) }
    }

    /// Returns the location of a whole file.
    pub(crate) fn of_file(file: String) -> Self {
        Self { file, line: None, column: None, end: None }
    }
}

impl fmt::Display for Location {
    /// `file:line:column`, as far as they are known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        let Some(line) = self.line else { return Ok(()) };
        write!(f, ":{line}")?;
        self.column.map_or(Ok(()), |column| write!(f, ":{column}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_shown_as_far_as_it_is_known() {
        let shown = |location: Location| location.to_string();
        assert_eq!(shown(Location::new("a.rs", 3, Some(4))), "a.rs:3:4");
        assert_eq!(shown(Location::new("a.rs", 3, None)), "a.rs:3");
        assert_eq!(shown(Location::of_file("a.rs".to_owned())), "a.rs");
    }

    #[test]
    fn reports_of_several_processes_are_one() {
        let id = ChangeId(1);
        let report = |text: &str, details: &[&str]| Report {
            name: "drops".to_owned(),
            details: details.iter().map(|&detail| detail.to_owned()).collect(),
            ..Report::with_text(id, text.to_owned())
        };
        let mut both = Report::new(id);
        both.append(&report("a", &["x", "y"]));
        both.append(&report("b", &["y", "z"]));
        assert_eq!(
            (both.name.as_str(), both.text, both.details),
            ("drops", vec!["a".to_owned(), "b".to_owned()], ["x", "y", "z"].map(str::to_owned).to_vec())
        );
    }
}
