//! Preparations of a search: building the target, and finding the changes to search.

use std::{collections::BTreeSet, env, ffi::OsString, path::Path, sync::Arc};

use super::{listing, options::ProjectOptions, target::ProjectTarget};
use crate::{
    axes::{
        Axis,
        as_it_stands::AsItStands,
        build_toggles::BuildToggles,
        command_spec::AxisError,
        option_axis::{ChosenAxis, SearchedTarget, Show},
        runtime_toggles::RuntimeToggles,
        rustflags::Rustflags,
        table,
    },
    cargo::{
        Artifacts, BuildOutput, BuildOverrides, CargoError, Project, Subcommand, toggle_choice::choose,
        toggle_list::toggles_of, toggles::Toggle, unknown_fixes, with_own_target_directories,
    },
    output::terminal,
    process::{interrupt::Interrupt, scratch_dir::ScratchDir},
};

/// Returns the toggles in what cargo builds for these arguments: the answer of `cargo bisect-opt toggles`.
///
/// # Errors
/// If it does not build, or if the executables do not list their toggles.
///
/// The second value is a note about names of fixed toggles that no toggle has.
pub(crate) fn toggles(
    cargo: &[OsString],
    target: &[OsString],
    quiet: bool,
    interrupt: &Interrupt,
) -> Result<(BTreeSet<Toggle>, Option<String>), CargoError> {
    let project = Project::load(Subcommand::Test, cargo, target)?;
    let scratch = ScratchDir::new()?;
    let artifacts = first_build(&project, quiet, scratch.path(), interrupt)?;
    let toggles = toggles_of(&project, &artifacts, None, scratch.path(), interrupt)?;
    let unknown = unknown_fixes(&project, &toggles);
    Ok((toggles, unknown))
}

/// Builds a project, and finds the toggles or flags to search.
///
/// # Errors
/// If it cannot be built, or if it does not have these toggles.
pub(crate) fn prepare(options: ProjectOptions, interrupt: &Interrupt) -> Result<ProjectTarget, CargoError> {
    check_launcher(&options)?;
    let flags = options.rustflags.as_deref().map(|text| Rustflags::new(text, &options.toggles)).transpose();
    let flags = flags.map_err(|error| CargoError::Usage(error.to_string()))?;
    let project = Arc::new(Project::load(options.subcommand, &options.cargo, &options.target)?);
    if let Some(flags) = flags {
        // Each run builds. A build without any of the flags before the first run would be superfluous.
        return Ok(ProjectTarget::new(options, project, Box::new(flags), None));
    }
    if options.subcommand.is_build() {
        let axis = listing::build_toggles(&options, &project, interrupt)?;
        return Ok(ProjectTarget::new(options, project, Box::new(axis), None));
    }
    let scratch = ScratchDir::new()?;
    let artifacts = first_build(&project, options.quiet, scratch.path(), interrupt)?;
    project.executables(&artifacts)?;
    let toggles = toggles_of(&project, &artifacts, options.timeout, scratch.path(), interrupt)?;
    let choice = choose(&toggles, &options.toggles, table::without_toggles)?;
    let unknown = unknown_fixes(&project, &toggles);
    let axis: Box<dyn Axis> = if choice.build_time {
        Box::new(BuildToggles::new(toggles, choice.names, false))
    } else {
        Box::new(RuntimeToggles::new(toggles, choice.names))
    };
    let mut target = ProjectTarget::new(options, project, axis, Some(artifacts));
    target.knowledge.notes.repeat(choice.note.into_iter().chain(unknown));
    Ok(target)
}

/// Prepares the search of a project by an axis that the user chose. If runs do not build, it is built before them.
///
/// # Errors
/// If cargo's arguments, the workspace or the option of the axis are invalid.
pub(crate) fn prepare_axis(
    options: ProjectOptions,
    chosen: &ChosenAxis,
    interrupt: &Interrupt,
) -> Result<ProjectTarget, AxisError> {
    check_launcher(&options)?;
    let users = Project::load(options.subcommand, &options.cargo, &options.target)?;
    let directory = &env::current_dir().map_err(CargoError::from)?;
    let show = Show { lines: terminal::show_lines, lines_if_live: terminal::show_lines_if_live };
    let show = (!options.quiet).then_some(show);
    let axis = chosen.prepare(&SearchedTarget { directory, project: Some(&users), command: &[], interrupt, show })?;
    let project = match axis.copies() {
        None => users,
        Some(copies) => {
            check_paths(&options, copies.original(), chosen.option.name)?;
            with_own_target_directories(&users).map_err(CargoError::from)?
        }
    };
    let artifacts = if axis.facts().builds {
        None
    } else {
        let scratch = ScratchDir::new().map_err(CargoError::from)?;
        let artifacts = first_build(&project, options.quiet, scratch.path(), interrupt)?;
        project.executables(&artifacts)?;
        Some(artifacts)
    };
    Ok(ProjectTarget::new(options, Arc::new(project), axis, artifacts))
}

/// Checks that no argument names a file below the top directory of sources that runs have copies of.
fn check_paths(options: &ProjectOptions, top: &Path, option: &str) -> Result<(), CargoError> {
    let (name, real) = (top.display().to_string(), fs_err::canonicalize(top)?);
    let is_below = |word: &&OsString| {
        let word = word.to_string_lossy();
        // A path may lead there through a link.
        let path = Path::new(word.split_once('=').map_or(&*word, |(_, value)| value));
        let is_real = || path.is_absolute() && path.canonicalize().is_ok_and(|path| path.starts_with(&real));
        word.contains(&name) || is_real()
    };
    let Some(word) = options.cargo.iter().find(is_below) else { return Ok(()) };
    Err(CargoError::Usage(format!(
        "`{}` names a file of your work tree, but --{option} runs in other work trees: give a path relative to the working directory",
        word.display()
    )))
}

/// Prepares a single run of a project.
///
/// # Errors
/// If cargo's arguments or the workspace are invalid.
pub(crate) fn as_it_stands(options: ProjectOptions) -> Result<ProjectTarget, CargoError> {
    check_launcher(&options)?;
    let project = Project::load(options.subcommand, &options.cargo, &options.target)?;
    Ok(ProjectTarget::new(options, Arc::new(project), Box::new(AsItStands { builds: true }), None))
}

/// Checks that a launcher has something to start.
fn check_launcher(options: &ProjectOptions) -> Result<(), CargoError> {
    if options.subcommand.is_build() && options.launcher.is_some() {
        return Err(CargoError::Usage(
            "--launcher starts what was built, and of a build nothing is started: leave it out, or search with `test` or `run`".to_owned(),
        ));
    }
    Ok(())
}

/// Builds a project for an axis that needs no list of toggles.
///
/// # Errors
/// If it cannot be built.
pub(crate) fn prepare_for(
    options: ProjectOptions,
    axis: Box<dyn Axis>,
    interrupt: &Interrupt,
) -> Result<ProjectTarget, CargoError> {
    let project = Arc::new(Project::load(options.subcommand, &options.cargo, &options.target)?);
    let scratch = ScratchDir::new()?;
    let artifacts = first_build(&project, options.quiet, scratch.path(), interrupt)?;
    project.executables(&artifacts)?;
    Ok(ProjectTarget::new(options, project, axis, Some(artifacts)))
}

fn first_build(project: &Project, quiet: bool, scratch: &Path, interrupt: &Interrupt) -> Result<Artifacts, CargoError> {
    let log = scratch.join("build.log");
    let output = if quiet { BuildOutput::Log(&log) } else { BuildOutput::Shown(terminal::show_lines) };
    project.build_in(0, &BuildOverrides::default(), output, scratch, interrupt)
}
