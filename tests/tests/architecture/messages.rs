//! Messages: the prose that the crates print, from their syntax trees, without test code and help.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ImplItemFn, Item, Lit, Member, Meta};

use crate::facts::{attributes, is_test};
use crate::modules::Crate;
use crate::tree::Tree;

/// A text in the code that is, or is part of, something that users read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) file: String,
    pub(crate) line: usize,
    /// The text, with its placeholders.
    pub(crate) text: String,
}

/// The fewest words of a message. Shorter texts are names and parts of answers.
const FEWEST_WORDS: usize = 5;
/// Files whose texts are parts of an answer, of a page of help, or of a command line, and no messages.
const NO_MESSAGES: [&str; 14] = [
    "cargo-bisect-opt/src/axes/lock_runs.rs",
    "cargo-bisect-opt/src/axes/stop_gap.rs",
    "cargo-bisect-opt/src/commands/pages.rs",
    "cargo-bisect-opt/src/record/exit_status.rs",
    "cargo-bisect-opt/src/output/formats/",
    "cargo-bisect-opt/src/record/headline.rs",
    "cargo-bisect-opt/src/output/last_change.rs",
    "cargo-bisect-opt/src/record/noise.rs",
    "cargo-bisect-opt/src/output/page.rs",
    "cargo-bisect-opt/src/output/page/",
    "cargo-bisect-opt/src/process/debugger/",
    "cargo-bisect-opt/src/run/cause",
    "cargo-bisect-opt/src/run/repetition.rs",
    "cargo-bisect-opt/src/targets/victim/other_tests.rs",
];
/// The fewest bytes of two to four words by which a message is recognized.
const SHORTEST_PHRASE: usize = 12;
/// Methods and macros whose texts only a defect of our own code shows.
const FOR_DEFECTS: [&str; 10] = [
    "expect",
    "expect_err",
    "panic",
    "unreachable",
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
];
/// Macros whose tokens are the code of another crate, or the name of a file.
const NOT_OURS: [&str; 6] = ["quote", "quote_spanned", "parse_quote", "parse_quote_spanned", "include_str", "env"];
/// Fields that hold the help of options: other tests check pages of help.
const HELP: [&str; 4] = ["help", "about", "details", "usage"];

/// Returns the messages of a crate, in the order of its files.
pub(crate) fn of_crate(tree: &Tree, krate: &Crate) -> Vec<Message> {
    let mut messages = Vec::new();
    for file in krate.files.iter().filter(|file| !NO_MESSAGES.iter().any(|without| file.starts_with(without))) {
        let text = tree.text(file).unwrap_or_default();
        let parsed = syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut collector = Collector { file, messages: Vec::new() };
        collector.visit_file(&parsed);
        messages.append(&mut collector.messages);
    }
    messages
}

/// Returns the phrases of a text by which it can be recognized: runs of words between placeholders.
pub(crate) fn phrases(text: &str) -> BTreeSet<String> {
    let text = text.replace("{{", " ").replace("}}", " ");
    let mut phrases = BTreeSet::new();
    let mut rest = &*text;
    while !rest.is_empty() {
        let (part, after) = rest.split_once('{').unwrap_or((rest, ""));
        let words: Vec<_> = part.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect();
        let runs = (2..=4).flat_map(|length| words.windows(length)).map(|words| words.join(" "));
        phrases.extend(runs.filter(|phrase| phrase.len() >= SHORTEST_PHRASE));
        rest = after.split_once('}').map_or("", |(_, rest)| rest);
    }
    phrases
}

/// Returns a word without punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-')
}

/// Returns the number of words of letters.
fn words(text: &str) -> usize {
    let is_word = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphabetic());
        !word.is_empty() && word.chars().all(|c| c.is_alphabetic() || "'-".contains(c))
    };
    text.split_whitespace().filter(is_word).count()
}

struct Collector<'a> {
    file: &'a str,
    messages: Vec<Message>,
}

impl Collector<'_> {
    fn add(&mut self, text: String, line: usize) {
        if words(&text) >= FEWEST_WORDS {
            self.messages.push(Message { file: self.file.to_owned(), line, text });
        }
    }

    /// Adds the texts in the tokens of a macro call or an attribute.
    fn scan(&mut self, tokens: TokenStream) {
        let mut last = String::new();
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => last = ident.to_string(),
                TokenTree::Punct(_) => {}
                TokenTree::Group(group) => {
                    if !FOR_DEFECTS.contains(&&*last) && !NOT_OURS.contains(&&*last) {
                        self.scan(group.stream());
                    }
                    last.clear();
                }
                TokenTree::Literal(literal) => {
                    let line = literal.span().start().line;
                    if let Lit::Str(text) = Lit::new(literal)
                        && last != "doc"
                    {
                        self.add(text.value(), line);
                    }
                    last.clear();
                }
            }
        }
    }
}

/// Methods that return parts of an answer, or command lines.
const ANSWERS: [&str; 3] = ["headline", "next_step", "subject"];

impl<'ast> Visit<'ast> for Collector<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        if !is_test(&item.attrs) && !ANSWERS.contains(&&*item.sig.ident.to_string()) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if FOR_DEFECTS.contains(&&*call.method.to_string()) {
            self.visit_expr(&call.receiver);
        } else {
            visit::visit_expr_method_call(self, call);
        }
    }

    fn visit_field_value(&mut self, field: &'ast syn::FieldValue) {
        let is_help = |name: &syn::Ident| HELP.contains(&&*name.to_string());
        if !matches!((&field.member, &field.expr), (Member::Named(name), Expr::Lit(_)) if is_help(name)) {
            visit::visit_field_value(self, field);
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if attribute.path().is_ident("error")
            && let Meta::List(list) = &attribute.meta
        {
            self.scan(list.tokens.clone());
        }
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let name = call.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        if !FOR_DEFECTS.contains(&&*name) && !NOT_OURS.contains(&&*name) {
            self.scan(call.tokens.clone());
        }
    }

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        self.add(literal.value(), literal.span().start().line);
    }
}
