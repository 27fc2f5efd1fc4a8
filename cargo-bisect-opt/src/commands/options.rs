//! The options of the commands.

use std::{ffi::OsString, num::NonZeroUsize, path::PathBuf, time::Duration};

use clap::{ArgAction, ArgGroup, Args, ValueEnum};
use regex::bytes::Regex;

use super::{
    answer_format::{cargo_format, format_parser},
    axis_option::VersionArgs,
    defaults::applied::AppliedDefaults,
    edition,
    values::{confidence, duration, jobs},
};
use crate::{
    axes::command_spec::{Asked, CommandSpec},
    cargo::Edition,
    output::formats::AnswerFormat,
    process::{debugger::Debugger, launcher::Launcher},
    run::{repetition::Repetition, seed::Seed},
    targets::project::PerTest,
};

/// The options of `test`.
#[derive(Debug, Args)]
pub(crate) struct TestCommand {
    /// Run all tests together in every run, not only those whose outcome depends on the changes
    #[arg(long)]
    pub(crate) all_tests: bool,
    /// Find the culprits of each failing test, in one search [default: auto, that is if there are several;
    /// without WHEN: always]
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
    /// Find the other tests that make the test NAME fail, or that NAME needs [default: the first test that fails with the
    /// others and passes alone]
    #[arg(
        long,
        value_name = "NAME",
        num_args = 0..=1,
        conflicts_with_all = ["all_tests", "per_test", "codegen", "edition", "axis_option", "toggles", "rustflags", "verdict", "since", "when"]
    )]
    #[expect(clippy::option_option, reason = "not asked for, asked for without a name, or with one")]
    pub(crate) victim: Option<Option<String>>,
    #[command(flatten)]
    pub(crate) cargo: CargoCommand,
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
    /// Search only this toggle; can be repeated [default: all toggles decided at run time; for
    /// `build` and `check`, all that are decided while compiling]
    #[arg(long = "toggle", value_name = "NAME", action = ArgAction::Append, conflicts_with_all = ["axis_option", "verdict"])]
    pub(crate) toggles: Vec<String>,
    /// Pass the pattern to the compiler: build each trial with these flags, and replace PATTERN in them
    #[arg(long, value_name = "TEXT-WITH-PATTERN", allow_hyphen_values = true, conflicts_with_all = ["axis_option", "verdict"])]
    pub(crate) rustflags: Option<String>,
    #[command(flatten)]
    pub(crate) codegen: CodegenArgs,
    #[command(flatten)]
    pub(crate) edition: EditionArgs,
    #[command(flatten)]
    pub(crate) version: VersionArgs,
    /// Use this bisect-rustc for --codegen and --edition [default: that of `BISECT_RUSTC`, or the one beside this
    /// executable]
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
    /// Pass this argument to cargo unchanged, even if cargo does not list the option (`--cargo-arg=--new=VALUE`)
    #[arg(long = "cargo-arg", value_name = "ARG", action = ArgAction::Append, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}

/// The options for a search in the compilation of the target.
#[derive(Debug, Args)]
pub(crate) struct CodegenArgs {
    /// Find what must be optimized for the target to fail: crates, then functions, then passes of the compiler
    #[arg(long, conflicts_with_all = ["toggles", "rustflags", "edition", "axis_option", "verdict"])]
    pub(crate) codegen: bool,
    /// Options for crates assumed to be good: `KEY=VALUE` of the profile, or flags of rustc [default: opt-level=0]
    #[arg(long, value_name = "OPTIONS", requires = "codegen", action = ArgAction::Append, allow_hyphen_values = true)]
    pub(crate) good: Vec<String>,
    /// Options for crates that may break the target [default: the release profile, or the --profile given, as it is]
    #[arg(long, value_name = "OPTIONS", requires = "codegen", action = ArgAction::Append, allow_hyphen_values = true)]
    pub(crate) bad: Vec<String>,
    /// Search down to this level (`check` generates no code, so it stops at crates)
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
    /// Find the expressions that break the target when only they use the semantics of EDITION, 2024 or 2021 (in the
    /// packages that -p names, or else in all of the workspace)
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
    /// Run in this debugger, and stop in the first decision on a change of the culprit, or in the decision that --when
    /// found (`gdb`, `lldb`, or `'gdb -batch -ex backtrace'`)
    #[arg(long, value_name = "CMD", value_parser = Debugger::parse)]
    pub(crate) debugger: Option<Debugger>,
}

/// The options of `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportCommand {
    /// The directory with the results of the search
    #[arg(value_name = "RUN-DIR", default_value = "bisect.out")]
    pub(crate) run_dir: PathBuf,
    /// Show the answer in this format [default: text]
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    pub(crate) format: Option<&'static AnswerFormat>,
    /// Write a page with the answer and charts of the search to this file, and show the answer only if --format is given
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Control the use of colour
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

/// The options of every search.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Number of parallel runs (0 = number of CPUs). The slot of each run, from 0, is in `BISECT_SLOT`, and replaces
    /// {slot} in the values of environment variables
    #[arg(short, value_name = "N", default_value = "1", value_parser = jobs)]
    pub(crate) jobs: NonZeroUsize,
    /// Start each run with this command (`srun -n1`, `ssh host`, `sem --fg`)
    #[arg(long, value_name = "CMD", value_parser = Launcher::parse)]
    pub(crate) launcher: Option<Launcher>,
    /// First try changes on lines that were edited since this revision [REV: where this branch left the default branch]
    #[arg(long, value_name = "REV", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "not asked for, asked for without a revision, or with one")]
    pub(crate) since: Option<Option<String>>,
    /// Run the target this many times for each trial. If runs differ, the target is flaky, and from then on every run
    /// is evidence of its own
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) count: NonZeroUsize,
    /// Execute the target up to this many times in each run, until it fails. The run passes if all executions pass
    #[arg(long, value_name = "K", conflicts_with = "any_pass")]
    pub(crate) repeat: Option<NonZeroUsize>,
    /// Execute the target up to this many times in each run, until it passes. The run fails if all executions fail
    #[arg(long, value_name = "K")]
    pub(crate) any_pass: Option<NonZeroUsize>,
    /// Expect a flaky target, and report only culprits with at least this confidence [default: 0.99, once the target
    /// contradicts itself]
    #[arg(long, value_name = "P", value_parser = confidence)]
    pub(crate) confidence: Option<f64>,
    /// Repeat the random choices of a search that had this seed, and its values of RANDOM
    #[arg(long, value_name = "N", value_parser = Seed::parse)]
    pub(crate) seed: Option<Seed>,
    /// Stop after this many culprits (of each test, if each test is searched on its own)
    #[arg(long, value_name = "N")]
    pub(crate) max: Option<NonZeroUsize>,
    /// Do not search for culprits of more than this many changes
    #[arg(long, value_name = "N")]
    pub(crate) max_set: Option<NonZeroUsize>,
    /// Stop after this many runs, and report the culprits found so far
    #[arg(long, value_name = "N")]
    pub(crate) max_runs: Option<usize>,
    /// End an execution of the target that takes longer, with all its child processes; it counts as failed (`90s`, `2m
    /// 30s`). For `build` and `check`, crates that were compiled by then are kept, and the next run continues from
    /// there
    #[arg(long, value_name = "D", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// Treat a run that exits with this status as unresolved
    #[arg(long, value_name = "N", default_value = "125")]
    pub(crate) skip_code: i32,
    /// Count only failures whose output matches; others are unresolved
    #[arg(long, value_name = "REGEX")]
    pub(crate) fail_when: Option<Regex>,
    /// Count only the failure that is seen with every change (or, if that passes, with none). Others, by another panic
    /// or signal, in another test, or by a timeout, are unresolved [default: yes for `test`, `build` and `check`, no
    /// for `run`, `exec`, `list` and `count`]
    #[arg(
        long,
        value_name = "YES|NO",
        default_missing_value = "yes",
        num_args = 0..=1,
        require_equals = true,
        hide_possible_values = true
    )]
    pub(crate) same_failure: Option<YesNo>,
    /// Also find the first decision on each culprit that matters: the 48,213th call, in thread worker-3 (`test`, `run`
    /// and `exec`, for changes that are decided while the target runs)
    #[arg(long)]
    pub(crate) when: bool,
    /// Continue the interrupted search in the directory of --out: its runs are not repeated
    #[arg(long)]
    pub(crate) resume: bool,
    /// Write logs and results to this directory
    #[arg(long, value_name = "DIR", default_value = "bisect.out")]
    pub(crate) out: PathBuf,
}

impl SearchArgs {
    /// Returns the rule for executions of the target in a run.
    pub(crate) fn repetition(&self) -> Repetition {
        Repetition::new(self.repeat, self.any_pass)
    }

    /// Returns true if only one kind of failure counts. `default` is for a command line that does not say it.
    pub(crate) fn same_failure(&self, default: bool) -> bool {
        self.same_failure.map_or(default, |asked| asked == YesNo::Yes)
    }
}

/// The value of a switch that may be on by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum YesNo {
    /// The switch is on.
    Yes,
    /// The switch is off.
    No,
}

/// The options for the output.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Print events as JSON, one per line, instead of results for people
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the answer in this format, instead of text [default: text]
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(), conflicts_with = "json")]
    pub(crate) format: Option<&'static AnswerFormat>,
    /// Print the answer as cargo does: `json` is --format diagnostics, for editors; `human` and `short` are text
    #[arg(long, value_name = "FORMAT", value_parser = cargo_format, conflicts_with_all = ["json", "format"])]
    pub(crate) message_format: Option<&'static AnswerFormat>,
    /// Also write a page with the answer and charts of the search to this file, at the end
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Show the pattern of every run, the path of its log, and all frames of call stacks
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
