//! The compilation of the whole graph for one run: each package with its good or bad options, and some with a plan.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use bisect_core::{ChangeId, protocol::names};

use super::Application;
use super::compared_options::{ComparedOptions, Settings};
use crate::{
    cargo::{Artifacts, BuildOverrides, CargoError, Project, UsedProfile, graph::Package, profiles::Profiles},
    compiler::{
        passes::Passes,
        plan::{self, Counter, CounterKind, Plan},
        wrapper::WrapperConfig,
    },
    process::{own_executable::own_executable, owned_dir::OwnedDir, variables::Variables},
};

/// The compilation of all packages, as far as it is the same throughout a search.
#[derive(Clone, Debug)]
pub(crate) struct Compilation {
    /// The packages that can be compiled with either set of options.
    pub(crate) packages: Vec<Package>,
    /// The two sets of options.
    pub(crate) contrast: ComparedOptions,
    /// The keys of single packages that have another value than the good options, with this value.
    exceptions: BTreeMap<ChangeId, BTreeMap<String, String>>,
    /// The profile that the options modify.
    pub(crate) profile: String,
    /// The profile whose values the packages have: that one, or `test`, which inherits from it.
    effective_profile: String,
    /// The settings of the profile for all packages that differ from the user's, as values for `--config`.
    pub(crate) settings: Vec<String>,
    /// The user's profiles.
    profiles: Arc<Profiles>,
    /// The configuration of the wrapper.
    pub(crate) session: WrapperConfig,
    /// The path of this executable, which is also the wrapper.
    pub(crate) wrapper: PathBuf,
    /// The keys of each package's profile, with their values as TOML, known since it was compiled with the bad options.
    seen: Arc<BTreeMap<ChangeId, OnceLock<BTreeMap<String, String>>>>,
    /// The directory for files of this search, deleted with it.
    _scratch: Arc<OwnedDir>,
}

impl Compilation {
    /// Returns the compilation of a project's packages.
    ///
    /// # Errors
    /// If the directory for temporary files cannot be made, or the path of this executable is not known.
    pub(crate) fn new(project: &Project, packages: Vec<Package>, contrast: ComparedOptions) -> io::Result<Self> {
        let scratch = project.scratch()?;
        let session = WrapperConfig {
            inner: project.rustc_wrapper().map(Path::to_owned),
            compiled: Some(scratch.path().join("compiled")),
            keep: Some(scratch.path().join("kept")),
        };
        let seen = packages.iter().map(|package| (package.change, OnceLock::new())).collect();
        let UsedProfile { name: profile, effective: effective_profile, .. } = project.profile();
        let (seen, scratch) = (Arc::new(seen), Arc::new(scratch));
        let wrapper = own_executable()?;
        let (exceptions, settings, profiles) = (BTreeMap::new(), Vec::new(), Arc::new(project.profiles()));
        Ok(Self {
            packages,
            contrast,
            exceptions,
            profile,
            effective_profile,
            settings,
            profiles,
            session,
            wrapper,
            seen,
            _scratch: scratch,
        })
    }

    /// Returns the package of a change: the change may be the package itself, or be in it. If several packages have the
    /// same name and version, it is the user's own.
    pub(crate) fn package(&self, change: ChangeId) -> Option<&Package> {
        let within = |package: &&Package| change.in_crate(package.change) == change;
        let exactly = |package: &&Package| package.change == change;
        let mut packages = self.packages.iter().rev();
        packages.clone().find(exactly).or_else(|| packages.find(within))
    }

    /// Returns the package whose directory has a source file.
    pub(crate) fn defining(&self, file: &Path) -> Option<&Package> {
        let packages = self.packages.iter().filter(|package| file.starts_with(&package.directory));
        packages.max_by_key(|package| package.directory.components().count())
    }

    /// Returns the names of packages, for people.
    pub(crate) fn names(&self, changes: &BTreeSet<ChangeId>) -> String {
        let packages = changes.iter().filter_map(|&change| self.package(change));
        packages.map(|package| package.name.clone()).collect::<Vec<_>>().join(" and ")
    }

    /// Returns the packages that were built. Remembers the profile's keys of those that were compiled with the bad
    /// options.
    pub(crate) fn see(&self, artifacts: &Artifacts, bad: &BTreeSet<ChangeId>) -> BTreeSet<ChangeId> {
        let mut built = BTreeSet::new();
        for package in &self.packages {
            let Some(keys) = artifacts.packages.get(&package.id) else { continue };
            built.insert(package.change);
            if bad.contains(&package.change) {
                self.seen[&package.change].get_or_init(|| keys.clone());
            }
        }
        built
    }

    /// Returns the keys of the profile that are known, by package, for the journal.
    pub(crate) fn seen(&self) -> Vec<(u64, BTreeMap<String, String>)> {
        self.seen.iter().filter_map(|(change, keys)| Some((change.0, keys.get()?.clone()))).collect()
    }

    /// Restores known keys of the profile.
    pub(crate) fn restore_seen(&self, seen: Vec<(u64, BTreeMap<String, String>)>) {
        for (change, keys) in seen {
            if let Some(known) = self.seen.get(&ChangeId(change)) {
                known.get_or_init(|| keys);
            }
        }
    }

    /// Returns the same compilation, with these settings of the profile for all packages.
    pub(crate) fn with_settings(&self, settings: Vec<String>) -> Self {
        Self { settings, ..self.clone() }
    }

    /// Returns the compilation of the same packages in the profile of another command line, with other options.
    pub(crate) fn in_profile(&self, project: &Project, contrast: ComparedOptions) -> Self {
        let UsedProfile { name: profile, effective: effective_profile, .. } = project.profile();
        Self {
            contrast,
            exceptions: BTreeMap::new(),
            profile,
            effective_profile,
            settings: Vec::new(),
            seen: Arc::new(self.seen.keys().map(|&change| (change, OnceLock::new())).collect()),
            ..self.clone()
        }
    }

    /// Returns the same compilation, with other good options: no smaller set of them gave the same result. `exceptions` are
    /// the keys of packages that have other values.
    pub(crate) fn with_good(&self, good: Settings, exceptions: BTreeMap<ChangeId, BTreeMap<String, String>>) -> Self {
        let contrast = ComparedOptions { good, is_minimal: true, ..self.contrast.clone() };
        Self { contrast, exceptions, ..self.clone() }
    }

    /// Returns the same compilation, with only one key of the good options.
    pub(crate) fn with_one_good_key(&self, key: &str) -> Self {
        let mut good = self.contrast.good.clone();
        good.keys.retain(|other, _| other == key);
        let mut exceptions = self.exceptions.clone();
        for keys in exceptions.values_mut() {
            keys.retain(|other, _| other == key);
        }
        self.with_good(good, exceptions)
    }

    /// Returns the value of a key in a package that is compiled with the bad options, as TOML.
    pub(crate) fn bad_value(&self, package: &Package, key: &str) -> String {
        let seen = || self.seen.get(&package.change)?.get()?.get(key);
        let known = self.contrast.bad.keys.get(key).or_else(seen).cloned();
        let variable = |name: &str| std::env::var(name).ok();
        let named = (package.spec.as_str(), package.is_own);
        known.unwrap_or_else(|| self.profiles.key_of(&self.effective_profile, key, named, variable))
    }

    /// Returns the keys of the profile of a package that is compiled with the good options.
    pub(crate) fn good_keys(&self, package: &Package) -> impl Iterator<Item = (&str, &str)> {
        let exceptions = self.exceptions.get(&package.change);
        let value = move |key: &str| exceptions?.get(key);
        let keys = self.contrast.good.keys.iter();
        keys.map(move |(key, usual)| (key.as_str(), value(key).unwrap_or(usual).as_str()))
    }

    /// Returns the profile in which the good options change how these packages are compiled: the searched one or else
    /// `dev`. Returns `None` if they change neither.
    pub(crate) fn profile_with_effect(&self, packages: &[&Package]) -> Option<&str> {
        let variable = |name: &str| std::env::var(name).ok();
        let has_effect = |profile: &str, package: &Package| {
            let named = (package.spec.as_str(), package.is_own);
            self.good_keys(package).any(|key| self.profiles.may_differ(profile, key, named, variable))
        };
        let profiles = [(self.profile.as_str(), self.effective_profile.as_str()), ("dev", "dev")];
        let found = profiles.into_iter().find(|(_, of)| packages.iter().any(|package| has_effect(of, package)));
        found.map(|(profile, _)| profile)
    }

    fn side(&self, is_bad: bool) -> &Settings {
        if is_bad { &self.contrast.bad } else { &self.contrast.good }
    }

    /// Returns the default plan of a package: only the flags of its good or bad options.
    pub(crate) fn plan(&self, is_bad: bool) -> Plan {
        Plan { flags: self.side(is_bad).flags.clone(), ..Plan::default() }
    }

    /// Returns the overrides of a build in which the packages `bad` are compiled with the bad options, and those in
    /// `plans` with their plans.
    pub(crate) fn with(&self, bad: &BTreeSet<ChangeId>, plans: &BTreeMap<ChangeId, Plan>) -> BuildOverrides {
        let mut variables = Variables::default();
        let mut settings = self.settings.clone();
        for package in &self.packages {
            let is_bad = bad.contains(&package.change);
            if is_bad {
                let keys = self.contrast.bad.keys.iter();
                settings.extend(keys.map(|(key, value)| self.setting(package, key, value)));
            } else {
                settings.extend(self.good_keys(package).map(|(key, value)| self.setting(package, key, value)));
            }
            let usual = self.plan(is_bad);
            let plan = plans.get(&package.change).unwrap_or(&usual);
            if let Some(value) = plan.value() {
                variables.set(package.variable(), value);
            }
        }
        variables.set("RUSTC_WRAPPER", self.wrapper.clone());
        let session = serde_json::to_string(&self.session).expect("a session is plain data");
        variables.set(names::OPT_WRAPPER, session);
        // Each crate is compiled as a whole: counters must not depend on earlier compilations.
        variables.set("CARGO_INCREMENTAL", "0");
        BuildOverrides { variables, settings, is_plain: true, ..BuildOverrides::default() }
    }

    /// Lists the passes of one of these packages, by a build without a limit.
    ///
    /// # Errors
    /// If the build fails, or the lists cannot be read.
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

    /// Returns the overrides of a build in which `culprits` are compiled with the bad options, and one of them also
    /// with a limit for a counter. Also returns the value of that package's variable.
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

    /// Returns shorter settings, which are equivalent to those of [`with`](Self::with) for these packages. The good
    /// options apply to all packages. These packages get the values of the bad options, or else the profile's values
    /// that were seen. `None` if settings cannot express that.
    pub(crate) fn shortly(&self, bad: &BTreeSet<ChangeId>) -> Option<Vec<String>> {
        if self.packages.iter().any(|package| package.is_named) {
            return None;
        }
        let Self { profile, contrast, seen, .. } = self;
        // A package that fails to compile with the bad options is never seen. Another package of its kind has the same
        // profile.
        let of_kind = |package: &Package| {
            let is_alike = |change| self.package(change).is_some_and(|other| other.is_own == package.is_own);
            seen.iter().filter(|&(&change, _)| is_alike(change)).find_map(|(_, keys)| keys.get())
        };
        let good = contrast.good.keys.iter().map(|(key, value)| format!("profile.{profile}.{key}={value}"));
        let mut settings: Vec<_> = self.settings.iter().cloned().chain(good).collect();
        for package in &self.packages {
            if !bad.contains(&package.change) {
                let exceptions = self.exceptions.get(&package.change).into_iter().flatten();
                settings.extend(exceptions.map(|(key, value)| self.setting(package, key, value)));
                continue;
            }
            let seen = seen[&package.change].get().or_else(|| of_kind(package));
            for key in contrast.good.keys.keys().chain(contrast.bad.keys.keys()).collect::<BTreeSet<_>>() {
                let value = contrast.bad.keys.get(key).or_else(|| seen?.get(key.as_str()))?;
                settings.push(self.setting(package, key, value));
            }
        }
        Some(settings)
    }

    /// Returns an equivalent application for a user to reproduce, by variables and settings for cargo. `bad` are the
    /// packages that are compiled with the bad options.
    pub(crate) fn reproduction(&self, build: BuildOverrides, bad: &BTreeSet<ChangeId>) -> Application {
        let BuildOverrides { mut variables, settings, .. } = build;
        let is_plan = |name: &str| name.starts_with(names::CODEGEN_PACKAGE) || name.starts_with(names::RUSTC_PACKAGE);
        let has_plan = variables.names().filter_map(OsStr::to_str).any(is_plan);
        if has_plan {
            // With the default configuration, the wrapper keeps no files.
            variables.set(names::OPT_WRAPPER, "{}");
        } else {
            variables = Variables::default();
        }
        let settings = self.shortly(bad).unwrap_or(settings);
        Application {
            // Where the wrapper has not compiled a package, cargo does not know that its plan matters.
            build: Some(BuildOverrides {
                variables,
                settings,
                needs_own_artifacts: has_plan,
                ..BuildOverrides::default()
            }),
            ..Application::default()
        }
    }

    /// Returns a key of the profile for one package, as a value for cargo's `--config`.
    fn setting(&self, package: &Package, key: &str, value: &str) -> String {
        let Self { profile, .. } = self;
        format!("profile.{profile}.package.\"{}\".{key}={value}", package.spec)
    }
}
