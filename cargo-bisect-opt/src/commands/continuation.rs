//! The command line that continues a search which was stopped.

use std::{env, ffi::OsString};

use super::command_line;
use crate::process::shell::quote;

/// The option that continues an earlier search.
const RESUME: &str = "resume";

/// Returns the command line that continues this search; `None` if the subcommand has no `--resume`.
pub(super) fn line(command: &clap::Command) -> Option<String> {
    of(command, env::args_os().skip(1))
}

/// Returns the line for the words after the program's name.
fn of(command: &clap::Command, words: impl IntoIterator<Item = OsString>) -> Option<String> {
    let mut words = command_line::from_subcommand(words);
    let name = words.next()?;
    let is_resume = |argument: &clap::Arg| argument.get_long() == Some(RESUME);
    command.find_subcommand(&name)?.get_arguments().any(is_resume).then_some(())?;
    let option = format!("--{RESUME}");
    // Later words may belong to cargo or to the target.
    let rest: Vec<_> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let is_given = rest.iter().take_while(|word| *word != "--").any(|word| *word == option);
    let mut line = format!("cargo bisect-opt {}", name.to_string_lossy());
    if !is_given {
        line += " ";
        line += &option;
    }
    for word in &rest {
        line += " ";
        line += &quote(word);
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use clap::{Arg, ArgAction, Command};

    use super::*;

    fn line_of(words: &[&str]) -> Option<String> {
        let resume = Arg::new(RESUME).long(RESUME).action(ArgAction::SetTrue);
        let command = Command::new("x").subcommand(Command::new("test").arg(resume)).subcommand(Command::new("old"));
        of(&command, words.iter().map(OsString::from))
    }

    #[test]
    fn the_option_comes_before_the_words_of_the_target() {
        let line = line_of(&["bisect-opt", "test", "-p", "a b", "--", "--exact"]);
        assert_eq!(line.as_deref(), Some("cargo bisect-opt test --resume -p 'a b' -- --exact"));
        let again = line_of(&["test", "--resume", "-q", "--", "--resume"]);
        assert_eq!(again.as_deref(), Some("cargo bisect-opt test --resume -q -- --resume"));
    }

    #[test]
    fn a_word_of_the_target_may_be_the_name_of_the_driver() {
        let line = line_of(&["bisect-opt", "test", "bisect-opt"]);
        assert_eq!(line.as_deref(), Some("cargo bisect-opt test --resume bisect-opt"));
    }

    #[test]
    fn a_command_without_the_option_has_no_line() {
        assert_eq!(line_of(&["bisect-opt", "old"]), None);
        assert_eq!(line_of(&["new"]), None);
        assert_eq!(line_of(&[]), None);
    }
}
