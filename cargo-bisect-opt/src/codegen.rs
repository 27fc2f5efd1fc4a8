//! "It works in debug and fails in release": which crate, which function, which pass of the compiler?
//!
//! Each question is a search of its own, whose changes are compiled in a [good or a bad way](settings): the packages of the
//! [graph], the functions of the culprits among them ([`bisect-rustc`](driver) tells them), and the [passes] that the
//! compiler counts. What a search has found is carried on to the next ([`drill`]).
//! Cargo compiles; what is compiled in which way it is told by its profiles, and by the [wrapper] that the driver itself
//! is, which does what the [plan] of a package says.

mod advice;
pub mod compilation;
pub mod drill;
pub mod driver;
pub mod graph;
mod overrides;
pub mod passes;
pub mod plan;
pub mod settings;
pub mod wrapper;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use bisect_core::{ChangeId, Matcher, Pattern};

use crate::{
    cargo::{Artifacts, With},
    describe::Description,
    events::Change,
    reports::Reports,
    target::Kind,
};
use compilation::Compilation;
use graph::Package;
use passes::Passes;
use plan::{Counter, CounterKind, Plan};
use settings::{Contrast, Settings};

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Depth {
    /// Which crates.
    Crates,
    /// Which functions of them, if there is a `bisect-rustc`.
    Functions,
    /// Which pass of the compiler.
    Passes,
}

/// What is searched, and what is known already.
#[derive(Debug)]
pub struct Level {
    /// How things are compiled.
    pub compilation: Arc<Compilation>,
    /// What is searched.
    pub among: Among,
    /// What builds have shown of packages.
    pub seen: Arc<Mutex<Seen>>,
}

/// What the changes are.
#[derive(Debug)]
pub enum Among {
    /// Packages.
    Crates,
    /// Functions of culprits.
    Functions(Functions),
    /// Passes in one of the culprits.
    Passes {
        /// The packages that are compiled in the bad way.
        culprits: BTreeSet<ChangeId>,
        /// The one whose passes they are.
        package: ChangeId,
        /// Whose counter.
        of: CounterKind,
        /// What it counts.
        passes: Passes,
    },
    /// Nothing: the same build whatever is enabled.
    Fixed(With),
}

/// What builds have shown of packages.
#[derive(Debug, Default)]
pub struct Seen {
    /// Those that are needed; before the first build, nothing is known of that.
    packages: Option<BTreeSet<ChangeId>>,
    /// Keys of the profile of those that were compiled in the bad way, and their values as TOML.
    bad: BTreeMap<ChangeId, BTreeMap<&'static str, String>>,
}

/// Functions of culprits.
#[derive(Debug)]
pub struct Functions {
    /// The packages that are compiled in the bad way.
    pub culprits: BTreeSet<ChangeId>,
    /// `bisect-rustc`.
    pub driver: PathBuf,
    /// Whether passes are off that optimize functions although they are not to be optimized.
    pub is_strict: bool,
    /// Whether functions of the standard library are among them, where they are compiled in these packages.
    pub with_std: bool,
    /// What is known of each culprit: one of which the same functions are selected is told the same, and not compiled again.
    pub told: Mutex<BTreeMap<ChangeId, Told>>,
}

/// What is known of the functions of a package.
#[derive(Debug, Default)]
pub struct Told {
    known: BTreeSet<ChangeId>,
    /// Patterns that were asked for; of those that say the same of all functions, the first.
    patterns: Vec<Pattern>,
}

impl Level {
    /// As the JSON names what is searched.
    pub fn name(&self) -> &'static str {
        match self.among {
            Among::Crates => "crates",
            Among::Functions(_) => "functions",
            Among::Passes { .. } | Among::Fixed(_) => "passes",
        }
    }

    /// What is searched, for people.
    pub fn subject(&self) -> String {
        let names = |culprits: &BTreeSet<ChangeId>| {
            let names = culprits.iter().filter_map(|&culprit| self.compilation.package(culprit));
            names.map(|package| package.name.clone()).collect::<Vec<_>>().join(" and ")
        };
        match &self.among {
            Among::Crates => "crates".to_owned(),
            Among::Functions(functions) => format!("functions in {}", names(&functions.culprits)),
            Among::Passes { package, of, .. } => format!("{} passes in {}", of.owner(), names(&[*package].into())),
            Among::Fixed(_) => "one compilation".to_owned(),
        }
    }

    /// What a culprit of so many changes says.
    pub fn headline(&self, changes: usize) -> String {
        let these = |one: &str, many: &str| if changes == 1 { format!("this {one}") } else { format!("these {many}") };
        let makes = if changes == 1 { "makes" } else { "together make" };
        match &self.among {
            Among::Crates => {
                let Contrast { good, bad } = &self.compilation.contrast;
                let bad = if bad == &Settings::default() {
                    format!("by the {} profile", self.compilation.profile)
                } else {
                    format!("with {bad}")
                };
                let good = if good == &Settings::default() { "plainly".to_owned() } else { format!("with {good}") };
                format!("{} compiled {bad}, not {good}, {makes} the target fail", these("crate", "crates"))
            }
            Among::Functions(_) => format!("{} optimized, {makes} the target fail", these("function", "functions")),
            Among::Passes { .. } | Among::Fixed(_) => {
                "up to the pass before this one the target passes, and with it, it fails".to_owned()
            }
        }
    }

    /// The build for a pattern. `None`: there is none.
    pub fn build_with(&self, pattern: &Pattern) -> Option<With> {
        let compilation = &self.compilation;
        match &self.among {
            Among::Crates => {
                let matcher = Matcher::new(pattern);
                let is_bad = |package: &Package| matcher.as_ref().is_none_or(|m| m.should_enable(package.change));
                Some(compilation.with(&is_bad, &BTreeMap::new()))
            }
            Among::Functions(functions) => {
                let is_bad = |package: &Package| functions.culprits.contains(&package.change);
                let plan = |&change: &ChangeId| (change, functions.plan(compilation));
                let mut with = compilation.with(&is_bad, &functions.culprits.iter().map(plan).collect());
                for package in compilation.packages.iter().filter(|package| is_bad(package)) {
                    let variable = plan::variable(plan::DRIVER_PREFIX, &package.name, &package.version);
                    with.variables.insert(variable, functions.value(package, pattern).into());
                }
                Some(with)
            }
            Among::Fixed(build) => Some(build.clone()),
            Among::Passes { culprits, package, of, passes } => {
                let limit = passes.limit(pattern)?;
                // With all of them, what was built to list them is just what is to be run.
                let lists = limit == passes.len();
                let limits = if lists { BTreeMap::new() } else { passes.limits(limit) };
                let counter = Counter { of: *of, limits, lists };
                Some(compilation.counting(culprits, *package, counter).0)
            }
        }
    }

    /// Variables (`NAME=value`) and settings (as for `--config`) with which cargo builds this.
    pub fn reproduce(&self, pattern: &Pattern) -> (Vec<String>, Vec<String>) {
        let Some(With { mut variables, settings, .. }) = self.build_with(pattern) else { return Default::default() };
        let settings = self.compilation.shortly(&self.bad(pattern)).unwrap_or(settings);
        let is_told = |name: &String| name.starts_with(plan::PREFIX) || name.starts_with(plan::DRIVER_PREFIX);
        if variables.keys().any(is_told) {
            // Nothing is kept.
            variables.insert(wrapper::VARIABLE.to_owned(), "{}".into());
        } else {
            variables.clear();
        }
        let assignment = |(name, value): (String, std::ffi::OsString)| format!("{name}={}", value.display());
        (variables.into_iter().map(assignment).collect(), settings)
    }

    /// The packages that are compiled in the bad way with a pattern, and what the profile then says of them.
    fn bad(&self, pattern: &Pattern) -> BTreeMap<ChangeId, BTreeMap<&'static str, String>> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let matcher = Matcher::new(pattern);
        let is_bad = |change: ChangeId| match &self.among {
            Among::Crates => matcher.as_ref().is_none_or(|matcher| matcher.should_enable(change)),
            Among::Functions(Functions { culprits, .. }) | Among::Passes { culprits, .. } => culprits.contains(&change),
            Among::Fixed(_) => false,
        };
        // One that does not compile so is never seen; another of its kind is compiled by the same profile.
        let of_kind = |package: &Package| {
            let is_alike =
                |change| self.compilation.package(change).is_some_and(|other| other.is_own == package.is_own);
            seen.bad.iter().find(|&(&change, _)| is_alike(change)).map(|(_, keys)| keys)
        };
        let bad = self.compilation.packages.iter().filter(|package| is_bad(package.change));
        let keys = |package: &Package| seen.bad.get(&package.change).or_else(|| of_kind(package)).cloned();
        bad.map(|package| (package.change, keys(package).unwrap_or_default())).collect()
    }

    /// Adds what was built with the pattern to the reports; without artifacts, if it did not build. Where a build is what
    /// is searched, artifacts are as many as there were before it failed. What a selection says of crates is reported of all
    /// of them then: cargo may or may not have come to compile them.
    ///
    /// # Errors
    /// If what the compiler said cannot be read.
    pub fn report(
        &self,
        pattern: &Pattern,
        artifacts: Option<&Artifacts>,
        reports: &mut Reports,
    ) -> std::io::Result<()> {
        match &self.among {
            Among::Crates => {
                let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
                let matcher = Matcher::new(pattern);
                if let Some(artifacts) = artifacts {
                    let built = |package: &&Package| artifacts.packages.contains_key(&package.id);
                    let built: Vec<_> = self.compilation.packages.iter().filter(built).collect();
                    let is_bad = |package: &&&Package| matcher.as_ref().is_none_or(|m| m.should_enable(package.change));
                    for package in built.iter().filter(is_bad) {
                        seen.bad.entry(package.change).or_insert_with(|| artifacts.packages[&package.id].clone());
                    }
                    if artifacts.is_complete {
                        seen.packages.get_or_insert_with(|| built.iter().map(|package| package.change).collect());
                    }
                }
                for package in &self.compilation.packages {
                    let is_there = seen.packages.as_ref().is_none_or(|seen| seen.contains(&package.change));
                    if is_there && matcher.as_ref().is_some_and(|m| m.should_report(package.change)) {
                        reports.add(package.change, &package.describe());
                    }
                }
                Ok(())
            }
            Among::Functions(functions) => match artifacts {
                Some(artifacts) => functions.report(pattern, &self.compilation, &artifacts.store(), reports),
                None => Ok(()),
            },
            Among::Fixed(_) => Ok(()),
            Among::Passes { of, passes, .. } => {
                for id in passes.limit(pattern).map(|limit| passes.reported(pattern, limit)).unwrap_or_default() {
                    reports.add(id, &passes.get(id).map_or_else(String::new, |pass| pass.describe(*of)));
                }
                Ok(())
            }
        }
    }

    /// A change that was reported with this text.
    pub fn describe(&self, id: ChangeId, text: &[String], root: &Path) -> Change {
        let shorten = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
        let package = self.compilation.package(id);
        let change = |kind, name: String, text: &[String]| Change {
            id: id.to_string(),
            kind,
            name,
            text: text.to_vec(),
            file: None,
            line: None,
            column: None,
            frames: Vec::new(),
        };
        match &self.among {
            Among::Crates => Change {
                file: package.map(|package| shorten(&package.source)),
                ..change(Kind::Crate, package.map(|package| package.name.clone()).unwrap_or_default(), text)
            },
            Among::Functions(_) => {
                let Description { place, frames, .. } = Description::parse(text);
                let name = frames.first().map(|frame| frame.function.clone()).unwrap_or_default();
                let place = place.as_ref();
                Change {
                    file: place.map(|place| place.file.clone()),
                    line: place.map(|place| place.line),
                    column: place.and_then(|place| place.column),
                    ..change(Kind::Function, name, text)
                }
            }
            Among::Fixed(_) => change(Kind::Pass, String::new(), text),
            Among::Passes { of, passes, .. } => {
                let name = passes.get(id).map(|pass| pass.describe(*of)).unwrap_or_default();
                change(Kind::Pass, name, text)
            }
        }
    }
}

impl Functions {
    fn plan(&self, compilation: &Compilation) -> Plan {
        let mut plan = Plan { driver: Some(self.driver.clone()), ..compilation.plan(true) };
        if self.is_strict {
            plan.flags.push(driver::WITHOUT_MODULE_PASSES.to_owned());
        }
        plan
    }

    /// What `bisect-rustc` is told for a package.
    fn value(&self, package: &Package, pattern: &Pattern) -> String {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let told = told.entry(package.change).or_default();
        let decisions = |pattern: &Pattern| {
            let matcher = Matcher::new(pattern);
            let enables = |&id: &ChangeId| matcher.as_ref().is_none_or(|matcher| matcher.should_enable(id));
            told.known.iter().map(enables).collect::<Vec<_>>()
        };
        let asked = decisions(pattern);
        let says_the_same = |other: &&Pattern| decisions(other) == asked;
        let earlier = told.patterns.iter().find(says_the_same).filter(|_| !told.known.is_empty()).cloned();
        let pattern = earlier.unwrap_or_else(|| {
            told.patterns.push(pattern.clone());
            pattern.clone()
        });
        // Always with text: what is said of a function is asked for later, when it need not be compiled again.
        let pattern = pattern.verbose(true);
        if self.with_std { format!("optimize={pattern};std={pattern}") } else { format!("optimize={pattern}") }
    }

    fn report(
        &self,
        pattern: &Pattern,
        compilation: &Compilation,
        store: &Path,
        reports: &mut Reports,
    ) -> std::io::Result<()> {
        let matcher = Matcher::new(pattern);
        for package in compilation.packages.iter().filter(|package| self.culprits.contains(&package.change)) {
            let plan = self.plan(compilation);
            let value = self.value(package, pattern);
            let variable = plan::variable(plan::PREFIX, &package.name, &package.version);
            let directory = plan::told(store, &variable, [&plan.value().unwrap_or_default(), &value]);
            let mut said = Reports::new(true);
            for file in plan::kept(&directory)?.values() {
                said.read_file(file)?;
            }
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            let known = &mut told.entry(package.change).or_default().known;
            for &id in said.ids() {
                known.insert(id);
                // It may have been told another pattern that selects the same.
                if matcher.as_ref().is_some_and(|matcher| matcher.should_report(id)) {
                    reports.add(id, &said.text(id).join("\n"));
                }
            }
        }
        Ok(())
    }
}
