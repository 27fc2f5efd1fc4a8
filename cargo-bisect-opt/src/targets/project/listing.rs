//! The toggles of a project whose build may fail.
//!
//! Where a build is the target, a toggle that breaks it must be known nevertheless.
//!
//! Only executables can list their toggles, and with all changes compiled in there may be no executables. So they are
//! built with all changes left out, or, if that breaks the build, with all changes. A library alone has no executables
//! except those of its tests; nor has a project that is only checked.

use std::{collections::BTreeSet, ffi::OsString};

use bisect_core::protocol::names;

use super::options::ProjectOptions;
use crate::{
    axes::{build_toggles::BuildToggles, table},
    cargo::{
        BuildOutput, BuildOverrides, CargoError, KEEP_GOING, Project, Subcommand, graph::Package,
        toggle_choice::choose, toggle_list::toggles_of, toggles::Toggle,
    },
    output::terminal,
    process::{interrupt::Interrupt, scratch_dir::ScratchDir, variables::Variables},
};

/// Finds the build-time changes of a project, and selects those to search.
///
/// # Errors
/// If there are none, or they cannot be listed.
pub(super) fn build_toggles(
    options: &ProjectOptions,
    project: &Project,
    interrupt: &Interrupt,
) -> Result<BuildToggles, CargoError> {
    let all = list(options, project, interrupt)?;
    let (build_time, runtime): (BTreeSet<_>, BTreeSet<_>) = all.into_iter().partition(|toggle| toggle.build.is_some());
    let names = |toggles: &BTreeSet<Toggle>| toggles.iter().map(|toggle| toggle.name.clone()).collect::<BTreeSet<_>>();
    let (built, not_built) = (names(&build_time), names(&runtime));
    let name = options.subcommand.name();
    if let Some(wanted) = options.toggles.iter().find(|&name| !built.contains(name) && not_built.contains(name)) {
        return Err(CargoError::Usage(format!(
            "`{wanted}` is decided at run time, and `cargo {name}` runs nothing\n\
             help: search it with `cargo bisect-opt test` or `run`"
        )));
    }
    if build_time.is_empty() && !not_built.is_empty() {
        return Err(CargoError::Nothing(format!(
            "no toggle is decided while compiling, and `cargo {name}` runs nothing\n\
             help: search with `cargo bisect-opt test` or `run`; or how crates are compiled, with --codegen"
        )));
    }
    let names = choose(&build_time, &options.toggles, table::without_toggles)?.names;
    Ok(BuildToggles::new(build_time, names, true))
}

/// Returns the toggles of the parts of a project that can be built.
fn list(options: &ProjectOptions, project: &Project, interrupt: &Interrupt) -> Result<BTreeSet<Toggle>, CargoError> {
    let words: Vec<OsString> = options.cargo.iter().filter(|word| *word != KEEP_GOING).cloned().collect();
    let tests = Project::load(Subcommand::Test, &words, &[])?;
    let mut listed = None;
    for project in [&tests, project] {
        // `cargo check` makes nothing that can be started.
        if project.subcommand == Subcommand::Check {
            continue;
        }
        if let Some(toggles) =
            list_by(options, project, interrupt)?.filter(|toggles| !toggles.is_empty() || listed.is_none())
        {
            listed = Some(toggles);
        }
        if listed.as_ref().is_some_and(|toggles| !toggles.is_empty()) {
            break;
        }
    }
    listed.ok_or_else(|| {
        let command = project.command_line();
        CargoError::Nothing(format!(
            "`{command}` fails with all build-time changes and without any, so there is nothing that could list them"
        ))
    })
}

/// Builds a project, with no change or else with all of them, and returns its toggles; `None` if it does not build
/// either way.
fn list_by(
    options: &ProjectOptions,
    project: &Project,
    interrupt: &Interrupt,
) -> Result<Option<BTreeSet<Toggle>>, CargoError> {
    let scratch = ScratchDir::new()?;
    let log = scratch.path().join("build.log");
    let output = if options.quiet { BuildOutput::Log(&log) } else { BuildOutput::Shown(terminal::show_lines) };
    let variable = |package: &Package| names::of_package(names::BUILD, &package.name, &package.version);
    let off = project.packages()?.iter().map(|package| (variable(package), "off")).collect();
    for variables in [off, Variables::default()] {
        let overrides = BuildOverrides { variables, is_plain: true, ..BuildOverrides::default() };
        let built = project.attempt_in(0, &overrides, output, scratch.path(), options.timeout, interrupt)?;
        if built.artifacts.is_complete {
            return toggles_of(project, &built.artifacts, options.timeout, scratch.path(), interrupt).map(Some);
        }
    }
    Ok(None)
}
