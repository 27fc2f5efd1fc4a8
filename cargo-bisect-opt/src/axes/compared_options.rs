//! `--good` and `--bad`: the options for crates whose changes are disabled, and for those whose changes are enabled.

use std::{collections::BTreeMap, fmt};

use crate::{
    cargo::profiles::{CHECKS, OPT_LEVEL, Profiles},
    units,
};

/// Options for one crate, in addition to the profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The keys of the profile, with their values as TOML.
    pub(crate) keys: BTreeMap<String, String>,
    /// The flags for rustc.
    pub(crate) flags: Vec<String>,
}

/// The two sets of options that are compared. By default both are empty, and the profile alone counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ComparedOptions {
    /// The options for a crate whose change is disabled.
    pub(crate) good: Settings,
    /// The options for a crate whose change is enabled.
    pub(crate) bad: Settings,
    /// Set if no smaller set of the good options gave the same result.
    pub(crate) is_minimal: bool,
}

/// The values of `--good` and `--bad`: options, and names of profiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AskedOptions {
    /// The options, and the default for a side without any.
    pub(crate) contrast: ComparedOptions,
    /// The profile that `--good` names.
    pub(crate) good_profile: Option<String>,
    /// The profile that `--bad` names.
    pub(crate) bad_profile: Option<String>,
}

/// An error in `--good` or `--bad`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SettingsError {
    /// The text is neither a key of a profile nor a flag, nor the name of a profile.
    #[error(
        "`{word}` is neither `KEY=VALUE` ({KEYS}) nor a flag of rustc nor a profile ({profiles}): write `--good opt-level=0`, \
         `--bad=-Ctarget-cpu=native` or `--good release --bad dev`; separate several by commas or spaces, or repeat the \
         option: `--good opt-level=0,overflow-checks=true`"
    )]
    Form {
        /// The text.
        word: String,
        /// The names of the user's profiles.
        profiles: String,
    },
    /// The option names several profiles.
    #[error(
        "`{0}` and `{1}` are two profiles, and crates are compiled by one: name one in --good, the other one in --bad"
    )]
    Profiles(String, String),
    /// `--bad` names a profile, and an option of cargo names another one.
    #[error("--bad {bad} names another profile than cargo's option for `{cargos}`: leave out one of them")]
    OtherProfile {
        /// The profile that `--bad` names.
        bad: String,
        /// The profile that cargo's option names.
        cargos: String,
    },
    /// The two profiles compile all packages in the same way.
    #[error(
        "the profiles `{good}` and `{bad}` have the same {KEYS} in every package, so nothing that is searched can differ: \
         compare their other keys (panic, lto, debug, strip)"
    )]
    SameProfiles {
        /// The profile that is good.
        good: String,
        /// The profile that is bad.
        bad: String,
    },
    /// The key does not exist, or cannot be set for single packages.
    #[error(
        "`{0}` cannot be set for single packages, which are what is searched; {KEYS} can, and flags of rustc; \
         another profile as a whole is cargo's `--profile`"
    )]
    Key(String),
    /// The key does not allow the value.
    #[error("`{value}` is no value of `{key}`: {allowed}")]
    Value {
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// The allowed values.
        allowed: &'static str,
    },
    /// The flag has unbalanced quotes.
    #[error("`{0}` has a quote that is not closed: close it, so that the flags of rustc can be separated")]
    Quotes(String),
    /// Both options are the same, so there is nothing to compare.
    #[error("--good and --bad say the same, so nothing can differ between passing and failing: change one of them")]
    Same,
}

const KEYS: &str = "opt-level, debug-assertions, overflow-checks, codegen-units";

impl ComparedOptions {
    /// Parses the values of the two options. The default of `good` is `opt-level=0`, or nothing if `bad` has only
    /// flags. The default of `bad` is the unchanged profile.
    ///
    /// # Errors
    /// If a text is invalid, or both are the same.
    pub(crate) fn parse(good: &[String], bad: &[String], profiles: &Profiles) -> Result<AskedOptions, SettingsError> {
        let (good_profile, mut good) = Settings::parse(good, profiles)?;
        let (bad_profile, bad) = Settings::parse(bad, profiles)?;
        let is_default = good == Settings::default() && good_profile.is_none();
        if is_default && (!bad.keys.is_empty() || bad.flags.is_empty()) {
            good.keys.insert(OPT_LEVEL.to_owned(), "0".to_owned());
        }
        if good == bad && good_profile == bad_profile {
            return Err(SettingsError::Same);
        }
        let contrast = Self { good, bad, is_minimal: false };
        Ok(AskedOptions { contrast, good_profile, bad_profile })
    }

    /// Returns those of the [`CHECKS`] that the two options set differently, or that only one of them sets.
    pub(crate) fn checks(&self) -> impl Iterator<Item = &'static str> {
        let value = |settings: &Settings, key| settings.keys.get(key).cloned();
        CHECKS.into_iter().filter(move |&key| value(&self.good, key) != value(&self.bad, key))
    }

    /// Returns true if the target passes with a check, and false if it fails with it; `None` if no option sets it.
    pub(crate) fn passes_with(&self, check: &str) -> Option<bool> {
        let is_on = |settings: &Settings| settings.keys.get(check).map(|value| value == "true");
        is_on(&self.good).or_else(|| is_on(&self.bad).map(|is_bad| !is_bad))
    }

    /// Describes for people what the outcome of the target depends on, if [checks](Self::checks) decide.
    pub(crate) fn needs_of_checks(&self) -> String {
        let (failing, passing): (Vec<_>, Vec<_>) =
            self.checks().partition(|check| self.passes_with(check) == Some(false));
        let needs = format!("the target needs {} to pass", passing.join(" or "));
        let fails = format!("the target fails with {}", failing.join(" or "));
        match (passing.is_empty(), failing.is_empty()) {
            (_, true) => needs,
            (true, false) => fails,
            (false, false) => format!("{needs}, or {fails}"),
        }
    }

    /// Returns the flags that select a processor or its features, and that only one of the two sides has.
    pub(crate) fn processor_flags(&self) -> Vec<String> {
        let [good, bad] = [&self.good, &self.bad].map(Settings::processor_flags);
        let differing = good.iter().filter(|flag| !bad.contains(flag));
        differing.chain(bad.iter().filter(|flag| !good.contains(flag))).cloned().collect()
    }

    /// Returns true if checks decide, and so neither a function nor a pass does: a check applies to a crate as a whole,
    /// before it is optimized.
    pub(crate) fn is_decided_by_checks(&self) -> bool {
        let Self { good, bad, is_minimal } = self;
        let mut keys = good.keys.keys().chain(bad.keys.keys()).filter(|key| good.keys.get(*key) != bad.keys.get(*key));
        let has_flags = !good.flags.is_empty() || !bad.flags.is_empty();
        let has_checks = self.checks().next().is_some();
        has_checks && (*is_minimal || !has_flags && keys.all(|key| CHECKS.contains(&key.as_str())))
    }
}

impl Settings {
    /// Returns the flags that select a processor or its features, in the form `-Ctarget-cpu=NAME`.
    fn processor_flags(&self) -> Vec<String> {
        let mut flags = self.flags.iter().map(String::as_str);
        let mut found = Vec::new();
        while let Some(flag) = flags.next() {
            let option = match flag.strip_prefix("--codegen").or_else(|| flag.strip_prefix("-C")) {
                Some("") => flags.next().unwrap_or_default(),
                Some(option) => option.trim_start_matches('='),
                None => continue,
            };
            if option.starts_with("target-cpu=") || option.starts_with("target-feature=") {
                found.push(format!("-C{option}"));
            }
        }
        found
    }

    /// Parses options, and the name of a profile.
    fn parse(texts: &[String], profiles: &Profiles) -> Result<(Option<String>, Self), SettingsError> {
        let mut settings = Self::default();
        let mut profile: Option<String> = None;
        for text in texts.iter().map(|text| text.trim()) {
            let (pairs, flags) = split(text);
            settings.flags.extend(shlex::split(flags).ok_or_else(|| SettingsError::Quotes(flags.to_owned()))?);
            // Spaces also separate, except around `=`.
            let pairs = pairs.split('=').map(str::trim).collect::<Vec<_>>().join("=");
            let pairs = pairs.split([',', ' ', '\t', '\n']).filter(|pair| !pair.is_empty());
            for pair in pairs.chain(text.is_empty().then_some("")) {
                let Some((key, value)) = pair.split_once('=') else {
                    match profile {
                        _ if !profiles.has(pair) => {
                            let profiles = units::listed(profiles.names().into_iter().map(str::to_owned));
                            return Err(SettingsError::Form { word: pair.to_owned(), profiles });
                        }
                        Some(other) if other != pair => return Err(SettingsError::Profiles(other, pair.to_owned())),
                        _ => profile = Some(pair.to_owned()),
                    }
                    continue;
                };
                let value = value.trim_matches('"');
                settings.keys.insert(key.to_owned(), toml(key, value)?);
            }
        }
        Ok((profile, settings))
    }
}

/// Splits a text into `KEY=VALUE`s and flags: the first word that begins with `-` and all after it are flags.
fn split(text: &str) -> (&str, &str) {
    let mut before = ',';
    for (at, c) in text.char_indices() {
        if c == '-' && (before == ',' || before.is_whitespace()) {
            return text.split_at(at);
        }
        before = c;
    }
    (text, "")
}

/// Checks a value, and returns it as TOML for a profile.
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
    /// Formats the options on one line, as a user writes them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.keys.iter().map(|(key, value)| format!("{key}={}", value.trim_matches('"')));
        f.write_str(&keys.chain(self.flags.iter().cloned()).collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(good: &[&str], bad: &[&str]) -> Result<AskedOptions, SettingsError> {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let dir = tempfile::tempdir().unwrap();
        fs_err::write(dir.path().join("Cargo.toml"), "profile.slow.inherits = 'release'\n").unwrap();
        ComparedOptions::parse(&owned(good), &owned(bad), &Profiles::read(dir.path(), dir.path(), &[]))
    }

    fn parse(good: &[&str], bad: &[&str]) -> Result<ComparedOptions, SettingsError> {
        Ok(asked(good, bad)?.contrast)
    }

    /// Returns the contrast of two options, of which an empty one is not given.
    fn given(good: &str, bad: &str) -> ComparedOptions {
        let [good, bad] = [good, bad].map(|text| if text.is_empty() { Vec::new() } else { vec![text] });
        parse(&good, &bad).unwrap()
    }

    fn contrast(good: &[&str], bad: &[&str]) -> Result<String, String> {
        match parse(good, bad) {
            Ok(ComparedOptions { good, bad, .. }) => Ok(format!("{good} | {bad}")),
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
            (&["opt-level=0 overflow-checks=on"], &[], "opt-level=0 overflow-checks=true | "),
            (&[" opt-level = 0 , overflow-checks = on,"], &[], "opt-level=0 overflow-checks=true | "),
            (&["opt-level=1", "opt-level=2"], &[], "opt-level=2 | "),
            (&["opt-level=0,-C target-feature=+a,+b"], &[], "opt-level=0 -C target-feature=+a,+b | "),
            (&["opt-level=0 -Ccodegen-units=1"], &[], "opt-level=0 -Ccodegen-units=1 | "),
        ] {
            assert_eq!(contrast(good, bad).as_deref(), Ok(expected), "{good:?} {bad:?}");
        }
    }

    #[test]
    fn profiles_have_names() {
        for (good, bad, expected) in [
            (&["release"] as &[&str], &["dev"] as &[&str], "release , dev "),
            (&["dev"], &[], "dev , "),
            (&[], &["slow"], "- opt-level=0, slow "),
            (&["slow,codegen-units=1"], &["dev -Cx"], "slow codegen-units=1, dev -Cx"),
            (&["release", "opt-level=1", "release"], &[], "release opt-level=1, "),
        ] {
            let AskedOptions { contrast, good_profile, bad_profile } = asked(good, bad).unwrap();
            let (good_name, bad_name) = (good_profile.unwrap_or("-".to_owned()), bad_profile.unwrap_or_default());
            let found = format!("{good_name} {}, {bad_name} {}", contrast.good, contrast.bad);
            assert_eq!(found.trim(), expected.trim(), "{good:?} {bad:?}");
        }
    }

    #[test]
    fn what_cannot_be_compared() {
        for (good, bad, expected) in [
            (
                &["fast"] as &[&str],
                &[] as &[&str],
                "`fast` is neither `KEY=VALUE` (opt-level, debug-assertions, overflow-checks, codegen-units) nor a flag of rustc \
                 nor a profile (bench, dev, release, slow and test): write",
            ),
            (&["release slow"], &[], "`release` and `slow` are two profiles"),
            (&["dev"], &["dev"], "say the same"),
            (&[""], &[], "`` is neither `KEY=VALUE`"),
            (&["opt-level=0;fast"], &[], "`0;fast` is no value of `opt-level`"),
            (&["opt-level=0 fast"], &[], "separate several by commas or spaces, or repeat the option"),
            (&["lto=off"], &[], "`lto` cannot be set for single packages"),
            (&["opt-level=9"], &[], "`9` is no value of `opt-level`: it is 0, 1, 2, 3, s or z"),
            (&["codegen-units=0"], &[], "`0` is no value of `codegen-units`: it is a number from 1"),
            (&["overflow-checks=maybe"], &[], "`maybe` is no value of `overflow-checks`: it is true or false"),
            (&[], &["-Cllvm-args='x"], "has a quote that is not closed"),
            (&["opt-level=3"], &["opt-level=3"], "say the same"),
            (&[], &["opt-level=0"], "say the same"),
        ] {
            let error = contrast(good, bad).unwrap_err();
            assert!(error.contains(expected), "{good:?} {bad:?}: {error}");
        }
    }

    #[test]
    fn a_check_is_needed_or_makes_the_target_fail() {
        for (good, bad, expected) in [
            ("debug-assertions=true", "", "the target needs debug-assertions to pass"),
            ("", "overflow-checks=true", "the target fails with overflow-checks"),
            ("overflow-checks=false", "overflow-checks=true", "the target fails with overflow-checks"),
            ("overflow-checks=false", "", "the target fails with overflow-checks"),
            (
                "overflow-checks=true,debug-assertions=true",
                "",
                "the target needs debug-assertions or overflow-checks to pass",
            ),
            (
                "overflow-checks=false,debug-assertions=true",
                "",
                "the target needs debug-assertions to pass, or the target fails with overflow-checks",
            ),
        ] {
            assert_eq!(given(good, bad).needs_of_checks(), expected, "{good} | {bad}");
        }
    }

    #[test]
    fn flags_for_the_processor_are_those_of_one_side() {
        for (good, bad, expected) in [
            ("", "-Ctarget-cpu=x86-64-v3", "-Ctarget-cpu=x86-64-v3"),
            ("", "-C target-cpu=native -Copt-level=3", "-Ctarget-cpu=native"),
            ("", "--codegen=target-feature=+avx2,+fma", "-Ctarget-feature=+avx2,+fma"),
            ("", "--codegen target-feature=+fma", "-Ctarget-feature=+fma"),
            ("-Ctarget-cpu=x86-64", "-Ctarget-cpu=x86-64-v3", "-Ctarget-cpu=x86-64 -Ctarget-cpu=x86-64-v3"),
            ("-Ctarget-cpu=native", "-C target-cpu=native -Zmir-opt-level=4", ""),
            ("opt-level=0", "opt-level=3", ""),
            ("", "-Zmir-opt-level=4 -C", ""),
        ] {
            assert_eq!(given(good, bad).processor_flags().join(" "), expected, "{good} | {bad}");
        }
    }

    #[test]
    fn checks_decide_where_nothing_else_differs() {
        for (good, bad, checks, decide) in [
            (&["debug-assertions=true"] as &[&str], &[] as &[&str], 1, true),
            (&["overflow-checks=true,debug-assertions=true"], &["debug-assertions=false"], 2, true),
            (&[], &["overflow-checks=true"], 1, false),
            (&["opt-level=1"], &["overflow-checks=true,opt-level=1"], 1, true),
            (&["opt-level=0,overflow-checks=true"], &["overflow-checks=true"], 0, false),
            (&["debug-assertions=true"], &["-Ctarget-cpu=native"], 1, false),
            (&[], &[], 0, false),
        ] {
            let contrast = parse(good, bad).unwrap();
            let found = (contrast.checks().count(), contrast.is_decided_by_checks());
            assert_eq!(found, (checks, decide), "{good:?} {bad:?}");
            // If the target needs all of them, no function and no pass decides alone.
            let contrast = ComparedOptions { is_minimal: true, ..contrast };
            assert_eq!(contrast.is_decided_by_checks(), checks > 0, "{good:?} {bad:?}");
        }
    }
}
