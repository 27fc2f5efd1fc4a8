//! A place in the source code as an answer shows it: some lines, and the underlined part of them.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde::{Deserialize, Serialize};

/// Lines of a source file, with an underlined part. They are kept, so that the answer can be shown without the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SourcePlace {
    /// The file as a user would write it.
    pub(crate) file: String,
    /// The number of the first of the lines, from 1.
    pub(crate) first_line: usize,
    /// The lines.
    pub(crate) lines: Vec<String>,
    /// The line and the column, in characters from 1, where the underlined part begins.
    pub(crate) from: (usize, usize),
    /// The line and the column after its last character.
    pub(crate) to: (usize, usize),
    /// The text beside the underlined part.
    pub(crate) label: String,
}

impl SourcePlace {
    /// Renders the lines for a terminal, with colours.
    pub(crate) fn render(&self) -> String {
        let start = self.offset(self.from);
        let span = start..self.offset(self.to).max(start);
        let snippet = Snippet::source(self.lines.join("\n"))
            .line_start(self.first_line)
            .path(self.file.as_str())
            .fold(false)
            .annotation(AnnotationKind::Primary.span(span).label(self.label.as_str()));
        Renderer::styled().render(&[Group::with_level(Level::NOTE).element(snippet)])
    }

    /// Returns the byte offset of a line and a column in the lines. A place outside of them is moved to their end.
    fn offset(&self, (line, column): (usize, usize)) -> usize {
        let index = line.saturating_sub(self.first_line).min(self.lines.len().saturating_sub(1));
        let before: usize = self.lines[..index].iter().map(|line| line.len() + 1).sum();
        before + self.lines.get(index).map_or(0, |line| byte_of(line, column))
    }
}

/// Returns the byte offset of a column in a line. Columns count characters from 1.
pub(super) fn byte_of(line: &str, column: usize) -> usize {
    line.char_indices().nth(column.saturating_sub(1)).map_or(line.len(), |(at, _)| at)
}

/// Returns the column of a byte offset in a line.
pub(super) fn column_of(line: &str, at: usize) -> usize {
    line.get(..at).map_or_else(|| line.chars().count(), |before| before.chars().count()) + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::terminal::without_colors;

    #[test]
    fn a_place_is_shown_without_its_file() {
        let lines = ["fn f() {", "    två(x);", "}"].map(str::to_owned).to_vec();
        let (file, label) = ("src/x.rs".to_owned(), "here".to_owned());
        let place = SourcePlace { file, first_line: 8, lines, from: (9, 5), to: (9, 11), label };
        let shown = without_colors(&place.render());
        assert!(shown.contains("src/x.rs:9:5") && shown.contains("^^^^^^ here"), "{shown}");
    }

    #[test]
    fn what_another_program_has_edited_is_shown_as_far_as_it_goes() {
        let place = |lines: &[&str], from, to| SourcePlace {
            file: "x".to_owned(),
            first_line: 3,
            lines: lines.iter().map(|&line| line.to_owned()).collect(),
            from,
            to,
            label: String::new(),
        };
        for place in [place(&[], (3, 1), (3, 2)), place(&["a"], (9, 9), (1, 1)), place(&["é"], (0, 0), (3, 7))] {
            place.render();
        }
    }

    #[test]
    fn columns_count_characters() {
        for (at, column) in [(0, 1), (1, 2), (3, 3), (4, 4)] {
            assert_eq!(column_of("tåx", at), column);
            assert_eq!(byte_of("tåx", column), at);
        }
        assert_eq!((column_of("tåx", 2), byte_of("tåx", 9)), (4, 4), "inside of a character, and beyond the end");
    }
}
