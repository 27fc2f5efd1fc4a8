//! The variable that fixes toggles while a crate is built: `BISECT_FIX=name=off;other=on`.
//!
//! The grammar is that of settings by name in `bisect_core::Config`, except that a setting cannot be a pattern.
//!
//! The macros decide, not a constant of the runtime. So a malformed value is reported at the user's macro, with the
//! position of the wrong byte, and the expansion contains no decision. Every expansion contains `option_env!`, so that
//! rustc reports the dependency to cargo. The static of a toggle records its fixed state for the runtime. A fixed
//! build-time change does not depend on the variable of its package.

use std::{env, fmt, str};

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::{Error, LitStr};

use crate::{errors::Errors, variable::FIX};

/// The state in which a toggle is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fix {
    /// The variable does not name the toggle.
    No,
    On,
    Off,
}

/// The settings of the variable.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Fixes(Vec<(String, bool)>);

/// An error in the variable, and its byte offset.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MalformedFix {
    offset: usize,
    kind: MalformedFixKind,
}

#[derive(Debug, PartialEq, Eq)]
enum MalformedFixKind {
    NotUnicode,
    NoEquals,
    NoName,
    NotInNames(char),
    NamedTwice,
    NoState,
}

impl Fix {
    /// Returns the state that the variable of this build gives to the toggle. An error in the variable goes to
    /// `errors`.
    pub(crate) fn of(name: &LitStr, errors: &mut Errors) -> Self {
        let value = env::var_os(FIX).unwrap_or_default();
        match Fixes::parse(value.as_encoded_bytes()) {
            Ok(fixes) => fixes.of(&name.value()),
            Err(malformed) => {
                let text = format!(
                    "{FIX}={:?}: {malformed}; set it to name=off or to name=on;other=off, or unset it",
                    value.to_string_lossy()
                );
                errors.push(Error::new(name.span(), text));
                Self::No
            }
        }
    }

    /// Returns the word for the runtime's macros.
    pub(crate) fn word(self) -> TokenStream {
        let here = Span::mixed_site();
        match self {
            Self::No => quote_spanned!(here=> no),
            Self::On => quote_spanned!(here=> on),
            Self::Off => quote_spanned!(here=> off),
        }
    }
}

impl Fixes {
    /// Parses the value of the variable; an empty one fixes nothing.
    fn parse(value: &[u8]) -> Result<Self, MalformedFix> {
        let text = str::from_utf8(value)
            .map_err(|error| MalformedFix { offset: error.valid_up_to(), kind: MalformedFixKind::NotUnicode })?;
        let mut fixes = Self::default();
        let mut offset = 0;
        for item in text.split(';').filter(|_| !text.is_empty()) {
            let (name, on) = setting(item).map_err(|error| MalformedFix { offset: offset + error.offset, ..error })?;
            if fixes.0.iter().any(|(known, _)| known == name) {
                return Err(MalformedFix { offset, kind: MalformedFixKind::NamedTwice });
            }
            fixes.0.push((name.to_owned(), on));
            offset += item.len() + 1;
        }
        Ok(fixes)
    }

    fn of(&self, name: &str) -> Fix {
        match self.0.iter().find(|(known, _)| known == name) {
            None => Fix::No,
            Some((_, true)) => Fix::On,
            Some((_, false)) => Fix::Off,
        }
    }
}

/// Parses `name=on` or `name=off`. The offset of an error counts from the start of the item.
fn setting(item: &str) -> Result<(&str, bool), MalformedFix> {
    let Some((name, state)) = item.split_once('=') else {
        return Err(MalformedFix { offset: item.len(), kind: MalformedFixKind::NoEquals });
    };
    if name.is_empty() {
        return Err(MalformedFix { offset: 0, kind: MalformedFixKind::NoName });
    }
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_.:/-".contains(c);
    if let Some((offset, c)) = name.char_indices().find(|&(_, c)| !is_allowed(c)) {
        return Err(MalformedFix { offset, kind: MalformedFixKind::NotInNames(c) });
    }
    match state {
        "on" => Ok((name, true)),
        "off" => Ok((name, false)),
        _ => Err(MalformedFix { offset: name.len() + 1, kind: MalformedFixKind::NoState }),
    }
}

impl fmt::Display for MalformedFix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            MalformedFixKind::NotUnicode => f.write_str("it is not Unicode")?,
            MalformedFixKind::NoEquals => f.write_str("`=on` or `=off` is missing after the name")?,
            MalformedFixKind::NoName => f.write_str("the name of a toggle is missing")?,
            MalformedFixKind::NotInNames(c) => write!(f, "the name of a toggle cannot have {c:?}")?,
            MalformedFixKind::NamedTwice => f.write_str("this toggle was named before")?,
            MalformedFixKind::NoState => f.write_str("expected `on` or `off`")?,
        }
        write!(f, " at byte {}", self.offset)
    }
}

#[cfg(test)]
mod tests {
    use bisect_core::{Config, Setting};

    use super::*;

    #[test]
    fn settings_are_read_as_the_runtime_reads_them() {
        for text in ["", "a=on", "a=off", "a=off;b.c:d/e-f_0=on", "n=on;a=off;m=on"] {
            let (ours, theirs) = (Fixes::parse(text.as_bytes()).unwrap(), Config::parse(text.as_bytes()).unwrap());
            for name in ["a", "b.c:d/e-f_0", "n", "m", "other", "A", ""] {
                let expected = match theirs.setting(name) {
                    Setting::Fixed(true) => Fix::On,
                    Setting::Fixed(false) => Fix::Off,
                    Setting::Default | Setting::Search(_) => Fix::No,
                };
                assert_eq!(ours.of(name), expected, "{name} in {text}");
            }
        }
    }

    #[test]
    fn errors_name_the_byte() {
        for (text, offset, message) in [
            ("a", 1, "`=on` or `=off` is missing after the name"),
            ("y", 1, "`=on` or `=off` is missing after the name"),
            ("a=on;", 5, "`=on` or `=off` is missing after the name"),
            ("a=on;b", 6, "`=on` or `=off` is missing after the name"),
            (";a=on", 0, "`=on` or `=off` is missing after the name"),
            ("=on", 0, "the name of a toggle is missing"),
            ("a=on;=off", 5, "the name of a toggle is missing"),
            ("a b=on", 1, "the name of a toggle cannot have ' '"),
            ("a=on; b=on", 5, "the name of a toggle cannot have ' '"),
            ("größe=on", 2, "the name of a toggle cannot have 'ö'"),
            ("a=on;b=off;a=on", 11, "this toggle was named before"),
            ("a=", 2, "expected `on` or `off`"),
            ("a=y", 2, "expected `on` or `off`"),
            ("a=On", 2, "expected `on` or `off`"),
            ("a=on;bb=x3f", 8, "expected `on` or `off`"),
            ("a=on,b=off", 2, "expected `on` or `off`"),
        ] {
            let error = Fixes::parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), format!("{message} at byte {offset}"), "{text}");
        }
        assert_eq!(Fixes::parse(b"a=on;\xff=on").unwrap_err().to_string(), "it is not Unicode at byte 5");
    }
}
