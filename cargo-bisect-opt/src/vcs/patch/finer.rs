//! Division of a hunk into smaller ones: each new line replaces the old line that it resembles.

use std::collections::BTreeSet;

use super::lines::LineHunk;

/// Percent: the least similarity of two lines of which one replaces the other.
const MIN_SIMILARITY: usize = 50;
/// The maximum number of pairs of lines of a hunk that is divided.
const MAX_PAIRS: usize = 250_000;

/// Divides a hunk. `old` and `new` are the lines of both versions of the file.
pub(super) fn divided(hunk: &LineHunk, old: &[&[u8]], new: &[&[u8]]) -> Vec<LineHunk> {
    let (old, new) = (&old[hunk.old.clone()], &new[hunk.new.clone()]);
    if old.len() * new.len() > MAX_PAIRS {
        return vec![hunk.clone()];
    }
    let mut divided = Vec::new();
    let mut from = (0, 0);
    let mut add = |old: std::ops::Range<usize>, new: std::ops::Range<usize>| {
        if !old.is_empty() || !new.is_empty() {
            divided.push(LineHunk { old, new }.shifted((hunk.old.start, hunk.new.start)));
        }
    };
    for (one, other) in pairs(old, new) {
        add(from.0..one, from.1..other);
        add(one..one + 1, other..other + 1);
        from = (one + 1, other + 1);
    }
    add(from.0..old.len(), from.1..new.len());
    divided
}

/// Returns true if one line may replace the other.
pub(crate) fn resemble(one: &[u8], other: &[u8]) -> bool {
    similarity(&words(one), &words(other)) >= MIN_SIMILARITY
}

/// Returns the similarity of two lines with these words, in percent.
fn similarity(one: &BTreeSet<&[u8]>, other: &BTreeSet<&[u8]>) -> usize {
    let most = one.len().max(other.len());
    (100 * one.intersection(other).count()).checked_div(most).unwrap_or(0)
}

/// Returns the pairs of lines that resemble each other, in order, so that the sum of their similarities is largest.
fn pairs(old: &[&[u8]], new: &[&[u8]]) -> Vec<(usize, usize)> {
    let (old_words, new_words): (Vec<_>, Vec<_>) =
        (old.iter().map(|line| words(line)).collect(), new.iter().map(|line| words(line)).collect());
    // The best sums for the lines from these on.
    let mut best = vec![vec![0; new.len() + 1]; old.len() + 1];
    for one in (0..old.len()).rev() {
        for other in (0..new.len()).rev() {
            let without = best[one + 1][other].max(best[one][other + 1]);
            let like = similarity(&old_words[one], &new_words[other]);
            let with = if like < MIN_SIMILARITY { 0 } else { like + best[one + 1][other + 1] };
            best[one][other] = without.max(with);
        }
    }
    let (mut found, mut one, mut other) = (Vec::new(), 0, 0);
    while one < old.len() && other < new.len() {
        if best[one][other] <= best[one + 1][other] {
            one += 1;
        } else if best[one][other] <= best[one][other + 1] {
            other += 1;
        } else {
            found.push((one, other));
            (one, other) = (one + 1, other + 1);
        }
    }
    found
}

/// Returns the words of a line, and its other characters but blanks.
fn words(line: &[u8]) -> BTreeSet<&[u8]> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let runs = line.chunk_by(|one, other| is_word(one) && is_word(other));
    runs.filter(|run| !run.trim_ascii().is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vcs::patch::lines;

    #[test]
    fn lines_that_resemble_each_other_replace_each_other() {
        let old = b"    for (i, a_char) in a.chars() {\n        let cost = if a == b { 0 } else { 1 };\n        push(cost);\n";
        let new = b"    let more = vec![];\n    for (i, a_elem) in a.into_iter() {\n        let cost = if a == b { 1 } else { 1 };\n";
        let (old_lines, new_lines) = (lines::split(old), lines::split(new));
        let hunks = divided(&LineHunk { old: 0..3, new: 0..3 }, &old_lines, &new_lines);
        let found: Vec<_> = hunks.iter().map(|hunk| (hunk.old.clone(), hunk.new.clone())).collect();
        assert_eq!(found, [(0..0, 0..1), (0..1, 1..2), (1..2, 2..3), (2..3, 3..3)]);
        assert_eq!(lines::apply(old, new, &hunks), new);
    }

    #[test]
    fn lines_without_likeness_stay_together() {
        let (old, new) = (lines::split(b"a(b);\nc(d);\n"), lines::split(b"x + y\n"));
        let hunk = LineHunk { old: 0..2, new: 0..1 };
        assert_eq!(divided(&hunk, &old, &new), [hunk]);
    }
}
