//! The formats of an answer: each is a function from what a search has recorded to text.

mod json;
pub(crate) mod text;

use super::recorded::RecordedRun;

/// A format of an answer.
#[derive(Debug)]
pub(crate) struct AnswerFormat {
    /// The value of `--format`.
    pub(crate) name: &'static str,
    /// A description for `--help`.
    pub(crate) help: &'static str,
    /// True if people read it on a terminal, which must not act on bytes that a target has written.
    pub(crate) is_for_terminal: bool,
    /// Renders the answer.
    pub(crate) render: fn(&RecordedRun) -> String,
}

/// The default format: a search prints it in parts, as soon as they are known.
pub(crate) const TEXT: &str = "text";

/// All formats. A further one is a file in this folder and an entry here.
pub(crate) const FORMATS: &[AnswerFormat] = &[
    AnswerFormat {
        name: TEXT,
        help: "What a search prints: the culprits with their source, and the conclusion",
        is_for_terminal: true,
        render: text::render,
    },
    AnswerFormat { name: "json", help: "The file result.json", is_for_terminal: false, render: json::render },
];

/// Returns the format with this name.
pub(crate) fn by_name(name: &str) -> Option<&'static AnswerFormat> {
    FORMATS.iter().find(|format| format.name == name)
}
