//! Captured output as plain text.

/// Returns output without colours and other escape sequences. Invalid Unicode is replaced.
pub(crate) fn plain_text(output: &[u8]) -> String {
    anstream::adapter::strip_str(&String::from_utf8_lossy(output)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_removed() {
        for (output, expected) in [
            (&b"a\x1b[1;31mb\x1b[mc\x1b"[..], "abc"),
            (b"test a ... \x1b[32mok\x1b(B\x1b[m\r\n\tx", "test a ... ok\r\n\tx"),
            (b"\x1b]8;;https://example.com\x1b\\E0080\x1b]8;;\x1b\\", "E0080"),
            ("ö\u{1b}[0mß".as_bytes(), "öß"),
            (b"a\xffb", "a\u{fffd}b"),
        ] {
            assert_eq!(plain_text(output), expected, "{output:?}");
        }
    }
}
