//! The searches within one culprit of `--codegen`: for functions, then for passes; and the answer about the culprit.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::PathBuf,
    sync::Arc,
};

use bisect_core::{
    ChangeId,
    search::{Outcome, Verdict},
};

use super::{
    CodegenSearches, advice::Known, checks::Decisive, contributors::Contributors, left_out::LeftOut, whole_crates,
    without_passes::WithoutPasses,
};
use crate::{
    axes::{
        Axis,
        compared_options::ComparedOptions,
        compilation::Compilation,
        fixed::Fixed,
        gated::{GatedChanges, Gates, KnownChanges},
        passes::CountedPasses,
        stop_gap,
    },
    cargo::{CargoError, graph::Package},
    commands::options::Depth,
    compiler::{bisect_rustc::BisectRustc, plan::CounterKind},
    lab::{Lab, Searched},
    output::events::Event,
    record::{
        culprit::StopGap,
        end::{Answer, Fact},
        exit_status::Exit,
    },
    report::content::Report,
    run::result::Failed,
    targets::project::ProjectTarget,
};

/// The changes of all culprits that a search found.
type FoundChanges = Vec<Report>;

/// The search within one culprit.
pub(super) struct CulpritSearch<'a> {
    /// The searches that the user requested.
    pub(super) drill: &'a CodegenSearches,
    /// The compilation of all packages.
    pub(super) compilation: &'a Arc<Compilation>,
    /// The target whose search found the culprit.
    pub(super) crates: &'a ProjectTarget,
    /// The crates of the culprit.
    pub(super) culprits: BTreeSet<ChangeId>,
    /// The crates that are compiled with the bad options in experiments: all but those of other culprits.
    pub(super) bad: BTreeSet<ChangeId>,
    /// The tests that the culprit breaks.
    pub(super) tests: &'a [String],
    /// The ways in which they fail.
    pub(super) failures: &'a [Failed],
    /// The facts found so far.
    pub(super) facts: Vec<Fact>,
    /// The source files of its functions.
    pub(super) files: Vec<PathBuf>,
    /// The crates that the names of its functions contain.
    pub(super) crates_of_functions: BTreeSet<String>,
    /// The keys of the profile that may decide about whole crates.
    pub(super) checks: Vec<&'static str>,
}

impl<'a> CulpritSearch<'a> {
    /// Searches for functions and passes in these crates, and returns the answer for the culprit.
    pub(super) fn explain(mut self, lab: &mut Lab<'_>, set: usize, driver: Option<&BisectRustc>) -> io::Result<Answer> {
        for &change in &self.culprits {
            let package = self.compilation.package(change).map(Package::describe).unwrap_or_default();
            self.facts.push(Fact::new("crate", package));
        }
        if let Some(driver) = driver {
            self.functions(lab, driver)?;
        }
        if whole_crates::decide(self.compilation) {
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
            if lab.stops_at_limit() {
                return Ok((Vec::new(), None));
            }
            let functions = GatedChanges {
                compilation: self.compilation.clone(),
                packages: self.culprits.clone(),
                driver: driver.clone(),
                gates: Gates::Functions { is_strict, with_std },
                known: KnownChanges::default(),
                held: BTreeSet::new(),
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
            self.facts.push(Fact::new("function", format!("{}{package}{place}", function.name)));
            self.files.extend(function.location.map(|location| self.drill.project.root().join(location.file)));
        }
        Ok(())
    }

    /// Searches for a pass in one of the crates: first among those of LLVM, then among those of rustc.
    fn passes(&mut self, lab: &mut Lab<'_>, package: ChangeId) -> io::Result<()> {
        // The kinds of passes that the failure does not need.
        let mut failing = Vec::new();
        for of in [CounterKind::Llvm, CounterKind::Mir] {
            if lab.stops_at_limit() {
                break;
            }
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
            let counted = CountedPasses { compilation, culprits, package, of, passes: passes.clone() };
            let (found, either_way, note) = self.search(lab, Box::new(counted), &format!("{} pass", of.owner()))?;
            if either_way == Some(Outcome::Fail) {
                failing.push(of);
            } else if let Some(note) = note {
                lab.emit(&Event::Note(&note))?;
            }
            if let [pass] = found.as_slice() {
                self.facts.push(Fact::new("pass", pass.name.clone()));
                let (compilation, crates, tests) = (self.compilation, self.crates, self.tests);
                let left_out = LeftOut { compilation, crates, bad: &self.bad, package, of, tests };
                if let Some(pass) = passes.get(pass.id) {
                    self.crates_of_functions.extend(pass.crates());
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
        let those = axis.facts().terms.axis;
        let mut target = self.crates.narrowed(self.tests, axis);
        let Searched { end, found, verdict, .. } = lab.search(&mut target)?;
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
        Ok((found.into_iter().flat_map(|named| named.reports).collect(), either_way, note))
    }

    /// Returns the checks that decide: of several, one with which alone the target passes, or else all.
    ///
    /// # Errors
    /// If an event cannot be emitted.
    fn decisive_checks(&mut self, lab: &mut Lab<'_>) -> io::Result<Vec<&'static str>> {
        let ComparedOptions { good, is_minimal, .. } = &self.compilation.contrast;
        let is_one_of_several = *is_minimal && good.keys.len() > 1;
        let bad = self.bad.difference(&self.culprits).copied().collect();
        for &check in self.checks.iter().filter(|_| is_one_of_several) {
            let only = self.compilation.with_one_good_key(check);
            let fixed = Fixed {
                build: only.with(&bad, &BTreeMap::new()),
                subject: format!("with only {} in {}", only.contrast.good, only.names(&self.culprits)),
            };
            let mut target = self.crates.narrowed(self.tests, Box::new(fixed));
            if lab.try_once(&mut target)?.is_ok_and(|run| run.outcome == Outcome::Pass) {
                let packages = self.packages();
                if let Some(StopGap { text, .. }) = stop_gap::of_crates(&only, &packages) {
                    let text = format!("a smaller one repairs this culprit: {}", text.replace('\n', " "));
                    self.facts.push(Fact::new("stop-gap", text));
                }
                return Ok(vec![check]);
            }
        }
        Ok(self.checks.clone())
    }

    /// Returns the packages of the culprit.
    fn packages(&self) -> Vec<&'a Package> {
        let compilation = self.compilation;
        self.culprits.iter().filter_map(|&change| compilation.package(change)).collect()
    }

    fn answer(mut self, set: usize) -> Answer {
        let own = self.packages();
        let mut packages = own.clone();
        // Add the packages whose generic functions the culprit's crates compile.
        for defining in self.files.iter().filter_map(|file| self.compilation.defining(file)) {
            if !packages.contains(&defining) {
                packages.push(defining);
            }
        }
        let contributors = Contributors::of(self.compilation, packages, &self.crates_of_functions);
        let checks = Decisive::among(self.checks.iter().copied(), self.compilation, &own, self.failures);
        let facts: Vec<_> = checks.iter().map(Decisive::fact).collect();
        let project = &self.drill.project;
        let root = project.root();
        let known = Known {
            contributors: &contributors,
            files: self.files.iter().map(PathBuf::as_path).collect(),
            tests: self.tests,
            triple: project.triple.as_str(),
            contrast: &self.compilation.contrast,
            root: &root,
            subcommand: project.subcommand,
        };
        let mut advice: Vec<_> = checks.iter().flat_map(|check| check.advice(&known)).collect();
        let after_crates = self.culprits.len().min(self.facts.len());
        self.facts.splice(after_crates..after_crates, facts);
        if !whole_crates::decide(self.compilation) {
            advice.extend(known.advice());
        }
        Answer { set, facts: self.facts, advice }
    }
}
