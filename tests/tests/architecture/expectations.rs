//! Expectations: the texts in test code, and in files with which tests compare what programs print.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::{fs, io};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{ImplItemFn, Item, Lit};

use crate::exceptions::Violation;
use crate::facts::{attributes, is_test};
use crate::messages::{Message, phrases};
use crate::modules::Crate;
use crate::tree::Tree;

/// Folders of files with which tests compare what programs print.
const RECORDED: [&str; 3] = ["cargo-bisect-opt/testdata/", "bisect-rt/tests/ui/", "rustc-driver-example/tests/"];
/// Folders with the tests of all crates. The rules of the architecture list messages themselves.
const TESTS: [&str; 3] = ["tests/tests/", "bisect-rt/tests/", "rustc-driver-example/tests/"];
const NO_TESTS: &str = "tests/tests/architecture/";

/// The phrases of all texts that tests expect, each with the files that have it.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    phrases: HashMap<String, BTreeSet<String>>,
}

/// The most messages that share a phrase by which a test expects them.
const MOST_SHARING: usize = 3;

impl Expectations {
    /// Reads the texts of all test code, and the recorded files below `root`.
    pub(crate) fn read(root: &Path, tree: &Tree, crates: &[Crate]) -> Self {
        let mut this = Self::of_code(tree, crates);
        for folder in RECORDED {
            this.add_files(&root.join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
        }
        this
    }

    /// Reads the texts of all test code.
    pub(crate) fn of_code(tree: &Tree, crates: &[Crate]) -> Self {
        let mut this = Self::default();
        for (path, text) in tree.rust() {
            if crates.iter().flat_map(|krate| &krate.files).any(|file| file == path) {
                this.add_tests_of(path, text);
            } else if !path.starts_with(NO_TESTS)
                && (crates.iter().any(|krate| path.starts_with(krate.house.src))
                    || TESTS.iter().any(|folder| path.starts_with(folder)))
            {
                this.add_tokens(path, text.parse().unwrap_or_else(|error| panic!("{path}: {error}")));
            }
        }
        this
    }

    fn add_tests_of(&mut self, path: &str, text: &str) {
        let parsed = syn::parse_file(text).unwrap_or_else(|error| panic!("{path}: {error}"));
        TestCode { expectations: self, path }.visit_file(&parsed);
    }

    fn add_tokens(&mut self, path: &str, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.add_tokens(path, group.stream()),
                TokenTree::Literal(literal) => {
                    if let Lit::Str(text) = Lit::new(literal) {
                        self.add(path, &text.value());
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }

    fn add(&mut self, path: &str, text: &str) {
        for phrase in phrases(text) {
            self.phrases.entry(phrase).or_default().insert(path.to_owned());
        }
    }

    /// Adds the texts of all files in a folder.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub(crate) fn add_files(&mut self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                self.add_files(&entry.path())?;
            } else if let Ok(text) = fs::read_to_string(entry.path()) {
                // Lines of JSON repeat what the lines for people say.
                let lines = text.lines().filter(|line| !line.starts_with('{')).collect::<Vec<_>>().join("\n");
                self.add(&entry.path().to_string_lossy(), &lines.replace(['{', '}'], " "));
            }
        }
        Ok(())
    }

    /// Returns the messages that no test expects. A test expects a message if one of its texts has a phrase that no
    /// other message has. A phrase that a few messages share must be in as many files of tests.
    pub(crate) fn unreached<'a>(&self, messages: &'a [Message]) -> Vec<&'a Message> {
        let phrases: Vec<_> = messages.iter().map(|message| phrases(&message.text)).collect();
        let mut occurrences: HashMap<&str, usize> = HashMap::new();
        for phrase in phrases.iter().flatten() {
            *occurrences.entry(phrase).or_default() += 1;
        }
        let is_reached = |own: &BTreeSet<String>| {
            own.iter().any(|phrase| {
                let sharing = occurrences[&**phrase];
                sharing <= MOST_SHARING && self.phrases.get(phrase).is_some_and(|files| files.len() >= sharing)
            })
        };
        messages.iter().zip(&phrases).filter(|(_, own)| !is_reached(own)).map(|(message, _)| message).collect()
    }
}

/// A message that no test expects by its own words.
#[derive(Debug, PartialEq, Eq)]
struct Unreached<'a> {
    file: &'a str,
    /// The beginning of its text, with single spaces.
    start: &'a str,
    reason: &'a str,
    line: usize,
}

impl Unreached<'_> {
    /// Returns the problem with the reason, if there is one. A reason is `by FILE` or `by FILE::TEST`, which reaches the
    /// message although its words are also those of others, or `cannot: WHY`.
    fn problem(&self, tree: &Tree) -> Option<String> {
        let Some(place) = self.reason.strip_prefix("by ") else {
            let is_known = self.reason.starts_with("cannot: ");
            return (!is_known).then(|| format!("{:?} is no reason: begin with by or cannot", self.reason));
        };
        let (file, test) = place.split_once("::").unwrap_or((place, ""));
        let is_there = tree.text(file).is_some_and(|text| test.is_empty() || text.contains(&format!("fn {test}()")));
        (!is_there).then(|| format!("there is no test {place}"))
    }
}

/// Parses the list: `file | beginning of the text | reason`.
fn parse(list: &str) -> Vec<Unreached<'_>> {
    let entries = list.lines().enumerate().filter(|(_, line)| !line.starts_with('#') && !line.is_empty());
    let entries = entries.map(|(index, line)| {
        let mut parts = line.splitn(3, " | ").map(str::trim);
        let mut part = || parts.next().filter(|part| !part.is_empty());
        let (Some(file), Some(start), Some(reason)) = (part(), part(), part()) else {
            panic!("{LIST}:{}: write `file | beginning of the text | reason`", index + 1)
        };
        Unreached { file, start, reason, line: index + 1 }
    });
    entries.collect()
}

/// The list of messages that no test reaches, each with the reason.
const LIST: &str = "tests/tests/architecture/unreached.txt";

/// Returns messages that no test expects and that are not listed, and entries of the list that are not needed.
pub(crate) fn violations(tree: &Tree, unreached: &[&Message], list: &str) -> Vec<Violation> {
    let listed = parse(list);
    let is_meant = |entry: &Unreached<'_>, message: &Message| {
        message.file == entry.file && single_spaces(&message.text).starts_with(entry.start)
    };
    let missing = unreached.iter().filter(|message| !listed.iter().any(|entry| is_meant(entry, message)));
    let missing = missing.map(|message| {
        let text = format!(
            "no test expects {:?}: let a test reach it and check the text, or list it in {LIST} with the reason",
            message.text
        );
        Violation::new("messages", &message.file, message.line, text)
    });
    let stale = listed.iter().filter(|entry| !unreached.iter().any(|message| is_meant(entry, message)));
    let stale = stale.map(|entry| {
        let text = format!("a test expects {:?}, or it no longer exists: delete this line", entry.start);
        Violation::new("messages", LIST, entry.line, text)
    });
    let wrong = listed
        .iter()
        .filter_map(|entry| entry.problem(tree).map(|problem| Violation::new("messages", LIST, entry.line, problem)));
    missing.chain(stale).chain(wrong).collect()
}

fn single_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

struct TestCode<'a> {
    expectations: &'a mut Expectations,
    path: &'a str,
}

impl<'ast> Visit<'ast> for TestCode<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if is_test(attributes(item)) {
            self.expectations.add_tokens(self.path, item.to_token_stream());
        } else {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        if is_test(&item.attrs) {
            self.expectations.add_tokens(self.path, item.to_token_stream());
        }
    }
}
