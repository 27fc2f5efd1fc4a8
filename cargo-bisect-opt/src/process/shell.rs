//! Quoting for shells: command lines that a user can paste.

use std::{
    borrow::Cow,
    ffi::{OsStr, OsString},
    fmt::{Display, Write},
    path::Path,
};

use crate::hidden::is_hidden;

/// The beginning of the text of a line in place of one that cannot be made, and the end of the line.
const REFUSAL: [&str; 2] = ["there is no command to paste: ", " >&2; false)"];

/// Returns a line to paste instead of one that cannot be made: it says why, and fails.
pub(crate) fn refusal(why: &dyn Display) -> String {
    let [begin, end] = REFUSAL;
    format!("(echo {}{end}", quote(format!("{begin}{why}")))
}

/// Returns true if a line is a [`refusal`].
pub(crate) fn is_refusal(line: &str) -> bool {
    let [begin, end] = REFUSAL;
    line.starts_with("(echo ") && line.contains(begin) && line.ends_with(end)
}

/// Returns commands that exit at a signal: not every shell runs its EXIT trap after one.
pub(crate) fn exiting_at_signals(commands: &str) -> String {
    format!("trap 'exit 130' HUP INT TERM && {commands}")
}

/// Quotes a word for a POSIX shell.
pub(crate) fn quote(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref();
    if let Some(quoted) = quote_hidden(word) {
        return quoted;
    }
    let word = word.to_string_lossy();
    // Only a NUL cannot be quoted, and no argument contains one.
    shlex::try_quote(&word).map_or_else(|_| word.to_string(), Cow::into_owned)
}

/// Quotes a word that a terminal would not show as it is, with the octal numbers of its bytes; `None` for other words.
///
/// `$'…'` would be shorter, but the `sh` of many systems does not know it.
fn quote_hidden(word: &OsStr) -> Option<String> {
    let is_shown = |c: char| matches!(c, '\n' | '\t') || !c.is_control() && !is_hidden(c);
    if word.to_str().is_some_and(|text| text.chars().all(is_shown)) {
        return None;
    }
    // The shell removes line breaks at the end of what `printf` prints.
    let bytes = word.as_encoded_bytes();
    let end = bytes.iter().rposition(|&byte| byte != b'\n').map_or(0, |last| last + 1);
    let mut quoted = "\"$(printf '".to_owned();
    for chunk in bytes[..end].utf8_chunks() {
        for c in chunk.valid().chars() {
            let is_plain = c.is_ascii_alphanumeric() || " _./:=,+@-".contains(c) || !c.is_ascii() && is_shown(c);
            match c {
                // Some shells decode numbers before they look for directives.
                '%' => quoted += "%%",
                c if is_plain => quoted.push(c),
                c => push_octal(&mut quoted, c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        push_octal(&mut quoted, chunk.invalid());
    }
    // A first `-` begins an option of `printf`.
    let quoted = quoted.replacen("printf '-", "printf '\\055", 1) + "')\"";
    let line_breaks = &bytes[end..];
    let line_breaks =
        if line_breaks.is_empty() { String::new() } else { format!("'{}'", "\n".repeat(line_breaks.len())) };
    Some(quoted + &line_breaks)
}

fn push_octal(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        write!(text, "\\{byte:03o}").expect("a string takes everything");
    }
}

/// Joins words to a command line for a POSIX shell.
pub(crate) fn line<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> String {
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// Quotes a word like [`quote`], but keeps bytes that are no Unicode: for a shell, not for people.
#[cfg(unix)]
pub(crate) fn quote_exactly(word: &OsStr) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};

    let quoted = shlex::bytes::try_quote(word.as_bytes());
    OsString::from_vec(quoted.map_or_else(|_| word.as_bytes().to_vec(), Cow::into_owned))
}

/// Quotes a word like [`quote`].
#[cfg(not(unix))]
pub(crate) fn quote_exactly(word: &OsStr) -> OsString {
    quote(word).into()
}

/// Quotes a word so that only a closing quote follows each opening brace: GNU parallel replaces `{}`, `{#}`, `{= … =}`
/// and others before the shell reads the line.
pub(crate) fn quote_without_braces(word: &OsStr) -> OsString {
    #[cfg(unix)]
    let parts = {
        use std::os::unix::ffi::OsStrExt;
        word.as_bytes().split_inclusive(|&byte| byte == b'{').map(OsStr::from_bytes)
    };
    #[cfg(not(unix))]
    let word = word.to_string_lossy();
    #[cfg(not(unix))]
    let parts = word.split_inclusive('{').map(OsStr::new);
    // Adjacent quoted parts are one word.
    let quoted: OsString = parts.map(quote_exactly).collect();
    if quoted.is_empty() { quote_exactly(OsStr::new("")) } else { quoted }
}

/// Returns true if a shell takes a path as one word that it does not act upon, without quotes and in any quotes.
pub(crate) fn is_plain(path: &Path) -> bool {
    let is_plain = |c: char| {
        c.is_ascii_alphanumeric() || "_./+:@%-".contains(c) || cfg!(windows) && c == std::path::MAIN_SEPARATOR
    };
    path.to_str().is_some_and(|path| path.chars().all(is_plain))
}

/// Returns whether a text is a valid name of a shell variable.
pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(all(test, unix))]
mod tests {
    use std::{os::unix::ffi::OsStrExt, process::Command};

    use super::*;

    #[test]
    fn what_is_pasted_is_what_was_given() {
        for word in [
            &b"\x1b[31mred"[..],
            b"a\rb",
            b"-n\x07",
            b"it's 100% \"$(x)\" `y` \\ !z\x08 7",
            b"\xff\xfe and text",
            b"caf\xc3\xa9\x7f\xc2\x9b",
            "a\u{202e}b".as_bytes(),
            b"ends\x01\n\n",
            b"a\nb\tc",
            b"",
        ] {
            let quoted = quote(OsStr::from_bytes(word));
            assert!(
                !quoted.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t') || is_hidden(c)),
                "{quoted}"
            );
            for shell in ["sh", "bash"] {
                let Ok(output) = Command::new(shell).args(["-c", &format!("printf %s {quoted}")]).output() else {
                    continue;
                };
                assert_eq!(output.stdout, word, "{shell}: {quoted}");
            }
        }
    }
}
