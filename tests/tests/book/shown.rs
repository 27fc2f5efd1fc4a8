//! Output as a page shows it: tidied when it is recorded, and blanked where machines differ.

use std::{
    fs,
    io::Write as _,
    process::{Command, Stdio},
};

use bisect_tests::harness::root;
use regex::Regex;

use crate::{home::Home, page};

/// The number of the last trial that a page shows.
const LAST_TRIAL: usize = 20;

/// Returns the commands that a block of a console shows: the lines after `$ `, with those that continue them.
pub(crate) fn commands(body: &[String]) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut continues = false;
    for line in body {
        if continues {
            let command = commands.last_mut().expect("a command is continued");
            command.push('\n');
            command.push_str(line);
        } else if let Some(command) = line.strip_prefix("$ ") {
            commands.push(command.to_owned());
        } else {
            continue;
        }
        continues = line.ends_with('\\');
    }
    assert!(!commands.is_empty(), "a block without a command: {body:?}");
    commands
}

/// Returns the commands of a script, one a line.
pub(crate) fn script(body: &[String]) -> Vec<String> {
    body.iter().filter(|line| !line.is_empty() && !line.starts_with('#')).cloned().collect()
}

/// Returns output without cargo's lines about building, and of a long search only the first trials.
pub(crate) fn tidy(output: &str) -> String {
    let words = "Compiling|Checking|Finished|Running|Blocking|Downloading|Downloaded|Updating|Locking|Doc-tests";
    let building = Regex::new(&format!("^ +({words}) ")).expect("it is a regular expression");
    let trial = Regex::new("^ *([0-9]+)  .* (?:pass|FAIL|unresolved)(?: |$)").expect("it is a regular expression");
    let mut text = String::new();
    let mut was_cut = false;
    for line in output.trim_matches('\n').lines().filter(|line| !building.is_match(line)) {
        let number = trial.captures(line).and_then(|found| found[1].parse::<usize>().ok());
        let is_cut = number.is_some_and(|number| number > LAST_TRIAL);
        if !is_cut {
            text += line.trim_end();
            text.push('\n');
        } else if !was_cut {
            text += " ...\n";
        }
        was_cut = is_cut;
    }
    text
}

/// Returns a text in which all that differs from machine to machine is blanked, by the rules of `.ci/record`.
pub(crate) fn blanked(text: &str) -> String {
    let mut sed = Command::new("sed");
    sed.arg("-E").arg("-f").arg(root().join(".ci/blanked.sed"));
    let mut child = sed.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sed can be started");
    let mut input = child.stdin.take().expect("piped");
    let text = text.to_owned();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("sed ends");
    writer.join().expect("no panic").expect("sed reads all");
    assert!(output.status.success(), "sed: {}", output.status);
    String::from_utf8(output.stdout).expect("it was UTF-8")
}

/// Compares a file that a command wrote with the book's copy: `FILE as NAME`, in `book/src/recorded/`.
/// Returns a message if they differ, or writes the second one if asked.
pub(crate) fn compare_record(home: &Home, words: &str, is_update: bool) -> String {
    let (file, name) = words.split_once(" as ").expect("FILE as NAME");
    let read = |path| fs::read_to_string(&path).unwrap_or_default();
    let written = home.shortened(&read(home.path(file)));
    assert!(!written.is_empty(), "{file} is empty");
    let path = page::folder().join("recorded").join(name);
    let recorded = read(path.clone());
    if blanked(&written) == blanked(&recorded) {
        return String::new();
    }
    if is_update {
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("the folder can be made");
        fs::write(&path, written).expect("the record can be written");
        return String::new();
    }
    format!("{name} is\n{recorded}--- but {file} is\n{written}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_may_be_continued() {
        let body = ["$ one \\", "  two", "output", "$ three"].map(str::to_owned);
        assert_eq!(commands(&body), ["one \\\n  two", "three"]);
    }

    #[test]
    fn long_searches_are_cut_and_building_is_left_out() {
        let output = "\n   Compiling shop v0.1.0\n  20  with 2 of 9 lines   pass  3ms\n  21  with 3 of 9 lines   FAIL  3ms\n  \
                      22  with 4 of 9 lines   pass  3ms\n  22  cannons\n";
        assert_eq!(tidy(output), "  20  with 2 of 9 lines   pass  3ms\n ...\n  22  cannons\n");
    }

    #[test]
    fn what_differs_by_machine_is_blanked_and_nothing_else() {
        assert_eq!(blanked("pass  3ms, 12 runs\n"), blanked("pass  1.5s, 7 runs\n"));
        assert_eq!(blanked("N trials, 2m50s\n"), blanked("N trials, 4.8s\n"));
        assert_eq!(blanked("x103966a43f25d127\n"), blanked("x203966a43f25d128\n"));
        assert_ne!(blanked("culprit 1: leaf 17\n"), blanked("culprit 1: leaf 18\n"));
    }
}
