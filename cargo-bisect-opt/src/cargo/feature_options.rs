//! The options for features among the user's words: `--features`, `-F`, `--all-features`, `--no-default-features`.

use std::{collections::BTreeSet, ffi::OsString};

use super::{
    Subcommand,
    option::{self, LinePart, TARGETS},
};

/// The features that a command line asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AskedFeatures {
    /// The values of `--features`, one by one.
    pub(super) named: BTreeSet<String>,
    /// `--all-features`
    pub(super) all: bool,
    /// `--no-default-features`
    pub(super) no_default: bool,
}

/// Returns the features that these options ask for.
pub(super) fn asked(options: &[OsString]) -> AskedFeatures {
    let mut asked = AskedFeatures::default();
    let mut words = options.iter().peekable();
    while let Some(part) = option::next_part(&mut words) {
        let LinePart::Option { name, value, .. } = part else { continue };
        match name.as_str() {
            "--features" | "-F" => {
                let value = value.unwrap_or_default();
                let value = value.to_string_lossy();
                let names = value.split(|c: char| c == ',' || c.is_whitespace()).filter(|name| !name.is_empty());
                asked.named.extend(names.map(str::to_owned));
            }
            "--all-features" => asked.all = true,
            "--no-default-features" => asked.no_default = true,
            _ => {}
        }
    }
    asked
}

/// Returns these words with other options for features.
pub(super) fn replaced(subcommand: Subcommand, words: &[OsString], features: &[OsString]) -> Vec<OsString> {
    option::replaced(subcommand == Subcommand::Run, words, features, |name, own, _| match name {
        "--all-features" | "--no-default-features" | "--features" => Vec::new(),
        // In a cluster, flags come before it: `-qF a`.
        "-F" => flags_before(&own[0]).map(OsString::from).into_iter().collect(),
        _ => own,
    })
}

/// Returns the flags before `F` in a cluster of letters, as a word.
fn flags_before(cluster: &std::ffi::OsStr) -> Option<String> {
    let text = cluster.to_string_lossy();
    let (flags, _) = text.split_once('F')?;
    (flags.len() > 1).then(|| flags.to_owned())
}

/// Returns the options that choose packages and configure the workspace, as `cargo tree` takes them.
pub(super) fn of_query(options: &[OsString]) -> Vec<OsString> {
    let mut kept: Vec<OsString> = Vec::new();
    let mut words = options.iter().peekable();
    while let Some(part) = option::next_part(&mut words) {
        let LinePart::Option { name, value, words } = part else { continue };
        let long = match name.as_str() {
            "--package" | "-p" => "--package",
            "--manifest-path" | "-m" => "--manifest-path",
            "--exclude" | "--config" | "-Z" => &name,
            // `cargo tree --all` means something else.
            "--workspace" | "--all" => {
                kept.push("--workspace".into());
                continue;
            }
            "--locked" | "--offline" | "--frozen" => {
                kept.extend(words);
                continue;
            }
            _ => continue,
        };
        if let Some(value) = value {
            kept.extend([long.into(), value]);
        }
    }
    kept
}

/// Returns the kinds and names of the targets that these options name: `bin` and `x` for `--bin x`.
pub(super) fn named_targets(options: &[OsString]) -> BTreeSet<(String, String)> {
    let mut named = BTreeSet::new();
    let mut words = options.iter().peekable();
    while let Some(part) = option::next_part(&mut words) {
        if let LinePart::Option { name, value: Some(value), .. } = part
            && let Some(kind) = name.strip_prefix("--")
            && TARGETS.contains(&name.as_str())
        {
            named.insert((kind.to_owned(), value.to_string_lossy().into_owned()));
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        // `_` stands for a space within a word.
        line.split_whitespace().map(|word| word.replace('_', " ").into()).collect()
    }

    #[test]
    fn options_for_features_are_replaced_in_all_forms() {
        for (line, rest) in [
            ("", ""),
            ("-p x", "-p x"),
            ("-F a -p x", "-p x"),
            ("-Fa,b -p x", "-p x"),
            ("-F=a", ""),
            ("-qF a --release", "-q --release"),
            ("-qvFa", "-qv"),
            ("--features a --features=b,c --lib", "--lib"),
            ("--features a_b sort", "sort"),
            ("--all-features sort --no-default-features", "sort"),
            ("--features", ""),
            ("--test -F a", "--test"),
            ("--config -F --bin features", "--config -F --bin features"),
            ("--bin --all-features", "--bin"),
        ] {
            let expected = [words("--features n"), words(rest)].concat();
            assert_eq!(replaced(Subcommand::Test, &words(line), &words("--features n")), expected, "{line}");
        }
    }

    #[test]
    fn the_words_of_a_program_are_left_alone() {
        let line = words("-F a --bin x go -F b --all-features");
        let expected = words("--features n --bin x go -F b --all-features");
        assert_eq!(replaced(Subcommand::Run, &line, &words("--features n")), expected);
    }

    #[test]
    fn lists_of_features_are_split() {
        for (line, expected, all, no_default) in [
            ("-p x", "", false, false),
            ("-F a,b --features=c/d -qF e_f,,g --features=,", "a b c/d e f g", false, false),
            ("--all-features", "", true, false),
            ("--no-default-features -Fa", "a", false, true),
            ("--features", "", false, false),
            ("--config -F", "", false, false),
        ] {
            let named = expected.split_whitespace().map(str::to_owned).collect();
            assert_eq!(asked(&words(line)), AskedFeatures { named, all, no_default }, "{line}");
        }
    }

    #[test]
    fn targets_are_named_by_kind() {
        let owned = |(kind, name): (&str, &str)| (kind.to_owned(), name.to_owned());
        let named = named_targets(&words("--lib --bin x --test=it --tests --example -q --bins -p bench --bench b"));
        assert_eq!(named, [("bench", "b"), ("bin", "x"), ("test", "it")].map(owned).into());
    }

    #[test]
    fn a_query_is_about_the_same_packages() {
        for (line, expected) in [
            ("--release --lib -p x -py --package=z", "--package x --package y --package z"),
            ("-qp x --bin y", "--package x"),
            ("--all --exclude w --manifest-path=m", "--workspace --exclude w --manifest-path m"),
            ("-F a --all-features --offline --config k=1", "--offline --config k=1"),
            ("-p", ""),
        ] {
            assert_eq!(of_query(&words(line)), words(expected), "{line}");
        }
    }
}
