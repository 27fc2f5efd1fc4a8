//! The commands: each makes one search or several, and gives one answer.

mod codegen;
mod command_line;
mod edition;
mod occurrences;
mod options;
mod replay;

use std::{
    env,
    ffi::OsString,
    io,
    path::Path,
    process::{ExitCode, Termination},
    time::Instant,
};

use bisect_core::search as engine;

use codegen::{Drill, DrillError};
use edition::{EditionError, Editions};
use options::{CargoCommand, Color, Command, ExecCommand, SearchArgs, ShowArgs, TogglesCommand};
use replay::ReplayError;

use crate::{
    axes::{
        command_spec::{AxisError, Prepared},
        protocol::Protocol,
    },
    cargo::{self, CargoError, Subcommand},
    compiler::wrapper,
    lab::{Lab, Searched, Totals, target::Target},
    output::{
        closing::Closing,
        events::Event,
        exit_status::Exit,
        json::Json,
        listeners::{Listener, Listeners},
        noise,
        record::Record,
        results::Results,
        run_dir::{RunDir, RunDirError},
        terminal, toggle_list,
        trace::Trace,
    },
    process::{self, interrupt::Interrupt},
    run::seed::Seed,
    targets::{
        command::{self, CommandOptions, CommandTarget},
        project::{self, PerTest, ProjectOptions},
    },
    vcs::since::{Since, SinceError},
};

/// A reason why a command did not search, or stopped early.
#[derive(Debug, thiserror::Error)]
enum CommandError {
    #[error("an argument is not valid UTF-8: {}", .0.display())]
    NotUnicode(OsString),
    #[error(transparent)]
    Exec(#[from] command::UsageError),
    #[error(
        "--when searches decisions that are made while a target runs: it goes with `test`, `run` and `exec`, and not with an option that compiles for each trial"
    )]
    When,
    #[error("the working directory cannot be found: {0}")]
    WorkingDirectory(#[source] io::Error),
    #[error(transparent)]
    Cargo(#[from] CargoError),
    #[error(transparent)]
    RunDir(#[from] RunDirError),
    #[error(transparent)]
    Codegen(#[from] DrillError),
    #[error(transparent)]
    Edition(#[from] EditionError),
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error(transparent)]
    Axis(#[from] AxisError),
    #[error(transparent)]
    Since(#[from] SinceError),
    #[error("signals cannot be handled: {0}")]
    Signals(#[source] io::Error),
    #[error("cannot write the trace or the results: {0}")]
    Output(#[source] io::Error),
}

impl CommandError {
    fn exit(&self) -> Exit {
        match self {
            CommandError::NotUnicode(_)
            | CommandError::Exec(_)
            | CommandError::When
            | CommandError::RunDir(_)
            | CommandError::Replay(_)
            | CommandError::Since(_)
            | CommandError::Axis(AxisError::Usage(_)) => Exit::Usage,
            CommandError::Axis(AxisError::Nothing(_)) => Exit::Nothing,
            CommandError::Codegen(error) if error.is_usage() => Exit::Usage,
            CommandError::Edition(error) if error.is_usage() => Exit::Usage,
            CommandError::Cargo(CargoError::Interrupted)
            | CommandError::Codegen(DrillError::Cargo(CargoError::Interrupted))
            | CommandError::Edition(EditionError::Cargo(CargoError::Interrupted)) => Exit::Interrupted,
            CommandError::Cargo(error) if error.is_usage() => Exit::Usage,
            CommandError::WorkingDirectory(_)
            | CommandError::Cargo(_)
            | CommandError::Codegen(_)
            | CommandError::Edition(_)
            | CommandError::Signals(_)
            | CommandError::Output(_) => Exit::Unusable,
        }
    }
}

/// Runs the command that the command line of this process requests.
#[must_use]
pub fn main() -> ExitCode {
    #[cfg(unix)]
    if process::guard::main() {
        return ExitCode::SUCCESS;
    }
    if let Some(status) = wrapper::main() {
        return status;
    }
    bisect_opt().report()
}

fn bisect_opt() -> Exit {
    let cli = match command_line::parse(env::args_os()) {
        Ok(cli) => cli,
        Err(error) => {
            // If this fails, the error cannot be reported anywhere.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage } else { Exit::Found };
        }
    };
    #[cfg(unix)]
    if !matches!(cli.command, Command::Replay(_)) {
        // A replayed target takes the place of this process, and would get the guard as its child.
        process::guard::start();
    }
    let result = match cli.command {
        Command::Test(command) => program(Subcommand::Test, command.cargo, command.all_tests, command.per_test.into()),
        Command::Run(command) => program(Subcommand::Run, command, false, PerTest::Never),
        Command::Build(command) => program(Subcommand::Build, command, false, PerTest::Never),
        Command::Check(command) => program(Subcommand::Check, command, false, PerTest::Never),
        Command::Exec(command) => exec(command, Protocol.into()),
        Command::Axis(command) if command.exec.search.when => Err(CommandError::When),
        Command::Axis(command) => (command.spec.prepare)(&command.asked)
            .map_err(CommandError::from)
            .and_then(|prepared| exec(command.exec, prepared)),
        Command::Toggles(command) => toggles(&command),
        Command::Replay(command) => replay::replay(&command).map(|never| match never {}).map_err(CommandError::from),
    };
    result.unwrap_or_else(|failure| {
        terminal::show_error(&failure);
        failure.exit()
    })
}

fn program(
    subcommand: Subcommand,
    command: CargoCommand,
    all_tests: bool,
    per_test: PerTest,
) -> Result<Exit, CommandError> {
    command.show.color.apply();
    let compiles = command.codegen.codegen || command.edition.edition.is_some() || command.rustflags.is_some();
    if command.search.when && (compiles || subcommand.is_build()) {
        return Err(CommandError::When);
    }
    let interrupt = Interrupt::install().map_err(CommandError::Signals)?;
    let mut words = command.words.cargo;
    if command.codegen.codegen && !cargo::chooses_profile(subcommand, &words) {
        words.insert(0, "--release".into());
    }
    let options = ProjectOptions {
        subcommand,
        cargo: words,
        target: command.words.target,
        toggles: command.toggles,
        all_tests,
        per_test,
        rustflags: command.rustflags,
        timeout: command.search.timeout,
        skip_code: command.search.skip_code,
        fail_when: command.search.fail_when.clone(),
        same_failure: command.search.same_failure(subcommand != Subcommand::Run),
        launcher: command.search.launcher.clone(),
        quiet: command.show.quiet,
    };
    let seed = command.search.seed.unwrap_or_else(Seed::draw);
    let bisect_rustc = command.bisect_rustc.as_deref();
    if let Some(edition) = command.edition.edition {
        let mut editions = Editions::prepare(options, edition, bisect_rustc)?;
        let root = editions.root().to_owned();
        return bisect(&root, &command.search, seed, &command.show, &interrupt, |lab| editions.run(lab));
    }
    if command.codegen.codegen {
        let drill = Drill::prepare(options, &command.codegen, bisect_rustc)?;
        let root = drill.project.root();
        return bisect(&root, &command.search, seed, &command.show, &interrupt, |lab| drill.run(lab));
    }
    let mut target = project::prepare(options, &interrupt)?;
    let root = target.root().to_owned();
    bisect(&root, &command.search, seed, &command.show, &interrupt, |lab| {
        if command.search.when { occurrences::run(lab, &mut target) } else { lab.run(&mut target) }
    })
}

fn toggles(command: &TogglesCommand) -> Result<Exit, CommandError> {
    command.color.apply();
    let interrupt = Interrupt::install().map_err(CommandError::Signals)?;
    let toggles = project::toggles(&command.words.cargo, &command.words.target, command.quiet, &interrupt)?;
    toggle_list::show(&toggles, command.json).map_err(CommandError::Output)?;
    Ok(Exit::Found)
}

fn exec(command: ExecCommand, prepared: Prepared) -> Result<Exit, CommandError> {
    command.show.color.apply();
    let seed = command.search.seed.unwrap_or_else(Seed::draw);
    let words = command.words.into_iter().map(|word| word.into_string().map_err(CommandError::NotUnicode));
    let options = CommandOptions {
        words: words.collect::<Result<_, _>>()?,
        root: env::current_dir().map_err(CommandError::WorkingDirectory)?,
        timeout: command.search.timeout,
        skip_code: command.search.skip_code,
        fail_when: command.search.fail_when.clone(),
        same_failure: command.search.same_failure(false),
        seed,
        launcher: command.search.launcher.clone(),
    };
    let root = options.root.clone();
    let mut target = CommandTarget::new(options.clone(), prepared.axis)?;
    let interrupt = Interrupt::install().map_err(CommandError::Signals)?;
    bisect(&root, &command.search, seed, &command.show, &interrupt, |lab| {
        let begun = Instant::now();
        for axis in prepared.larger {
            if lab.try_once(&mut target)?.is_none_or(|run| run.outcome == engine::Outcome::Fail) {
                break;
            }
            target = CommandTarget::new(options.clone(), axis).map_err(io::Error::other)?;
        }
        if command.search.when {
            return occurrences::run(lab, &mut target);
        }
        let Searched { mut end, found, .. } = lab.search(&mut target)?;
        lab.list(&found)?;
        end.duration = begun.elapsed();
        (end.trials, end.runs) = (lab.totals.trials, lab.totals.runs);
        lab.emit(&Event::End(&end))?;
        Ok(end.status)
    })
}

/// Prepares a lab with its listeners, and runs `search` in it. The user's own code is below `root`.
fn bisect(
    root: &Path,
    args: &SearchArgs,
    seed: Seed,
    show: &ShowArgs,
    interrupt: &Interrupt,
    search: impl FnOnce(&mut Lab<'_>) -> io::Result<Exit>,
) -> Result<Exit, CommandError> {
    let since = args.since.as_ref().map(|revision| Since::load(root, revision.as_deref())).transpose();
    if interrupt.requested() {
        // The signal also reached git, so its error does not count.
        return Ok(Exit::Interrupted);
    }
    let since = since?;
    let run_dir = RunDir::create(&args.out)?;
    let mut lab = Lab {
        options: engine::Options {
            runs_per_trial: args.count,
            max_sets: args.max,
            max_set_size: args.max_set,
            max_runs: args.max_runs,
            favours: since.is_some(),
            seed: seed.of_search(),
            noise: args.confidence.map_or(engine::Noise::Suspected(noise::CONFIDENCE), engine::Noise::Expected),
            ..engine::Options::default()
        },
        jobs: args.jobs,
        repetition: args.repetition(),
        seed,
        is_repeated: args.seed.is_some(),
        since,
        run_dir: &run_dir,
        out_dir: &args.out,
        listeners: listeners(&run_dir, &args.out, root, show),
        interrupt,
        totals: Totals::default(),
        parent_culprit: None,
        numbered: 0,
    };
    search(&mut lab).map_err(CommandError::Output)
}

fn listeners<'a>(run_dir: &'a RunDir, out_dir: &Path, root: &Path, show: &ShowArgs) -> Listeners<'a> {
    const TRACE: &str = "the trace on standard error";
    const ANSWER: &str = "the answer on standard output";
    // The record is first: every event that is shown is already stored.
    let record = Listener::new("the run directory", Record::new(run_dir));
    Listeners::new([
        record,
        if show.quiet {
            Listener::new(TRACE, Closing)
        } else {
            Listener::new(TRACE, Trace::new(show.verbose, out_dir))
        },
        if show.json {
            Listener::new(ANSWER, Json(io::stdout()))
        } else {
            Listener::new(ANSWER, Results::new(root)).or(Results::beside_trace(root))
        },
    ])
}

impl Color {
    /// Sets the use of colour in the whole process.
    fn apply(self) {
        terminal::set_colors(match self {
            Color::Auto => None,
            Color::Always => Some(true),
            Color::Never => Some(false),
        });
    }
}
