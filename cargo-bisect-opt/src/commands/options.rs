//! The options of the commands.

use std::{ffi::OsString, path::PathBuf};

use clap::{ArgAction, ArgGroup, Args, ValueEnum};
use clap_complete::Shell;

use super::{
    answer_format::{cargo_format, format_parser},
    axis_option::VersionArgs,
    defaults::applied::AppliedDefaults,
    edition,
    search_options::SearchArgs,
};
use crate::{
    axes::command_spec::{Asked, CommandSpec},
    cargo::Edition,
    output::formats::AnswerFormat,
    process::debugger::Debugger,
    targets::project::PerTest,
};

/// The options of `test`.
#[derive(Debug, Args)]
pub(crate) struct TestCommand {
    #[command(flatten)]
    pub(crate) cargo: CargoCommand,
    /// Run all tests together in every run
    ///
    /// By default, a run executes only the tests whose outcome depends on the changes.
    #[arg(long)]
    pub(crate) all_tests: bool,
    /// Find the culprits of each failing test [default: auto]
    ///
    /// There is one search for all of them. `auto` does this if several tests fail. Without WHEN: always.
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
    /// Find the other tests that make NAME fail, or that it needs
    ///
    /// Without NAME, the victim is the first test that fails with the others and passes alone.
    #[arg(
        long,
        value_name = "NAME",
        num_args = 0..=1,
        conflicts_with_all = ["all_tests", "per_test", "codegen", "edition", "axis_option", "toggles", "rustflags", "verdict", "since", "when"]
    )]
    #[expect(clippy::option_option, reason = "not asked for, asked for without a name, or with one")]
    pub(crate) victim: Option<Option<String>>,
}

/// The condition for searching each failing test on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PerTestArg {
    /// Search each failing test on its own, if there are several.
    Auto,
    /// Search each failing test on its own, even if there is only one.
    Always,
    /// Treat the failures of all tests as one failure.
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

/// The common options of the commands that build with cargo.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("compiled").args(["codegen", "edition"]))]
pub(crate) struct CargoCommand {
    /// Search only this toggle; can be repeated
    ///
    /// By default, all toggles that are decided at run time are searched; for `build` and `check`, all that are decided
    /// while compiling.
    #[arg(long = "toggle", value_name = "NAME", action = ArgAction::Append, conflicts_with_all = ["axis_option", "verdict"])]
    pub(crate) toggles: Vec<String>,
    /// Pass the pattern to the compiler: PATTERN is replaced in FLAGS
    ///
    /// Each trial is built with these flags.
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, conflicts_with_all = ["axis_option", "verdict"])]
    pub(crate) rustflags: Option<String>,
    #[command(flatten)]
    pub(crate) codegen: CodegenArgs,
    #[command(flatten)]
    pub(crate) edition: EditionArgs,
    #[command(flatten)]
    pub(crate) version: VersionArgs,
    /// Use this bisect-rustc for --codegen and --edition
    ///
    /// By default, it is that of `BISECT_RUSTC`, or the one beside this executable.
    // Earlier versions called it `--driver`.
    #[arg(long, alias = "driver", value_name = "PATH", requires = "compiled")]
    pub(crate) bisect_rustc: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
    #[command(flatten)]
    pub(crate) passed_on: PassedOn,
    /// The words for cargo and for the target.
    #[arg(skip)]
    pub(crate) words: CargoWords,
}

/// The arguments that go to cargo without a check.
#[derive(Debug, Args)]
pub(crate) struct PassedOn {
    /// Pass this argument to cargo unchanged
    ///
    /// Cargo gets it even if it does not list the option (`--cargo-arg=--new=VALUE`).
    #[arg(long = "cargo-arg", value_name = "ARG", action = ArgAction::Append, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}

/// The options for a search in the compilation of the target.
#[derive(Debug, Args)]
pub(crate) struct CodegenArgs {
    /// Find what must be optimized for the target to fail
    ///
    /// First crates are searched, then functions, then passes of the compiler. --good, --bad and --level modify this
    /// search.
    #[arg(long, conflicts_with_all = ["toggles", "rustflags", "edition", "axis_option", "verdict"])]
    pub(crate) codegen: bool,
    /// Options for crates assumed to be good [default: opt-level=0]
    ///
    /// They are `KEY=VALUE` of the profile, separated by commas or spaces, and flags of rustc: all from the first word
    /// with `-` on; or the name of a profile, of which only the settings that decide are used. The option can be repeated.
    /// If the target fails with the default in all crates, debug-assertions and overflow-checks are tried as the dev profile
    /// has them. If it passes in release and fails in the dev profile, the settings of release are tried.
    #[arg(long, value_name = "OPTIONS", requires = "codegen", action = ArgAction::Append, allow_hyphen_values = true)]
    pub(crate) good: Vec<String>,
    /// Options for crates that may break the target
    ///
    /// By default, this is the release profile, or the --profile given, as it is. Several are separated as in --good, and it
    /// may name another profile.
    #[arg(long, value_name = "OPTIONS", requires = "codegen", action = ArgAction::Append, allow_hyphen_values = true)]
    pub(crate) bad: Vec<String>,
    /// Search down to this level
    ///
    /// `check` generates no code, so it stops at crates.
    #[arg(long, value_name = "LEVEL", requires = "codegen", default_value = "passes")]
    pub(crate) level: Depth,
}

/// The last level of a search in the compilation of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Depth {
    /// Find crates.
    Crates,
    /// Find functions in these crates, if there is a `bisect-rustc`.
    Functions,
    /// Find the pass of the compiler.
    Passes,
}

/// The options for a search in the semantics of expressions.
#[derive(Debug, Args)]
pub(crate) struct EditionArgs {
    /// Find expressions that fail with the semantics of EDITION
    ///
    /// EDITION is 2024 or 2021; only these expressions get its semantics. The packages that -p names are searched, or else
    /// all of the workspace.
    #[arg(long, value_name = "EDITION", value_parser = edition::parse, conflicts_with_all = ["toggles", "rustflags", "axis_option", "verdict"])]
    pub(crate) edition: Option<Edition>,
}

/// The words of a command line that are not our options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CargoWords {
    /// The words for cargo.
    pub(crate) cargo: Vec<OsString>,
    /// The words after `--`, for the tests or the program.
    pub(crate) target: Vec<OsString>,
}

/// The options of `exec`.
#[derive(Debug, Args)]
pub(crate) struct ExecTarget {
    #[command(flatten)]
    pub(crate) version: VersionArgs,
    #[command(flatten)]
    pub(crate) exec: ExecCommand,
}

/// The options that all commands for any command line share.
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

/// A command of an axis, with the given options.
#[derive(Debug)]
pub(crate) struct AxisCommand {
    pub(crate) spec: &'static CommandSpec,
    pub(crate) asked: Asked,
    pub(crate) exec: ExecCommand,
}

/// The options of `toggles`.
#[derive(Debug, Args)]
pub(crate) struct TogglesCommand {
    /// Print a line of JSON for each toggle
    #[arg(long)]
    pub(crate) json: bool,
    /// Hide cargo's output
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Control the use of colour
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    #[command(flatten)]
    pub(crate) passed_on: PassedOn,
    /// The words for cargo and for the target.
    #[arg(skip)]
    pub(crate) words: CargoWords,
}

/// The options of `replay`.
#[derive(Debug, Args)]
pub(crate) struct ReplayCommand {
    /// The directory with the results of the search
    #[arg(value_name = "RUN-DIR", default_value = "bisect.out")]
    pub(crate) run_dir: PathBuf,
    /// The number of the culprit [default: the first one]
    #[arg(long, value_name = "N")]
    pub(crate) set: Option<usize>,
    /// Run with all changes except those of the culprit
    #[arg(long)]
    pub(crate) off: bool,
    /// Run in this debugger, and stop at the culprit
    ///
    /// It stops in the first decision on a change of the culprit, or in the decision that --when found (`gdb`, `lldb`,
    /// or `'gdb -batch -ex backtrace'`).
    #[arg(long, value_name = "CMD", value_parser = Debugger::parse)]
    pub(crate) debugger: Option<Debugger>,
}

/// The options of `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportCommand {
    /// The directory with the results of the search
    #[arg(value_name = "RUN-DIR", default_value = "bisect.out")]
    pub(crate) run_dir: PathBuf,
    /// Print the answer in this format [default: text]
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    pub(crate) format: Option<&'static AnswerFormat>,
    /// Write a page with the answer and charts to this file
    ///
    /// The answer is shown only if --format is given, too.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Control the use of colour
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

/// The options for the output.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Print events as JSON, one per line
    ///
    /// They replace the results for people.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the answer in this format [default: text]
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(), conflicts_with = "json")]
    pub(crate) format: Option<&'static AnswerFormat>,
    /// Print the answer as cargo does, for editors
    ///
    /// `json` is --format diagnostics; `human` and `short` are text.
    #[arg(long, value_name = "FORMAT", value_parser = cargo_format, conflicts_with_all = ["json", "format"])]
    pub(crate) message_format: Option<&'static AnswerFormat>,
    /// Also write a page with the answer and charts to this file
    ///
    /// It is written at the end of the search.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Show the patterns, the logs, and all frames of call stacks
    ///
    /// This is the pattern of every run and the path of its log.
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Show only results
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Control the use of colour
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// The defaults of options in use.
    #[arg(skip)]
    pub(crate) defaults: AppliedDefaults,
    /// `Some(true)`: live lines are shown also in CI, if the terminal can move its cursor. `Some(false)`: they are never.
    #[arg(skip)]
    pub(crate) has_live_lines: Option<bool>,
    /// The maximum width of live lines.
    #[arg(skip)]
    pub(crate) live_width: Option<u16>,
}

/// The condition for colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// Use colour on a terminal, unless the environment forbids it.
    Auto,
    /// Always use colour.
    Always,
    /// Never use colour.
    Never,
}

/// The options of `help`.
#[derive(Debug, Args)]
pub(crate) struct HelpCommand {
    /// The command [default: an overview of all]
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,
}

/// The options of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsCommand {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// The options of `man`.
#[derive(Debug, Args)]
pub(crate) struct ManCommand {
    /// The directory, for example `~/.local/share/man/man1`
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}
