//! "It works in edition 2021 and fails in 2024": which expressions?
//!
//! The editions differ in where temporaries are dropped. [`bisect-rustc`](crate::compiler::bisect_rustc) compiles single expressions as
//! the other edition would; which, is a pattern, so that this is a search like that of functions.

use std::{
    collections::BTreeSet,
    io,
    path::Path,
    sync::{Arc, Mutex},
};

use bisect_core::{
    ChangeId,
    search::{Outcome, Question, Reason, Unusable, Verdict},
};

use crate::{
    axes::{
        compilation::Compilation,
        contrast::Contrast,
        gated::{Gated, Gates},
    },
    cargo::{CargoError, Edition, Project, graph::Package},
    compiler::bisect_rustc::{self, BisectRustcError},
    lab::{Lab, Searched},
    output::{events::Event, exit_status::Exit},
    run::cause::Cause,
    targets::project::{ProjectOptions, ProjectTarget},
};

/// What the user asks for.
#[derive(Debug)]
pub(crate) struct Editions {
    edition: Edition,
    program: ProjectTarget,
    is_build: bool,
    /// Packages that stay as they are, for people.
    left_out: Option<String>,
}

/// Why there is no search.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EditionError {
    /// There is no compiler that could do it.
    #[error("expressions cannot be searched: {0}")]
    Driver(#[from] BisectRustcError),
    /// What is to be built cannot be.
    #[error(transparent)]
    Cargo(#[from] CargoError),
    /// Nothing would change.
    #[error(
        "--edition {edition}: of what is to be searched nothing is written in edition {other}, which is what can be compared: {}",
        .found.join(", ")
    )]
    Nothing {
        /// What was asked for.
        edition: Edition,
        /// What packages should be written in.
        other: Edition,
        /// What they are written in.
        found: Vec<String>,
    },
}

impl EditionError {
    /// Whether other words on the command line would help.
    pub(crate) fn is_usage(&self) -> bool {
        match self {
            EditionError::Driver(error) => error.is_usage(),
            EditionError::Cargo(error) => error.is_usage(),
            EditionError::Nothing { .. } => true,
        }
    }
}

/// The editions between which expressions can be searched.
pub(crate) fn parse(text: &str) -> Result<Edition, String> {
    match text {
        "2021" => Ok(Edition::E2021),
        "2024" => Ok(Edition::E2024),
        _ => Err("it is 2021 or 2024: expressions mean the same in other editions as in 2021".to_owned()),
    }
}

impl Editions {
    /// Reads what is needed before the first build.
    ///
    /// # Errors
    /// If the arguments, the compiler or the workspace are not as they should be.
    pub(crate) fn prepare(
        settings: ProjectOptions,
        edition: Edition,
        driver: Option<&Path>,
    ) -> Result<Self, EditionError> {
        let project = Arc::new(Project::load(settings.subcommand, &settings.cargo, &settings.target)?);
        let packages = project.packages()?;
        let other = if edition == Edition::E2021 { Edition::E2024 } else { Edition::E2021 };
        let is_asked_for = |package: &&Package| if project.names_packages() { package.is_root } else { package.is_own };
        let (chosen, left_out): (Vec<_>, Vec<_>) =
            packages.iter().filter(is_asked_for).partition(|package| package.edition == other);
        let tell = |package: &&Package| format!("{} is of {}", package.name, package.edition);
        let left_out: Vec<_> = left_out.iter().map(tell).collect();
        if chosen.is_empty() {
            return Err(EditionError::Nothing { edition, other, found: left_out });
        }
        // Whoever lacks it is not told to get it for nothing.
        let driver = bisect_rustc::find(driver, &project.rustc_version())?;
        let chosen: BTreeSet<ChangeId> = chosen.into_iter().map(|package| package.change).collect();
        let is_build = settings.subcommand.is_build();
        let compilation = Compilation::new(&project, packages, Contrast::default()).map_err(CargoError::Io)?;
        let level = Gated {
            compilation: Arc::new(compilation),
            packages: chosen,
            driver,
            // What is only built can fail by what the borrow checker says alone.
            gates: Gates::Expressions { edition, with_borrows: is_build },
            told: Mutex::default(),
        };
        let left_out = (!left_out.is_empty()).then(|| format!("left as they are: {}", left_out.join(", ")));
        Ok(Self { edition, program: ProjectTarget::new(settings, project, Box::new(level), None), is_build, left_out })
    }

    /// The directory of the workspace.
    pub(crate) fn root(&self) -> &Path {
        crate::lab::target::Target::root(&self.program)
    }

    /// Searches.
    ///
    /// # Errors
    /// If an event cannot be told.
    pub(crate) fn run(&mut self, lab: &mut Lab<'_>) -> io::Result<Exit> {
        if let Some(left_out) = &self.left_out {
            lab.emit(&Event::Note(left_out))?;
        }
        let Searched { end, found, verdict } = lab.search(&mut self.program)?;
        lab.list(&found)?;
        let advice = match verdict {
            Some(Verdict::Unusable(Unusable::Unresolved(Question::AllOn, Reason::Build))) => self.about_build(lab),
            Some(Verdict::NoDifference(Outcome::Pass)) => Some(format!(
                "with every expression as in edition {} it still {}. What else the editions differ in is decided for whole \
                 crates: `cargo fix --edition` knows most of it",
                self.edition,
                if self.is_build { "compiles" } else { "passes" }
            )),
            _ => None,
        };
        if let Some(advice) = advice {
            lab.emit(&Event::Note(&advice))?;
        }
        lab.emit(&Event::End(&end))?;
        Ok(end.status)
    }

    /// What to do where it does not compile with every expression as in the other edition.
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
