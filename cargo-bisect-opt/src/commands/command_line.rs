//! The command line: separates our options from cargo's, and from the arguments of the target.

use std::{env, ffi::OsString};

use clap::{ArgAction, Args, CommandFactory, FromArgMatches, ValueEnum as _, error::ErrorKind};

use super::{
    cli::{Cli, Command},
    defaults::{self, source::DefaultSources},
    missing_command, nextest_line,
    options::{AxisCommand, CargoWords, ExecCommand},
    pages::{self, Detail},
    unknown_option,
    watch::What,
};
use crate::{
    axes::{
        command_spec::{Asked, CommandSpec, OptionSpec},
        option_axis::OptionAxis,
        table,
    },
    cargo::{Subcommand as CargoSubcommand, known_options::KnownOptions},
};

/// Parses the words of a command line. The first word is the program's name. The second is `bisect-opt` if cargo starts
/// the program, and missing if the user starts it directly.
///
/// Options that the user did not give get their defaults from the environment and from manifests.
///
/// # Errors
/// If clap reports a usage error, or a request for help or for the version; or if a default is wrong.
pub(crate) fn parse(
    words: impl IntoIterator<Item = OsString>,
    default_sources: &DefaultSources,
) -> Result<Cli, clap::Error> {
    let mut words = words.into_iter();
    let program = words.next();
    let words: Vec<_> = program.into_iter().chain(from_subcommand(words)).collect();
    let command = pages::on_screen(command(), Detail::asked(&words));
    missing_command::check(&command, words.get(1))?;
    check_victim(&command, &words)?;
    let hands_on = |name: &OsString| {
        let subcommand = match name.to_str()? {
            "test" | "toggles" => CargoSubcommand::Test,
            "nextest" => CargoSubcommand::Nextest,
            "run" => CargoSubcommand::Run,
            "build" => CargoSubcommand::Build,
            "check" => CargoSubcommand::Check,
            _ => return None,
        };
        Some((command.find_subcommand(name)?, subcommand))
    };
    let builder = words.get(1).and_then(hands_on);
    let (ours, cargo) = match builder {
        Some((subcommand, cargos)) => {
            let (ours, mut cargo) = split(subcommand, &words[2..]);
            if cargos == CargoSubcommand::Nextest && !ours.iter().any(|word| word == "--help" || word == "-h") {
                nextest_line::remove_run(subcommand, &mut cargo.cargo)?;
            }
            check(subcommand, cargos, &cargo.cargo)?;
            (words[..2].iter().cloned().chain(ours).collect(), cargo)
        }
        None => (words, CargoWords::default()),
    };
    let (mut ours, watched) = if ours.get(1).is_some_and(|word| word == "watch") {
        let subcommand = command.find_subcommand("watch").expect("it is one of the commands");
        split_watched(subcommand, &ours)?
    } else {
        (ours, WatchedWords::default())
    };
    let for_cargo = match (builder, watched.subcommand) {
        (Some((_, subcommand)), _) => Some((subcommand, &*cargo.cargo)),
        (None, subcommand) => subcommand.map(|subcommand| (subcommand, &*watched.cargo.cargo)),
    };
    let defaults = defaults::apply(&command, &ours, for_cargo, default_sources)?;
    let at = ours.len().min(2);
    ours.splice(at..at, defaults.words());
    let mut cli = from_matches(&command.try_get_matches_from(ours)?, cargo, watched)?;
    if let Some(show) = cli.command.show() {
        show.defaults = defaults;
    }
    Ok(cli)
}

/// Returns the command with the options that clap has parsed, and the other words.
fn from_matches(matches: &clap::ArgMatches, cargo: CargoWords, watched: WatchedWords) -> Result<Cli, clap::Error> {
    if let Some((name, matches)) = matches.subcommand()
        && let Some(spec) = table::COMMANDS.iter().find(|spec| spec.name == name)
    {
        return Ok(Cli { command: Command::Axis(axis_from_matches(spec, matches)?) });
    }
    let mut cli = Cli::from_arg_matches(matches)?;
    let (passed_on, words) = match &mut cli.command {
        Command::Test(args) => (&mut args.cargo.passed_on, &mut args.cargo.words),
        Command::Nextest(args) | Command::Run(args) | Command::Build(args) | Command::Check(args) => {
            (&mut args.passed_on, &mut args.words)
        }
        Command::Toggles(args) => (&mut args.passed_on, &mut args.words),
        Command::Watch(args) => {
            (args.words, args.command) = (watched.cargo, watched.command);
            args.words.cargo.splice(..0, args.passed_on.arguments.drain(..));
            return Ok(cli);
        }
        Command::Exec(_)
        | Command::Axis(_)
        | Command::Replay(_)
        | Command::Report(_)
        | Command::Help(_)
        | Command::Completions(_)
        | Command::Man(_) => return Ok(cli),
    };
    *words = cargo;
    // They come first: for `run`, all words after the first positional one belong to the program.
    words.cargo.splice(..0, passed_on.arguments.drain(..));
    Ok(cli)
}

/// Returns the parser, with all commands.
pub(super) fn command() -> clap::Command {
    let commands = Cli::command().subcommands(table::COMMANDS.iter().map(axis_command));
    commands.mut_subcommands(|command| command.arg(defaults::no_defaults()))
}

/// Returns true if this subcommand has this option of the driver.
pub(super) fn has_option(subcommand: &str, long: &str) -> bool {
    let command = command();
    let is_it = |argument: &clap::Arg| argument.get_long() == Some(long);
    command.find_subcommand(subcommand).is_some_and(|subcommand| subcommand.get_arguments().any(is_it))
}

/// Returns the words of a command line from the subcommand on, given those after the program's name. Cargo passes on the
/// name of its own subcommand; a user who starts the driver directly leaves it out.
pub(super) fn from_subcommand(words: impl IntoIterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    let words = words.into_iter().enumerate();
    words.filter(|(index, word)| *index > 0 || word != "bisect-opt").map(|(_, word)| word)
}

/// Returns the words of this process's command line, from the subcommand on.
pub(super) fn own_words() -> Vec<OsString> {
    from_subcommand(env::args_os().skip(1)).collect()
}

/// Returns an error for `--victim` with another command than `test`. A command of cargo-nextest is such a command: it
/// runs each test in a process of its own.
fn check_victim(command: &clap::Command, words: &[OsString]) -> Result<(), clap::Error> {
    let is_victim = |word: &OsString| word.to_str().is_some_and(|word| word.split('=').next() == Some("--victim"));
    let mut ours = words.iter().skip(1).take_while(|word| *word != "--");
    let Some(name) =
        ours.next().filter(|name| *name == "run" || *name == "exec" || *name == "build" || *name == "check")
    else {
        return Ok(());
    };
    // The words of a command that `exec` starts are its own.
    if !ours.take_while(|word| *name != "exec" || word.to_string_lossy().starts_with('-')).any(is_victim) {
        return Ok(());
    }
    Err(command.clone().error(
        ErrorKind::UnknownArgument,
        "`--victim` is an option of `cargo bisect-opt test`, which runs the tests of an executable in one process. Under \
         cargo-nextest each test has its own process, so tests can disturb each other only outside of the process",
    ))
}

/// Returns an error for an option that neither `command` nor cargo has: a mistake of the user.
fn check(command: &clap::Command, subcommand: CargoSubcommand, words: &[OsString]) -> Result<(), clap::Error> {
    if subcommand == CargoSubcommand::Nextest {
        return nextest_line::check(command, words);
    }
    let known = KnownOptions::of(subcommand);
    let Some(option) = known.first_unknown(words) else { return Ok(()) };
    let advice = unknown_option::advice(command, subcommand, &option, known.options());
    Err(command.clone().error(
        ErrorKind::UnknownArgument,
        format!(
            "`cargo bisect-opt {}` and `cargo {}` have no option `{option}`{advice}",
            command.get_name(),
            subcommand.name(),
        ),
    ))
}

/// The options that do not affect the runs of a search, only their limit or what is shown.
const NOT_ESSENTIAL: [&str; 15] = [
    "--resume",
    "--no-defaults",
    "--seed",
    "--max-runs",
    "--budget",
    "--out",
    "--json",
    "--html",
    "--format",
    "--message-format",
    "--verbose",
    "--quiet",
    "--color",
    "-v",
    "-q",
];

/// Returns true if an option affects the runs of a search.
pub(super) fn is_essential(key: &str) -> bool {
    !NOT_ESSENTIAL.iter().any(|option| option.strip_prefix("--") == Some(key))
}

/// Divides the words after a subcommand: options, each with its value if that is another word, and the words from the
/// command or `--` on. Other words before these count as options. `None` if there is no such subcommand.
fn divide(words: &[OsString]) -> Option<(Vec<&[OsString]>, &[OsString])> {
    let (name, mut rest) = words.split_first()?;
    let command = command();
    let subcommand = command.find_subcommand(name)?;
    // From its first word on, the words of a command are its own.
    let is_command = subcommand.get_positionals().any(clap::Arg::is_trailing_var_arg_set);
    let mut options = Vec::new();
    while let Some(word) = rest.first() {
        let text = word.to_string_lossy();
        if text == "--" || is_command && !text.starts_with('-') {
            break;
        }
        let has_value = value_follows(subcommand, &text) == Some(Follows::Yes);
        let (option, others) = rest.split_at(rest.len().min(1 + usize::from(has_value)));
        options.push(option);
        rest = others;
    }
    Some((options, rest))
}

/// Returns the name of an option, with its dashes.
fn option_name(word: &OsString) -> String {
    word.to_string_lossy().split('=').next().unwrap_or_default().to_owned()
}

/// Returns the words of a command line that determine its search. The first word is the subcommand.
pub(super) fn essential(words: &[OsString]) -> Vec<OsString> {
    let subcommand = &words[..words.len().min(1)];
    let Some((options, rest)) = divide(words) else { return subcommand.to_vec() };
    let options = options.into_iter().filter(|option| !NOT_ESSENTIAL.contains(&option_name(&option[0]).as_str()));
    [subcommand].into_iter().chain(options).chain([rest]).flatten().cloned().collect()
}

/// Returns the axis that an option chooses, if one does.
pub(super) fn option_axis(words: &[OsString]) -> Option<&'static OptionAxis> {
    let (options, _) = divide(words)?;
    options.into_iter().find_map(|option| {
        let name = option_name(&option[0]);
        table::OPTIONS.iter().find(|option| name.strip_prefix("--") == Some(option.name))
    })
}

/// Splits `words` into the options of `command`, cargo's words, and the words after `--`.
fn split(command: &clap::Command, words: &[OsString]) -> (Vec<OsString>, CargoWords) {
    let (mut ours, mut cargo) = (Vec::new(), CargoWords::default());
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        if word == "--" {
            cargo.target = words.cloned().collect();
            break;
        }
        match value_follows(command, &word.to_string_lossy()) {
            None => cargo.cargo.push(word.clone()),
            Some(Follows::No) => ours.push(word.clone()),
            Some(Follows::Yes) => {
                ours.push(word.clone());
                ours.extend(words.next().cloned());
            }
            Some(Follows::Maybe) => {
                ours.push(word.clone());
                ours.extend(words.next_if(|next| !next.to_string_lossy().starts_with('-')).cloned());
            }
        }
    }
    (ours, cargo)
}

/// The words after the target of `watch`.
#[derive(Debug, Default)]
struct WatchedWords {
    /// The subcommand of cargo that builds the target.
    subcommand: Option<CargoSubcommand>,
    cargo: CargoWords,
    command: Vec<OsString>,
}

/// Splits the words of `watch`. Options may stand before the name, between it and the target, and, for a target that
/// cargo builds, after it.
fn split_watched(command: &clap::Command, words: &[OsString]) -> Result<(Vec<OsString>, WatchedWords), clap::Error> {
    let mut ours = words[..2].to_vec();
    let (mut rest, mut positional) = (words[2..].iter(), 0);
    let mut what = What::Run;
    while positional < 2
        && let Some(word) = rest.next()
    {
        ours.push(word.clone());
        match value_follows(command, &word.to_string_lossy()) {
            Some(Follows::Yes) => ours.extend(rest.next().cloned()),
            Some(Follows::No | Follows::Maybe) => {}
            None if word.to_string_lossy().starts_with('-') => return Ok((ours, WatchedWords::default())),
            None => {
                positional += 1;
                if positional == 2 {
                    what = What::from_str(&word.to_string_lossy(), false).unwrap_or(What::Run);
                }
            }
        }
    }
    let rest = rest.as_slice();
    let Some(subcommand) = what.subcommand() else {
        return Ok((ours, WatchedWords { command: rest.to_vec(), ..WatchedWords::default() }));
    };
    let (more, cargo) = split(command, rest);
    check(command, subcommand, &cargo.cargo)?;
    ours.extend(more);
    Ok((ours, WatchedWords { subcommand: Some(subcommand), cargo, ..WatchedWords::default() }))
}

/// The possible kinds of a word after an option: its value, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Follows {
    No,
    Yes,
    /// The word is the value, unless it is an option.
    Maybe,
}

/// Returns the kind of the word after `word`; `None` if `word` is not an option of `command`.
fn value_follows(command: &clap::Command, word: &str) -> Option<Follows> {
    let follows = |arg: &clap::Arg| match arg.get_num_args() {
        _ if !arg.get_action().takes_values() || arg.is_require_equals_set() => Follows::No,
        Some(range) if range.min_values() == 0 => Follows::Maybe,
        _ => Follows::Yes,
    };
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        if name == "help" {
            return Some(Follows::No);
        }
        let is_called = |arg: &&clap::Arg| {
            let aliases = arg.get_all_aliases().unwrap_or_default();
            arg.get_long() == Some(name) || aliases.contains(&name)
        };
        let arg = command.get_arguments().find(is_called)?;
        return Some(if value.is_some() { Follows::No } else { follows(arg) });
    }
    let mut letters = word.strip_prefix('-')?.chars();
    let letter = letters.next()?;
    if letter == 'h' {
        return Some(Follows::No);
    }
    let arg = command.get_arguments().find(|arg| arg.get_short() == Some(letter))?;
    Some(if letters.next().is_some() { Follows::No } else { follows(arg) })
}

/// Returns the command for clap: the options of `exec`, and those of the axis.
fn axis_command(spec: &'static CommandSpec) -> clap::Command {
    let option = |option: &'static OptionSpec| {
        let arg = clap::Arg::new(option.name).long(option.name).help(option.help).required(option.is_required);
        let arg = arg.long_help(format!("{}\n\n{}", option.help, option.details).trim_end().to_owned());
        match option.value {
            Some(value) => arg.value_name(value).value_parser(clap::value_parser!(OsString)),
            None => arg.action(ArgAction::SetTrue),
        }
    };
    let command = clap::Command::new(spec.name).args(spec.options.iter().map(option));
    let in_full = format!("{}\n\n{}", spec.about, spec.details);
    ExecCommand::augment_args(command).about(spec.about).long_about(in_full).override_usage(spec.usage)
}

fn axis_from_matches(spec: &'static CommandSpec, matches: &clap::ArgMatches) -> Result<AxisCommand, clap::Error> {
    let mut asked = Asked::default();
    for option in spec.options {
        match option.value {
            Some(_) => {
                if let Some(value) = matches.get_one::<OsString>(option.name) {
                    asked.add(option, Some(value.clone()));
                }
            }
            None if matches.get_flag(option.name) => asked.add(option, None),
            None => {}
        }
    }
    Ok(AxisCommand { spec, asked, exec: ExecCommand::from_arg_matches(matches)? })
}

#[cfg(test)]
#[path = "command_line_tests.rs"]
mod tests;
