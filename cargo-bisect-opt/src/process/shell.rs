//! Command lines that a user can paste into a shell.

use std::{
    borrow::Cow,
    ffi::{OsStr, OsString},
};

/// A word as a POSIX shell takes it.
pub(crate) fn quote(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref().to_string_lossy();
    // Only a NUL cannot be quoted, and no argument has one.
    shlex::try_quote(&word).map_or_else(|_| word.to_string(), Cow::into_owned)
}

/// Words as a POSIX shell takes them.
pub(crate) fn line<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> String {
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// As [`quote`], whatever the bytes are: for a shell, not for people.
#[cfg(unix)]
pub(crate) fn quote_exactly(word: &OsStr) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};

    let quoted = shlex::bytes::try_quote(word.as_bytes());
    OsString::from_vec(quoted.map_or_else(|_| word.as_bytes().to_vec(), Cow::into_owned))
}

/// As [`quote`].
#[cfg(not(unix))]
pub(crate) fn quote_exactly(word: &OsStr) -> OsString {
    quote(word).into()
}

/// A word for a shell in which no opening brace has anything behind it but the end of its quotes: GNU parallel replaces
/// `{}`, `{#}`, `{= … =}` and others before the shell reads the line.
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
    // Parts in quotes of their own, with nothing between them, are one word.
    let quoted: OsString = parts.map(quote_exactly).collect();
    if quoted.is_empty() { quote_exactly(OsStr::new("")) } else { quoted }
}

/// Whether a shell takes this for the name of a variable.
pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
