//! A page as steps: directives in comments, and fenced blocks with commands, output or files.

use std::{env, fmt::Write as _, fs, path::PathBuf};

use bisect_tests::harness::root;

use crate::{home::Home, shown};

/// A part of a page that does something.
#[derive(Debug)]
enum Step {
    /// A comment that begins with a known word: the word, the rest, and the lines below.
    Directive { word: String, rest: String, body: String },
    /// A fenced block.
    Fence { info: String, body: Vec<String> },
}

/// Directives that prepare what follows; all other comments are comments.
const DIRECTIVES: [&str; 8] = ["cd", "file", "fixture", "from", "needs", "not run:", "record", "status"];

/// A step and the lines of the page that it covers.
#[derive(Debug)]
struct Placed {
    step: Step,
    /// The number of the first line, from 0, and of the line after the last one.
    lines: (usize, usize),
}

/// Orders for the next block.
#[derive(Debug, Default)]
struct Next {
    file: Option<String>,
    from: Option<String>,
    statuses: Vec<i32>,
    is_exempt: bool,
}

/// Returns the folder of the pages.
pub(crate) fn folder() -> PathBuf {
    root().join("book/src")
}

/// A page in the middle of its execution.
#[derive(Debug)]
struct Execution {
    home: Home,
    next: Next,
    /// The blocks that show something else than their commands print: their lines, and their new bodies.
    changed: Vec<((usize, usize), String)>,
    /// All differences, for people.
    differences: String,
}

/// Runs all commands of a page, and compares what they print with what it shows.
///
/// # Panics
/// If they differ, a command ends with another status, or a block is neither executed nor explained.
pub(crate) fn execute(file: &str) {
    let path = folder().join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let home = Home::new(file.trim_end_matches(".md"));
    let mut execution = Execution { home, next: Next::default(), changed: Vec::new(), differences: String::new() };
    for Placed { step, lines } in steps(&text) {
        let place = format!("{file}:{}", lines.0 + 1);
        match step {
            Step::Directive { word, rest, .. } if word == "needs" => {
                if !execution.home.obtain(&rest) {
                    break;
                }
            }
            Step::Directive { word, rest, body } => execution.follow(&word, &rest, &body, &place),
            Step::Fence { info, body } => execution.check(&info, &body, lines, &place),
        }
    }
    let Execution { changed, differences, .. } = execution;
    if !is_update() {
        assert!(differences.is_empty(), "{differences}\nUPDATE_BOOK=1 records what the commands print");
    } else if !changed.is_empty() {
        fs::write(&path, replaced(&text, &changed)).expect("the page can be written");
    }
}

impl Execution {
    /// Follows a directive.
    fn follow(&mut self, word: &str, rest: &str, body: &str, place: &str) {
        match word {
            "cd" => self.home.enter(rest),
            "fixture" => self.home.copy_fixture(rest),
            "file" if body.is_empty() => self.next.file = Some(rest.to_owned()),
            "file" => self.home.write(rest, body),
            "from" => self.next.from = Some(rest.to_owned()),
            "status" => {
                let number = |word: &str| word.parse().unwrap_or_else(|_| panic!("{place}: {word:?} is no status"));
                self.next.statuses = rest.split(' ').map(number).collect();
            }
            "not run:" => self.next.is_exempt = true,
            "record" => self.differences += &shown::compare_record(&self.home, rest, is_update()),
            _ => self.home.prepare(body, place),
        }
    }

    /// Executes or checks a block.
    fn check(&mut self, info: &str, body: &[String], lines: (usize, usize), place: &str) {
        let Next { file, from, statuses, is_exempt } = std::mem::take(&mut self.next);
        let block = body.join("\n") + "\n";
        if let Some(file) = file {
            self.home.write(&file, &block);
        } else if let Some(from) = from {
            expect_in_file(&self.home, &from, &block, place);
        } else if info == "sh" {
            if !is_exempt {
                let _ = self.record(&shown::script(body), &statuses, place);
            }
        } else if info == "console" {
            let recorded = self.record(&shown::commands(body), &statuses, place);
            if shown::blanked(&block) != shown::blanked(&recorded) {
                let _ =
                    writeln!(self.differences, "{place}: the page shows\n{block}--- its commands print\n{recorded}");
                self.changed.push((lines, recorded));
            }
        } else {
            panic!("{place}: a block of `{info}` that nothing checks: see CONTRIBUTING.md for the directives");
        }
    }

    /// Runs commands, and returns the text of a block that shows them.
    fn record(&mut self, commands: &[String], statuses: &[i32], place: &str) -> String {
        let mut text = String::new();
        for (index, command) in commands.iter().enumerate() {
            let expected = statuses.get(index).copied().unwrap_or(0);
            let output = self.home.run(command, expected, place);
            let _ = write!(text, "$ {command}\n{}", shown::tidy(&output));
        }
        text
    }
}

fn is_update() -> bool {
    env::var_os("UPDATE_BOOK").is_some()
}

/// Checks that a block is a part of a file: of the home if it is there, else of the repository.
fn expect_in_file(home: &Home, path: &str, block: &str, place: &str) {
    let own = home.path(path);
    let file = if own.exists() { own } else { root().join(path) };
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{place}: {}: {error}", file.display()));
    // A part of a file may be indented there, or in the `//!` text.
    let content = |line: &str| line.trim().trim_start_matches("//!").trim().to_owned();
    let lines = |text: &str| text.lines().map(content).collect::<Vec<_>>();
    let (all, part) = (lines(&text), lines(block));
    assert!(all.windows(part.len()).any(|lines| lines == part), "{place}: {path} does not contain\n{block}");
}

/// Returns the page with other bodies of blocks.
fn replaced(text: &str, changed: &[((usize, usize), String)]) -> String {
    let lines: Vec<_> = text.lines().collect();
    let mut result = String::new();
    let mut at = 0;
    for ((first, end), body) in changed {
        for line in &lines[at..=*first] {
            let _ = writeln!(result, "{line}");
        }
        result += body;
        at = end - 1;
    }
    for line in &lines[at..] {
        let _ = writeln!(result, "{line}");
    }
    result
}

/// Returns the steps of a page in their order.
fn steps(text: &str) -> Vec<Placed> {
    let lines: Vec<_> = text.lines().collect();
    let mut steps = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let first = at;
        at += 1;
        if let Some(info) = lines[first].strip_prefix("```") {
            let length = lines[at..].iter().position(|line| *line == "```").expect("a block ends");
            let body = lines[at..at + length].iter().map(|&line| line.to_owned()).collect();
            at += length + 1;
            steps.push(Placed { step: Step::Fence { info: info.to_owned(), body }, lines: (first, at) });
        } else if let Some(comment) = lines[first].strip_prefix("<!-- ") {
            let mut body = String::new();
            let head = comment.strip_suffix(" -->").unwrap_or_else(|| {
                let length = lines[at..].iter().position(|line| *line == "-->").expect("a comment ends");
                body.extend(lines[at..at + length].iter().flat_map(|line| [line, "\n"]));
                at += length + 1;
                comment
            });
            let word = DIRECTIVES
                .iter()
                .chain(&["sh"])
                .find(|word| head.strip_prefix(**word).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')));
            let word = word.unwrap_or_else(|| panic!("unknown directive {head:?}"));
            let rest = head[word.len()..].trim().to_owned();
            let step = Step::Directive { word: (*word).to_owned(), rest, body };
            steps.push(Placed { step, lines: (first, at) });
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Title\n\n<!-- status 1 -->\n<!-- sh\nmkdir a\n-->\n```console\n$ false\nold\n```\nEnd.\n";

    #[test]
    fn a_page_is_read_as_steps() {
        let found = steps(PAGE);
        let [Placed { step: status, .. }, Placed { step: script, .. }, Placed { step: block, lines }] = &found[..]
        else {
            panic!("{found:?}");
        };
        assert!(matches!(status, Step::Directive { word, rest, .. } if word == "status" && rest == "1"), "{status:?}");
        assert!(
            matches!(script, Step::Directive { word, body, .. } if word == "sh" && body == "mkdir a\n"),
            "{script:?}"
        );
        assert!(matches!(block, Step::Fence { info, body } if info == "console" && body.len() == 2), "{block:?}");
        assert_eq!(*lines, (6, 10));
    }

    #[test]
    fn only_the_body_of_a_block_is_replaced() {
        let changed = [((6, 10), "$ false\nnew\n".to_owned())];
        assert_eq!(replaced(PAGE, &changed), PAGE.replace("old", "new"));
    }
}
