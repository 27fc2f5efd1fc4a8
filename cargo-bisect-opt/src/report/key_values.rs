//! Parses key-value lines of `bisect-rustc`'s verbose output: `key=value` pairs with single spaces between.
//!
//! The README of `bisect-rustc` has the grammar ("Key-value lines"). Its `src/key_values.rs` writes the lines.

use std::str::FromStr;

/// The pairs of a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KeyValues<'a>(Vec<(&'a str, String)>);

impl<'a> KeyValues<'a> {
    /// Parses a line; `None` if it does not follow the grammar, or has a key twice.
    pub(crate) fn parse(line: &'a str) -> Option<Self> {
        let mut pairs = Self(Vec::new());
        let mut rest = line;
        loop {
            let (key, value, after) = pair(rest)?;
            if pairs.get(key).is_some() {
                return None;
            }
            pairs.0.push((key, value));
            if after.is_empty() {
                return Some(pairs);
            }
            rest = after.strip_prefix(' ')?;
        }
    }

    /// Returns the value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == key).map(|(_, value)| &**value)
    }

    /// Returns the value of a key, parsed as `T`; `None` if the key is missing or parsing fails.
    pub(crate) fn parsed<T: FromStr>(&self, key: &str) -> Option<T> {
        self.get(key)?.parse().ok()
    }
}

/// Splits the first pair off a text: its key, its value, and what follows it.
fn pair(text: &str) -> Option<(&str, String, &str)> {
    let (key, rest) = text.split_once('=')?;
    let is_key =
        key.starts_with(|c: char| c.is_ascii_lowercase()) && key.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let (value, rest) = match rest.strip_prefix('"') {
        Some(quoted) => unquote(quoted)?,
        None => bare(rest)?,
    };
    is_key.then_some((key, value, rest))
}

/// Splits a value without quotes off a text.
fn bare(text: &str) -> Option<(String, &str)> {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "_-.:/".contains(c);
    let (value, rest) = text.split_at(text.find(|c| !is_bare(c)).unwrap_or(text.len()));
    (!value.is_empty()).then(|| (value.to_owned(), rest))
}

/// Splits the rest of a quoted value off a text that begins after the first quote.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut rest = text.chars();
    loop {
        value.push(match rest.next()? {
            '"' => return Some((value, rest.as_str())),
            '\\' => match rest.next()? {
                'n' => '\n',
                c @ ('"' | '\\') => c,
                _ => return None,
            },
            c => c,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read() {
        for (line, expected) in [
            ("a=1", &[("a", "1")] as &[_]),
            ("crate=ledger expanded-in=app", &[("crate", "ledger"), ("expanded-in", "app")]),
            ("end=12:83 file=src/a_b-c.rs", &[("end", "12:83"), ("file", "src/a_b-c.rs")]),
            (r#"expression="if let" end=7:101"#, &[("expression", "if let"), ("end", "7:101")]),
            (r#"a="""#, &[("a", "")]),
            (r#"a="bare" b="x=1 y""#, &[("a", "bare"), ("b", "x=1 y")]),
            (r#"a="say \"hi\"" b="\\""#, &[("a", r#"say "hi""#), ("b", "\\")]),
            (r#"a="two\nlines, köln""#, &[("a", "two\nlines, köln")]),
        ] {
            let read = KeyValues::parse(line).unwrap_or_else(|| panic!("{line}"));
            let pairs: Vec<_> = read.0.iter().map(|(key, value)| (*key, &**value)).collect();
            assert_eq!(pairs, expected, "{line}");
        }
    }

    #[test]
    fn other_lines_are_refused() {
        for line in [
            "",
            "a",
            "a=",
            "=1",
            "A=1",
            "-a=1",
            "a1=1",
            " a=1",
            "a=1 ",
            "a=1  b=2",
            "a=1\tb=2",
            "a=1,b=2",
            "a=1 b",
            "a=b=c",
            "a=köln",
            "a=1 a=2",
            r#"a="x"#,
            r#"a="x\"#,
            r#"a="x\t""#,
            r#"a="x"y"#,
            r#"a=x"y""#,
            r#"a="x"b=1"#,
            // Lines for people in the same output.
            "dropped earlier: MutexGuard<'_, Vec<u32>> (src/lib.rs:12:22)",
            "to keep it: before the `if`: `let t=1;`, and use `t`",
            "Drop: src/queue.rs:30:1",
            "BISECT_REPORT=x: it cannot be opened",
        ] {
            assert_eq!(KeyValues::parse(line), None, "{line}");
        }
    }

    #[test]
    fn values_are_found_by_their_keys() {
        let read = KeyValues::parse(r#"places=11 form="if let""#).unwrap();
        assert_eq!((read.get("form"), read.get("for"), read.get("places")), (Some("if let"), None, Some("11")));
        assert_eq!((read.parsed("places"), read.parsed::<u32>("form")), (Some(11_usize), None));
        assert_eq!(read.parsed::<u32>("drops"), None);
    }
}
