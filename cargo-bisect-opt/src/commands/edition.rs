//! Search for the expressions that make a target pass in edition 2021 and fail in 2024, or the reverse.
//!
//! The editions differ in the places where temporaries are dropped. [`bisect-rustc`](crate::compiler::bisect_rustc)
//! compiles single expressions with the semantics of the other edition. A pattern selects them, as it selects
//! functions.

use std::{collections::BTreeSet, io, path::Path, sync::Arc};

use bisect_core::{
    ChangeId,
    search::{Outcome, Question, Reason, Unusable, Verdict},
};

use crate::{
    axes::{
        compared_options::ComparedOptions,
        compilation::Compilation,
        gated::{self, GatedChanges, Gates, KnownChanges},
    },
    cargo::{CargoError, Edition, Project, graph::Package},
    compiler::bisect_rustc::{self, BisectRustcError},
    lab::{Lab, OtherFailure, Searched},
    output::events::Event,
    record::exit_status::Exit,
    report::content::{Location, Report},
    run::cause::Cause,
    targets::project::{ProjectOptions, ProjectTarget},
};

/// The search that `--edition` requests.
#[derive(Debug)]
pub(crate) struct Editions {
    edition: Edition,
    program: ProjectTarget,
    is_build: bool,
    /// A description of the packages that are not searched, for people.
    left_out: Option<String>,
}

/// A reason why `--edition` cannot search.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EditionError {
    /// There is no usable `bisect-rustc`.
    #[error("expressions cannot be searched: {0}")]
    Driver(#[from] BisectRustcError),
    /// The project cannot be loaded or built.
    #[error(transparent)]
    Cargo(#[from] CargoError),
    /// No package has the edition to compare with.
    #[error(
        "--edition {edition}: no package that is searched is written in edition {other}, so no expression would mean something else: {}; {}",
        .found.join(", "),
        match outside {
            Some(package) => format!(
                "{package} is not in the workspace: make a copy a member, and use that by `[patch]` in Cargo.toml"
            ),
            None => "name other packages with -p".to_owned(),
        }
    )]
    Nothing {
        /// The edition in `--edition`.
        edition: Edition,
        /// The edition that packages must have.
        other: Edition,
        /// The packages, with their editions.
        found: Vec<String>,
        /// A package of the other edition that the command line names and that is not in the workspace.
        outside: Option<String>,
    },
}

impl EditionError {
    /// Returns true if the command line is wrong.
    pub(crate) fn is_usage(&self) -> bool {
        match self {
            EditionError::Driver(error) => error.is_usage(),
            EditionError::Cargo(error) => error.is_usage(),
            EditionError::Nothing { .. } => true,
        }
    }
}

/// Parses an edition whose expressions can be searched.
pub(crate) fn parse(text: &str) -> Result<Edition, String> {
    match text {
        "2021" => Ok(Edition::E2021),
        "2024" => Ok(Edition::E2024),
        _ => Err("it is 2021 or 2024: expressions mean the same in other editions as in 2021".to_owned()),
    }
}

impl Editions {
    /// Reads the arguments and the workspace, and finds the compiler, before the first build.
    ///
    /// # Errors
    /// If the arguments, the compiler or the workspace cannot be used.
    pub(crate) fn prepare(
        settings: ProjectOptions,
        edition: Edition,
        driver: Option<&Path>,
    ) -> Result<Self, EditionError> {
        let project = Arc::new(Project::load(settings.subcommand, &settings.cargo, &settings.target)?);
        let packages = project.packages()?;
        let other = gated::other(edition);
        let named = project.named_packages();
        let is_asked_for = |package: &&Package| if named.is_empty() { package.is_own } else { package.is_root };
        let (chosen, left_out): (Vec<_>, Vec<_>) =
            packages.iter().filter(is_asked_for).partition(|package| package.edition == other);
        let tell = |package: &&Package| format!("{} is of {}", package.name, package.edition);
        let left_out: Vec<_> = left_out.iter().map(tell).collect();
        if chosen.is_empty() {
            let is_named = |package: &Package| {
                let with_version = format!("{}@{}", package.name, package.version);
                named.iter().any(|named| **named == *package.name || **named == *with_version)
            };
            let is_outside = |package: &&Package| !package.is_own && package.edition == other && is_named(package);
            let outside = packages.iter().find(is_outside).map(Package::describe);
            return Err(EditionError::Nothing { edition, other, found: left_out, outside });
        }
        // Only now: without packages to search, a user does not need to install it.
        let driver = bisect_rustc::find(driver, project.rustc_version())?;
        let chosen: BTreeSet<ChangeId> = chosen.into_iter().map(|package| package.change).collect();
        let is_build = settings.subcommand.is_build();
        let compilation = Compilation::new(&project, packages, ComparedOptions::default()).map_err(CargoError::Io)?;
        let level = GatedChanges {
            compilation: Arc::new(compilation),
            packages: chosen,
            driver,
            // Only a build can fail because of the borrow checker alone.
            gates: Gates::Expressions { edition, with_borrows: is_build },
            known: KnownChanges::default(),
            held: BTreeSet::new(),
        };
        let left_out = (!left_out.is_empty()).then(|| format!("left as they are: {}", left_out.join(", ")));
        Ok(Self { edition, program: ProjectTarget::new(settings, project, Box::new(level), None), is_build, left_out })
    }

    /// Returns the directory of the workspace.
    pub(crate) fn root(&self) -> &Path {
        crate::lab::target::Target::root(&self.program)
    }

    /// Searches, and emits the end of the search.
    ///
    /// # Errors
    /// If an event cannot be emitted.
    pub(crate) fn run(&mut self, lab: &mut Lab<'_>) -> io::Result<Exit> {
        if let Some(left_out) = &self.left_out {
            lab.emit(&Event::Note(left_out))?;
        }
        let mut searched = lab.search(&mut self.program)?;
        let begun = lab.elapsed();
        if searched.end.status == Exit::Nothing
            && let Some(other_failure) = searched.other_failure.take()
            && let Some(program) = self.program.holding(&other_failure.changes)
        {
            lab.emit(&Event::Note(&self.note(&other_failure)))?;
            self.program = program;
            let duration = searched.end.duration;
            searched = lab.search(&mut self.program)?;
            searched.end.duration = duration + lab.time_since(begun);
            (searched.end.trials, searched.end.runs) = (lab.totals.trials, lab.totals.runs);
        }
        let Searched { end, found, verdict, .. } = searched;
        lab.list(&found)?;
        let advice = match verdict {
            Some(Verdict::Unusable(Unusable::Unresolved(Question::AllOn, Reason::Build))) => self.about_build(lab),
            Some(Verdict::NoDifference(Outcome::Pass)) => Some(format!(
                "with every expression as in edition {} it still {}. What else the editions differ in is decided for whole \
                 crates: `cargo fix --edition` reports most differences",
                self.edition,
                if self.is_build { "compiles" } else { "passes" }
            )),
            _ => None,
        };
        if let Some(advice) = advice {
            lab.emit(&Event::Note(&advice))?;
        }
        lab.end(end)
    }

    /// Returns the note that the search goes on without the changes that make the target fail in another way.
    fn note(&self, OtherFailure { reports, both, .. }: &OtherFailure) -> String {
        let name = |change: &Report| match &change.location {
            Some(Location { file, line: Some(line), .. }) => format!("{} at {file}:{line}", change.name),
            _ => change.name.clone(),
        };
        let ([with, without], names) = (both.at_ends(), reports.iter().map(name).collect::<Vec<_>>().join(" and "));
        let (stay, own) = (if reports.len() == 1 { "stays" } else { "stay" }, gated::other(self.edition));
        format!(
            "{names} {stay} as in edition {own}, because of {with}: with all others as in edition {}, the target passes, so \
             the search goes on for what repairs {without}",
            self.edition
        )
    }

    /// Returns advice for a target that does not compile when every expression has the semantics of the other edition.
    fn about_build(&self, lab: &Lab<'_>) -> Option<String> {
        match self.program.build_without_changes(lab.interrupt) {
            Ok(()) => Some(format!(
                "with every expression as in edition {}, it does not compile: `cargo bisect-opt build --edition {0}` names those \
                 that do not",
                self.edition
            )),
            Err(CargoError::Build { messages, .. }) => Some(format!(
                "it does not compile as it is either: {}; mend that first",
                Cause::of_messages(messages.as_bytes())
            )),
            Err(_) => None,
        }
    }
}
