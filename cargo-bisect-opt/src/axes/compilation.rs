//! How the whole graph is compiled for one run: each package in its good or in its bad way, and some by a plan.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use bisect_core::{ChangeId, protocol::names};

use super::Application;
use super::contrast::{Contrast, Settings};
use crate::{
    cargo::{Artifacts, BuildOverrides, CargoError, Project, graph::Package},
    compiler::{
        passes::Passes,
        plan::{self, Counter, CounterKind, Plan},
        wrapper::WrapperConfig,
    },
    process::owned_dir::OwnedDir,
};

/// What does not change during a search.
#[derive(Clone, Debug)]
pub(crate) struct Compilation {
    /// What may be compiled either way.
    pub(crate) packages: Vec<Package>,
    /// The two ways.
    pub(crate) contrast: Contrast,
    /// The profile that they differ from.
    pub(crate) profile: String,
    /// What of it holds for all packages and is otherwise than the user says, as for `--config`.
    pub(crate) settings: Vec<String>,
    /// What the wrapper is told.
    pub(crate) session: WrapperConfig,
    /// This executable, which is the wrapper.
    pub(crate) wrapper: PathBuf,
    /// Keys of the profile of packages that were compiled in the bad way, and their values as TOML.
    pub(crate) seen: Arc<Mutex<BTreeMap<ChangeId, BTreeMap<&'static str, String>>>>,
    /// Files that nobody needs after the search.
    _scratch: Arc<OwnedDir>,
}

impl Compilation {
    /// That of a project's packages.
    ///
    /// # Errors
    /// If there can be no directory for what a search needs only while it lasts.
    pub(crate) fn new(project: &Project, packages: Vec<Package>, contrast: Contrast) -> io::Result<Self> {
        let scratch = project.scratch()?;
        let session = WrapperConfig {
            inner: project.rustc_wrapper().map(Path::to_owned),
            compiled: Some(scratch.path().join("compiled")),
            keep: Some(scratch.path().join("kept")),
        };
        let (profile, seen, scratch) = (project.profile(), Arc::default(), Arc::new(scratch));
        let wrapper = std::env::current_exe()?;
        Ok(Self { packages, contrast, profile, settings: Vec::new(), session, wrapper, seen, _scratch: scratch })
    }

    /// The package that a change is, or that it is in.
    pub(crate) fn package(&self, change: ChangeId) -> Option<&Package> {
        let within = |package: &&Package| change.in_crate(package.change) == change;
        let exactly = |package: &&Package| package.change == change;
        self.packages.iter().find(exactly).or_else(|| self.packages.iter().find(within))
    }

    /// The package that a source file is part of, by where it is.
    pub(crate) fn defining(&self, file: &Path) -> Option<&Package> {
        let packages = self.packages.iter().filter(|package| file.starts_with(&package.directory));
        packages.max_by_key(|package| package.directory.components().count())
    }

    /// The names of packages, for people.
    pub(crate) fn names(&self, changes: &BTreeSet<ChangeId>) -> String {
        let packages = changes.iter().filter_map(|&change| self.package(change));
        packages.map(|package| package.name.clone()).collect::<Vec<_>>().join(" and ")
    }

    /// Takes a look at what was built: the packages that are in it, and what the profile says of those compiled in the bad
    /// way.
    pub(crate) fn see(&self, artifacts: &Artifacts, bad: &BTreeSet<ChangeId>) -> BTreeSet<ChangeId> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut built = BTreeSet::new();
        for package in &self.packages {
            let Some(keys) = artifacts.packages.get(&package.id) else { continue };
            built.insert(package.change);
            if bad.contains(&package.change) {
                seen.entry(package.change).or_insert_with(|| keys.clone());
            }
        }
        built
    }

    /// The same, with these settings of the profile for all packages.
    pub(crate) fn with_settings(&self, settings: Vec<String>) -> Self {
        Self { settings, ..self.clone() }
    }

    fn side(&self, is_bad: bool) -> &Settings {
        if is_bad { &self.contrast.bad } else { &self.contrast.good }
    }

    /// The plan of a package that nothing but its side is said about.
    pub(crate) fn plan(&self, is_bad: bool) -> Plan {
        Plan { flags: self.side(is_bad).flags.clone(), ..Plan::default() }
    }

    /// A build in which these packages are compiled in the bad way, and those with a plan by that.
    pub(crate) fn with(&self, bad: &BTreeSet<ChangeId>, plans: &BTreeMap<ChangeId, Plan>) -> BuildOverrides {
        let mut variables: BTreeMap<String, OsString> = BTreeMap::new();
        let mut settings = self.settings.clone();
        for package in &self.packages {
            let is_bad = bad.contains(&package.change);
            for (key, value) in &self.side(is_bad).keys {
                settings.push(self.setting(package, key, value));
            }
            let usual = self.plan(is_bad);
            let plan = plans.get(&package.change).unwrap_or(&usual);
            if let Some(value) = plan.value() {
                variables.insert(package.variable(), value.into());
            }
        }
        variables.insert("RUSTC_WRAPPER".to_owned(), self.wrapper.clone().into());
        let session = serde_json::to_string(&self.session).expect("a session is plain data");
        variables.insert(names::OPT_WRAPPER.to_owned(), session.into());
        // Each crate is compiled as a whole: what a counter counts must not depend on what was compiled before.
        variables.insert("CARGO_INCREMENTAL".to_owned(), "0".into());
        BuildOverrides { variables, settings, is_plain: true, ..BuildOverrides::default() }
    }

    /// The passes of one of these culprits: a build without any limit lists them.
    ///
    /// # Errors
    /// If it does not build.
    pub(crate) fn list_passes(
        &self,
        culprits: &BTreeSet<ChangeId>,
        package: ChangeId,
        of: CounterKind,
        build: impl FnOnce(BuildOverrides) -> Result<Artifacts, CargoError>,
    ) -> Result<Passes, CargoError> {
        let counter = Counter { of, limits: BTreeMap::new(), lists: true };
        let (with, value) = self.counting(culprits, package, counter);
        let artifacts = build(with)?;
        let Some(package) = self.package(package) else { return Ok(Passes::default()) };
        Ok(Passes::read(&plan::reports_dir(&artifacts.store(), &package.variable(), [&value, ""]), &artifacts.stems)?)
    }

    /// A build of these culprits with a counter of the compiler in one of them; and the value of that one's variable.
    pub(crate) fn counting(
        &self,
        culprits: &BTreeSet<ChangeId>,
        package: ChangeId,
        counter: Counter,
    ) -> (BuildOverrides, String) {
        let plan = Plan { counter: Some(counter), ..self.plan(true) };
        let value = plan.value().unwrap_or_default();
        (self.with(culprits, &[(package, plan)].into()), value)
    }

    /// Settings that say the same as those of [`with`](Self::with) where only these packages are compiled in the bad way, by
    /// values of the profile that were seen: the good way is that of all packages. `None` if that cannot be said.
    pub(crate) fn shortly(&self, bad: &BTreeSet<ChangeId>) -> Option<Vec<String>> {
        if self.packages.iter().any(|package| package.is_named) {
            return None;
        }
        let Self { profile, contrast, .. } = self;
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        // One that does not compile so is never seen; another of its kind is compiled by the same profile.
        let of_kind = |package: &Package| {
            let is_alike = |change| self.package(change).is_some_and(|other| other.is_own == package.is_own);
            seen.iter().find(|&(&change, _)| is_alike(change)).map(|(_, keys)| keys)
        };
        let good = contrast.good.keys.iter().map(|(key, value)| format!("profile.{profile}.{key}={value}"));
        let mut settings: Vec<_> = self.settings.iter().cloned().chain(good).collect();
        for package in self.packages.iter().filter(|package| bad.contains(&package.change)) {
            let seen = seen.get(&package.change).or_else(|| of_kind(package));
            for key in contrast.good.keys.keys().chain(contrast.bad.keys.keys()).collect::<BTreeSet<_>>() {
                let value = contrast.bad.keys.get(key).or_else(|| seen?.get(key.as_str()))?;
                settings.push(self.setting(package, key, value));
            }
        }
        Some(settings)
    }

    /// Returns what a user does to build the same, by variables and settings of cargo, where these packages are compiled in the
    /// bad way.
    pub(crate) fn reproduction(&self, build: BuildOverrides, bad: &BTreeSet<ChangeId>) -> Application {
        let BuildOverrides { mut variables, settings, .. } = build;
        let has_plan =
            |name: &String| name.starts_with(names::CODEGEN_PACKAGE) || name.starts_with(names::RUSTC_PACKAGE);
        if variables.keys().any(has_plan) {
            // Nothing is kept.
            variables.insert(names::OPT_WRAPPER.to_owned(), "{}".into());
        } else {
            variables.clear();
        }
        let settings = self.shortly(bad).unwrap_or(settings);
        Application {
            build: Some(BuildOverrides { variables, settings, ..BuildOverrides::default() }),
            ..Application::default()
        }
    }

    /// A key of the profile for one package, as for cargo's `--config`.
    fn setting(&self, package: &Package, key: &str, value: &str) -> String {
        let Self { profile, .. } = self;
        format!("profile.{profile}.package.\"{}\".{key}={value}", package.spec)
    }
}
