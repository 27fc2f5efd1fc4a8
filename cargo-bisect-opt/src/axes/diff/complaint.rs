//! The compiler's errors about a tree: the places and the names that they mention.

use std::{collections::BTreeSet, path::PathBuf, sync::LazyLock};

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::words;
use crate::process::plain_text;

/// The errors of a build.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Complaint {
    /// Files relative to the directory of the workspace, and lines from 0.
    pub(super) places: BTreeSet<(PathBuf, usize)>,
    /// The names in the first lines of errors.
    pub(super) names: BTreeSet<String>,
    /// The names in the compiler's suggestions about errors.
    pub(super) suggested: BTreeSet<String>,
}

impl Complaint {
    /// Reads the messages of cargo and the compiler, which may be coloured. Warnings do not count.
    pub(super) fn of(messages: &[u8]) -> Self {
        static PLACE: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"^\s*(?:-->|:::) (.+?):(\d+)(?::\d+)?$").expect("it is valid"));
        // A line after `+` is a suggestion: it is in no file.
        static MARKED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\s*(\d+)\s+[|/~-]").expect("it is valid"));
        static HELP: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\s*(?:= )?help: ").expect("it is valid"));
        let mut complaint = Self::default();
        let mut is_error = false;
        let mut file = None;
        for line in plain_text(messages).lines() {
            if line.starts_with("warning") || line.starts_with("error: could not compile") {
                is_error = false;
            } else if line.starts_with("error") {
                is_error = true;
                complaint.names.extend(in_backticks(line));
            }
            if !is_error {
                continue;
            }
            if HELP.is_match(line) {
                complaint.suggested.extend(in_backticks(line));
            }
            let number = |text: &str| text.parse::<usize>().ok()?.checked_sub(1);
            if let Some(place) = PLACE.captures(line) {
                let path = PathBuf::from(&place[1]);
                complaint.places.extend(number(&place[2]).map(|line| (path.clone(), line)));
                file = Some(path);
            } else if let (Some(marked), Some(file)) = (MARKED.captures(line), &file) {
                complaint.places.extend(number(&marked[1]).map(|line| (file.clone(), line)));
            }
        }
        complaint
    }
}

/// Returns the names in a line of a message, which are in backticks.
fn in_backticks(line: &str) -> impl Iterator<Item = String> {
    line.split('`').skip(1).step_by(2).flat_map(|text| words::words(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_names_of_errors_are_read() {
        let messages = b"\
warning: unused variable: `x`
 --> src/lib.rs:1:9
error[E0061]: this function takes 2 arguments but 1 argument was supplied
  --> src/main.rs:12:5
   |
12 |     one(1);
   |     ^^^--- argument #2 is missing
   |
note: function defined here
  --> src/lib.rs:3:8
   |
3  | pub fn one(a: u8, b: u8) {}
   |        ^^^        -----
error[E0425]: cannot find function `two` in module `a::b`
   |
   = help: items from traits can only be used if the trait is in scope
help: trait `Into` which provides `into` is implemented but not in scope; perhaps you want to import it
   |
10 + use core::convert::Into;
   |
warning: unused import
help: remove `std::fmt`
error: could not compile `x` (lib) due to 2 previous errors
";
        let complaint = Complaint::of(messages);
        let places: Vec<_> = complaint.places.iter().map(|(file, line)| format!("{}:{line}", file.display())).collect();
        assert_eq!(places, ["src/lib.rs:2", "src/main.rs:11"]);
        let list = |names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!((list(complaint.names), list(complaint.suggested)), ("a b two".to_owned(), "Into into".to_owned()));
    }

    #[test]
    fn colours_do_not_matter() {
        let plain = "error[E0425]: cannot find function `two`\n  --> src/main.rs:12:5\n   |\n12 |     two();\n";
        let coloured = "\x1b[1m\x1b[91merror[E0425]\x1b[0m\x1b[1m: cannot find function `two`\x1b[0m\n  \x1b[1m\x1b[94m--> \
                        \x1b[0msrc/main.rs:12:5\n   \x1b[1m\x1b[94m|\x1b[0m\n\x1b[1m\x1b[94m12\x1b[0m \x1b[1m\x1b[94m|\
                        \x1b[0m     two();\n";
        let complaint = Complaint::of(coloured.as_bytes());
        assert_eq!(complaint, Complaint::of(plain.as_bytes()));
        assert_eq!(complaint.places.len(), 1);
    }
}
