//! The defaults that a command line has got, for the record, for `--resume` and for people.

use std::{collections::BTreeMap, ffi::OsString};

use crate::{process::shell, units::listed};

/// The option that ignores all defaults.
pub(crate) const NO_DEFAULTS: &str = "no-defaults";

/// The defaults of a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AppliedDefaults {
    /// Those in use.
    pub(super) used: Vec<UsedDefault>,
    /// Those that have no effect.
    pub(super) left_out: Vec<LeftOutDefault>,
}

/// A default in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UsedDefault {
    /// The key.
    pub(crate) key: String,
    /// The words of a command line that say the same.
    pub(crate) words: Vec<OsString>,
    /// Its origin, for people.
    pub(crate) origin: String,
}

/// A default that has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeftOutDefault {
    /// The key.
    pub(crate) key: String,
    /// The reason.
    pub(crate) reason: String,
}

impl AppliedDefaults {
    /// Returns the words that come before the user's own options; none if no default is in use. The last one ignores
    /// defaults, so that the command line means the same everywhere. It also ends an option whose value may be left out.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let mut words: Vec<_> = self.used.iter().flat_map(|used| used.words.clone()).collect();
        if !words.is_empty() {
            words.push(format!("--{NO_DEFAULTS}").into());
        }
        words
    }

    /// Returns a command line, from the subcommand on, that says the same without any default.
    pub(crate) fn whole_line(&self, mut words: Vec<OsString>) -> Vec<OsString> {
        let at = words.len().min(1);
        words.splice(at..at, self.words());
        words
    }

    /// Returns the defaults whose keys meet a condition: for each key, the words and the origin, for people.
    pub(crate) fn texts(&self, is_wanted: impl Fn(&str) -> bool) -> BTreeMap<String, String> {
        let wanted = self.used.iter().filter(|used| is_wanted(&used.key));
        wanted.map(|used| (used.key.clone(), format!("`{}`, by {}", shown(&used.words), used.origin))).collect()
    }

    /// Returns all words of the defaults in use.
    pub(crate) fn used_words(&self) -> impl Iterator<Item = &OsString> {
        self.used.iter().flat_map(|used| &used.words)
    }

    /// Describes the defaults on one line; `None` if there are none.
    pub(crate) fn description(&self) -> Option<String> {
        let used = self.used.iter().map(|used| format!("{} by {}", shown(&used.words), used.origin));
        let left_out = self.left_out.iter().map(|left_out| format!("`{}` ({})", left_out.key, left_out.reason));
        let left_out = listed(left_out);
        let left_out = (!left_out.is_empty()).then(|| format!("not used: {left_out}"));
        let parts = listed(used);
        let used = (!parts.is_empty()).then(|| format!("defaults: {parts}"));
        let parts: Vec<_> = used.into_iter().chain(left_out).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// Returns words for people: a `=` needs no quotes, unlike in a shell's line.
fn shown(words: &[OsString]) -> String {
    let shown = |word: &OsString| {
        let quoted = shell::quote(word.to_string_lossy().replace('=', ""));
        let plain = word.to_string_lossy();
        if quoted.starts_with('\'') || quoted.starts_with('"') { shell::quote(word) } else { plain.into_owned() }
    };
    words.iter().map(shown).collect::<Vec<_>>().join(" ")
}
