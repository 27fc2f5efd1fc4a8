//! Plain English: phrases that are banned from prose, and the width of Markdown.

use std::sync::LazyLock;

use regex::Regex;

use crate::exceptions::Violation;
use crate::house::{House, WIDEST_MARKDOWN, WIDEST_PURPOSE};
use crate::modules::Crate;
use crate::tree::Tree;

/// Phrases with few honest uses. CONTRIBUTING.md explains the alternatives.
static BANNED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(so many|of it|told|somebody|whoever|for ever|in company)\b")
        .expect("it is a regular expression")
});

/// A doc comment that begins with a relative clause instead of a verb or a noun.
static HEADLESS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(What|Whether|How|Who|Whom) ").expect("it is a regular expression"));

/// A purpose that begins with a relative clause, and so names neither a thing nor an action.
static NAMELESS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("^//! (What|Whether|How|Who|Whom|Where|Which|That|All that|Everything that) ")
        .expect("it is a regular expression")
});

/// Code in prose, which may quote any word.
static CODE: LazyLock<Regex> = LazyLock::new(|| Regex::new("`[^`]*`").expect("it is a regular expression"));

/// Returns banned phrases in comments of Rust files.
pub(crate) fn in_comments(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.rust() {
        let mut was_doc = false;
        for (index, line) in text.lines().enumerate() {
            let comment = comment(line);
            let doc = comment.and_then(|comment| comment.strip_prefix(['/', '!']));
            if let Some(doc) = doc.filter(|_| !was_doc)
                && let Some(found) = HEADLESS.find(doc.trim_start())
            {
                let message = format!(
                    "a doc comment begins with {:?}: begin with a verb (a function) or a noun (a type)",
                    found.as_str().trim_end()
                );
                violations.push(Violation::new("words", path, index + 1, message));
            }
            was_doc = doc.is_some();
            violations.extend(comment.into_iter().flat_map(|comment| banned(path, index + 1, comment)));
        }
    }
    violations
}

/// Returns the source files of crates whose purpose does not stand alone in their first `//!` line: a list of purposes
/// (ARCHITECTURE.md) consists of these lines. A file may have none.
pub(crate) fn unclear_purposes(tree: &Tree, houses: &[House]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.rust().filter(|(path, _)| houses.iter().any(|house| path.starts_with(house.src))) {
        let first = text.lines().enumerate().find(|(_, line)| line.starts_with("//! "));
        let problem = first.and_then(|(index, line)| Some((index + 1, problem_of_purpose(line)?)));
        violations.extend(problem.map(|(number, message)| Violation::new("purpose", path, number, message)));
    }
    violations
}

/// Returns a message if a line does not state the purpose of a file.
fn problem_of_purpose(line: &str) -> Option<String> {
    let width = line.chars().count();
    if width > WIDEST_PURPOSE {
        Some(format!("{width} columns: state the purpose of the file in {WIDEST_PURPOSE}, and details below"))
    } else if let Some(found) = NAMELESS.captures(line) {
        Some(format!("the purpose of the file begins with {:?}: begin with a noun or a verb", &found[1]))
    } else if !line.ends_with(['.', ':', '!', '?']) {
        Some("the purpose of the file does not end on its line: state it in one line, and details below".to_owned())
    } else {
        None
    }
}

/// Returns banned phrases in string literals of a crate: its help and its messages.
pub(crate) fn in_literals(krate: &Crate) -> Vec<Violation> {
    let mut violations = Vec::new();
    for module in &krate.modules {
        for literal in &module.facts.literals {
            violations.extend(banned(&krate.files[module.file], literal.line, &literal.text));
        }
    }
    violations
}

/// Returns banned phrases in Markdown files.
pub(crate) fn in_markdown(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.markdown() {
        for Line { number, text, .. } in lines(text).filter(|line| !line.is_code) {
            violations.extend(banned(path, number, text));
        }
    }
    violations
}

/// Returns Markdown lines that are too wide. Tables, code and lines with links may be wider.
pub(crate) fn too_wide(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.markdown() {
        for Line { number, text, is_code } in lines(text) {
            let width = text.chars().count();
            let may_be = is_code || text.trim_start().starts_with('|') || text.contains("](") || text.contains("://");
            if width > WIDEST_MARKDOWN && !may_be {
                let message = format!("{width} columns: wrap at {WIDEST_MARKDOWN}");
                violations.push(Violation::new("width", path, number, message));
            }
        }
    }
    violations
}

fn banned(path: &str, line: usize, text: &str) -> Vec<Violation> {
    let text = CODE.replace_all(text, "`…`");
    let message = |phrase| format!("{phrase:?} is banned: say it in plain technical English (CONTRIBUTING.md)");
    let found = BANNED.find_iter(&text).map(|found| message(found.as_str()));
    found.map(|message| Violation::new("words", path, line, message)).collect()
}

/// Returns the text after `//` on a line of comment.
fn comment(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("//")
}

struct Line<'a> {
    number: usize,
    text: &'a str,
    is_code: bool,
}

/// Returns the lines of a Markdown file. Blocks of code and comments of several lines, which hold scripts and files, are
/// code.
fn lines(markdown: &str) -> impl Iterator<Item = Line<'_>> {
    let (mut inside, mut is_comment) = (false, false);
    markdown.lines().enumerate().map(move |(index, text)| {
        let is_fence = !is_comment && text.trim_start().starts_with("```");
        inside ^= is_fence;
        let was_comment = is_comment;
        is_comment = !inside && (is_comment || text.starts_with("<!-- ")) && !text.ends_with("-->");
        Line { number: index + 1, text, is_code: inside || is_fence || was_comment || is_comment }
    })
}
