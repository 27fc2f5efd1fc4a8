//! Lines of a file, and the hunks in which its two versions differ.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput, sources::byte_lines};

/// A hunk without context: lines of the old version, and the lines of the new version that replace them. Both count
/// from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineHunk {
    /// The lines of the old version.
    pub(crate) old: Range<usize>,
    /// The lines of the new version.
    pub(crate) new: Range<usize>,
}

impl LineHunk {
    /// Returns the same hunk, counted from the lines that are this number of lines earlier in the old and in the new
    /// version.
    pub(crate) fn shifted(self, (old, new): (usize, usize)) -> Self {
        let shifted = |lines: Range<usize>, by: usize| lines.start + by..lines.end + by;
        Self { old: shifted(self.old, old), new: shifted(self.new, new) }
    }
}

/// Returns the lines of a file, with their line breaks.
pub(crate) fn split(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

/// Returns the hunks in which two versions differ, in order.
pub(crate) fn hunks(old: &[u8], new: &[u8]) -> Vec<LineHunk> {
    let input = InternedInput::new(byte_lines(old), byte_lines(new));
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let range = |range: Range<u32>| range.start as usize..range.end as usize;
    diff.hunks().map(|hunk| LineHunk { old: range(hunk.before), new: range(hunk.after) }).collect()
}

/// Returns the old version with some hunks applied. They are in order, and do not overlap.
pub(crate) fn apply<'a>(old: &[u8], new: &[u8], hunks: impl IntoIterator<Item = &'a LineHunk>) -> Vec<u8> {
    let (old, new) = (split(old), split(new));
    let mut lines: Vec<&[u8]> = Vec::with_capacity(new.len().max(old.len()));
    let mut next = 0;
    for hunk in hunks {
        lines.extend(&old[next..hunk.old.start]);
        lines.extend(&new[hunk.new.clone()]);
        next = hunk.old.end;
    }
    lines.extend(&old[next..]);
    join(&lines)
}

/// Joins lines. A line that lost its place at the end of its file gets a line break.
fn join(lines: &[&[u8]]) -> Vec<u8> {
    let mut text = Vec::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
    for (i, line) in lines.iter().enumerate() {
        text.extend_from_slice(line);
        if !line.ends_with(b"\n") && i + 1 < lines.len() {
            text.push(b'\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<(Range<usize>, Range<usize>)> {
        let (old, new) = text.split_once('|').unwrap();
        let of = |text: &str| text.split_whitespace().fold(String::new(), |all, word| all + word + "\n");
        hunks(of(old).as_bytes(), of(new).as_bytes()).into_iter().map(|hunk| (hunk.old, hunk.new)).collect()
    }

    #[test]
    fn hunks_have_no_context() {
        assert_eq!(numbers("a b c | a x c"), [(1..2, 1..2)]);
        assert_eq!(numbers("a b c d e | x b c d y z e"), [(0..1, 0..1), (4..4, 4..6)]);
        assert_eq!(numbers("a b | "), [(0..2, 0..0)]);
        assert_eq!(numbers("a b | a b"), []);
    }

    #[test]
    fn any_selection_can_be_applied() {
        let (old, new) = (b"a\nb\nc\nd\ne", b"A\nb\nd\nx\ne\nf\n");
        let all = hunks(old, new);
        let applied = |keep: &dyn Fn(usize) -> bool| {
            let kept = all.iter().enumerate().filter(|(i, _)| keep(*i)).map(|(_, hunk)| hunk);
            String::from_utf8(apply(old, new, kept)).unwrap()
        };
        assert_eq!(applied(&|_| true).as_bytes(), new);
        assert_eq!(applied(&|_| false).as_bytes(), old);
        assert_eq!(applied(&|i| i == 0), "A\nb\nc\nd\ne");
    }

    #[test]
    fn a_line_that_is_no_longer_last_gets_a_line_break() {
        assert_eq!(join(&[b"a", b"b\n", b"c"]), b"a\nb\nc");
    }
}
