//! Quoting for shells: command lines that a user can paste.

use std::{
    borrow::Cow,
    ffi::{OsStr, OsString},
    path::Path,
};

/// Quotes a word for a POSIX shell.
pub(crate) fn quote(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref().to_string_lossy();
    // Only a NUL cannot be quoted, and no argument contains one.
    shlex::try_quote(&word).map_or_else(|_| word.to_string(), Cow::into_owned)
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
