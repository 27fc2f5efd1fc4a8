//! How a crate is compiled where its change is disabled, and where it is enabled: `--good` and `--bad`.

use std::{collections::BTreeMap, fmt};

/// Options for one crate, beyond what the profile says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Keys of the profile, and their values as TOML.
    pub(crate) keys: BTreeMap<String, String>,
    /// Flags for rustc.
    pub(crate) flags: Vec<String>,
}

/// What is compared. By default nothing: both ways are that of the profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contrast {
    /// What a crate is compiled with where its change is disabled.
    pub(crate) good: Settings,
    /// And where it is enabled.
    pub(crate) bad: Settings,
}

/// Why `--good` or `--bad` cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SettingsError {
    /// Neither a key of a profile nor a flag.
    #[error(
        "`{0}` is neither `KEY=VALUE` ({KEYS}) nor a flag of rustc: write `--good opt-level=0` or \
         `--bad=-Ctarget-cpu=native`"
    )]
    Form(String),
    /// No such key, or not for single packages.
    #[error(
        "`{0}` cannot be set for single packages, which are what is searched; {KEYS} can, and flags of rustc; \
         another profile as a whole is cargo's `--profile`"
    )]
    Key(String),
    /// A key has no such value.
    #[error("`{value}` is no value of `{key}`: {allowed}")]
    Value {
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// What there is.
        allowed: &'static str,
    },
    /// A flag with unbalanced quotes.
    #[error("`{0}` has a quote that is not closed")]
    Quotes(String),
    /// Nothing to compare.
    #[error("--good and --bad say the same: nothing differs between passing and failing")]
    Same,
}

const KEYS: &str = "opt-level, debug-assertions, overflow-checks, codegen-units";

impl Contrast {
    /// What the user asks for. Unless `bad` is about flags alone, the default of `good` is `opt-level=0`; the default of `bad`
    /// is the profile as it is.
    ///
    /// # Errors
    /// If a text cannot be used, or both say the same.
    pub(crate) fn parse(good: &[String], bad: &[String]) -> Result<Self, SettingsError> {
        let (mut good, bad) = (Settings::parse(good)?, Settings::parse(bad)?);
        if good == Settings::default() && (!bad.keys.is_empty() || bad.flags.is_empty()) {
            good.keys.insert("opt-level".to_owned(), "0".to_owned());
        }
        if good == bad { Err(SettingsError::Same) } else { Ok(Self { good, bad }) }
    }
}

impl Settings {
    fn parse(texts: &[String]) -> Result<Self, SettingsError> {
        let mut settings = Self::default();
        for text in texts.iter().map(|text| text.trim()) {
            if text.starts_with('-') {
                settings.flags.extend(shlex::split(text).ok_or_else(|| SettingsError::Quotes(text.to_owned()))?);
                continue;
            }
            for pair in text.split(',') {
                let (key, value) = pair.split_once('=').ok_or_else(|| SettingsError::Form(pair.to_owned()))?;
                let (key, value) = (key.trim(), value.trim().trim_matches('"'));
                settings.keys.insert(key.to_owned(), toml(key, value)?);
            }
        }
        Ok(settings)
    }
}

/// A value as it stands in a profile.
fn toml(key: &str, value: &str) -> Result<String, SettingsError> {
    let wrong = |allowed| SettingsError::Value { key: key.to_owned(), value: value.to_owned(), allowed };
    match key {
        "opt-level" => match value {
            "0" | "1" | "2" | "3" => Ok(value.to_owned()),
            "s" | "z" => Ok(format!("\"{value}\"")),
            _ => Err(wrong("it is 0, 1, 2, 3, s or z")),
        },
        "debug-assertions" | "overflow-checks" => match value {
            "true" | "on" | "yes" => Ok("true".to_owned()),
            "false" | "off" | "no" => Ok("false".to_owned()),
            _ => Err(wrong("it is true or false")),
        },
        "codegen-units" => match value.parse::<u32>() {
            Ok(1..) => Ok(value.to_owned()),
            _ => Err(wrong("it is a number from 1")),
        },
        _ => Err(SettingsError::Key(key.to_owned())),
    }
}

impl fmt::Display for Settings {
    /// As a user writes them, on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.keys.iter().map(|(key, value)| format!("{key}={}", value.trim_matches('"')));
        f.write_str(&keys.chain(self.flags.iter().cloned()).collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contrast(good: &[&str], bad: &[&str]) -> Result<String, String> {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        match Contrast::parse(&owned(good), &owned(bad)) {
            Ok(Contrast { good, bad }) => Ok(format!("{good} | {bad}")),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn what_is_compared() {
        for (good, bad, expected) in [
            (&[] as &[&str], &[] as &[&str], "opt-level=0 | "),
            (&[], &["opt-level=3"], "opt-level=0 | opt-level=3"),
            (&["opt-level=1"], &["opt-level=s"], "opt-level=1 | opt-level=s"),
            (&[], &["-Ctarget-cpu=native"], " | -Ctarget-cpu=native"),
            (&[], &["-C target-feature=+fma -Zmir-opt-level=4"], " | -C target-feature=+fma -Zmir-opt-level=4"),
            (&["overflow-checks=on,opt-level=0"], &[], "opt-level=0 overflow-checks=true | "),
            (&["debug-assertions=true", "codegen-units=1"], &[], "codegen-units=1 debug-assertions=true | "),
            (&["-Ctarget-cpu=x86-64"], &[], "-Ctarget-cpu=x86-64 | "),
        ] {
            assert_eq!(contrast(good, bad).as_deref(), Ok(expected), "{good:?} {bad:?}");
        }
    }

    #[test]
    fn what_cannot_be_compared() {
        for (good, bad, expected) in [
            (&["fast"] as &[&str], &[] as &[&str], "`fast` is neither"),
            (&["lto=off"], &[], "`lto` cannot be set for single packages"),
            (&["opt-level=9"], &[], "`9` is no value of `opt-level`: it is 0, 1"),
            (&["codegen-units=0"], &[], "`0` is no value of `codegen-units`"),
            (&["overflow-checks=maybe"], &[], "`maybe` is no value"),
            (&[], &["-Cllvm-args='x"], "has a quote that is not closed"),
            (&["opt-level=3"], &["opt-level=3"], "say the same"),
            (&[], &["opt-level=0"], "say the same"),
        ] {
            let error = contrast(good, bad).unwrap_err();
            assert!(error.contains(expected), "{good:?} {bad:?}: {error}");
        }
    }
}
