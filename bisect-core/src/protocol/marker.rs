//! Match markers: the text `[bisect-match 0x…]`, by which a line of output reports a change.
//!
//! All functions work on bytes, because the output of a target need not be UTF-8.

use core::ops::Range;

use crate::ChangeId;

/// Number of bytes of a marker as [`format`] writes it: the prefix, `0x`, 16 hex digits and `]`.
pub const LEN: usize = 33;

const PREFIX: &[u8] = b"[bisect-match ";

/// Returns the marker of a change: ASCII, without a line break.
///
/// ```
/// use bisect_core::{ChangeId, marker};
///
/// assert_eq!(&marker::format(ChangeId(0x3f)), b"[bisect-match 0x000000000000003f]");
/// ```
#[must_use]
pub const fn format(id: ChangeId) -> [u8; LEN] {
    let mut marker = *b"[bisect-match 0x0000000000000000]";
    let mut i = 0;
    while i < 16 {
        marker[LEN - 2 - i] = b"0123456789abcdef"[(id.0 >> (4 * i) & 15) as usize];
        i += 1;
    }
    marker
}

/// Returns the change of the first well-formed marker in `line`, and the bytes of the marker.
///
/// Besides the form that [`format`] writes, this accepts fewer hex digits (either case) and, without `0x`, up to 64
/// binary digits. Text that begins like a marker but has none of these forms is skipped.
///
/// ```
/// use bisect_core::{ChangeId, marker};
///
/// assert_eq!(marker::find(b"a.c:3 [bisect-match 0x3f]"), Some((ChangeId(0x3f), 6..25)));
/// assert_eq!(marker::find(b"[bisect-match 0xyz] [bisect-match 101]"), Some((ChangeId(5), 20..38)));
/// assert_eq!(marker::find(b"[bisect-match 0x3f"), None);
/// ```
#[must_use]
pub fn find(line: &[u8]) -> Option<(ChangeId, Range<usize>)> {
    let mut from = 0;
    loop {
        let start = from + find_prefix(&line[from..])?;
        let digits = start + PREFIX.len();
        let end = digits + line[digits..].iter().position(|&byte| byte == b']')?;
        if let Some(id) = parse_id(&line[digits..end]) {
            return Some((id, start..end + 1));
        }
        from = digits;
    }
}

/// Splits `line` at its first marker: returns the marker's ID and the parts before and after the marker.
///
/// At most one adjacent space is removed with the marker: the one before it or, if there is none, the one after it.
///
/// ```
/// use bisect_core::{ChangeId, marker};
///
/// let (id, before, after) = marker::cut(b"a.c:3 [bisect-match 0x3f] folded").unwrap();
/// assert_eq!((id, before, after), (ChangeId(0x3f), b"a.c:3".as_slice(), b" folded".as_slice()));
/// ```
#[must_use]
pub fn cut(line: &[u8]) -> Option<(ChangeId, &[u8], &[u8])> {
    let (id, range) = find(line)?;
    let (before, after) = (&line[..range.start], &line[range.end..]);
    Some(match (before.strip_suffix(b" "), after.strip_prefix(b" ")) {
        (Some(before), _) => (id, before, after),
        (None, Some(after)) => (id, before, after),
        (None, None) => (id, before, after),
    })
}

fn find_prefix(bytes: &[u8]) -> Option<usize> {
    bytes.windows(PREFIX.len()).position(|window| window == PREFIX)
}

fn parse_id(digits: &[u8]) -> Option<ChangeId> {
    let (digits, radix) = match digits.strip_prefix(b"0x") {
        Some(hex) => (hex, 16),
        None => (digits, 2),
    };
    // `from_str_radix` rejects an empty text and a number that does not fit, but accepts a sign.
    let text = core::str::from_utf8(digits).ok().filter(|text| !text.starts_with('+'))?;
    // More leading zeros than 64 bits have would fit, but are no form of the protocol.
    let longest = if radix == 16 { 16 } else { 64 };
    let id = u64::from_str_radix(text, radix).ok()?;
    (text.len() <= longest).then_some(ChangeId(id))
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use proptest::prelude::*;

    use super::*;

    fn cut_text(line: &str) -> Option<(u64, String)> {
        let (id, before, after) = cut(line.as_bytes())?;
        let text = [before, after].concat();
        Some((id.0, String::from_utf8(text).unwrap()))
    }

    #[test]
    fn accepted() {
        for (line, id, rest) in [
            ("[bisect-match 0x0123456789abcdef]", 0x0123_4567_89ab_cdef, ""),
            ("a [bisect-match 0xA] b", 10, "a b"),
            ("a  [bisect-match 0xa]  b", 10, "a   b"),
            ("[bisect-match 0xa] b", 10, "b"),
            ("a[bisect-match 0xa]b", 10, "ab"),
            ("a [bisect-match 101]", 5, "a"),
            ("[bisect-match [bisect-match 0x7]", 7, "[bisect-match"),
            ("[bisect-match 0xZZ] [bisect-match 0x7]", 7, "[bisect-match 0xZZ]"),
            ("[bisect-match 0x1][bisect-match 0x2]", 1, "[bisect-match 0x2]"),
        ] {
            assert_eq!(cut_text(line), Some((id, rest.into())), "{line}");
        }
        let longest = [b"[bisect-match ", [b'1'; 64].as_slice(), b"]"].concat();
        assert_eq!(find(&longest), Some((ChangeId(u64::MAX), 0..79)));
        assert_eq!(find(b"\xff\xfe[bisect-match 0x1]\xff").unwrap().1, 2..20);
    }

    #[test]
    fn rejected() {
        for line in [
            "",
            "]",
            "[bisect-match",
            "[bisect-match ",
            "[bisect-match ]",
            "[bisect-match 0x]",
            "[bisect-match 0xZZ]",
            "[bisect-match 0x+1]",
            "[bisect-match +1]",
            "[bisect-match -1]",
            "[bisect-match 12]",
            "[bisect-match 0x1",
            "[bisect-match 0X1]",
            "[bisect-match  0x1]",
            "[bisect-match 0x00000000000000001]",
            "[Bisect-match 0x1]",
            "[bisect-match\t0x1]",
        ] {
            assert_eq!(cut_text(line), None, "{line}");
        }
        assert_eq!(find(b"[bisect-match 0x1\xff]"), None);
        assert_eq!(find(&[b"[bisect-match ".as_slice(), &[b'0'; 65], b"]"].concat()), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_found(id: u64, before in "[^\\[]*", after in ".*") {
            let marker = format(ChangeId(id));
            let line = [before.as_bytes(), &marker, after.as_bytes()].concat();
            prop_assert_eq!(find(&line), Some((ChangeId(id), before.len()..before.len() + LEN)));
        }

        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>, tail in "[\\[\\]bisect\\-match 0x1f]{0,60}") {
            let _ = cut(&[bytes, tail.into_bytes()].concat());
        }
    }

    extern crate std;
    use std::vec::Vec;
}
