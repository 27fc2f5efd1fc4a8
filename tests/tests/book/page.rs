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

/// Runs all commands of a page, and compares what they print with what it shows.
///
/// # Panics
/// If they differ, a command ends with another status, or a block is neither executed nor explained.
pub(crate) fn execute(file: &str) {
    let path = folder().join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut home = Home::new(file.trim_end_matches(".md"));
    let mut next = Next::default();
    let mut changed = Vec::new();
    let mut differences = String::new();
    for Placed { step, lines } in steps(&text) {
        let place = format!("{file}:{}", lines.0 + 1);
        match step {
            Step::Directive { word, rest, body } => match word.as_str() {
                "cd" => home.enter(&rest),
                "fixture" => home.copy_fixture(&rest),
                "file" if body.is_empty() => next.file = Some(rest),
                "file" => home.write(&rest, &body),
                "from" => next.from = Some(rest),
                "status" => next.statuses = rest.split(' ').map(|word| word.parse().expect("a number")).collect(),
                "not run:" => next.is_exempt = true,
                "needs" if home.obtain(&rest) => {}
                "needs" => break,
                "record" => differences += &shown::compare_record(&home, &rest, is_update()),
                _ => home.prepare(&body, &place),
            },
            Step::Fence { info, body } => {
                let Next { file, from, statuses, is_exempt } = std::mem::take(&mut next);
                let block = body.join("\n") + "\n";
                if let Some(file) = file {
                    home.write(&file, &block);
                } else if let Some(from) = from {
                    expect_in_file(&home, &from, &block, &place);
                } else if ["console", "sh"].contains(&info.as_str()) {
                    if is_exempt {
                        continue;
                    }
                    let shows_output = info == "console";
                    let commands = if shows_output { shown::commands(&body) } else { shown::script(&body) };
                    let recorded = record(&mut home, &commands, &statuses, shows_output, &place);
                    if !shows_output {
                        continue;
                    }
                    if shown::blanked(&block) != shown::blanked(&recorded) {
                        let _ =
                            writeln!(differences, "{place}: the page shows\n{block}--- its commands print\n{recorded}");
                        changed.push((lines, recorded));
                    }
                } else {
                    panic!("{place}: a block of `{info}` that nothing checks: see CONTRIBUTING.md for the directives");
                }
            }
        }
    }
    if is_update() {
        if !changed.is_empty() {
            fs::write(&path, replaced(&text, &changed)).expect("the page can be written");
        }
    } else {
        assert!(differences.is_empty(), "{differences}\nUPDATE_BOOK=1 records what the commands print");
    }
}

fn is_update() -> bool {
    env::var_os("UPDATE_BOOK").is_some()
}

/// Runs commands, and returns the text of a block that shows them.
fn record(home: &mut Home, commands: &[String], statuses: &[i32], is_shown: bool, place: &str) -> String {
    let mut text = String::new();
    for (index, command) in commands.iter().enumerate() {
        let expected = statuses.get(index).copied().unwrap_or(0);
        let output = home.run(command, expected, place);
        if is_shown {
            let _ = write!(text, "$ {command}\n{}", shown::tidy(&output));
        }
    }
    text
}

/// Checks that a block is a part of a file: of the home if it is there, else of the repository.
fn expect_in_file(home: &Home, path: &str, block: &str, place: &str) {
    let own = home.path(path);
    let file = if own.exists() { own } else { root().join(path) };
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{place}: {}: {error}", file.display()));
    // A part of a file may be indented there.
    let lines = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
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
