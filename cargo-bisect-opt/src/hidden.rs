//! Characters that show nothing, or that change the place of others: C1 controls and marks of direction.
//!
//! Some terminals take U+009B for the beginning of a sequence, and a mark of direction can make a line read as another
//! one. So no output has them: people see their numbers, and JSON has escapes that readers decode.

use std::{borrow::Cow, fmt::Write};

/// Returns true if a character is hidden. C0 controls are not: each output has rules of its own for these.
pub(crate) fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{80}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

/// Returns the number of a character for people.
pub(crate) fn shown(c: char) -> String {
    format!("\\u{{{:x}}}", u32::from(c))
}

/// Returns JSON in which hidden characters are escaped. They only occur in strings.
pub(crate) fn escaped_in_json(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) {
            write!(escaped, "\\u{:04x}", u32::from(c)).expect("a string takes everything");
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_means_the_same_and_has_no_hidden_character() {
        let all: String = ('\0'..'\u{2100}').collect();
        let json = serde_json::to_string(&all).unwrap();
        let escaped = escaped_in_json(&json);
        assert!(json.contains(is_hidden) && !escaped.contains(is_hidden));
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), all);
        assert_eq!(shown('\u{9b}'), "\\u{9b}");
    }
}
