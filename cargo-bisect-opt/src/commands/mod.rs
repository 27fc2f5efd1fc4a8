//! The commands: each makes one search or several, and gives one answer.

mod answer_format;
mod axis_option;
mod cargo_settings;
mod cli;
mod codegen;
mod command_error;
mod command_line;
mod command_status;
mod completions;
mod conditions;
mod defaults;
mod edition;
mod listeners;
mod man_pages;
mod missing_command;
mod nextest_line;
mod occurrences;
mod options;
mod origin;
mod pages;
mod panics;
mod reference;
mod refinable_target;
mod replay;
mod report;
mod resume;
mod search_options;
mod unknown_option;
mod values;
mod victim;
mod watch;
mod within;

use std::{
    cell::Cell,
    env, io,
    path::Path,
    process::{ExitCode, Termination},
    rc::Rc,
};

use bisect_core::search as engine;

use cli::Command;
use codegen::CodegenSearches;
use command_error::CommandError;
use command_status::CommandStatus;
use defaults::source::DefaultSources;
use edition::Editions;
use listeners::listeners;
use options::{CargoCommand, ExecCommand, ExecTarget, ShowArgs, TestCommand, TogglesCommand};
use panics::AdviceOnPanic;
use resume::Beginning;
use search_options::SearchArgs;

use crate::{
    axes::{as_it_stands::AsItStands, command_spec::Prepared, option_axis::SearchedTarget, protocol::Protocol},
    cargo::Subcommand,
    compiler::wrapper,
    lab::{Lab, Searched, Totals, target::Target},
    output::{events::Event, run_dir, terminal, toggle_list, verdict_status::VerdictStatus},
    process::{self, interrupt::Interrupt, machine_fault::patiently},
    record::{exit_status::Exit, noise},
    run::{error::RunError, in_flight::InFlight, seed::Seed},
    targets::{
        command::{CommandOptions, CommandTarget},
        project::{self, PerTest, ProjectOptions},
    },
    units::plural,
    vcs::since::Since,
};

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
    let status = panics::guarded(asks_for_verdict(), bisect_opt);
    #[cfg(unix)]
    process::guard::finish();
    status.report()
}

/// Returns true if the command line asks for a status for `git bisect run`, even if it is wrong.
fn asks_for_verdict() -> bool {
    env::args_os().any(|word| word == "--verdict")
}

fn bisect_opt() -> CommandStatus {
    let mut cli = match command_line::parse(env::args_os(), &DefaultSources::of_process()) {
        Ok(cli) => cli,
        Err(error) => {
            // If this fails, the error cannot be reported anywhere.
            let _ = error.print();
            return match error.use_stderr() {
                false => CommandStatus::Search(Exit::Found),
                // For `git bisect run`, 2 is a version that fails.
                true if asks_for_verdict() => CommandStatus::Verdict(VerdictStatus::Stopped),
                true => CommandStatus::Search(Exit::Usage),
            };
        }
    };
    cargo_settings::complete(&mut cli.command);
    #[cfg(unix)]
    if !matches!(
        cli.command,
        Command::Replay(_) | Command::Report(_) | Command::Help(_) | Command::Completions(_) | Command::Man(_)
    ) {
        // A replayed target takes the place of this process, and would get the guard as its child. The others start
        // no target.
        process::guard::start();
    }
    let is_verdict = match &cli.command {
        Command::Test(TestCommand { cargo: command, .. })
        | Command::Nextest(command)
        | Command::Run(command)
        | Command::Build(command)
        | Command::Check(command) => command.version.verdict,
        Command::Exec(command) => command.version.verdict,
        _ => false,
    };
    let stage = match &cli.command {
        _ if is_verdict => "the run was judged: this version is neither good nor bad so far",
        Command::Toggles(_) => "the toggles were listed: nothing was changed, and cargo keeps what it built",
        _ => "the search began: nothing was recorded, and the results of an earlier search are as they were",
    };
    let result = match cli.command {
        Command::Test(TestCommand { victim: Some(name), cargo, .. }) => victim::run(name.as_deref(), cargo),
        Command::Test(command) => program(Subcommand::Test, command.cargo, command.all_tests, command.per_test.into()),
        Command::Nextest(command) => program(Subcommand::Nextest, command, false, PerTest::Auto),
        Command::Run(command) => program(Subcommand::Run, command, false, PerTest::Never),
        Command::Build(command) => program(Subcommand::Build, command, false, PerTest::Never),
        Command::Check(command) => program(Subcommand::Check, command, false, PerTest::Never),
        Command::Exec(command) => exec_target(&command),
        Command::Axis(command) if command.exec.search.when => Err(CommandError::When),
        Command::Axis(command) => (command.spec.prepare)(&command.asked)
            .map_err(CommandError::from)
            .and_then(|prepared| exec(&command.exec, prepared, &install_interrupt()?)),
        Command::Toggles(command) => toggles(&command).map(CommandStatus::Search),
        Command::Replay(command) => replay::replay(&command).map(|never| match never {}).map_err(CommandError::from),
        Command::Report(command) => {
            report::report(&command).map(|()| CommandStatus::Search(Exit::Found)).map_err(CommandError::from)
        }
        Command::Watch(command) => watch::run(&command).map(CommandStatus::Search),
        Command::Help(command) => done(reference::print(&command)),
        Command::Completions(command) => done(completions::print(&command)),
        Command::Man(command) => done(man_pages::write(&command)),
    };
    result.unwrap_or_else(|failure| {
        terminal::show_error(&failure.message(stage, &command_line::own_words()));
        if is_verdict { CommandStatus::Verdict(failure.verdict()) } else { CommandStatus::Search(failure.exit()) }
    })
}

/// Returns the status of a command that prints or writes about this program itself.
fn done(result: Result<(), CommandError>) -> Result<CommandStatus, CommandError> {
    result.map(|()| CommandStatus::Search(Exit::Found))
}

fn program(
    subcommand: Subcommand,
    command: CargoCommand,
    all_tests: bool,
    per_test: PerTest,
) -> Result<CommandStatus, CommandError> {
    command.show.color.apply();
    let compiles = command.codegen.codegen || command.edition.edition.is_some() || command.rustflags.is_some();
    if command.search.when && (compiles || subcommand.is_build()) {
        return Err(CommandError::When);
    }
    let interrupt = install_interrupt()?;
    let options = ProjectOptions {
        subcommand,
        cargo: command.words.cargo,
        target: command.words.target,
        toggles: command.toggles,
        all_tests,
        per_test,
        rustflags: command.rustflags,
        timeout: command.search.timeout,
        skip_code: command.search.skip_code,
        fail_when: command.search.fail_when.clone(),
        same_failure: command.search.same_failure(),
        direction: command.search.direction(),
        launcher: command.search.launcher.clone(),
        quiet: command.show.quiet,
    };
    let seed = resume::seed(&command.search)?;
    let bisect_rustc = command.bisect_rustc.as_deref();
    let (args, show) = (&command.search, &command.show);
    if command.version.verdict {
        let mut target = project::as_it_stands(options)?;
        let root = target.root().to_owned();
        return bisect_at_once(&root, args, seed, show, &interrupt, |lab| verdict(lab, &mut target))?;
    }
    if let Some(edition) = command.edition.edition {
        let mut editions = Editions::prepare(options, edition, bisect_rustc)?;
        let root = editions.root().to_owned();
        return bisect(&root, args, seed, show, &interrupt, |lab| editions.run(lab)).map(CommandStatus::Search);
    }
    if command.codegen.codegen {
        let drill = CodegenSearches::prepare(options, &command.codegen, bisect_rustc)?;
        let root = drill.project.root();
        return bisect(&root, args, seed, show, &interrupt, |lab| drill.run(lab)).map(CommandStatus::Search);
    }
    let mut target = match &command.version.axis.chosen {
        Some(chosen) => project::prepare_axis(options, chosen, &interrupt)?,
        None => project::prepare(options, &interrupt)?,
    };
    let root = target.root().to_owned();
    let search = |lab: &mut Lab<'_>| {
        if args.when { occurrences::run(lab, &mut target) } else { within::run(lab, &mut target) }
    };
    bisect(&root, args, seed, show, &interrupt, search).map(CommandStatus::Search)
}

fn install_interrupt() -> Result<Interrupt, CommandError> {
    patiently(|| Interrupt::install(Exit::Interrupted.code())).map_err(CommandError::Signals)
}

/// Runs a target once.
fn verdict<T: Target>(lab: &mut Lab<'_>, target: &mut T) -> io::Result<Result<CommandStatus, CommandError>> {
    let run = lab.try_once(target)?;
    Ok(run.map(|run| CommandStatus::Verdict(VerdictStatus::of(run.outcome))).map_err(CommandError::from))
}

fn toggles(command: &TogglesCommand) -> Result<Exit, CommandError> {
    command.color.apply();
    let interrupt = install_interrupt()?;
    let (toggles, note) = project::toggles(&command.words.cargo, &command.words.target, command.quiet, &interrupt)?;
    toggle_list::show(&toggles, note.as_deref(), command.json).map_err(CommandError::Output)?;
    Ok(Exit::Found)
}

/// Runs `exec`.
fn exec_target(command: &ExecTarget) -> Result<CommandStatus, CommandError> {
    if command.version.verdict {
        return exec_once(&command.exec);
    }
    let interrupt = &install_interrupt()?;
    let Some(chosen) = &command.version.axis.chosen else {
        return exec(&command.exec, Protocol.into(), interrupt);
    };
    let directory = &env::current_dir().map_err(CommandError::WorkingDirectory)?;
    let axis = chosen.prepare(&SearchedTarget {
        directory,
        project: None,
        command: &command.exec.words,
        interrupt,
        show: None,
    })?;
    exec(&command.exec, axis.into(), interrupt)
}

/// Returns the options for a command.
fn command_options(command: &ExecCommand, seed: Seed) -> Result<CommandOptions, CommandError> {
    let words = command.words.iter().map(|word| word.clone().into_string().map_err(CommandError::NotUnicode));
    Ok(CommandOptions {
        words: words.collect::<Result<_, _>>()?,
        root: env::current_dir().map_err(CommandError::WorkingDirectory)?,
        inputs: run_dir::inputs_of(&command.search.out).map_err(CommandError::WorkingDirectory)?,
        timeout: command.search.timeout,
        skip_code: command.search.skip_code,
        fail_when: command.search.fail_when.clone(),
        same_failure: command.search.same_failure(),
        direction: command.search.direction(),
        seed,
        launcher: command.search.launcher.clone(),
    })
}

/// Runs a command once, as it stands.
fn exec_once(command: &ExecCommand) -> Result<CommandStatus, CommandError> {
    command.show.color.apply();
    let seed = resume::seed(&command.search)?;
    let options = command_options(command, seed)?;
    let root = options.root.clone();
    let mut target = CommandTarget::new(options, Box::new(AsItStands { builds: false }))?;
    let interrupt = install_interrupt()?;
    bisect_at_once(&root, &command.search, seed, &command.show, &interrupt, |lab| verdict(lab, &mut target))?
}

/// Searches a command.
fn exec(command: &ExecCommand, prepared: Prepared, interrupt: &Interrupt) -> Result<CommandStatus, CommandError> {
    command.show.color.apply();
    let seed = resume::seed(&command.search)?;
    let options = command_options(command, seed)?;
    let root = options.root.clone();
    let mut target = CommandTarget::new(options.clone(), prepared.axis)?;
    bisect(&root, &command.search, seed, &command.show, interrupt, |lab| {
        let begun = lab.elapsed();
        for axis in prepared.larger {
            if lab.try_once(&mut target)?.map_or(true, |run| run.outcome == engine::Outcome::Fail) {
                break;
            }
            target = CommandTarget::new(options.clone(), axis).map_err(io::Error::other)?;
        }
        if command.search.when {
            return occurrences::run(lab, &mut target);
        }
        let Searched { mut end, found, .. } = lab.search(&mut target)?;
        lab.list(&found)?;
        end.duration = lab.time_since(begun);
        within::search(lab, &target, &found, &mut end)?;
        lab.end(end)
    })
    .map(CommandStatus::Search)
}

/// Prepares a lab with its listeners, and runs `search` in it, which `--resume` can continue. The user's own code is
/// below `root`.
fn bisect<R>(
    root: &Path,
    args: &SearchArgs,
    seed: Seed,
    show: &ShowArgs,
    interrupt: &Interrupt,
    search: impl FnOnce(&mut Lab<'_>) -> io::Result<R>,
) -> Result<R, CommandError> {
    let begin = || Beginning::of_search(root, args, &show.defaults, seed).map_err(CommandError::from);
    in_lab(root, (args, begin), seed, show, interrupt, search)
}

/// Does the same for a command that cannot be continued.
fn bisect_at_once<R>(
    root: &Path,
    args: &SearchArgs,
    seed: Seed,
    show: &ShowArgs,
    interrupt: &Interrupt,
    search: impl FnOnce(&mut Lab<'_>) -> io::Result<R>,
) -> Result<R, CommandError> {
    let begin = || Beginning::without_journal(args).map_err(CommandError::from);
    in_lab(root, (args, begin), seed, show, interrupt, search)
}

fn in_lab<R>(
    root: &Path,
    (args, begin): (&SearchArgs, impl FnOnce() -> Result<Beginning, CommandError>),
    seed: Seed,
    show: &ShowArgs,
    interrupt: &Interrupt,
    search: impl FnOnce(&mut Lab<'_>) -> io::Result<R>,
) -> Result<R, CommandError> {
    let since = args.since.as_ref().map(|revision| Since::load(root, revision.as_deref())).transpose();
    if interrupt.requested() {
        // The signal also reached git, so its error does not count.
        return Err(CommandError::Run(RunError::Interrupted));
    }
    let since = since?;
    let Beginning { run_dir, journal, is_repeated } = begin()?;
    let earlier = journal.earlier_runs();
    let provenance = origin::provenance(root, &args.out, &show.defaults);
    let next_steps = origin::next_steps(&provenance, &show.defaults);
    let continuation = if journal.is_kept() { Some(next_steps.to_resume()) } else { None };
    let _advice = AdviceOnPanic::to_continue(continuation);
    let in_flight = InFlight::default();
    let mut lab = Lab {
        pasted: Cell::default(),
        options: engine::Options {
            direction: args.direction(),
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
        is_repeated,
        since,
        run_dir: &run_dir,
        journal: Rc::new(journal),
        out_dir: &args.out,
        listeners: listeners(&run_dir, &args.out, provenance, show, &in_flight),
        interrupt,
        totals: Totals::default(),
        budget: args.budget,
        cut_short: None,
        parent_culprit: None,
        numbered: 0,
        in_flight,
        searches: 0,
        next_steps,
    };
    if let Some(note) = show.defaults.description().filter(|_| show.verbose) {
        lab.emit(&Event::Note(&note)).map_err(CommandError::Output)?;
    }
    if args.resume {
        let verb = if earlier == 1 { "is" } else { "are" };
        let note = format!("the search continues: {} {verb} not repeated", plural(earlier, "run"));
        lab.emit(&Event::Note(&note)).map_err(CommandError::Output)?;
    }
    search(&mut lab).map_err(CommandError::Output)
}
