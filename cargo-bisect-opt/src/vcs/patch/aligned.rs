//! Hunks of a Rust file that do not cross the boundaries of items that both versions have.
//!
//! A comparison of lines alone often matches the body of an old function with that of a new one that follows it. Such
//! hunks do not compile one by one, although the two functions have nothing to do with each other. Lines are compared anew
//! only where they cross such a boundary.

use std::ops::Range;

use super::{
    items::Items,
    lines::{self, LineHunk},
};

/// Returns the hunks in which two versions of a Rust file differ, in order. Items with the same name are compared with
/// each other, if they are in the same order.
pub(crate) fn hunks(old: &[u8], new: &[u8]) -> Vec<LineHunk> {
    let boundaries = common_boundaries(&Items::of(old), &Items::of(new));
    let (old, new) = (lines::split(old), lines::split(new));
    let mut cuts = Vec::new();
    // Cuts make other comparisons, which may cross further boundaries.
    loop {
        let hunks = hunks_between(&cuts, &old, &new);
        let crossed = boundaries.iter().copied().filter(|&boundary| !passes(&hunks, boundary));
        let crossed: Vec<_> = crossed.filter(|boundary| !cuts.contains(boundary)).collect();
        if crossed.is_empty() {
            return hunks;
        }
        cuts.extend(crossed);
        cuts.sort_unstable();
    }
}

/// Returns the hunks of the lines between cuts.
fn hunks_between(cuts: &[(usize, usize)], old: &[&[u8]], new: &[&[u8]]) -> Vec<LineHunk> {
    let (mut all, mut from) = (Vec::new(), (0, 0));
    for to in cuts.iter().copied().chain([(old.len(), new.len())]) {
        let (old, new) = (old[from.0..to.0].concat(), new[from.1..to.1].concat());
        all.extend(lines::hunks(&old, &new).into_iter().map(|hunk| hunk.shifted(from)));
        from = to;
    }
    all
}

/// Returns true if no hunk crosses a boundary: the lines before it correspond to each other.
fn passes(hunks: &[LineHunk], (old, new): (usize, usize)) -> bool {
    let mut from = (0, 0);
    for hunk in hunks {
        if old < hunk.old.start {
            break;
        }
        if (hunk.old.start..=hunk.old.end).contains(&old) && (hunk.new.start..=hunk.new.end).contains(&new) {
            return true;
        }
        if old < hunk.old.end {
            return false;
        }
        from = (hunk.old.end, hunk.new.end);
    }
    new.checked_sub(from.1) == old.checked_sub(from.0)
}

/// Returns the boundaries, as positions in the lines of both versions, at which an item that both have begins or ends.
/// Neither position decreases.
fn common_boundaries(old: &Items, new: &Items) -> Vec<(usize, usize)> {
    let named = |items: &Items| -> Vec<(String, Range<usize>)> {
        let named = items.iter().filter(|(name, _)| !name.is_empty());
        named.map(|(name, lines)| (name.to_owned(), lines.clone())).collect()
    };
    let (old, new) = (named(old), named(new));
    let text = |items: &[(String, Range<usize>)]| items.iter().fold(String::new(), |all, (name, _)| all + name + "\n");
    let mut boundaries = Vec::new();
    let mut from = (0, 0);
    let differing = lines::hunks(text(&old).as_bytes(), text(&new).as_bytes());
    let end = LineHunk { old: old.len()..old.len(), new: new.len()..new.len() };
    for LineHunk { old: old_range, new: new_range } in differing.into_iter().chain([end]) {
        for ((_, old), (_, new)) in old[from.0..old_range.start].iter().zip(&new[from.1..new_range.start]) {
            boundaries.extend([(old.start, new.start), (old.end, new.end)]);
        }
        from = (old_range.end, new_range.end);
    }
    boundaries.sort_unstable();
    boundaries.dedup();
    increasing(&boundaries)
}

/// Returns a longest subsequence of sorted pairs whose second numbers do not decrease.
fn increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the index of the pair with the least second number that ends such a subsequence.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::new();
    for (index, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 <= pair.1);
        before.push(length.checked_sub(1).map(|last| ends[last]));
        ends.truncate(length.max(ends.len()));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut chosen: Vec<_> = std::iter::successors(ends.last().copied(), |&index| before[index]).collect();
    chosen.reverse();
    chosen.into_iter().map(|index| pairs[index]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(name: &str, argument: &str, kind: &str) -> String {
        format!("pub fn {name}({argument}: {kind}) -> u32 {{\n    let sum = {argument}.len();\n    sum as u32\n}}\n\n")
    }

    #[test]
    fn a_function_before_another_one_does_not_take_its_body() {
        let old = body("one", "text", "&str") + &body("two", "text", "&str");
        let general = |name: &str| body(name, "list", "&[u8]");
        let call =
            |name: &str| format!("pub fn {name}(text: &str) -> u32 {{\n    general_{name}(text.as_bytes())\n}}\n\n");
        let new = general("general_one") + &call("one") + &general("general_two") + &call("two");
        let found: Vec<_> =
            hunks(old.as_bytes(), new.as_bytes()).into_iter().map(|hunk| (hunk.old, hunk.new)).collect();
        assert_eq!(found, [(0..0, 0..5), (1..3, 6..7), (4..4, 8..13), (6..8, 15..16)]);
    }

    #[test]
    fn functions_between_two_others_are_one_hunk() {
        let (old, new) = (body("one", "text", "&str") + &body("two", "text", "&str"), body("new", "list", "&[u8]"));
        let new = old.replace("pub fn two", &(new.clone() + &new.replace("new", "newer") + "pub fn two"));
        let found = hunks(old.as_bytes(), new.as_bytes());
        assert_eq!(found, lines::hunks(old.as_bytes(), new.as_bytes()));
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn a_function_with_another_name_is_compared_by_its_lines() {
        let (old, new) = (body("one", "text", "&str"), body("two", "text", "&str"));
        let found = hunks(old.as_bytes(), new.as_bytes());
        assert_eq!(found, [LineHunk { old: 0..1, new: 0..1 }]);
    }

    #[test]
    fn moved_items_and_other_text_are_compared_by_their_lines() {
        let (one, two) = ("fn one() {}\n", "fn two() {}\n");
        for (old, new) in [
            (format!("{one}{two}"), format!("{two}{one}")),
            (format!("mod a {{\n{one}}}\n{two}"), format!("{two}mod a {{\n{one}{two}}}\n")),
            (one.to_owned(), "fn {\n".to_owned()),
        ] {
            let hunks = hunks(old.as_bytes(), new.as_bytes());
            assert_eq!(lines::apply(old.as_bytes(), new.as_bytes(), &hunks), new.as_bytes(), "{hunks:?}");
        }
    }

    #[test]
    fn pairs_that_cross_are_left_out() {
        assert_eq!(increasing(&[(0, 0), (1, 5), (2, 2), (3, 3), (3, 7)]), [(0, 0), (2, 2), (3, 3), (3, 7)]);
        assert_eq!(increasing(&[]), []);
    }
}
