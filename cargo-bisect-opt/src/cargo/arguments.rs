//! Cargo's own arguments, as far as they must be understood: which words are values, where `TESTNAME` or the program's
//! arguments begin, and what the driver says in the user's place.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
};

/// The subcommand whose arguments they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subcommand {
    /// `cargo test`
    Test,
    /// `cargo run`
    Run,
    /// `cargo build`
    Build,
    /// `cargo check`
    Check,
}

impl Subcommand {
    /// As one types it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Subcommand::Test => "test",
            Subcommand::Run => "run",
            Subcommand::Build => "build",
            Subcommand::Check => "check",
        }
    }

    /// Whether nothing is run: it is all about whether it can be built.
    pub(crate) fn is_build(self) -> bool {
        matches!(self, Subcommand::Build | Subcommand::Check)
    }
}

/// What the arguments say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// For cargo, in order. Taken out: what the driver says itself (`--target-dir`, `--message-format`, `--no-run`),
    /// `-C`, and everything that is no option.
    pub(crate) options: Vec<OsString>,
    /// All of them as the user wrote them, without `-C`, which only some cargos take, and none here.
    pub(crate) typed: Vec<OsString>,
    /// The names of the options, in order, letters one by one.
    pub(crate) names: Vec<String>,
    /// Words that are no options: `TESTNAME`, or what `cargo run` hands to the program.
    pub(crate) words: Vec<OsString>,
    /// `-C`: cargo and the driver work as if started there.
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
    /// What says which features and packages there are: `--workspace`, `--features x`, …
    pub(crate) of_graph: Vec<OsString>,
    /// `--workspace`
    pub(crate) all_members: bool,
}

/// What follows an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// Nothing.
    None,
    /// The next word, whatever it looks like.
    Next,
    /// The next word, unless that is an option.
    NextWord,
}

/// The options of cargo's subcommands that take values, by their long name or by their letter.
const WITH_VALUE: [(&str, Value); 23] = [
    ("--artifact-dir", Value::Next),
    ("--bench", Value::NextWord),
    ("--bin", Value::NextWord),
    ("--color", Value::Next),
    ("--config", Value::Next),
    ("--example", Value::NextWord),
    ("--exclude", Value::Next),
    ("--features", Value::Next),
    ("--jobs", Value::Next),
    ("--lockfile-path", Value::Next),
    ("--manifest-path", Value::Next),
    ("--message-format", Value::Next),
    ("--package", Value::NextWord),
    ("--profile", Value::Next),
    ("--target", Value::NextWord),
    ("--target-dir", Value::Next),
    ("--test", Value::NextWord),
    ("-C", Value::Next),
    ("-F", Value::Next),
    ("-Z", Value::Next),
    ("-j", Value::Next),
    ("-m", Value::Next),
    ("-p", Value::NextWord),
];

/// The options that choose among the targets of packages.
const TARGETS: [&str; 10] = [
    "--all-targets",
    "--bench",
    "--benches",
    "--bin",
    "--bins",
    "--example",
    "--examples",
    "--lib",
    "--test",
    "--tests",
];

/// Those of them that choose targets with dependencies of their own.
const DEVELOPMENT: [&str; 7] =
    ["--all-targets", "--bench", "--benches", "--example", "--examples", "--test", "--tests"];

fn value_of(option: &str) -> Value {
    WITH_VALUE.iter().find(|(name, _)| *name == option).map_or(Value::None, |&(_, value)| value)
}

impl Arguments {
    /// Reads the words that a user wrote for cargo, up to `--`.
    pub(crate) fn parse(subcommand: Subcommand, words: &[OsString]) -> Self {
        let mut arguments = Self::default();
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            let Some((name, attached)) = option(word) else {
                arguments.words.push(word.clone());
                if subcommand == Subcommand::Run {
                    // All that follows is the program's, options too.
                    arguments.words.extend(words.cloned());
                    arguments.typed.extend(arguments.words.iter().cloned());
                    break;
                }
                arguments.typed.push(word.clone());
                continue;
            };
            let (value, next) = match (attached, value_of(&name)) {
                (Some(value), _) => (Some(value), None),
                (None, Value::None) => (None, None),
                (None, Value::Next) => (words.peek().map(|&next| next.clone()), words.next()),
                (None, Value::NextWord) => match words.next_if(|next| option(next).is_none()) {
                    Some(next) => (Some(next.clone()), Some(next)),
                    None => (None, None),
                },
            };
            arguments.names.extend(names(word, &name));
            arguments.release |= arguments.names.iter().any(|name| name == "-r");
            let option = [word].into_iter().chain(next).cloned();
            if name != "-C" {
                arguments.typed.extend(option.clone());
            }
            if !arguments.note(&name, value) {
                arguments.options.extend(option);
            }
        }
        arguments
    }

    /// Notes what an option says; whether it is not to be handed to cargo.
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

    /// The options, without those that choose among the targets of packages.
    pub(crate) fn options_of_any_target(&self) -> Vec<OsString> {
        let mut words = self.options.iter().peekable();
        let mut kept = Vec::new();
        while let Some(word) = words.next() {
            match option(word) {
                Some((name, attached)) if TARGETS.contains(&name.as_str()) => {
                    if attached.is_none() && value_of(&name) == Value::NextWord {
                        words.next_if(|next| option(next).is_none());
                    }
                }
                _ => kept.push(word.clone()),
            }
        }
        kept
    }

    /// Whether what only tests, examples and benchmarks depend on is built as well, by this subcommand.
    pub(crate) fn has_development(&self, subcommand: Subcommand) -> bool {
        let is_one = |word: &OsString| option(word).is_some_and(|(name, _)| DEVELOPMENT.contains(&name.as_str()));
        subcommand == Subcommand::Test || self.options.iter().any(is_one)
    }

    /// The profile that is built with.
    pub(crate) fn profile(&self) -> String {
        let default = if self.release { "release" } else { "dev" };
        self.profile.clone().unwrap_or_else(|| default.to_owned())
    }

    /// The options that say which workspace it is and how it is configured, for `cargo metadata`.
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

/// Splits an option into its name, as in the table, and the value attached to it; `None` if the word is no option.
fn option(word: &OsStr) -> Option<(String, Option<OsString>)> {
    let bytes = word.as_encoded_bytes();
    if bytes.starts_with(b"--") {
        let end = memchr::memchr(b'=', bytes).unwrap_or(bytes.len());
        let name = String::from_utf8_lossy(&bytes[..end]).into_owned();
        return Some((name, bytes.get(end + 1..).map(os_string)));
    }
    let letters = bytes.strip_prefix(b"-").filter(|letters| !letters.is_empty())?;
    // In a cluster as `-qp name`, flags come before the one that takes a value.
    for (i, &letter) in letters.iter().enumerate() {
        let name = format!("-{}", char::from(letter));
        if value_of(&name) != Value::None {
            let rest = &letters[i + 1..];
            let rest = rest.strip_prefix(b"=").unwrap_or(rest);
            return Some((name, (!rest.is_empty()).then(|| os_string(rest))));
        }
    }
    Some((String::from_utf8_lossy(bytes).into_owned(), None))
}

/// The names in an option whose own name is `name`: those of all flags in a cluster of letters.
fn names(word: &OsStr, name: &str) -> Vec<String> {
    let letters = match word.as_encoded_bytes() {
        [b'-', b'-', ..] => return vec![name.to_owned()],
        bytes => &bytes[1..],
    };
    let letters = letters.iter().map(|&letter| format!("-{}", char::from(letter)));
    let end = letters.clone().position(|letter| value_of(&letter) != Value::None);
    letters.take(end.map_or(usize::MAX, |end| end + 1)).collect()
}

fn os_string(bytes: &[u8]) -> OsString {
    // SAFETY: the bytes are the end of an `OsStr`'s, from behind an ASCII character on: `=`, or a letter of the table.
    unsafe { OsStr::from_encoded_bytes_unchecked(bytes) }.to_owned()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, process::Command};

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
    fn what_the_driver_needs_is_noted() {
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

    /// Each option of this cargo that takes a value, and how, from its help.
    fn from_help(subcommand: &str) -> BTreeSet<(String, bool)> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo).args([subcommand, "--help"]).output().unwrap();
        assert!(output.status.success());
        let help = String::from_utf8(output.stdout).unwrap();
        let line = regex::Regex::new(r"(?m)^ +(-\w)?(?:, |    |)(--[a-z-]+)?(?:\.\.\.)? +(<|\[<)[A-Z=|_-]+>").unwrap();
        line.captures_iter(&help)
            .flat_map(|found| {
                let always = found[3] == *"<";
                [1, 2].into_iter().filter_map(move |i| Some((found.get(i)?.as_str().to_owned(), always)))
            })
            .collect()
    }

    #[test]
    fn the_table_has_every_option_of_this_cargo_that_takes_a_value() {
        for subcommand in ["test", "run", "build", "check"] {
            let options = from_help(subcommand);
            assert!(options.len() > 10, "the help of cargo {subcommand} was not understood: {options:?}");
            for (option, always) in options {
                let expected = if always { Value::Next } else { Value::NextWord };
                assert_eq!(value_of(&option), expected, "cargo {subcommand} {option}");
            }
        }
    }
}
