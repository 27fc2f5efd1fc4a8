//! Searches for crates, then for functions, then for passes: each search continues in the results of the previous one.

mod advice;
mod checks;
mod crate_search;
mod dev_side;
mod left_out;
mod suspects;
mod without_passes;

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use bisect_core::{
    ChangeId,
    search::{Incomplete, Outcome, Verdict},
};

use super::options::{CodegenArgs, Depth};
use crate::{
    axes::{
        Axis,
        compilation::Compilation,
        contrast::{Contrast, SettingsError},
        gated::{Gated, Gates, KnownChanges},
        passes::Counted,
    },
    cargo::{CargoError, Project, Subcommand, graph::Package},
    compiler::{
        bisect_rustc::{self, BisectRustc, BisectRustcError},
        plan::CounterKind,
    },
    lab::{Lab, Named, Searched},
    output::{
        events::{Answer, Event, Fact},
        exit_status::Exit,
    },
    report::content::Report,
    targets::project::{ProjectOptions, ProjectTarget},
    units::plural,
};
use advice::Known;
use checks::Decisive;
use crate_search::CrateSearch;
use left_out::LeftOut;
use without_passes::WithoutPasses;

/// The searches that `--codegen` requests.
#[derive(Debug)]
pub(crate) struct Drill {
    /// The options of the target.
    pub(crate) settings: ProjectOptions,
    /// The last level.
    pub(crate) depth: Depth,
    /// The path of `bisect-rustc`, if the user gave one.
    pub(crate) driver: Option<PathBuf>,
    /// Set if the user gave no good options.
    pub(crate) has_default_good: bool,
    /// The compilation of all packages.
    pub(crate) compilation: Arc<Compilation>,
    /// The project that is compiled.
    pub(crate) project: Arc<Project>,
}

/// A reason why `--codegen` cannot search.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DrillError {
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

impl DrillError {
    /// Returns true if the command line is wrong.
    pub(crate) fn is_usage(&self) -> bool {
        match self {
            DrillError::Settings(_) => true,
            DrillError::Driver(error) => error.is_usage(),
            DrillError::Cargo(error) => error.is_usage(),
        }
    }
}

impl Drill {
    /// Reads the arguments, the configuration and the workspace, before the first build.
    ///
    /// # Errors
    /// If the arguments, the configuration or the workspace are invalid.
    pub(crate) fn prepare(
        settings: ProjectOptions,
        asked: &CodegenArgs,
        driver: Option<&Path>,
    ) -> Result<Self, DrillError> {
        let contrast = Contrast::parse(&asked.good, &asked.bad)?;
        let project = Project::load(settings.subcommand, &settings.cargo, &settings.target)?;
        if let Some(path) = driver
            && let Err(error) = bisect_rustc::find(Some(path), &project.rustc_version())
            && error.is_usage()
        {
            return Err(error.into());
        }
        let packages = project.packages()?;
        let compilation = Compilation::new(&project, packages, contrast).map_err(CargoError::Io)?;
        // `check` generates no code, so it has no functions and no passes.
        let depth = if settings.subcommand == Subcommand::Check { Depth::Crates } else { asked.level };
        let driver = driver.map(Path::to_owned);
        let (compilation, project) = (Arc::new(compilation), Arc::new(project));
        Ok(Self { settings, depth, driver, has_default_good: asked.good.is_empty(), compilation, project })
    }

    /// Searches down to the requested level, as far as the toolchain supports it.
    ///
    /// # Errors
    /// If an event cannot be emitted.
    pub(crate) fn run(&self, lab: &mut Lab<'_>) -> io::Result<Exit> {
        let begun = lab.elapsed();
        let CrateSearch { compilation, target: crates, searched } = CrateSearch::run(self, lab)?;
        let Searched { mut end, found, verdict } = searched;
        // If the search is incomplete, the culprits found so far are still searched further.
        let is_limited = matches!(
            verdict,
            Some(Verdict::Incomplete(Incomplete::MaxSets | Incomplete::MaxSetSize | Incomplete::Unresolved(_)))
        );
        let by_checks = compilation.contrast.is_decided_by_checks();
        if (end.status == Exit::Found || is_limited) && (self.depth > Depth::Crates || by_checks) {
            let checks: Vec<_> = compilation.contrast.checks().collect();
            let (driver, note) = if by_checks {
                let checks = checks.join(" or ");
                let note = format!(
                    "functions and passes are not searched: the target needs {checks} to pass, which applies to whole crates"
                );
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
                lab.parent_culprit = Some(culprit.found.set);
                let others = found.iter().filter(|other| other.found.set != culprit.found.set);
                let others: BTreeSet<_> = others.flat_map(packages_of).collect();
                let culprits: BTreeSet<_> = packages_of(culprit).collect();
                let all = compilation.packages.iter().map(|package| package.change);
                let bad = all.filter(|change| culprits.contains(change) || !others.contains(change)).collect();
                let inquiry = Inquiry {
                    drill: self,
                    compilation: &compilation,
                    crates: &crates,
                    culprits,
                    bad,
                    tests: &culprit.found.tests,
                    facts: Vec::new(),
                    files: Vec::new(),
                    checks: checks.clone(),
                };
                let answer = inquiry.explain(lab, culprit.found.set, driver.as_ref())?;
                if lab.interrupt.requested() {
                    end.status = Exit::Interrupted;
                    break;
                }
                lab.emit(&Event::Answer(&answer))?;
                end.answers.push(answer);
            }
        }
        lab.emit(&Event::Note(&self.compiled()))?;
        end.sets = found.len();
        end.duration = lab.time_since(begun);
        (end.trials, end.runs) = (lab.totals.trials, lab.totals.runs);
        lab.end(end)
    }

    /// Describes the number of compiled crates, for people.
    fn compiled(&self) -> String {
        let compiled = self.compilation.session.compiled.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        let count = compiled.map_or(0, |text| text.lines().count());
        format!("{} compiled in all, build scripts and procedural macros among them", plural(count, "crate"))
    }

    fn driver(&self) -> Result<BisectRustc, BisectRustcError> {
        bisect_rustc::find(self.driver.as_deref(), &self.project.rustc_version())
    }
}

/// Returns the packages of a culprit of the search for crates.
fn packages_of(culprit: &Named) -> impl Iterator<Item = ChangeId> {
    culprit.found.changes.iter().map(|change| change.id)
}

/// The changes of all culprits that a search found.
type FoundChanges = Vec<Report>;

/// The search within one culprit.
struct Inquiry<'a> {
    drill: &'a Drill,
    /// The compilation of all packages.
    compilation: &'a Arc<Compilation>,
    /// The target whose search found the culprit.
    crates: &'a ProjectTarget,
    /// The crates of the culprit.
    culprits: BTreeSet<ChangeId>,
    /// The crates that are compiled with the bad options in experiments: all but those of other culprits.
    bad: BTreeSet<ChangeId>,
    /// The tests that the culprit breaks.
    tests: &'a [String],
    /// The facts found so far.
    facts: Vec<Fact>,
    /// The source files of its functions.
    files: Vec<PathBuf>,
    /// The checks of the profile that may decide.
    checks: Vec<&'static str>,
}

impl Inquiry<'_> {
    /// Searches for functions and passes in these crates, and returns the answer for the culprit.
    fn explain(mut self, lab: &mut Lab<'_>, set: usize, driver: Option<&BisectRustc>) -> io::Result<Answer> {
        for &change in &self.culprits {
            let package = self.compilation.package(change).map(Package::describe).unwrap_or_default();
            self.facts.push(Fact { of: "crate", text: package });
        }
        if let Some(driver) = driver {
            self.functions(lab, driver)?;
        }
        if self.compilation.contrast.is_decided_by_checks() {
            self.checks = self.decisive_checks(lab)?;
        } else if self.drill.depth == Depth::Passes {
            for package in self.culprits.clone() {
                self.passes(lab, package)?;
            }
        }
        Ok(self.answer(set))
    }

    /// Searches for functions.
    fn functions(&mut self, lab: &mut Lab<'_>, driver: &BisectRustc) -> io::Result<()> {
        let search = |is_strict, with_std, lab: &mut Lab<'_>| {
            let functions = Gated {
                compilation: self.compilation.clone(),
                packages: self.culprits.clone(),
                driver: driver.clone(),
                gates: Gates::Functions { is_strict, with_std },
                known: KnownChanges::default(),
            };
            let (found, either_way, note) = self.search(lab, Box::new(functions), "function")?;
            if let Some(note) = note {
                lab.emit(&Event::Note(&note))?;
            }
            io::Result::Ok((found, either_way))
        };
        let (mut found, either_way) = search(true, false, lab)?;
        match either_way {
            // One of the disabled passes may be what breaks the target.
            Some(Outcome::Pass) => (found, _) = search(false, false, lab)?,
            // A function of the standard library that these crates compile may break it.
            Some(Outcome::Fail) => (found, _) = search(true, true, lab)?,
            _ => {}
        }
        for function in found {
            let location = function.location.as_ref();
            let place = location.map(|location| format!(" at {location}")).unwrap_or_default();
            // Generic functions are compiled in the crate that uses them.
            let package = function.package.map(|package| format!(" of {package}")).unwrap_or_default();
            self.facts.push(Fact { of: "function", text: format!("{}{package}{place}", function.name) });
            self.files.extend(function.location.map(|location| self.drill.project.root().join(location.file)));
        }
        Ok(())
    }

    /// Searches for a pass in one of the crates: first among those of LLVM, then among those of rustc.
    fn passes(&mut self, lab: &mut Lab<'_>, package: ChangeId) -> io::Result<()> {
        // The kinds of passes that the failure does not need.
        let mut failing = Vec::new();
        for of in [CounterKind::Llvm, CounterKind::Mir] {
            if of == CounterKind::Mir {
                let name = self.compilation.package(package).map(|package| &package.name);
                let note = format!(
                    "the counter of rustc's own passes is unstable: RUSTC_BOOTSTRAP=1 is set where {} is compiled",
                    name.map_or("the crate", |name| name)
                );
                lab.emit(&Event::Note(&note))?;
            }
            let build = |with| self.crates.build_beside(with, lab.interrupt);
            let passes = match self.compilation.list_passes(&self.culprits, package, of, build) {
                Ok(passes) => passes,
                Err(CargoError::Interrupted) => return Ok(()),
                Err(error) => {
                    lab.emit(&Event::Note(&format!("{} passes cannot be counted: {error}", of.owner())))?;
                    continue;
                }
            };
            if passes.is_empty() && self.drill.project.subcommand.is_build() {
                let note = format!("the build fails before the first {} pass, so it is none of them", of.owner());
                lab.emit(&Event::Note(&note))?;
                continue;
            }
            let (compilation, culprits) = (self.compilation.clone(), self.culprits.clone());
            let counted = Counted { compilation, culprits, package, of, passes: passes.clone() };
            let (found, either_way, note) = self.search(lab, Box::new(counted), &format!("{} pass", of.owner()))?;
            if either_way == Some(Outcome::Fail) {
                failing.push(of);
            } else if let Some(note) = note {
                lab.emit(&Event::Note(&note))?;
            }
            if let [pass] = found.as_slice() {
                self.facts.push(Fact { of: "pass", text: pass.name.clone() });
                let (compilation, crates, tests) = (self.compilation, self.crates, self.tests);
                let left_out = LeftOut { compilation, crates, bad: &self.bad, package, of, tests };
                if let Some(pass) = passes.get(pass.id) {
                    self.facts.extend(left_out.facts(lab, pass, &passes)?);
                }
                break;
            }
            if lab.interrupt.requested() {
                return Ok(());
            }
            if either_way == Some(Outcome::Pass) && of == CounterKind::Llvm {
                let note = "with one codegen unit, which counting LLVM's passes requires, the target passes";
                lab.emit(&Event::Note(note))?;
            }
        }
        let Self { compilation, crates, ref culprits, tests, .. } = *self;
        WithoutPasses { compilation, crates, culprits, package, tests }.explain(lab, &failing)
    }

    /// Searches one axis. Also returns the outcome of the target if it does not depend on the changes, and a note with
    /// the reason if there is no culprit.
    fn search(
        &self,
        lab: &mut Lab<'_>,
        axis: Box<dyn Axis>,
        what: &str,
    ) -> io::Result<(FoundChanges, Option<Outcome>, Option<String>)> {
        let those = axis.terms().axis;
        let mut target = self.crates.narrowed(self.tests, axis);
        let Searched { end, found, verdict } = lab.search(&mut target)?;
        if end.status == Exit::Interrupted {
            return Ok((Vec::new(), None, None));
        }
        let either_way = match verdict {
            Some(Verdict::NoDifference(outcome)) => Some(outcome),
            _ => None,
        };
        let note = found.is_empty().then(|| {
            let why = match either_way {
                Some(Outcome::Fail) => format!("it fails even without any of the {those}"),
                Some(Outcome::Pass) => format!("the target passes when built for a search of {those}"),
                _ => end.words,
            };
            format!("no {what} was found: {why}")
        });
        Ok((found.into_iter().flat_map(|named| named.found.changes).collect(), either_way, note))
    }

    /// Returns the packages of the culprit.
    fn packages(&self) -> Vec<&Package> {
        self.culprits.iter().filter_map(|&change| self.compilation.package(change)).collect()
    }

    fn answer(mut self, set: usize) -> Answer {
        let own = self.packages();
        let checks = Decisive::among(self.checks.iter().copied(), self.compilation, &own);
        let facts: Vec<_> = checks.iter().map(Decisive::fact).collect();
        let project = &self.drill.project;
        let root = project.root();
        let is_test = project.subcommand.is_test();
        let mut advice: Vec<_> = checks.iter().flat_map(|check| check.advice(&root, is_test)).collect();
        let after_crates = self.culprits.len().min(self.facts.len());
        self.facts.splice(after_crates..after_crates, facts);
        if self.compilation.contrast.is_decided_by_checks() {
            return Answer { set, facts: self.facts, advice };
        }
        let mut packages = self.packages();
        // Add the packages whose generic functions the culprit's crates compile.
        for defining in self.files.iter().filter_map(|file| self.compilation.defining(file)) {
            if !packages.contains(&defining) {
                packages.push(defining);
            }
        }
        let files = self.files.iter().map(PathBuf::as_path).collect();
        let triple = self.drill.project.triple.as_str();
        let is_build = self.drill.project.subcommand.is_build();
        advice.extend(Known { packages, files, tests: self.tests, triple, is_build }.advice());
        Answer { set, facts: self.facts, advice }
    }
}
