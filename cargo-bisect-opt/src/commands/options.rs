//! The command line: our options, told apart from cargo's and from the target's own words.

use std::{ffi::OsString, num::NonZeroUsize, path::PathBuf, time::Duration};

use clap::{
    ArgAction, ArgGroup, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, error::ErrorKind,
};
use regex::bytes::Regex;

use super::edition;
use crate::{
    axes::{
        command_spec::{Asked, CommandSpec, OptionSpec},
        table,
    },
    cargo::{Edition, Subcommand as CargoSubcommand, known_options::KnownOptions},
    output::exit_status,
    process::launcher::Launcher,
    run::{repetition::Repetition, seed::Seed},
    targets::project::PerTest,
    units::nearest,
};

/// Names what makes a test or a program fail: a call stack, a line, a build-time choice
#[derive(Debug, Parser)]
#[command(name = "cargo-bisect-opt", bin_name = "cargo bisect-opt", version, max_term_width = 100)]
#[command(after_help = exit_status::help())]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Search for what makes tests fail: `cargo test` is built once, then its executables run again and again
    #[command(override_usage = "cargo bisect-opt test [OPTIONS] [cargo test's own arguments] [-- test arguments]")]
    Test(TestCommand),
    /// Search for what makes a program fail: `cargo run` is built once, then its executable runs again and again
    #[command(override_usage = "cargo bisect-opt run [OPTIONS] [cargo run's own arguments] [-- program arguments]")]
    Run(CargoCommand),
    /// Search for what makes a build fail: an error, a crash of the compiler or, with --timeout, one that never ends
    #[command(override_usage = "cargo bisect-opt build [OPTIONS] [cargo build's own arguments]")]
    Build(CargoCommand),
    /// The same for `cargo check`, which is faster and sees fewer failures
    #[command(override_usage = "cargo bisect-opt check [OPTIONS] [cargo check's own arguments]")]
    Check(CargoCommand),
    /// Search with any command that speaks the protocol: PATTERN and RANDOM are replaced in values and arguments
    #[command(override_usage = "cargo bisect-opt exec [OPTIONS] [VAR=value]... COMMAND [ARGS]...")]
    Exec(ExecCommand),
    /// A command of an axis; see [`table`].
    #[command(skip)]
    Axis(AxisCommand),
    /// List what can be switched in this workspace
    #[command(override_usage = "cargo bisect-opt toggles [OPTIONS] [cargo test's own arguments]")]
    Toggles(TogglesCommand),
}

/// `test`.
#[derive(Debug, Args)]
pub(crate) struct TestCommand {
    /// Run all tests in every run, in one go, not only those whose outcome depends on the changes
    #[arg(long)]
    pub(crate) all_tests: bool,
    /// Search for what makes each failing test fail, in one search [default: auto, that is if there are several]
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        default_missing_value = "always",
        hide_default_value = true,
        num_args = 0..=1,
        require_equals = true,
        conflicts_with = "all_tests"
    )]
    pub(crate) per_test: PerTestArg,
    #[command(flatten)]
    pub(crate) cargo: CargoCommand,
}

/// Whether the search goes on for each failing test on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PerTestArg {
    /// If there are several.
    Auto,
    /// Also if there is one.
    Always,
    /// Their failures are one failure.
    Never,
}

impl From<PerTestArg> for PerTest {
    fn from(argument: PerTestArg) -> Self {
        match argument {
            PerTestArg::Auto => PerTest::Auto,
            PerTestArg::Always => PerTest::Always,
            PerTestArg::Never => PerTest::Never,
        }
    }
}

/// What the commands have in common that have cargo build.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("compiled").args(["codegen", "edition"]))]
pub(crate) struct CargoCommand {
    /// Search this toggle only; may be given several times [default: all toggles decided at run time; for
    /// `build` and `check`, all that are decided while compiling]
    #[arg(long = "toggle", value_name = "NAME", action = ArgAction::Append)]
    pub(crate) toggles: Vec<String>,
    /// Hand the pattern to the compiler: build with these flags, PATTERN replaced, for each trial
    #[arg(long, value_name = "TEXT-WITH-PATTERN", allow_hyphen_values = true)]
    pub(crate) rustflags: Option<String>,
    #[command(flatten)]
    pub(crate) codegen: CodegenArgs,
    #[command(flatten)]
    pub(crate) edition: EditionArgs,
    /// The bisect-rustc that compiles what --codegen and --edition search [default: that of `BISECT_RUSTC`, or the one beside
    /// this executable]
    // Earlier versions called it `--driver`.
    #[arg(long, alias = "driver", value_name = "PATH", requires = "compiled")]
    pub(crate) bisect_rustc: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
    #[command(flatten)]
    pub(crate) passed_on: PassedOn,
    /// Everything that is cargo's.
    #[arg(skip)]
    pub(crate) words: CargoWords,
}

/// What is handed to cargo unseen.
#[derive(Debug, Args)]
pub(crate) struct PassedOn {
    /// Hand this argument to cargo as it is, also if cargo does not list such an option (`--cargo-arg=--new=VALUE`)
    #[arg(long = "cargo-arg", value_name = "ARG", action = ArgAction::Append, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}

/// How things are compiled, as what is searched.
#[derive(Debug, Args)]
pub(crate) struct CodegenArgs {
    /// Search for what must be optimized for the target to fail: crates, then functions, then passes of the compiler
    #[arg(long, conflicts_with_all = ["toggles", "rustflags", "edition"])]
    pub(crate) codegen: bool,
    /// Options for crates assumed to be good: `KEY=VALUE` of the profile, or flags of rustc [default: opt-level=0]
    #[arg(long, value_name = "OPTIONS", requires = "codegen", action = ArgAction::Append, allow_hyphen_values = true)]
    pub(crate) good: Vec<String>,
    /// Options for crates that may break the target [default: the release profile, or the --profile given, as it is]
    #[arg(long, value_name = "OPTIONS", requires = "codegen", action = ArgAction::Append, allow_hyphen_values = true)]
    pub(crate) bad: Vec<String>,
    /// How far to go (`check` makes no code, and goes no further than crates)
    #[arg(long, value_name = "LEVEL", requires = "codegen", default_value = "passes")]
    pub(crate) level: Depth,
}

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Depth {
    /// Which crates.
    Crates,
    /// Which functions of them, if there is a `bisect-rustc`.
    Functions,
    /// Which pass of the compiler.
    Passes,
}

/// What expressions mean, as what is searched.
#[derive(Debug, Args)]
pub(crate) struct EditionArgs {
    /// Find the expressions that break the target when only they use the semantics of EDITION, 2024 or 2021 (in the packages
    /// that -p names, or else in all of the workspace)
    #[arg(long, value_name = "EDITION", value_parser = edition::parse, conflicts_with_all = ["toggles", "rustflags"])]
    pub(crate) edition: Option<Edition>,
}

/// The words of a command line that are not ours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CargoWords {
    /// For cargo.
    pub(crate) cargo: Vec<OsString>,
    /// Behind `--`: for the tests or the program.
    pub(crate) target: Vec<OsString>,
}

/// `exec`.
#[derive(Debug, Args)]
pub(crate) struct ExecCommand {
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
    /// Variables to set, the command, and its arguments
    #[arg(value_name = "WORDS", required = true, trailing_var_arg = true)]
    pub(crate) words: Vec<OsString>,
}

/// A command of an axis, with the options that were given.
#[derive(Debug)]
pub(crate) struct AxisCommand {
    pub(crate) spec: &'static CommandSpec,
    pub(crate) asked: Asked,
    pub(crate) exec: ExecCommand,
}

impl AxisCommand {
    /// Returns the command for clap: that of `exec`, with the options of the axis.
    fn command(spec: &'static CommandSpec) -> clap::Command {
        let option = |option: &'static OptionSpec| {
            let arg = clap::Arg::new(option.name).long(option.name).help(option.help).required(option.is_required);
            match option.value {
                Some(value) => arg.value_name(value).value_parser(clap::value_parser!(OsString)),
                None => arg.action(ArgAction::SetTrue),
            }
        };
        let command = clap::Command::new(spec.name).args(spec.options.iter().map(option));
        ExecCommand::augment_args(command).about(spec.about).long_about(None).override_usage(spec.usage)
    }

    fn from_matches(spec: &'static CommandSpec, matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
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
        Ok(Self { spec, asked, exec: ExecCommand::from_arg_matches(matches)? })
    }
}

/// `toggles`.
#[derive(Debug, Args)]
pub(crate) struct TogglesCommand {
    /// Print a line of JSON for each toggle
    #[arg(long)]
    pub(crate) json: bool,
    /// Do not show what cargo prints
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// When to use colour
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    #[command(flatten)]
    pub(crate) passed_on: PassedOn,
    /// Everything that is cargo's.
    #[arg(skip)]
    pub(crate) words: CargoWords,
}

/// How to search.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Number of parallel runs (0 = number of CPUs). The slot of each, from 0, is in `BISECT_SLOT` and replaces {slot} in the
    /// values of environment variables
    #[arg(short, value_name = "N", default_value = "1", value_parser = jobs)]
    pub(crate) jobs: NonZeroUsize,
    /// Start each run by this command (`srun -n1`, `ssh host`, `sem --fg`)
    #[arg(long, value_name = "CMD", value_parser = Launcher::parse)]
    pub(crate) launcher: Option<Launcher>,
    /// Try changes on lines that were changed since this revision first [REV: where this branch left the default branch]
    #[arg(long, value_name = "REV", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "not asked for, asked for without a revision, or with one")]
    pub(crate) since: Option<Option<String>>,
    /// Run the target this many times for each trial. Runs that differ show that it is flaky, and each is a trial then
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) count: NonZeroUsize,
    /// Execute the target up to this many times in each run, until it fails: the run passes if it always passes
    #[arg(long, value_name = "K", conflicts_with = "any_pass")]
    pub(crate) repeat: Option<NonZeroUsize>,
    /// Execute the target up to this many times in each run, until it passes: the run fails if it always fails
    #[arg(long, value_name = "K")]
    pub(crate) any_pass: Option<NonZeroUsize>,
    /// Expect a flaky target, and name nothing that is less sure [default: 0.99, once the target contradicts itself]
    #[arg(long, value_name = "P", value_parser = confidence)]
    pub(crate) confidence: Option<f64>,
    /// Repeat the random choices of a search that had this seed; what RANDOM stands for is one of them
    #[arg(long, value_name = "N", value_parser = Seed::parse)]
    pub(crate) seed: Option<Seed>,
    /// Stop after this many culprits (of each test, where each is searched for)
    #[arg(long, value_name = "N")]
    pub(crate) max: Option<NonZeroUsize>,
    /// Do not search for culprits of more than this many changes
    #[arg(long, value_name = "N")]
    pub(crate) max_set: Option<NonZeroUsize>,
    /// Stop after this many runs, with what was found
    #[arg(long, value_name = "N")]
    pub(crate) max_runs: Option<usize>,
    /// End an execution of the target that takes longer, with all its children; it has failed (`90s`, `2m 30s`). Of a build
    /// (`build`, `check`), what is compiled by then is kept, so one that is only slow at first goes on
    #[arg(long, value_name = "D", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// A run that exits with this status tells nothing
    #[arg(long, value_name = "N", default_value = "125")]
    pub(crate) skip_code: i32,
    /// Only failures whose output matches count; others tell nothing
    #[arg(long, value_name = "REGEX")]
    pub(crate) fail_when: Option<Regex>,
    /// Only the failure that is seen with every change (or, if that passes, with none) counts: others, by another panic or
    /// signal, in another test, or by a timeout, tell nothing [default: yes for `test`, `build` and `check`, no for `run` and
    /// `exec`]
    #[arg(
        long,
        value_name = "YES|NO",
        default_missing_value = "yes",
        num_args = 0..=1,
        require_equals = true,
        hide_possible_values = true
    )]
    pub(crate) same_failure: Option<YesNo>,
    /// Where logs and results go
    #[arg(long, value_name = "DIR", default_value = "bisect.out")]
    pub(crate) out: PathBuf,
}

impl SearchArgs {
    /// How often the target is executed in a run.
    pub(crate) fn repetition(&self) -> Repetition {
        Repetition::new(self.repeat, self.any_pass)
    }

    /// Whether only one kind of failure counts; by default as given.
    pub(crate) fn same_failure(&self, default: bool) -> bool {
        self.same_failure.map_or(default, |asked| asked == YesNo::Yes)
    }
}

/// The value of a switch that may be on by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum YesNo {
    /// On.
    Yes,
    /// Off.
    No,
}

/// What to show.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Print the events as JSON, one a line, instead of results for people
    #[arg(long)]
    pub(crate) json: bool,
    /// Show the pattern of every run, and where its output is
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Show results only
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// When to use colour
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless the environment says no.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// A number of jobs.
fn jobs(text: &str) -> Result<NonZeroUsize, std::num::ParseIntError> {
    let all = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    Ok(NonZeroUsize::new(text.parse()?).unwrap_or_else(all))
}

/// A probability that an answer is right.
fn confidence(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.5..1.0).contains(number));
    number.ok_or_else(|| "a confidence is a number from 0.5 to 1, and less than 1, such as 0.99".to_owned())
}

/// A duration as `90s` or `2m 30s`; a number alone is seconds.
fn duration(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse() {
        return Ok(Duration::from_secs(seconds));
    }
    humantime::parse_duration(text).map_err(|error| format!("{error}: write `90s`, `1500ms` or `2m 30s`"))
}

/// Parses the words of a command line, the program's name first, as cargo passes them (with `bisect-opt` as the second)
/// or as a user does who runs the program itself.
///
/// # Errors
/// clap's: a usage error, or a request for help or for the version.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut words: Vec<_> = words.into_iter().collect();
    if words.get(1).is_some_and(|word| word == "bisect-opt") {
        words.remove(1);
    }
    let command = Cli::command().subcommands(table::COMMANDS.iter().map(AxisCommand::command));
    let hands_on = |name: &OsString| {
        let subcommand = match name.to_str()? {
            "test" | "toggles" => CargoSubcommand::Test,
            "run" => CargoSubcommand::Run,
            "build" => CargoSubcommand::Build,
            "check" => CargoSubcommand::Check,
            _ => return None,
        };
        Some((command.find_subcommand(name)?, subcommand))
    };
    let (ours, cargo) = match words.get(1).and_then(hands_on) {
        Some((subcommand, cargos)) => {
            let (ours, cargo) = split(subcommand, &words[2..]);
            check(subcommand, cargos, &cargo.cargo)?;
            (words[..2].iter().cloned().chain(ours).collect(), cargo)
        }
        None => (words, CargoWords::default()),
    };
    let matches = command.try_get_matches_from(ours)?;
    if let Some((name, matches)) = matches.subcommand()
        && let Some(spec) = table::COMMANDS.iter().find(|spec| spec.name == name)
    {
        return Ok(Cli { command: Command::Axis(AxisCommand::from_matches(spec, matches)?) });
    }
    let mut cli = Cli::from_arg_matches(&matches)?;
    let (passed_on, words) = match &mut cli.command {
        Command::Test(args) => (&mut args.cargo.passed_on, &mut args.cargo.words),
        Command::Run(args) | Command::Build(args) | Command::Check(args) => (&mut args.passed_on, &mut args.words),
        Command::Toggles(args) => (&mut args.passed_on, &mut args.words),
        Command::Exec(_) | Command::Axis(_) => return Ok(cli),
    };
    *words = cargo;
    // Before all others: for `run`, all that follows the first word is the program's.
    words.cargo.splice(..0, passed_on.arguments.drain(..));
    Ok(cli)
}

/// Refuses an option that neither `command` nor cargo knows: it is a slip.
fn check(command: &clap::Command, subcommand: CargoSubcommand, words: &[OsString]) -> Result<(), clap::Error> {
    let known = KnownOptions::of(subcommand);
    let Some(option) = known.first_unknown(words) else { return Ok(()) };
    let ours = command.get_arguments().filter_map(|arg| Some(format!("--{}", arg.get_long()?)));
    let meant = option.strip_prefix("--").and_then(|_| nearest(&option, ours.chain(known.options())));
    let meant = meant.map(|meant| format!(", did you mean `{meant}`?")).unwrap_or_default();
    Err(command.clone().error(
        ErrorKind::UnknownArgument,
        format!(
            "`cargo bisect-opt {}` and `cargo {}` have no option `{option}`{meant}\n\
             help: `--cargo-arg={option}` hands it to cargo all the same; what follows `--` is for the tests or the program",
            command.get_name(),
            subcommand.name(),
        ),
    ))
}

/// Takes the options that `command` knows out of `words`; all others are cargo's, up to `--`.
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

/// Whether the word behind an option is its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Follows {
    No,
    Yes,
    /// Unless it is an option.
    Maybe,
}

/// If `word` is an option of `command`: whether the next word is its value.
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

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
