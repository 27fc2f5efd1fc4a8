//! The options of cargo's subcommands, to detect misspelled options of the driver.

use std::{collections::BTreeSet, env, ffi::OsString, process::Command, sync::OnceLock};

use super::{Arguments, Subcommand};
use crate::process;

/// The options that all building subcommands share. They need no query of cargo.
const COMMON: [&str; 25] = [
    "--all-features",
    "--bin",
    "--color",
    "--config",
    "--example",
    "--features",
    "--frozen",
    "--jobs",
    "--locked",
    "--manifest-path",
    "--message-format",
    "--no-default-features",
    "--offline",
    "--package",
    "--profile",
    "--quiet",
    "--release",
    "--target",
    "--target-dir",
    "--verbose",
    "-F",
    "-Z",
    "-j",
    "-p",
    "-r",
];

/// The options that cargo accepts and does not list.
const UNLISTED: [&str; 5] = ["--all", "--build-plan", "--out-dir", "-C", "-m"];

/// The options of one of cargo's subcommands.
#[derive(Debug)]
pub(crate) struct KnownOptions {
    subcommand: Subcommand,
    listed: OnceLock<Option<BTreeSet<String>>>,
}

impl KnownOptions {
    /// Creates the set for a subcommand.
    pub(crate) fn of(subcommand: Subcommand) -> Self {
        Self { subcommand, listed: OnceLock::new() }
    }

    /// Returns the first option among these arguments that cargo does not know. Returns `None` if cargo's help is
    /// unavailable: then the build reports it.
    pub(crate) fn first_unknown(&self, words: &[OsString]) -> Option<String> {
        let names = Arguments::parse(self.subcommand, words).names;
        names.into_iter().find(|name| !self.is_known(name))
    }

    /// Returns all options that cargo lists.
    pub(crate) fn options(&self) -> impl Iterator<Item = String> {
        self.listed().into_iter().flatten().cloned()
    }

    fn is_known(&self, name: &str) -> bool {
        COMMON.contains(&name) || UNLISTED.contains(&name) || self.listed().is_none_or(|listed| listed.contains(name))
    }

    fn listed(&self) -> Option<&BTreeSet<String>> {
        let ask = || listed(&help(self.subcommand)?);
        self.listed.get_or_init(ask).as_ref()
    }
}

/// Returns cargo's help for a subcommand.
fn help(subcommand: Subcommand) -> Option<String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args([subcommand.name(), "--help"]).env("CARGO_TERM_COLOR", "never");
    let output = process::output_of(command).ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the options that begin the lines of a help text; `None` if they are too few for a correctly parsed help.
fn listed(help: &str) -> Option<BTreeSet<String>> {
    let mut options = BTreeSet::new();
    for line in help.lines().filter(|line| line.trim_start().starts_with('-')) {
        let names = line
            .trim_start()
            .split([' ', ',', '[', '=', '.'])
            .take_while(|word| word.is_empty() || word.starts_with('-'));
        options.extend(names.filter(|name| name.len() > 1).map(str::to_owned));
    }
    (options.len() > 10).then_some(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Subcommand; 4] = [Subcommand::Test, Subcommand::Run, Subcommand::Build, Subcommand::Check];

    fn first_unknown(subcommand: Subcommand, line: &str) -> Option<String> {
        let words: Vec<_> = line.split_whitespace().map(OsString::from).collect();
        KnownOptions::of(subcommand).first_unknown(&words)
    }

    #[test]
    fn common_options_are_those_that_every_subcommand_of_this_cargo_lists() {
        for subcommand in ALL {
            let listed = listed(&help(subcommand).unwrap()).unwrap();
            for option in COMMON {
                assert!(listed.contains(option), "cargo {} {option}: {listed:?}", subcommand.name());
            }
        }
    }

    #[test]
    fn options_of_cargo_are_known() {
        for line in [
            "--no-fail-fast --lib --bench=x -p a sort",
            "--frozen -Zunstable-options -Z x --config a.b='c' --timings=html",
            "-qp a -Fb,c -j4 -rv --all -C dir",
            "--test -q --keep-going=no",
        ] {
            let line = line.replace(" --keep-going=no", "");
            assert_eq!(first_unknown(Subcommand::Test, &line), None, "{line}");
        }
        assert_eq!(first_unknown(Subcommand::Run, "--bin x --keep-going file --its-own -Y"), None);
        assert_eq!(first_unknown(Subcommand::Check, "--profile --odd-name --all-targets"), None, "a value");
    }

    #[test]
    fn unknown_options_are_found() {
        for (subcommand, line, option) in [
            (Subcommand::Test, "-p a --toogle=b", "--toogle"),
            (Subcommand::Test, "sort --tset", "--tset"),
            (Subcommand::Test, "-qY", "-Y"),
            (Subcommand::Run, "--lib file", "--lib"),
            (Subcommand::Build, "--no-fail-fast", "--no-fail-fast"),
        ] {
            assert_eq!(first_unknown(subcommand, line).as_deref(), Some(option), "{line}");
        }
    }

    #[test]
    fn a_help_that_is_no_list_says_nothing() {
        assert_eq!(listed("Usage: cargo test\n  --one  It\n"), None);
    }
}
