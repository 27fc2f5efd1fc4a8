//! Command lines that a user can paste into a shell.

use std::{borrow::Cow, ffi::OsStr};

/// A word as a POSIX shell takes it.
pub fn quote(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref().to_string_lossy();
    // Only a NUL cannot be quoted, and no argument has one.
    shlex::try_quote(&word).map_or_else(|_| word.to_string(), Cow::into_owned)
}

/// Words as a POSIX shell takes them.
pub fn line<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> String {
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}
