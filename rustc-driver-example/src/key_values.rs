//! Key-value lines: the lines of verbose output that programs parse, as `key=value` pairs with single spaces between.
//!
//! The README has the grammar ("Key-value lines"). `cargo bisect-opt` has the parser (`report/key_values.rs`).

use std::fmt::Display;

/// Returns the line with these keys and values. A key has lowercase letters and `-`, and begins with a letter.
#[must_use]
pub(crate) fn format(pairs: &[(&str, &dyn Display)]) -> String {
    let pairs: Vec<_> = pairs.iter().map(|(key, value)| format!("{key}={}", quote(value.to_string()))).collect();
    pairs.join(" ")
}

/// Puts a value into quotes, unless it has only characters that need none.
fn quote(value: String) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "_-.:/".contains(c);
    if !value.is_empty() && value.chars().all(is_bare) {
        return value;
    }
    // The result is one line, so line breaks are escaped too.
    format!("\"{}\"", value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_in_the_given_order() {
        let line = format(&[("crate", &"ledger"), ("places", &11), ("expanded-in", &"app"), ("end", &"12:83")]);
        assert_eq!(line, "crate=ledger places=11 expanded-in=app end=12:83");
        assert_eq!(format(&[]), "");
    }

    #[test]
    fn values_are_quoted_where_the_grammar_needs_it() {
        for (value, expected) in [
            ("a_B-9.x:/", "k=a_B-9.x:/"),
            ("", r#"k="""#),
            ("if let", r#"k="if let""#),
            ("a=b", r#"k="a=b""#),
            ("köln", r#"k="köln""#),
            (r#"say "a\b""#, r#"k="say \"a\\b\"""#),
            ("a\nb", r#"k="a\nb""#),
        ] {
            assert_eq!(format(&[("k", &value)]), expected);
        }
    }
}
