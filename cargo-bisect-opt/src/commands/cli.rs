//! The commands of the command line.

use clap::{Parser, Subcommand};

use super::{
    options::{
        AxisCommand, CargoCommand, CompletionsCommand, ExecTarget, HelpCommand, ManCommand, ReplayCommand,
        ReportCommand, ShowArgs, TestCommand, TogglesCommand,
    },
    watch::WatchCommand,
};

/// Find what makes a test or a program fail: a call stack, a line, a build-time choice
#[derive(Debug, Parser)]
#[command(name = "cargo-bisect-opt", bin_name = "cargo bisect-opt", version, max_term_width = 100)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find what makes tests fail
    ///
    /// `cargo test` is built once, then its executables run repeatedly.
    #[command(override_usage = "cargo bisect-opt test [OPTIONS] [cargo test's own arguments] [-- test arguments]")]
    Test(TestCommand),
    /// Find what makes tests under cargo-nextest fail
    ///
    /// Each test runs in a process of its own.
    #[command(
        override_usage = "cargo bisect-opt nextest run [OPTIONS] [cargo nextest run's own arguments] [-- filters]"
    )]
    Nextest(CargoCommand),
    /// Find what makes a program fail
    ///
    /// `cargo run` is built once, then its executable runs repeatedly.
    #[command(override_usage = "cargo bisect-opt run [OPTIONS] [cargo run's own arguments] [-- program arguments]")]
    Run(CargoCommand),
    /// Find what makes a build fail
    ///
    /// The failure is an error, a crash of the compiler or, with --timeout, a compiler that hangs.
    #[command(override_usage = "cargo bisect-opt build [OPTIONS] [cargo build's own arguments]")]
    Build(CargoCommand),
    /// Find what makes `cargo check` fail
    ///
    /// It is faster than `build`, but detects fewer failures.
    #[command(override_usage = "cargo bisect-opt check [OPTIONS] [cargo check's own arguments]")]
    Check(CargoCommand),
    /// Find what makes any command fail that takes a pattern
    ///
    /// PATTERN and RANDOM are replaced in values of variables and in arguments. The command selects changes by the
    /// pattern, and reports them, as the protocol says.
    #[command(override_usage = "cargo bisect-opt exec [OPTIONS] [VAR=value]... COMMAND [ARGS]...")]
    Exec(ExecTarget),
    /// Find the moment at which a condition breaks that `bisect_watch!` marks
    #[command(
        override_usage = "cargo bisect-opt watch [OPTIONS] NAME [run|test] [cargo's own arguments] [-- arguments]\n       \
                                cargo bisect-opt watch [OPTIONS] NAME exec [VAR=value]... COMMAND [ARGS]..."
    )]
    Watch(WatchCommand),
    /// A command of an axis in its table.
    #[command(skip)]
    Axis(AxisCommand),
    /// List the toggles of this workspace
    #[command(override_usage = "cargo bisect-opt toggles [OPTIONS] [cargo test's own arguments]")]
    Toggles(TogglesCommand),
    /// Run the target of an earlier search again, with one of its culprits
    Replay(ReplayCommand),
    /// Show the answer of an earlier search again, or in another format
    Report(ReportCommand),
    /// Print the reference of a command: each option in full
    Help(HelpCommand),
    /// Print a script that completes command lines in a shell
    ///
    /// It completes `cargo-bisect-opt`, and in bash, zsh and fish also `cargo bisect-opt`.
    Completions(CompletionsCommand),
    /// Write the man pages of all commands to a directory
    ///
    /// They are `cargo-bisect-opt.1`, and one page for each command, for example `cargo-bisect-opt-test.1`.
    Man(ManCommand),
}

impl Command {
    /// Returns the options for the output, if the command makes a search.
    pub(crate) fn show(&mut self) -> Option<&mut ShowArgs> {
        match self {
            Self::Test(TestCommand { cargo: command, .. })
            | Self::Nextest(command)
            | Self::Run(command)
            | Self::Build(command)
            | Self::Check(command) => Some(&mut command.show),
            Self::Exec(command) => Some(&mut command.exec.show),
            Self::Axis(command) => Some(&mut command.exec.show),
            Self::Watch(command) => Some(&mut command.show),
            Self::Toggles(_)
            | Self::Replay(_)
            | Self::Report(_)
            | Self::Help(_)
            | Self::Completions(_)
            | Self::Man(_) => None,
        }
    }
}
