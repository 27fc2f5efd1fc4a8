//! Lines that a patch only moves: they are removed in one place, and added in another.

use std::collections::HashMap;

use super::hunk_lines::HunkText;

/// The minimum number of moved lines that are left out. Fewer do not hide the others.
const MIN_MOVED: usize = 8;

/// Hunks without the lines that are only moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unmoved {
    /// The hunks that have other lines.
    pub(super) hunks: Vec<HunkText>,
    /// The number of lines that are moved.
    pub(super) moved: usize,
}

/// Leaves out the lines that hunks only move, and lines without a letter or digit. Indentation does not count. Returns
/// `None` if too few lines are moved, or if no other lines are left.
pub(super) fn without_moved(hunks: &[HunkText]) -> Option<Unmoved> {
    // How many more times a line is removed than added, and the other way round.
    let mut removed: HashMap<&str, usize> = HashMap::new();
    let mut added = removed.clone();
    for (sign, text) in hunks.iter().flat_map(|hunk| &hunk.lines).filter_map(|line| signed_text(line)) {
        let (of_sign, of_other) = if sign == '-' { (&mut removed, &mut added) } else { (&mut added, &mut removed) };
        match of_other.get_mut(text) {
            Some(count) if *count > 0 => *count -= 1,
            _ => *of_sign.entry(text).or_default() += 1,
        }
    }
    let mut moved = 0;
    let mut left = Vec::new();
    for hunk in hunks {
        let is_left = |line: &&String| {
            let Some((sign, text)) = signed_text(line) else { return false };
            let count = if sign == '-' { removed.get_mut(text) } else { added.get_mut(text) };
            match count {
                Some(count) if *count > 0 => *count -= 1,
                _ => {
                    moved += usize::from(sign == '-');
                    return false;
                }
            }
            true
        };
        let lines: Vec<_> = hunk.lines.iter().filter(is_left).cloned().collect();
        if !lines.is_empty() {
            left.push(HunkText { label: hunk.label.clone(), lines });
        }
    }
    (moved >= MIN_MOVED && !left.is_empty()).then_some(Unmoved { hunks: left, moved })
}

/// Returns the sign of a line of a patch and its text without indentation, if there is a letter or a digit.
fn signed_text(line: &str) -> Option<(char, &str)> {
    let sign = line.chars().next().filter(|sign| ['-', '+'].contains(sign))?;
    let text = line[1..].trim();
    text.contains(char::is_alphanumeric).then_some((sign, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns hunks with lines of one letter each; a letter with a digit is another line.
    fn hunks(texts: &[&str]) -> Vec<HunkText> {
        let hunk = |(number, text): (usize, &&str)| HunkText {
            label: number.to_string(),
            lines: text.split(' ').map(str::to_owned).collect(),
        };
        texts.iter().enumerate().map(hunk).collect()
    }

    fn left(texts: &[&str]) -> Option<(String, usize)> {
        let unmoved = without_moved(&hunks(texts))?;
        let hunks = unmoved.hunks.iter().map(|hunk| format!("{}: {}", hunk.label, hunk.lines.join(" ")));
        Some((hunks.collect::<Vec<_>>().join(", "), unmoved.moved))
    }

    #[test]
    fn the_lines_that_differ_are_left() {
        let removed = "-a -b -c -d -e -f -g -h -i -}";
        assert_eq!(
            left(&[removed, "+a +b +c1 +d +e +f +g +h +i +}", "+j"]),
            Some(("0: -c, 1: +c1, 2: +j".to_owned(), 8))
        );
        // A line that occurs twice is moved once.
        assert_eq!(left(&[removed, "+a +b +c +d +e +f +g +h +i +a"]), Some(("1: +a".to_owned(), 9)));
        assert_eq!(left(&["-a -b", "+a +c"]), None);
        assert_eq!(left(&[removed, "+a +b +c +d +e +f +g +h +i"]), None);
        assert_eq!(left(&[]), None);
    }
}
