//! Searches for crates, then for functions, then for passes: each search continues in the results of the previous one.
//!
//! Crates are few, and each is a build; functions need `bisect-rustc`; passes have an order, and exist only once
//! everything else is fixed.

mod advice;
mod checks;
mod contributors;
mod crate_search;
mod culprit_search;
mod left_out;
mod passing_profile;
mod sources;
mod suspects;
mod unsafe_code;
mod whole_crates;
mod without_passes;

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use bisect_core::{
    ChangeId,
    search::{Incomplete, Mode, Verdict},
};

use super::options::{CodegenArgs, Depth};
use crate::{
    axes::{
        compared_options::{AskedOptions, ComparedOptions, SettingsError},
        compilation::Compilation,
    },
    cargo::{self, CargoError, Project, Subcommand, graph::Package, profiles::OPT_LEVEL},
    compiler::bisect_rustc::{self, BisectRustc, BisectRustcError},
    lab::{Lab, Named, Searched},
    output::events::Event,
    record::exit_status::Exit,
    targets::project::ProjectOptions,
    units::plural,
};
use crate_search::CrateSearch;
use culprit_search::CulpritSearch;
use passing_profile::PassingProfile;

/// The searches that `--codegen` requests.
#[derive(Clone, Debug)]
pub(crate) struct CodegenSearches {
    /// The options of the target.
    pub(crate) settings: ProjectOptions,
    /// The last level.
    pub(crate) depth: Depth,
    /// The path of `bisect-rustc`, if the user gave one.
    pub(crate) driver: Option<PathBuf>,
    /// Set if the user gave no good options.
    pub(crate) has_default_good: bool,
    /// The profile whose settings are good, if they are those of a profile.
    pub(crate) good_profile: Option<String>,
    /// The compilation of all packages.
    pub(crate) compilation: Arc<Compilation>,
    /// The project that is compiled.
    pub(crate) project: Arc<Project>,
}

/// A reason why `--codegen` cannot search.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CodegenError {
    /// `--good` or `--bad` is invalid.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The `bisect-rustc` that the user named cannot be used.
    #[error(transparent)]
    Driver(#[from] BisectRustcError),
    /// The project cannot be loaded or built.
    #[error(transparent)]
    Cargo(#[from] CargoError),
}

impl CodegenError {
    /// Returns true if the command line is wrong.
    pub(crate) fn is_usage(&self) -> bool {
        match self {
            CodegenError::Settings(_) => true,
            CodegenError::Driver(error) => error.is_usage(),
            CodegenError::Cargo(error) => error.is_usage(),
        }
    }
}

impl CodegenSearches {
    /// Reads the arguments, the configuration and the workspace, before the first build.
    ///
    /// # Errors
    /// If the arguments, the configuration or the workspace are invalid.
    pub(crate) fn prepare(
        settings: ProjectOptions,
        asked: &CodegenArgs,
        driver: Option<&Path>,
    ) -> Result<Self, CodegenError> {
        let project = Project::load(settings.subcommand, &settings.cargo, &settings.target)?;
        let AskedOptions { contrast, mut good_profile, bad_profile } =
            ComparedOptions::parse(&asked.good, &asked.bad, &project.profiles())?;
        let used = project.profile();
        let project = match bad_profile {
            Some(bad) if used.is_selected && used.name != bad => {
                return Err(SettingsError::OtherProfile { bad, cargos: used.name }.into());
            }
            Some(bad) => cargo::in_profile(&project, &bad),
            None if used.is_selected => project,
            None => cargo::in_profile(&project, "release"),
        };
        if let Some(path) = driver
            && let Err(error) = bisect_rustc::find(Some(path), project.rustc_version())
            && error.is_usage()
        {
            return Err(error.into());
        }
        let packages = project.packages()?;
        let compilation = Compilation::new(&project, packages, contrast).map_err(CargoError::Io)?;
        // `check` generates no code, so it has no functions and no passes.
        let depth = if settings.subcommand == Subcommand::Check { Depth::Crates } else { asked.level };
        let driver = driver.map(Path::to_owned);
        let has_default_good = asked.good.is_empty();
        let is_optimized = |package: &Package| compilation.bad_value(package, OPT_LEVEL) != "0";
        if has_default_good && asked.bad.is_empty() && !compilation.packages.iter().any(is_optimized) {
            // Without optimization, the dev profile is not compared with itself, but with the release profile.
            good_profile = Some("release".to_owned());
        }
        let compilation = match &good_profile {
            Some(good) if has_default_good => compilation.in_profile(&project, ComparedOptions::default()),
            _ => compilation,
        };
        let (compilation, project) = (Arc::new(compilation), Arc::new(project));
        let drill = Self { settings, depth, driver, has_default_good, good_profile, compilation, project };
        match &drill.good_profile {
            Some(good) if !has_default_good && drill.compares_with_itself(good) => {
                let bad = drill.compilation.profile.clone();
                Err(SettingsError::SameProfiles { good: good.clone(), bad }.into())
            }
            _ => Ok(drill),
        }
    }

    /// Returns true if a profile gives all packages what they have anyway.
    fn compares_with_itself(&self, good: &str) -> bool {
        let Compilation { contrast, .. } = &*self.compilation;
        *contrast == ComparedOptions::default()
            && PassingProfile::new(self, good).whole().contrast.good == contrast.good
    }

    /// Returns true if the dev profile is the one that is searched.
    fn is_in_dev_profile(&self) -> bool {
        self.project.profile().effective == cargo::in_profile(&self.project, "dev").profile().effective
    }

    /// Returns the same searches in another profile, without options that are compared.
    fn in_profile(&self, name: &str) -> Self {
        let project = cargo::in_profile(&self.project, name);
        let compilation = self.compilation.in_profile(&project, ComparedOptions::default());
        Self { compilation: Arc::new(compilation), project: Arc::new(project), ..self.clone() }
    }

    /// Searches down to the requested level, as far as the toolchain supports it.
    ///
    /// # Errors
    /// If an event cannot be emitted.
    pub(crate) fn run(&self, lab: &mut Lab<'_>) -> io::Result<Exit> {
        let (begun, is_resumed) = (lab.elapsed(), lab.journal.earlier_runs() > 0);
        let CrateSearch { compilation, target: crates, searched } = CrateSearch::run(self, lab)?;
        let Searched { mut end, found, verdict, .. } = searched;
        // If the search is incomplete, the culprits found so far are still searched further.
        let is_limited = matches!(
            verdict,
            Some(Verdict::Incomplete(Incomplete::MaxSets | Incomplete::MaxSetSize | Incomplete::Unresolved(_)))
        );
        let by_crates = whole_crates::decide(&compilation);
        if (end.status == Exit::Found || is_limited) && (self.depth > Depth::Crates || by_crates) {
            let checks = whole_crates::keys(&compilation);
            let (driver, note) = if by_crates {
                let needs = whole_crates::needs(&compilation);
                let note = format!("functions and passes are not searched: {needs}, which applies to whole crates");
                (None, (self.depth > Depth::Crates).then_some(note))
            } else {
                let rest = if self.depth == Depth::Passes { ", but passes are" } else { "" };
                match self.driver() {
                    Ok(driver) => (Some(driver), None),
                    Err(error) => (None, Some(format!("functions are not searched{rest}: {error}"))),
                }
            };
            if let Some(note) = note {
                lab.emit(&Event::Note(&note))?;
            }
            for culprit in &found {
                if culprit.found.mode == Mode::Disable {
                    // The crate needs all of the bad options.
                    let note =
                        "functions and passes are not searched where the target needs the options of --bad to pass";
                    lab.emit(&Event::Note(note))?;
                    continue;
                }
                lab.parent_culprit = Some(culprit.found.set);
                let others = found.iter().filter(|other| other.found.set != culprit.found.set);
                let others: BTreeSet<_> = others.flat_map(packages_of).collect();
                let culprits: BTreeSet<_> = packages_of(culprit).collect();
                let all = compilation.packages.iter().map(|package| package.change);
                let bad = all.filter(|change| culprits.contains(change) || !others.contains(change)).collect();
                let search = CulpritSearch {
                    drill: self,
                    compilation: &compilation,
                    crates: &crates,
                    culprits,
                    bad,
                    tests: &culprit.found.tests,
                    failures: &culprit.found.failures,
                    facts: Vec::new(),
                    files: Vec::new(),
                    crates_of_functions: BTreeSet::new(),
                    checks: checks.clone(),
                };
                let answer = search.explain(lab, culprit.found.set, driver.as_ref())?;
                if lab.interrupt.requested() {
                    end.status = Exit::Interrupted;
                    break;
                }
                lab.emit(&Event::Answer(&answer))?;
                end.answers.push(answer);
            }
        }
        // What was compiled before an interruption is not known any more.
        if !is_resumed {
            lab.emit(&Event::Note(&self.compiled()))?;
        }
        end.sets = found.len();
        end.duration = lab.time_since(begun);
        (end.trials, end.runs) = (lab.totals.trials, lab.totals.runs);
        lab.end(end)
    }

    /// Describes the number of compiled crates, for people.
    fn compiled(&self) -> String {
        let compiled = self.compilation.session.compiled.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        let count = compiled.map_or(0, |text| text.lines().count());
        format!(
            "all builds together compiled {}; build scripts and procedural macros count as crates",
            plural(count, "crate")
        )
    }

    fn driver(&self) -> Result<BisectRustc, BisectRustcError> {
        bisect_rustc::find(self.driver.as_deref(), self.project.rustc_version())
    }
}

/// Returns the packages of a culprit of the search for crates.
fn packages_of(culprit: &Named) -> impl Iterator<Item = ChangeId> {
    culprit.reports.iter().map(|change| change.id)
}
