//! `watch`: the moment at which a watched condition breaks, in a program, a test or a command.

use std::{env, ffi::OsString, path::PathBuf, process::Command, time::Duration};

use clap::{Args, FromArgMatches, ValueEnum};

use super::{
    CommandError, bisect_at_once, install_interrupt,
    options::{CargoWords, PassedOn, ShowArgs},
    search_options::SearchArgs,
    values::duration,
};
use crate::{
    axes::{command_spec::AxisError, watch::Watch},
    cargo::Subcommand,
    lab::{
        Lab,
        target::{Reproduction, Target},
    },
    output::run_dir,
    process::{self, debugger::Debugger, interrupt::Interrupt, scratch_dir::temp_dir},
    record::exit_status::Exit,
    run::{moment, reader::Reader, seed::Seed},
    targets::{
        command::{CommandOptions, CommandTarget},
        project::{self, PerTest, ProjectOptions},
    },
};

/// The options of `watch`.
#[derive(Debug, Args)]
pub(crate) struct WatchCommand {
    /// Run the program again for each moment
    ///
    /// By default, copies of the process are made where the system can.
    #[arg(long)]
    pub(crate) rerun: bool,
    /// Then start the program in a debugger, and stop at the moment
    ///
    /// For example `gdb`, `lldb` or `gdb -x FILE`.
    #[arg(long, value_name = "CMD", value_parser = Debugger::parse, conflicts_with = "json")]
    pub(crate) debugger: Option<Debugger>,
    /// End a run that takes longer
    #[arg(long, value_name = "D", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// Stop after this many runs
    #[arg(long, value_name = "N")]
    pub(crate) max_runs: Option<usize>,
    /// Write logs and results to this directory
    #[arg(long, value_name = "DIR", default_value = "bisect.out")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
    #[command(flatten)]
    pub(crate) passed_on: PassedOn,
    /// The name in `bisect_watch!(NAME, …)`
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The target: what `cargo run` or `cargo test` would start, or any command
    #[arg(value_name = "run|test|exec", default_value = "run", hide_default_value = true)]
    pub(crate) what: What,
    /// The variables and the words of the command, for `exec`.
    #[arg(skip)]
    pub(crate) command: Vec<OsString>,
    /// The words for cargo and for the target.
    #[arg(skip)]
    pub(crate) words: CargoWords,
}

/// The kind of target of `watch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// A program that cargo builds.
    Run,
    /// Tests that cargo builds.
    Test,
    /// Any command.
    Exec,
}

impl What {
    /// Returns the subcommand of cargo that builds the target, if cargo does.
    pub(crate) fn subcommand(self) -> Option<Subcommand> {
        match self {
            Self::Run => Some(Subcommand::Run),
            Self::Test => Some(Subcommand::Test),
            Self::Exec => None,
        }
    }
}

/// Searches for the moment, and then starts the debugger if that is asked for.
///
/// # Errors
/// If the command line is wrong, or the target cannot be prepared.
pub(super) fn run(command: &WatchCommand) -> Result<Exit, CommandError> {
    command.show.color.apply();
    let axis = Watch::new(&command.name, command.what == What::Test, command.rerun, command.debugger.clone())
        .map_err(AxisError::Usage)?;
    let args = command.search_args();
    let axis = Box::new(axis);
    let (status, line) = if let Some(subcommand) = command.what.subcommand() {
        let interrupt = install_interrupt()?;
        let target = project::prepare_for(command.project_options(subcommand, &args), axis, &interrupt)?;
        search(command, &args, target, &interrupt)?
    } else {
        let target = CommandTarget::new(command.command_options(&args)?, axis)?;
        let interrupt = install_interrupt()?;
        search(command, &args, target, &interrupt)?
    };
    match (&command.debugger, line) {
        (Some(debugger), Some(line)) => debug(debugger, &line).map(|()| status),
        _ => Ok(status),
    }
}

/// Searches for the moment. Also returns the command line that stops there, if there is one.
fn search(
    command: &WatchCommand,
    args: &SearchArgs,
    mut target: impl Target,
    interrupt: &Interrupt,
) -> Result<(Exit, Option<String>), CommandError> {
    let (mut line, root) = (None, target.root().to_owned());
    let search = |lab: &mut Lab<'_>| {
        let watched = lab.watch(&mut target, &command.name)?;
        line = watched.bad.map(|bad| stop_line(&target, bad));
        Ok(watched.status)
    };
    let status = bisect_at_once(&root, args, Seed::draw(), &command.show, interrupt, search)?;
    Ok((status, line))
}

/// Returns the command line that stops the target at a moment, in the debugger.
fn stop_line(target: &impl Target, at: u64) -> String {
    let (selection, directory) = (&moment::stop_at(at), &temp_dir());
    target.reproduce(&Reproduction {
        selection,
        tests: &[],
        directory,
        stem: "watch",
        reader: Reader::Person,
        hangs: false,
    })
}

/// Runs a command line in the place of this process.
fn debug(debugger: &Debugger, line: &str) -> Result<(), CommandError> {
    let mut shell = Command::new("sh");
    shell.args(["-c", line]);
    let failed = |error| CommandError::Debugger { program: debugger.words()[0].clone(), line: line.to_owned(), error };
    let status = process::take_over(&mut shell).map_err(failed)?;
    if status.code() == Some(NOT_FOUND) {
        let error = std::io::Error::new(std::io::ErrorKind::NotFound, "it is not installed");
        return Err(failed(error));
    }
    Ok(())
}

/// The status of a shell that does not find a program.
const NOT_FOUND: i32 = 127;

impl WatchCommand {
    /// Returns the options of a search that makes one run at a time.
    fn search_args(&self) -> SearchArgs {
        let plain = SearchArgs::augment_args(clap::Command::new("watch")).no_binary_name(true);
        let matches = plain.try_get_matches_from(["--same-failure=no"]).expect("these options exist");
        let args = SearchArgs::from_arg_matches(&matches).expect("these options exist");
        SearchArgs { timeout: self.timeout, max_runs: self.max_runs, out: self.out.clone(), ..args }
    }

    fn project_options(&self, subcommand: Subcommand, args: &SearchArgs) -> ProjectOptions {
        ProjectOptions {
            subcommand,
            cargo: self.words.cargo.clone(),
            target: self.words.target.clone(),
            toggles: Vec::new(),
            // Each run reaches the same moments.
            all_tests: true,
            per_test: PerTest::Never,
            rustflags: None,
            timeout: args.timeout,
            skip_code: args.skip_code,
            fail_when: None,
            same_failure: false,
            direction: None,
            launcher: None,
            quiet: self.show.quiet,
        }
    }

    fn command_options(&self, args: &SearchArgs) -> Result<CommandOptions, CommandError> {
        let words = self.command.iter().cloned().map(|word| word.into_string().map_err(CommandError::NotUnicode));
        Ok(CommandOptions {
            words: words.collect::<Result<_, _>>()?,
            root: env::current_dir().map_err(CommandError::WorkingDirectory)?,
            inputs: run_dir::inputs_of(&args.out).map_err(CommandError::WorkingDirectory)?,
            timeout: args.timeout,
            skip_code: args.skip_code,
            fail_when: None,
            same_failure: false,
            direction: None,
            seed: Seed::draw(),
            launcher: None,
        })
    }
}
