//! A place in the source code that an answer shows: some lines, and the underlined part of them.

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

/// Returns the byte offset of a column in a line. Columns count characters from 1.
pub(crate) fn byte_of(line: &str, column: usize) -> usize {
    line.char_indices().nth(column.saturating_sub(1)).map_or(line.len(), |(at, _)| at)
}

/// Returns the column of a byte offset in a line.
pub(super) fn column_of(line: &str, at: usize) -> usize {
    line.get(..at).map_or_else(|| line.chars().count(), |before| before.chars().count()) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        for (at, column) in [(0, 1), (1, 2), (3, 3), (4, 4)] {
            assert_eq!(column_of("tåx", at), column);
            assert_eq!(byte_of("tåx", column), at);
        }
        assert_eq!((column_of("tåx", 2), byte_of("tåx", 9)), (4, 4), "inside of a character, and beyond the end");
    }
}
