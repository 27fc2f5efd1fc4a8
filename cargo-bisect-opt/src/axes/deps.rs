//! Updates in the lock file as changes: each run is made in a copy of the workspace with some of the new versions.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
};

use bisect_core::{
    ChangeId,
    search::{Mode, Order},
};

use super::{
    AfterBuild, Application, Axis, Files, Place, Preparation,
    command_spec::AxisError,
    option_axis::{AxisResult, OptionAxis, SearchedTarget},
    summary_of_builds,
};
use crate::{
    cargo::{BuildOverrides, CargoError, DependencyUpdates, LockUpdate, Project, Subcommand, UpdatesError},
    output::terms::Terms,
    process::shell,
    report::{
        content::Report,
        kind::{ChangeKind, ShownSource},
        scan::Reports,
    },
    run::{
        error::RunError,
        spec::{Choice, EndState},
    },
    units::plural,
    vcs::file_at::file_at,
};

/// `--deps`.
pub(super) const OPTION: OptionAxis = OptionAxis {
    name: "deps",
    value: "OLD",
    has_default: true,
    help: "Find the updates of dependencies that make the target fail, among the differences between OLD and Cargo.lock. \
           OLD is a lock file or a revision [default: HEAD]. Runs are made in copies of the workspace, without network. \
           Updates that need each other are one change",
    prepare,
};

/// The terms of this axis. The run with all updates reports at least one; equal lock files are refused before it.
const TERMS: Terms = Terms { axis: "deps", change: "update", reported: None, if_none_reported: "there is no update" };
/// Updates that are one change.
const KIND: ChangeKind =
    ChangeKind { name: "dependency", noun: "update", label: "this update", source: ShownSource::Patch };
/// The maximum number of packages in an answer that require an update.
const SHOWN: usize = 8;
/// The variable that keeps cargo from the network.
const OFFLINE: &str = "CARGO_NET_OFFLINE";
/// The variables that choose directories for what cargo builds.
const TARGET_DIRECTORIES: [&str; 2] = ["CARGO_TARGET_DIR", "CARGO_BUILD_BUILD_DIR"];

/// Updates between an old lock file and the present one. *None* is the old one, *all* is the present one.
#[derive(Debug)]
struct Deps {
    updates: DependencyUpdates,
    /// The origin of the old lock file.
    old: String,
    /// The user's working directory, relative to that of the workspace.
    subdirectory: PathBuf,
    /// True if cargo builds in the copy; false if a command is started there.
    builds: bool,
}

fn prepare(target: &SearchedTarget<'_>, old: Option<&OsStr>) -> AxisResult {
    let builds = target.project.is_some();
    let project = match target.project {
        Some(project) => project.in_copy(target.directory, None),
        None => Project::load(Subcommand::Check, &[], &[]),
    }?;
    let old = old.unwrap_or(OsStr::new("HEAD"));
    let file = target.directory.join(old);
    let name = format!("`{}`", old.to_string_lossy());
    let text = if file.is_file() {
        fs_err::read_to_string(&file).map_err(|error| AxisError::Usage(format!("--deps {name}: {error}")))?
    } else {
        file_at(&project.root(), &old.to_string_lossy(), "Cargo.lock").map_err(|error| {
            AxisError::Usage(format!(
                "--deps {name}: there is no such file, and no Cargo.lock in a revision of this name: {error}; give an \
                 old lock file, or a revision that has one"
            ))
        })?
    };
    let root = project.root();
    let subdirectory = target.directory.strip_prefix(&root).map(Path::to_owned).unwrap_or_default();
    let updates = DependencyUpdates::prepare(project, target.directory, &text, &name).map_err(|error| match error {
        UpdatesError::Nothing(why) => AxisError::Nothing(why),
        UpdatesError::Cargo(error) => error.into(),
        error => AxisError::Usage(error.to_string()),
    })?;
    Ok(Box::new(Deps { updates, old: name, subdirectory, builds }))
}

impl Deps {
    /// Returns the changes that a run enables: those that it is asked for, with what they need. A change that is
    /// disabled in a prefix takes along what needs it.
    fn selected(&self, choice: &Choice) -> BTreeSet<usize> {
        let count = self.updates.changes();
        let enabled: BTreeSet<_> = (0..count).filter(|&index| choice.enables(id(index))).collect();
        let mut selected = self.updates.with_needs(&enabled);
        if let Some((_, excluded)) = choice.exceptions(count) {
            let without = self.updates.with_dependents(&excluded.into_iter().collect());
            selected.retain(|change| !without.contains(change));
        }
        selected
    }

    fn updates_of(&self, id: ChangeId) -> Vec<&LockUpdate> {
        index(id).map(|index| self.updates.updates_of(index)).unwrap_or_default()
    }

    fn application(&self) -> Application {
        // The artifacts are those that cargo builds for the user.
        let variables = [(OFFLINE.to_owned(), "true".into())].into();
        let build = BuildOverrides { is_plain: true, variables, ..BuildOverrides::default() };
        Application { build: self.builds.then_some(build), ..Application::default() }
    }
}

impl Axis for Deps {
    fn terms(&self) -> Terms {
        TERMS
    }

    fn subject(&self) -> Option<String> {
        let (updates, changes) = (self.updates.updates(), self.updates.changes());
        let tied = if changes < updates { format!(" as {}", plural(changes, "change")) } else { String::new() };
        Some(format!("{}{tied} since the Cargo.lock of {}", plural(updates, "update"), self.old))
    }

    fn headline(&self, changes: usize, _: Mode) -> Option<String> {
        Some(if changes == 1 {
            "this update makes the target fail".to_owned()
        } else {
            "these updates together make the target fail".to_owned()
        })
    }

    fn order(&self) -> Order {
        Order::Given
    }

    fn apply(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        if choice.is_inverted() && choice.end_state() != Some(EndState::AllOff) {
            return Err(RunError::Unusable(format!(
                "it passes with the present Cargo.lock and fails with that of {}, but `--deps` searches for updates that \
                 make it fail; to find those that repaired it, exchange both lock files",
                self.old
            )));
        }
        let mut application = self.application();
        if !self.builds {
            let target = self.updates.home().join("target-{slot}").display().to_string();
            let directories = TARGET_DIRECTORIES.map(|name| (name.to_owned(), target.clone()));
            application.variables.extend(directories);
            application.variables.push((OFFLINE.to_owned(), "true".to_owned()));
        }
        Ok(application)
    }

    fn reproduction(&self, choice: &Choice, files: &Files<'_>) -> Result<Application, RunError> {
        fs_err::create_dir_all(files.directory)?;
        let path = files.directory.join(format!("{}.lock", files.stem));
        fs_err::write(&path, self.updates.lock_file(&self.selected(choice)))?;
        let root = self.updates.root();
        let lock_file = shell::quote(&path);
        let copy = |from: &str, lock_file: &str| {
            let directory = shell::quote(Path::new(".").join(&self.subdirectory));
            format!(
                "tree=$(mktemp -d) && trap 'rm -rf \"$tree\"' EXIT && \
                 tar -C {from} --exclude=.git --exclude=./target -cf - . | tar -xf - -C \"$tree\" && \
                 cp {lock_file} \"$tree/Cargo.lock\" && cd \"$tree\" && cd {directory}"
            )
        };
        let absolute = std::path::absolute(&path)?;
        let preparation = Preparation {
            person: format!("cp {lock_file} {}", shell::quote(self.lock_file_from_here())),
            replay: copy(&shell::quote(root), &shell::quote(&absolute)),
        };
        Ok(Application { preparation: Some(preparation), ..self.application() })
    }

    fn place(&self, choice: &Choice, slot: usize) -> Result<Option<Place>, RunError> {
        let placed = self.updates.place(&self.selected(choice), slot).map_err(|error| match error {
            CargoError::Interrupted => RunError::Interrupted,
            CargoError::Spawn(error) => RunError::Spawn(error),
            CargoError::Io(error) => RunError::Io(error),
            error => RunError::Unusable(error.to_string()),
        })?;
        Ok(Some(match placed {
            Ok(place) => Place::At(place),
            Err(why) => Place::Missing(why),
        }))
    }

    fn copied(&self) -> Option<&Path> {
        Some(self.updates.root())
    }

    fn builds(&self) -> bool {
        self.builds
    }

    fn is_reported_by_target(&self) -> bool {
        false
    }

    fn collect(&self, choice: &Choice, _: &AfterBuild<'_>, reports: &mut Reports) -> io::Result<()> {
        reports.add_known((0..self.updates.changes()).map(id).filter(|&id| choice.selects(id)));
        Ok(())
    }

    fn needs_text_run(&self) -> bool {
        false
    }

    fn moves_lines(&self) -> bool {
        true
    }

    fn change(&self, report: Report, _: &Path) -> Report {
        let updates = self.updates_of(report.id);
        let Some(first) = updates.first() else { return report };
        let text: Vec<_> = updates.iter().map(ToString::to_string).collect();
        let mut details = Vec::new();
        if updates.len() > 1 {
            details.push(format!("{} that need each other:", plural(updates.len(), "update")));
        }
        for update in &updates {
            details.push(format!("{update}, {}", required_by(&update.required_by)));
        }
        if let Some(change) = index(report.id) {
            let needed = self.updates.with_needs(&[change].into());
            let needed = needed.into_iter().filter(|&other| other != change);
            let needed = needed.flat_map(|other| self.updates.updates_of(other)).map(ToString::to_string);
            let needed: Vec<_> = needed.collect();
            if !needed.is_empty() {
                details.push(format!("it needs {}", needed.join(", ")));
            }
        }
        Report { kind: KIND, name: first.name.clone(), text, details, ..report }
    }

    fn summary(&self, builds: usize, invocations: usize) -> Option<String> {
        self.builds.then(|| summary_of_builds(builds, invocations))
    }
}

impl Deps {
    /// Returns the path of the lock file, relative to the user's working directory.
    fn lock_file_from_here(&self) -> PathBuf {
        let up: PathBuf = self.subdirectory.components().map(|_| "..").collect();
        up.join("Cargo.lock")
    }
}

/// Formats the packages that require an update.
fn required_by(packages: &[String]) -> String {
    if packages.is_empty() {
        return "required by no package".to_owned();
    }
    let shown = packages.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match packages.len().saturating_sub(SHOWN) {
        0 => format!("required by {shown}"),
        more => format!("required by {shown} and {more} more"),
    }
}

/// Returns the ID of the change with this index.
fn id(index: usize) -> ChangeId {
    ChangeId(index as u64)
}

/// Returns the index of a change.
fn index(id: ChangeId) -> Option<usize> {
    usize::try_from(id.0).ok()
}
