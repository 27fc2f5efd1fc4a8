//! The user's arguments for cargo: which words are options, values, `TESTNAME` or the program's arguments.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use super::nextest_words::NextestWords;
use super::option::{self, DEVELOPMENT, LinePart, TARGETS, Value, value_of};

/// A subcommand of cargo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subcommand {
    /// `cargo test`
    Test,
    /// `cargo nextest run`
    Nextest,
    /// `cargo run`
    Run,
    /// `cargo build`
    Build,
    /// `cargo check`
    Check,
}

impl Subcommand {
    /// Returns its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Subcommand::Test => "test",
            Subcommand::Nextest => "nextest",
            Subcommand::Run => "run",
            Subcommand::Build => "build",
            Subcommand::Check => "check",
        }
    }

    /// Returns whether it runs tests.
    pub(crate) fn is_test(self) -> bool {
        matches!(self, Subcommand::Test | Subcommand::Nextest)
    }

    /// Returns the name of the profile that it uses if no option selects one.
    pub(crate) fn default_profile(self) -> &'static str {
        if self.is_test() { "test" } else { "dev" }
    }

    /// Returns the subcommand of cargo itself that builds the same.
    pub(super) fn of_cargo(self) -> Self {
        if self == Subcommand::Nextest { Subcommand::Test } else { self }
    }

    /// Returns whether it only builds, and runs nothing.
    pub(crate) fn is_build(self) -> bool {
        matches!(self, Subcommand::Build | Subcommand::Check)
    }
}

/// Parsed arguments for cargo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// The options to pass to cargo, in order, without those that the driver sets (`--target-dir`, `--message-format`,
    /// `--no-run`) and without `-C`.
    pub(crate) options: Vec<OsString>,
    /// All arguments as the user wrote them, without `-C`, which only some versions of cargo take.
    pub(crate) typed: Vec<OsString>,
    /// The names of the options in order, with each letter separate.
    pub(crate) names: Vec<String>,
    /// The words that are no options: `TESTNAME`, or the program's arguments.
    pub(crate) words: Vec<OsString>,
    /// `-C`: the working directory of cargo and the driver.
    pub(crate) directory: Option<PathBuf>,
    /// `--manifest-path`
    pub(crate) manifest_path: Option<OsString>,
    /// `--target-dir`
    pub(crate) target_dir: Option<PathBuf>,
    /// `--target`
    pub(crate) targets: Vec<OsString>,
    /// `--config`
    pub(crate) config: Vec<OsString>,
    /// `-p`
    pub(crate) packages: Vec<OsString>,
    /// `--bin`
    pub(crate) bins: Vec<OsString>,
    /// `--example`
    pub(crate) examples: Vec<OsString>,
    /// `--doc`
    pub(crate) doc: bool,
    /// `--profile`
    pub(crate) profile: Option<String>,
    /// `--release`
    pub(crate) release: bool,
    /// The options that affect the package graph: `--features x`, `--no-default-features`, …
    pub(crate) of_graph: Vec<OsString>,
    /// `--workspace`
    pub(crate) all_members: bool,
    /// The words for nextest.
    pub(super) nextest: NextestWords,
}

impl Arguments {
    /// Parses the words that a user wrote for cargo, up to `--`.
    pub(crate) fn parse(subcommand: Subcommand, words: &[OsString]) -> Self {
        if subcommand == Subcommand::Nextest {
            let nextest = NextestWords::parse(words);
            let cargo = Self::parse(Subcommand::Test, &nextest.cargo);
            return Self { typed: words.to_vec(), nextest, ..cargo };
        }
        let mut arguments = Self::default();
        let mut words = words.iter().peekable();
        while let Some(part) = option::next_part(&mut words) {
            let (name, value, option) = match part {
                LinePart::Option { name, value, words } => (name, value, words),
                LinePart::Word(word) => {
                    arguments.typed.push(word.clone());
                    arguments.words.push(word);
                    if subcommand == Subcommand::Run {
                        // All further words are the program's, options too.
                        arguments.typed.extend(words.clone().cloned());
                        arguments.words.extend(words.cloned());
                        break;
                    }
                    continue;
                }
            };
            arguments.names.extend(option::names(&option[0], &name));
            arguments.release |= arguments.names.iter().any(|name| name == "-r");
            if name != "-C" {
                arguments.typed.extend(option.iter().cloned());
            }
            if !arguments.note(&name, value) {
                arguments.options.extend(option);
            }
        }
        arguments
    }

    /// Records an option. Returns whether it must not be passed to cargo.
    fn note(&mut self, name: &str, value: Option<OsString>) -> bool {
        match (name, value) {
            ("-C", Some(value)) => self.directory = Some(self.directory.take().unwrap_or_default().join(value)),
            ("--target-dir", Some(value)) => self.target_dir = Some(value.into()),
            ("--message-format" | "--no-run", _) => {}
            (_, value) => {
                match (name, value) {
                    ("--manifest-path" | "-m", Some(value)) => self.manifest_path = Some(value),
                    ("--target", Some(value)) => self.targets.push(value),
                    ("--config", Some(value)) => self.config.push(value),
                    ("--package" | "-p", Some(value)) => self.packages.push(value),
                    ("--bin", Some(value)) => self.bins.push(value),
                    ("--example", Some(value)) => self.examples.push(value),
                    ("--doc", _) => self.doc = true,
                    ("--release", _) => self.release = true,
                    ("--workspace" | "--all", _) => self.all_members = true,
                    ("--profile", Some(value)) => self.profile = Some(value.to_string_lossy().into_owned()),
                    ("--features" | "-F", Some(value)) => self.of_graph.extend(["--features".into(), value]),
                    ("--all-features" | "--no-default-features", _) => self.of_graph.push(name.into()),
                    _ => {}
                }
                return false;
            }
        }
        true
    }

    /// Returns the working directory of cargo, if that of the driver is this one.
    pub(crate) fn directory_in(&self, directory: &Path) -> PathBuf {
        directory.join(self.directory.as_deref().unwrap_or(Path::new("")))
    }

    /// Returns true if an option chooses among the targets of packages.
    pub(super) fn chooses_targets(&self) -> bool {
        self.options_of_any_target() != self.options
    }

    /// Returns the options without those that choose among the targets of packages.
    pub(crate) fn options_of_any_target(&self) -> Vec<OsString> {
        let mut words = self.options.iter().peekable();
        let mut kept = Vec::new();
        while let Some(word) = words.next() {
            match option::split(word) {
                Some((name, attached)) if TARGETS.contains(&name.as_str()) => {
                    if attached.is_none() && value_of(&name) == Value::NextWord {
                        words.next_if(|next| option::split(next).is_none());
                    }
                }
                _ => kept.push(word.clone()),
            }
        }
        kept
    }

    /// Returns arguments for `cargo check` that compile the same targets. `program` selects the program of `cargo run`.
    pub(crate) fn for_check(&self, subcommand: Subcommand, program: &[OsString]) -> Self {
        let mut options = self.options.clone();
        options.retain(|word| word != "--no-fail-fast");
        if subcommand.is_test() {
            let has_targets = self.chooses_targets();
            let has_profile = self.selects_profile();
            // With the profile `test`, cargo checks `--lib` and `--bins` with their tests.
            options.push(if has_targets && !has_profile { "--profile=test" } else { "--tests" }.into());
        }
        options.extend(program.iter().cloned());
        Self { options, words: Vec::new(), ..self.clone() }
    }

    /// Returns whether this subcommand also builds development dependencies.
    pub(crate) fn has_development(&self, subcommand: Subcommand) -> bool {
        let is_one =
            |word: &OsString| option::split(word).is_some_and(|(name, _)| DEVELOPMENT.contains(&name.as_str()));
        subcommand.is_test() || self.options.iter().any(is_one)
    }

    /// Returns the name of the profile.
    pub(crate) fn profile(&self) -> String {
        let default = if self.release { "release" } else { "dev" };
        self.profile.clone().unwrap_or_else(|| default.to_owned())
    }

    /// Returns true if an option selects the profile.
    pub(crate) fn selects_profile(&self) -> bool {
        self.release || self.profile.is_some()
    }

    /// Returns the options that select and configure the workspace, for `cargo metadata`.
    pub(crate) fn of_workspace(&self) -> Vec<OsString> {
        let mut options = Vec::new();
        if let Some(path) = &self.manifest_path {
            options.extend(["--manifest-path".into(), path.clone()]);
        }
        options.extend(self.config.iter().flat_map(|value| ["--config".into(), value.clone()]));
        let shared = ["--locked", "--offline", "--frozen"];
        options.extend(self.options.iter().filter(|option| shared.iter().any(|shared| option == shared)).cloned());
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(Into::into).collect()
    }

    fn test(line: &str) -> Arguments {
        Arguments::parse(Subcommand::Test, &words(line))
    }

    #[test]
    fn the_name_of_a_test_is_found_among_the_options() {
        for (line, options, found) in [
            ("", "", ""),
            ("sort", "", "sort"),
            ("-p newsort sort", "-p newsort", "sort"),
            ("sort -p newsort", "-p newsort", "sort"),
            ("-pnewsort sort", "-pnewsort", "sort"),
            ("-qp newsort sort", "-qp newsort", "sort"),
            ("--package=newsort sort", "--package=newsort", "sort"),
            ("--lib sort", "--lib", "sort"),
            ("--test -q sort", "--test -q", "sort"),
            ("--test big sort", "--test big", "sort"),
            ("-F a,b sort", "-F a,b", "sort"),
            ("-j -1 sort", "-j -1", "sort"),
            ("--config build.rustflags=['-g'] sort", "--config build.rustflags=['-g']", "sort"),
            ("--no-run --message-format short --target-dir x sort", "", "sort"),
            ("--no-fail-fast --target x86_64-foo sort", "--no-fail-fast --target x86_64-foo", "sort"),
            ("- sort", "", "- sort"),
        ] {
            let arguments = test(line);
            assert_eq!((arguments.options, arguments.words), (words(options), words(found)), "{line}");
            assert_eq!(arguments.typed, words(line));
        }
    }

    #[test]
    fn options_that_the_driver_needs_are_recorded() {
        let line = "--config a=1 -C here --manifest-path m --target t --target-dir d -p x --package y --bin b --example e --doc --config=b=2";
        let arguments = test(line);
        assert_eq!(arguments.typed, words(&line.replace("-C here ", "")));
        assert_eq!(arguments.directory, Some("here".into()));
        assert_eq!(arguments.manifest_path, Some("m".into()));
        assert_eq!(arguments.target_dir, Some("d".into()));
        assert_eq!(arguments.targets, words("t"));
        assert_eq!(arguments.config, words("a=1 b=2"));
        assert_eq!(arguments.packages, words("x y"));
        assert_eq!((arguments.bins, arguments.examples, arguments.doc), (words("b"), words("e"), true));
    }

    #[test]
    fn targets_can_be_chosen_anew() {
        for (line, expected) in [
            ("--lib -p x --test it --release", "-p x --release"),
            ("--bin --test -F a --bins --bench=b --examples --all-targets", "-F a"),
            ("--tests -p lib sort", "-p lib"),
        ] {
            assert_eq!(test(line).options_of_any_target(), words(expected), "{line}");
        }
    }

    #[test]
    fn checks_compile_the_same_tests() {
        for (line, expected) in [
            ("-p x --no-fail-fast name", "-p x --tests"),
            ("--lib", "--lib --profile=test"),
            ("--test it --lib", "--test it --lib --profile=test"),
            // Cargo takes one profile, so more is checked.
            ("--lib --release", "--lib --release --tests"),
            ("--bins --profile x", "--bins --profile x --tests"),
        ] {
            assert_eq!(test(line).for_check(Subcommand::Test, &[]).options, words(expected), "{line}");
        }
        let arguments = Arguments::parse(Subcommand::Run, &words("--release"));
        assert_eq!(arguments.for_check(Subcommand::Run, &words("--bin x")).options, words("--release --bin x"));
    }

    #[test]
    fn some_targets_have_dependencies_of_their_own() {
        for (line, expected) in [("", false), ("--lib --bins", false), ("--tests", true), ("--example=x", true)] {
            let arguments = Arguments::parse(Subcommand::Build, &words(line));
            assert_eq!(arguments.has_development(Subcommand::Build), expected, "{line}");
            assert!(arguments.has_development(Subcommand::Test));
        }
    }

    #[test]
    fn everything_from_the_first_word_on_is_the_programs() {
        let arguments = Arguments::parse(Subcommand::Run, &words("--bin x -q file -v --release"));
        assert_eq!(arguments.typed, words("--bin x -q file -v --release"));
        assert_eq!((arguments.options, arguments.words), (words("--bin x -q"), words("file -v --release")));
    }

    #[test]
    fn a_missing_value_is_left_to_cargo() {
        for line in ["--config", "-p", "--bin", "--manifest-path"] {
            assert_eq!(test(line).options, words(line), "{line}");
        }
    }

    #[test]
    fn metadata_is_asked_about_the_same_workspace() {
        let arguments = test("--manifest-path=m --config a=1 --offline --release -p x");
        assert_eq!(arguments.of_workspace(), words("--manifest-path m --config a=1 --offline"));
    }

    #[test]
    fn only_cargos_own_options_select_the_profile() {
        let selects = |subcommand, line: &str| Arguments::parse(subcommand, &words(line)).selects_profile();
        for line in ["--release", "-r", "-qr", "--profile x", "--profile=x"] {
            assert!(selects(Subcommand::Run, line), "{line}");
        }
        for line in ["prog --release", "--bin release -q", "prog -r --profile x"] {
            assert!(!selects(Subcommand::Run, line), "{line}");
        }
        assert!(selects(Subcommand::Test, "sort --release"));
    }
}
