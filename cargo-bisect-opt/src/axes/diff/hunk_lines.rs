//! The lines of hunks in an answer, of which there is room for only some.

use crate::units::plural;

/// A hunk as text: its name with its place, and its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HunkText {
    /// The name and the place; empty if the headline has both.
    pub(super) label: String,
    /// The lines, each with its sign.
    pub(super) lines: Vec<String>,
}

/// Returns hunks in about `limit` lines. The others get at most half, or what the first one leaves.
pub(super) fn shown_main_first(hunks: &[HunkText], limit: usize) -> Vec<String> {
    let Some((main, others)) = hunks.split_first().filter(|(_, others)| !others.is_empty()) else {
        return shown(hunks, limit);
    };
    let lines = |hunk: &HunkText| 1 + hunk.lines.len();
    let of_others = others.iter().map(lines).sum::<usize>().min(limit / 2);
    let mut shown_lines = shown(std::slice::from_ref(main), limit - of_others);
    let rest = limit.saturating_sub(shown_lines.len()).max(of_others);
    shown_lines.extend(shown(others, rest));
    shown_lines
}

/// Returns hunks in about `limit` lines. Names have priority, and each hunk gets the same share of the other lines.
pub(super) fn shown(hunks: &[HunkText], limit: usize) -> Vec<String> {
    let labels = hunks.iter().filter(|hunk| !hunk.label.is_empty()).count();
    let is_all = labels + hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>() <= limit;
    let most = hunks.len().min(limit);
    let each = if is_all { usize::MAX } else { (limit - labels.min(limit)).checked_div(most).unwrap_or(0) };
    let mut shown = Vec::new();
    for HunkText { label, lines } in &hunks[..most] {
        shown.extend((!label.is_empty()).then(|| label.clone()));
        shown.extend(lines.iter().take(each).cloned());
        if lines.len() > each && each > 0 {
            shown.push(format!("… and {}", plural(lines.len() - each, "more line")));
        }
    }
    if hunks.len() > most {
        shown.push(format!("… and {}", plural(hunks.len() - most, "more hunk")));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunks(lines: &[usize]) -> Vec<HunkText> {
        let hunk = |(number, &count): (usize, &usize)| HunkText {
            label: number.to_string(),
            lines: (0..count).map(|line| format!("+{line}")).collect(),
        };
        lines.iter().enumerate().map(hunk).collect()
    }

    #[test]
    fn the_names_of_hunks_come_before_their_lines() {
        for (lines, limit, expected) in [
            (&[2, 1][..], 5, "0 +0 +1 1 +0"),
            (&[3, 3], 6, "0 +0 +1 … and 1 more line 1 +0 +1 … and 1 more line"),
            (&[9, 1, 1], 3, "0 1 2"),
            (&[1, 1, 1], 2, "0 1 … and 1 more hunk"),
            (&[], 2, ""),
        ] {
            assert_eq!(shown(&hunks(lines), limit).join(" "), expected, "{lines:?} in {limit}");
        }
        let mut single = hunks(&[5]);
        single[0].label.clear();
        assert_eq!(shown(&single, 3), ["+0", "+1", "+2", "… and 2 more lines"]);
    }

    #[test]
    fn the_hunk_that_names_a_change_has_most_lines() {
        for (lines, limit, expected) in [
            (&[2, 1][..], 5, "0 +0 +1 1 +0"),
            (&[9, 1, 1], 8, "0 +0 +1 +2 … and 6 more lines 1 +0 2 +0"),
            (&[9, 0, 0], 8, "0 +0 +1 +2 +3 +4 … and 4 more lines 1 2"),
            (&[1, 9], 6, "0 +0 1 +0 +1 +2 … and 6 more lines"),
            (&[3], 2, "0 +0 … and 2 more lines"),
        ] {
            assert_eq!(shown_main_first(&hunks(lines), limit).join(" "), expected, "{lines:?} in {limit}");
        }
    }
}
