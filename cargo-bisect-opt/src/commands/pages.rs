//! Pages about the commands: which options each has, in groups by question, and how much it says of them.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command};

use super::defaults;
use crate::{axes::table, record::exit_status};

/// The place of all options that the table of axes has.
const AXES: &str = "";

/// The questions that options answer, each with its options in their order.
const QUESTIONS: [OptionGroup; 6] = [
    OptionGroup {
        heading: "What is searched",
        options: &[
            ("toggle", Detail::Brief),
            ("items", Detail::Brief),
            ("as-args", Detail::Brief),
            ("max-count", Detail::Brief),
            ("label", Detail::Brief),
            ("codegen", Detail::Brief),
            ("good", Detail::Full),
            ("bad", Detail::Full),
            ("level", Detail::Full),
            ("edition", Detail::Brief),
            ("bisect-rustc", Detail::Full),
            (AXES, Detail::Brief),
            ("victim", Detail::Brief),
            ("rustflags", Detail::Full),
            ("since", Detail::Brief),
            ("when", Detail::Screen),
            ("verdict", Detail::Screen),
            ("set", Detail::Brief),
            ("off", Detail::Brief),
        ],
    },
    OptionGroup {
        heading: "How the target runs",
        options: &[
            ("j", Detail::Brief),
            ("timeout", Detail::Brief),
            ("per-test", Detail::Screen),
            ("all-tests", Detail::Full),
            ("launcher", Detail::Screen),
            ("rerun", Detail::Brief),
            ("debugger", Detail::Brief),
            ("cargo-arg", Detail::Full),
            ("no-defaults", Detail::Full),
        ],
    },
    OptionGroup {
        heading: "Which failures count",
        options: &[
            ("fail-when", Detail::Brief),
            ("same-failure", Detail::Screen),
            ("repaired", Detail::Screen),
            ("skip-code", Detail::Screen),
        ],
    },
    OptionGroup {
        heading: "If the target is flaky",
        options: &[
            ("confidence", Detail::Brief),
            ("count", Detail::Screen),
            ("repeat", Detail::Screen),
            ("any-pass", Detail::Screen),
            ("seed", Detail::Screen),
        ],
    },
    OptionGroup {
        heading: "When the search ends",
        options: &[
            ("max", Detail::Brief),
            ("max-set", Detail::Screen),
            ("max-runs", Detail::Screen),
            ("budget", Detail::Screen),
            ("resume", Detail::Brief),
            ("out", Detail::Brief),
        ],
    },
    OptionGroup {
        heading: "What is shown",
        options: &[
            ("format", Detail::Brief),
            ("html", Detail::Screen),
            ("json", Detail::Screen),
            ("message-format", Detail::Full),
            ("verbose", Detail::Brief),
            ("quiet", Detail::Brief),
            ("color", Detail::Screen),
            ("help", Detail::Brief),
        ],
    },
];

/// Options that a command refuses: `build` and `check` start nothing.
const REFUSED: [(&str, &str); 2] = [("build", "launcher"), ("check", "launcher")];

/// The page of the guide about each command, below `book/src/`.
const GUIDE: [(&str, &str); 16] = [
    ("cargo-bisect-opt", "index.md"),
    ("test", "which-test.md"),
    ("nextest", "configuration.md"),
    ("run", "tutorial.md"),
    ("build", "which-crate.md"),
    ("check", "which-update.md"),
    ("exec", "compiler.md"),
    ("watch", "which-moment.md"),
    ("list", "which-line.md"),
    ("count", "which-line.md"),
    ("toggles", "annotate.md"),
    ("replay", "answer.md"),
    ("report", "reports.md"),
    ("help", "commands.md"),
    ("completions", "commands.md"),
    ("man", "commands.md"),
];

/// A question, with the options that answer it.
struct OptionGroup {
    heading: &'static str,
    /// The name of each option, and the least detailed page that has it.
    options: &'static [(&'static str, Detail)],
}

/// The detail of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Detail {
    /// The most used options, on one line each: `-h`.
    Brief,
    /// Most options, on one line each: `--help`.
    Screen,
    /// All options in full: `help COMMAND`, and the man page.
    Full,
}

impl Detail {
    /// Returns the detail of the page that these words request, if they request one.
    pub(super) fn asked(words: &[OsString]) -> Self {
        let mut ours = words.iter().take_while(|word| *word != "--");
        if ours.any(|word| word == "-h") { Self::Brief } else { Self::Screen }
    }
}

/// Returns the parser with pages of this detail. It accepts the same command lines.
pub(super) fn on_screen(command: Command, detail: Detail) -> Command {
    let is_root = command.has_subcommands();
    let name = command.get_name().to_owned();
    let help = Arg::new("help")
        .long("help")
        .short('h')
        .action(ArgAction::HelpShort)
        .help("Print this page; with -h, a shorter one");
    let command = command.disable_help_flag(true).arg(help);
    let is_refused = |arg: &Arg| REFUSED.iter().any(|&(of, option)| of == name && arg.get_long() == Some(option));
    let command = command.mut_args(|arg| if is_refused(&arg) { arg.hide(true) } else { shown(arg, detail, is_root) });
    let end = end(&name, detail);
    let position = GUIDE.iter().position(|(command, _)| *command == name);
    let command = command.display_order(position.unwrap_or(GUIDE.len()));
    let command = if detail < Detail::Full { command.long_about(None) } else { command };
    if is_root {
        let defaults = if detail > Detail::Brief { format!("{}\n\n", defaults::HELP) } else { String::new() };
        let end = format!("{}\n\n{defaults}{end}", exit_status::help().trim_end());
        return command.after_help(end).mut_subcommands(|command| on_screen(command, detail));
    }
    command.after_help(end)
}

/// Returns an option as a page of this detail shows it.
fn shown(arg: Arg, detail: Detail, is_root: bool) -> Arg {
    let arg = if detail < Detail::Full { arg.long_help(None) } else { arg };
    let hides_values = detail < Detail::Full && arg.get_action().takes_values();
    let arg = if hides_values { arg.hide_possible_values(true) } else { arg };
    if arg.is_positional() || is_root {
        return arg;
    }
    match place(&arg) {
        Some((heading, at, least)) => arg.help_heading(heading).display_order(at).hide(least > detail),
        None => arg,
    }
}

/// Returns the heading of an option, its position, and the least detailed page that has it.
fn place(arg: &Arg) -> Option<(&'static str, usize, Detail)> {
    let short = arg.get_short().map(String::from);
    let name = arg.get_long().or(short.as_deref())?;
    let mut found = options().enumerate().filter(|(_, (_, option, _))| *option == name);
    found.next().map(|(at, (heading, _, detail))| (heading, at, detail))
}

/// Returns the heading, the name and the least detailed page of each option, in their order.
fn options() -> impl Iterator<Item = (&'static str, &'static str, Detail)> {
    let all = QUESTIONS.iter().flat_map(|question| question.options.iter().map(|option| (question.heading, option)));
    all.flat_map(|(heading, &(name, detail))| {
        let names = if name == AXES { table::option_names().collect() } else { vec![name] };
        names.into_iter().map(move |name| (heading, name, detail))
    })
}

/// Returns the last lines of a page: where there is more.
fn end(name: &str, detail: Detail) -> String {
    let guide = guide(name);
    match (name, detail) {
        ("cargo-bisect-opt", _) => format!("Options: `cargo bisect-opt COMMAND --help`\n{guide}"),
        (_, Detail::Full) => guide,
        (_, Detail::Brief) => {
            format!("More options: `cargo bisect-opt {name} --help`; in full: `cargo bisect-opt help {name}`\n{guide}")
        }
        (_, Detail::Screen) => {
            format!("In full: `cargo bisect-opt help {name}`, or `man cargo-bisect-opt-{name}`\n{guide}")
        }
    }
}

/// Returns the page of the guide about a command.
pub(super) fn guide(name: &str) -> String {
    let page = GUIDE.iter().find(|(command, _)| *command == name).map_or("commands.md", |(_, page)| *page);
    format!("Guide: book/src/{page}")
}

#[cfg(test)]
#[path = "pages_tests.rs"]
mod tests;
