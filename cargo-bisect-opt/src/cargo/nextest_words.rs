//! The words of a command line of cargo-nextest: for the build, for the selection of tests, or for nothing.

use std::ffi::{OsStr, OsString};

use super::option;

/// The way in which an option of `cargo nextest run` is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It is for the build, under this name of cargo.
    Build(&'static str),
    /// It selects tests.
    Selection,
    /// It sets the number of processes at a time.
    Threads,
    /// It means nothing in a search.
    Meaningless,
}

/// The options of `cargo nextest run` that a search can use, whether they have values, and the use. All of them mean
/// the same to `cargo nextest list`, except those for the output.
const OPTIONS: [(&str, bool, Role); 47] = [
    ("--package", true, Role::Build("--package")),
    ("-p", true, Role::Build("-p")),
    ("--workspace", false, Role::Build("--workspace")),
    ("--all", false, Role::Build("--all")),
    ("--exclude", true, Role::Build("--exclude")),
    ("--lib", false, Role::Build("--lib")),
    ("--bin", true, Role::Build("--bin")),
    ("--bins", false, Role::Build("--bins")),
    ("--example", true, Role::Build("--example")),
    ("--examples", false, Role::Build("--examples")),
    ("--test", true, Role::Build("--test")),
    ("--tests", false, Role::Build("--tests")),
    ("--bench", true, Role::Build("--bench")),
    ("--benches", false, Role::Build("--benches")),
    ("--all-targets", false, Role::Build("--all-targets")),
    ("--features", true, Role::Build("--features")),
    ("-F", true, Role::Build("-F")),
    ("--all-features", false, Role::Build("--all-features")),
    ("--no-default-features", false, Role::Build("--no-default-features")),
    ("--build-jobs", true, Role::Build("--jobs")),
    ("--release", false, Role::Build("--release")),
    ("-r", false, Role::Build("-r")),
    ("--cargo-profile", true, Role::Build("--profile")),
    ("--target", true, Role::Build("--target")),
    ("--target-dir", true, Role::Build("--target-dir")),
    ("--manifest-path", true, Role::Build("--manifest-path")),
    ("--frozen", false, Role::Build("--frozen")),
    ("--locked", false, Role::Build("--locked")),
    ("--offline", false, Role::Build("--offline")),
    ("--ignore-rust-version", false, Role::Build("--ignore-rust-version")),
    ("--config", true, Role::Build("--config")),
    ("-Z", true, Role::Build("-Z")),
    ("--filterset", true, Role::Selection),
    ("--filter-expr", true, Role::Selection),
    ("-E", true, Role::Selection),
    ("--run-ignored", true, Role::Selection),
    ("--partition", true, Role::Selection),
    ("--platform-filter", true, Role::Selection),
    ("--ignore-default-filter", false, Role::Selection),
    ("--config-file", true, Role::Selection),
    ("--profile", true, Role::Selection),
    ("-P", true, Role::Selection),
    ("--test-threads", true, Role::Threads),
    ("--no-fail-fast", false, Role::Meaningless),
    ("--fail-fast", false, Role::Meaningless),
    ("--max-fail", true, Role::Meaningless),
    ("--no-tests", true, Role::Meaningless),
];

/// The words of a command line of nextest, by their use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NextestWords {
    /// The words for cargo.
    pub(super) cargo: Vec<OsString>,
    /// The words for the build, as the user wrote them.
    pub(super) build: Vec<OsString>,
    /// The options and filters that select tests.
    pub(super) selection: Vec<OsString>,
    /// The number of processes at a time, as an argument of the standard harness.
    pub(super) threads: Option<OsString>,
    /// The first option that a search cannot use. It is handed to cargo all the same.
    pub(super) unusable: Option<String>,
}

impl NextestWords {
    /// Divides the words after `cargo nextest run`, up to `--`.
    pub(super) fn parse(words: &[OsString]) -> Self {
        let mut parsed = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let Some((name, attached)) = split(word) else {
                parsed.selection.push(word.clone());
                continue;
            };
            let Some((_, has_value, role)) = OPTIONS.iter().find(|(option, ..)| *option == name) else {
                parsed.unusable.get_or_insert(name);
                parsed.cargo.push(word.clone());
                parsed.build.push(word.clone());
                continue;
            };
            let next = if *has_value && attached.is_none() { words.next() } else { None };
            let value = attached.as_ref().or(next);
            let typed = [word].into_iter().chain(next).cloned();
            match role {
                Role::Build(cargos) => {
                    parsed.cargo.push((*cargos).into());
                    parsed.cargo.extend(value.cloned());
                    parsed.build.extend(typed);
                }
                Role::Selection => parsed.selection.extend(typed),
                Role::Threads => parsed.threads = value.map(|value| concat("--test-threads=", value)),
                Role::Meaningless => {}
            }
        }
        parsed
    }

    /// Returns the arguments for test executables. Nextest selects the tests, ignored ones too.
    pub(super) fn harness_arguments(&self) -> Vec<OsString> {
        self.threads.iter().cloned().chain(["--include-ignored".into()]).collect()
    }
}

/// Returns all options that a search can use.
pub(crate) fn options() -> impl Iterator<Item = String> {
    OPTIONS.iter().map(|(name, ..)| (*name).to_owned())
}

/// Returns the first option among these words of nextest that a search cannot use.
pub(crate) fn first_unusable(words: &[OsString]) -> Option<String> {
    NextestWords::parse(words).unusable
}

/// Splits an option into its name and an attached value; `None` if the word is no option.
fn split(word: &OsStr) -> Option<(String, Option<OsString>)> {
    let text = word.to_str().unwrap_or_default();
    if text.starts_with("--") || text.len() < 2 {
        return option::split(word);
    }
    let letter = text.strip_prefix('-')?.chars().next()?;
    let (name, rest) = (format!("-{letter}"), &text[1 + letter.len_utf8()..]);
    let rest = rest.strip_prefix('=').unwrap_or(rest);
    Some((name, (!rest.is_empty()).then(|| rest.into())))
}

fn concat(prefix: &str, value: &OsStr) -> OsString {
    let mut word = OsString::from(prefix);
    word.push(value);
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(Into::into).collect()
    }

    #[test]
    fn each_word_has_its_use() {
        let line = "-pone --cargo-profile fast sort -E test(a) -P ci --build-jobs=2 --test-threads 3 --no-fail-fast -F=x \
                    --run-ignored=all -r";
        let parsed = NextestWords::parse(&words(line));
        assert_eq!(parsed.cargo, words("-p one --profile fast --jobs 2 -F x -r"));
        assert_eq!(parsed.build, words("-pone --cargo-profile fast --build-jobs=2 -F=x -r"));
        assert_eq!(parsed.selection, words("sort -E test(a) -P ci --run-ignored=all"));
        assert_eq!(parsed.harness_arguments(), words("--test-threads=3 --include-ignored"));
        assert_eq!(parsed.unusable, None);
    }

    #[test]
    fn options_that_mean_nothing_in_a_search_are_named() {
        for (line, option) in [
            ("--retries 2", Some("--retries")),
            ("sort -p x --stress-count=3", Some("--stress-count")),
            ("-v", Some("-v")),
            ("--exclude --retries", None),
        ] {
            assert_eq!(first_unusable(&words(line)).as_deref(), option, "{line}");
        }
    }
}
