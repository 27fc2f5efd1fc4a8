//! The formats of an answer: each is a function from what a search has recorded to text.

mod brief;
mod chrome_trace;
mod diagnostics;
mod github;
#[cfg(test)]
mod goldens;
mod json;
mod markdown;
mod sarif;
pub(super) mod summary;
pub(crate) mod text;

use super::page;
use crate::record::CommandRecord;

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
    pub(crate) render: fn(&CommandRecord) -> String,
}

/// The default format: a search prints it in parts, as soon as they are certain.
pub(crate) const TEXT: &str = "text";

/// The format that `--message-format=json` selects.
pub(crate) const DIAGNOSTICS: &str = "diagnostics";

/// All formats. A further one is a file in this folder and an entry here.
pub(crate) const FORMATS: &[AnswerFormat] = &[
    AnswerFormat {
        name: TEXT,
        help: "What a search prints: the culprits with their source, and the conclusion",
        is_for_terminal: true,
        render: text::render,
    },
    AnswerFormat { name: "markdown", help: "Markdown, for an issue", is_for_terminal: true, render: markdown::render },
    AnswerFormat {
        name: "brief",
        help: "Plain text of at most 600 tokens in all, for language models",
        is_for_terminal: true,
        render: brief::render,
    },
    AnswerFormat {
        name: DIAGNOSTICS,
        help: "Diagnostics of rustc, as cargo prints them with --message-format=json: for editors",
        is_for_terminal: false,
        render: diagnostics::render,
    },
    AnswerFormat {
        name: "sarif",
        help: "SARIF 2.1.0, for code scanning",
        is_for_terminal: false,
        render: sarif::render,
    },
    AnswerFormat {
        name: "github",
        help: "Workflow commands of GitHub Actions, at most ten: annotations beside the code",
        is_for_terminal: true,
        render: github::render,
    },
    AnswerFormat {
        name: "html",
        help: "A page with the culprits and charts of the search: one file, for browsers",
        is_for_terminal: false,
        render: page::render,
    },
    AnswerFormat {
        name: "trace",
        help: "The times of all trials as a Chrome trace, for Perfetto",
        is_for_terminal: false,
        render: chrome_trace::render,
    },
    AnswerFormat { name: "json", help: "The file result.json", is_for_terminal: false, render: json::render },
];

/// Returns the format with this name.
pub(crate) fn by_name(name: &str) -> Option<&'static AnswerFormat> {
    FORMATS.iter().find(|format| format.name == name)
}
