//! Changes that `bisect-rustc` applies in some packages: optimized functions, or expressions as in another edition.

mod details;
mod known_changes;
mod places;

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
    sync::Arc,
};

use bisect_core::{ChangeId, Matcher, Pattern, Suffix, Term, search::Mode};

pub(crate) use self::known_changes::KnownChanges;
use self::places::{Places, Writer, count_places};
use super::{
    AfterBuild, Application, Axis, CulpritChanges, CulpritWords, Files, FurtherSearch, StoredKnowledge,
    compilation::Compilation, facts::AxisFacts, headlines, stop_gap,
};
use crate::{
    cargo::{Artifacts, BuildCounts, BuildOverrides, Edition, graph::Package},
    compiler::{
        bisect_rustc::{self, BisectRustc},
        plan::{self, Plan},
    },
    output::terms::Terms,
    report::{
        content::Report,
        kind::{ChangeKind, ShownSource},
        scan::Reports,
    },
    run::{error::RunError, spec::Choice},
    units::plural,
};

/// The terms of functions.
pub(crate) const FUNCTIONS: Terms = Terms::of_compilation("functions", "function");
/// The terms of expressions.
const EXPRESSIONS: Terms = Terms::of_compilation("expressions", "expression");
/// A function, optimized or not.
pub(crate) const FUNCTION: ChangeKind =
    ChangeKind { name: "function", noun: "function", label: "compiled differently", source: ShownSource::Function };
/// An expression with other semantics in another edition.
const EXPRESSION: ChangeKind =
    ChangeKind { name: "expression", noun: "expression", label: "this expression", source: ShownSource::Any };

/// The changes that `bisect-rustc` applies in some packages.
#[derive(Debug)]
pub(crate) struct GatedChanges {
    /// The compilation of all packages.
    pub(crate) compilation: Arc<Compilation>,
    /// The packages whose changes are searched. `bisect-rustc` compiles them with the bad options.
    pub(crate) packages: BTreeSet<ChangeId>,
    /// The path of `bisect-rustc`.
    pub(crate) driver: BisectRustc,
    /// The gates.
    pub(crate) gates: Gates,
    /// The changes that earlier runs have reported.
    pub(crate) known: KnownChanges,
    /// Changes that are disabled in every run, and not searched.
    pub(crate) held: BTreeSet<ChangeId>,
}

/// The gates of `bisect-rustc` that a search uses.
#[derive(Debug)]
pub(crate) enum Gates {
    /// The gates for functions: a function is optimized if its change is enabled.
    Functions {
        /// Set to disable the passes that also optimize functions whose changes are disabled.
        is_strict: bool,
        /// Set to include functions of the standard library that are compiled in these packages.
        with_std: bool,
    },
    /// The gates for expressions: an expression has the semantics of another edition if its change is enabled.
    Expressions {
        /// The other edition.
        edition: Edition,
        /// Set to include expressions that only make a difference to the borrow checker.
        with_borrows: bool,
    },
}

/// Returns the edition with which expressions as in this one are compared.
pub(crate) fn other(edition: Edition) -> Edition {
    if edition == Edition::E2021 { Edition::E2024 } else { Edition::E2021 }
}

impl Axis for GatedChanges {
    fn facts(&self) -> AxisFacts {
        AxisFacts::of_builds(match self.gates {
            Gates::Functions { .. } => FUNCTIONS,
            Gates::Expressions { .. } => EXPRESSIONS,
        })
    }

    fn subject(&self) -> Option<String> {
        Some(format!("{} in {}", self.facts().terms.axis, self.compilation.names(&self.packages)))
    }

    fn words(&self, culprit: &CulpritChanges<'_>) -> CulpritWords {
        let &CulpritChanges { ids, changes, mode, .. } = culprit;
        match self.gates {
            Gates::Functions { .. } => {
                let is_own = |change: &Report| {
                    change.location.as_ref().is_some_and(|location| Path::new(&location.file).is_relative())
                };
                let kinds = [" optimized", " not optimized"];
                CulpritWords {
                    headline: Some(headlines::of_code("function", kinds, ids.len(), mode)),
                    stop_gap: Some(stop_gap::of_functions(changes.iter().all(is_own), changes.len())),
                    ..CulpritWords::default()
                }
            }
            Gates::Expressions { edition, .. } => {
                let [there, here] = [edition, other(edition)].map(|edition| format!(", as in edition {edition}"));
                let headline = headlines::of_code("expression", [&there, &here], ids.len(), mode);
                CulpritWords { headline: Some(headline), ..CulpritWords::default() }
            }
        }
    }

    fn stored(&self) -> Option<&dyn StoredKnowledge> {
        Some(&self.known)
    }

    fn further(&self, search: FurtherSearch<'_>) -> Vec<Result<Box<dyn Axis>, String>> {
        let (FurtherSearch::Holding(held), Gates::Expressions { edition, with_borrows }) = (search, &self.gates) else {
            return Vec::new();
        };
        if !self.held.is_empty() {
            return Vec::new();
        }
        vec![Ok(Box::new(Self {
            compilation: self.compilation.clone(),
            packages: self.packages.clone(),
            driver: self.driver.clone(),
            gates: Gates::Expressions { edition: *edition, with_borrows: *with_borrows },
            known: KnownChanges::default(),
            held: held.iter().copied().collect(),
        }))]
    }

    fn apply(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        let pattern = self.pattern(choice);
        let build = self.build(self.gated().collect(), |package| Some(self.value(package, &pattern)));
        Ok(Application { build: Some(build), ..Application::default() })
    }

    fn reproduction(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        let is_on = |&id: &ChangeId| choice.enables(id) && !self.held.contains(&id);
        // A package differs from a plain build if a function is off, or if an expression is on.
        let is_about_code = matches!(self.gates, Gates::Functions { .. });
        let is_asked = |package: &Package| is_about_code || self.known.any_of(package.change, is_on);
        let expands = |package: &Package| self.known.any_met_in(package.change, is_on);
        let packages = self.gated().filter(|package| is_asked(package) || expands(package));
        let value = self.gates.value(&self.pattern(choice));
        let build = self.build(packages.collect(), |package| is_asked(package).then(|| value.clone()));
        Ok(self.compilation.reproduction(build, &self.packages))
    }

    fn collect(&self, choice: &Choice, built: &AfterBuild<'_>, reports: &mut Reports) -> io::Result<()> {
        let Some(artifacts) = built.artifacts else { return Ok(()) };
        let pattern = &self.pattern(choice);
        let (mut ids, mut all) = (Vec::new(), BTreeMap::<ChangeId, Report>::new());
        for package in self.gated() {
            let (reported, places) = self.read(package, pattern, artifacts)?;
            for (id, known) in self.known.add(package.change, &reported, places) {
                let report = all.entry(id).or_insert_with(|| {
                    ids.push(id);
                    Report::new(id)
                });
                report.append(&known);
            }
        }
        let matcher = Matcher::new(pattern);
        for report in ids.iter().filter_map(|id| all.remove(id)) {
            // The compiler may have used an earlier pattern, which enables the same changes, but reports others.
            let is_held = self.held.contains(&report.id);
            if !is_held && matcher.as_ref().is_some_and(|matcher| matcher.should_report(report.id)) {
                reports.add(report);
            }
        }
        Ok(())
    }

    fn change(&self, mut report: Report, root: &Path, mode: Mode) -> Report {
        match self.gates {
            Gates::Functions { .. } => {
                let file = report.location.as_ref().map(|location| root.join(&location.file));
                let defining = file.and_then(|file| self.compilation.defining(&file));
                let is_elsewhere = |package: &&Package| report.id.in_crate(package.change) != report.id;
                let package = defining.filter(is_elsewhere).map(Package::describe);
                let name = report.frames.drain(..).next().map(|frame| frame.function).unwrap_or_default();
                Report { kind: FUNCTION, name, package, ..report }
            }
            Gates::Expressions { .. } => {
                // Several crates may expand the same macro: one function stands for all of theirs.
                report.frames.truncate(1);
                // A change without a form affects all expressions of a kind in the crate.
                let name = report.form.clone().unwrap_or_else(|| "type of what never returns".to_owned());
                let details = details::in_direction(&report.details, mode);
                Report { kind: EXPRESSION, name, details, ..report }
            }
        }
    }

    fn summary(&self, _: BuildCounts) -> Option<String> {
        let Gates::Expressions { edition, .. } = self.gates else { return None };
        let (Places { all, borrowing }, dropping) = (self.known.places(), self.known.count("drops"));
        let change = if dropping == 1 { "changes" } else { "change" };
        let others = match borrowing {
            0 => String::new(),
            1 => ", 1 matters only to the borrow checker".to_owned(),
            _ => format!(", {borrowing} matter only to the borrow checker"),
        };
        (all > 0).then(|| {
            let candidates = plural(all, "candidate expression");
            format!("{candidates} for edition {edition}: {dropping} {change} drop order{others}")
        })
    }
}

impl GatedChanges {
    /// Returns the packages that `bisect-rustc` compiles: those that are searched and, in a search for expressions,
    /// those that may expand their macros.
    fn gated(&self) -> impl Iterator<Item = &Package> {
        let expands = |package: &Package| !self.packages.is_disjoint(&package.needs);
        let is_about_source = matches!(self.gates, Gates::Expressions { .. });
        let packages = self.compilation.packages.iter();
        packages.filter(move |package| self.packages.contains(&package.change) || is_about_source && expands(package))
    }

    fn plan(&self) -> Plan {
        let BisectRustc { path, build } = self.driver.clone();
        let mut plan = Plan { bisect_rustc: Some(path), build: Some(build), ..self.compilation.plan(true) };
        if let Gates::Functions { is_strict: true, .. } = self.gates {
            plan.flags.push(bisect_rustc::WITHOUT_MODULE_PASSES.to_owned());
        }
        plan
    }

    /// Returns the overrides of a build in which `bisect-rustc` compiles these packages. `value` is the value of its
    /// variable for each of them that is searched.
    fn build(&self, packages: Vec<&Package>, value: impl Fn(&Package) -> Option<String>) -> BuildOverrides {
        let plan = self.plan();
        let plans: BTreeMap<_, _> = packages.iter().map(|package| (package.change, plan.clone())).collect();
        let mut with = self.compilation.with(&plans.keys().copied().collect(), &plans);
        let searched = packages.into_iter().filter(|package| self.packages.contains(&package.change));
        let values = searched.filter_map(|package| Some((package.bisect_rustc_variable(), value(package)?)));
        with.variables.extend(values);
        with
    }

    /// Reads the report files of a package: the changes, and the numbers of places.
    fn read(
        &self,
        package: &Package,
        pattern: &Pattern,
        artifacts: &Artifacts,
    ) -> io::Result<(Reports, BTreeMap<Writer, Places>)> {
        let plan = self.plan().value().unwrap_or_default();
        let is_searched = self.packages.contains(&package.change);
        let value = if is_searched { self.value(package, pattern) } else { String::new() };
        let directory = plan::reports_dir(&artifacts.store(), &package.variable(), [&plan, &value]);
        let (mut reports, mut places) = (Reports::new(true), BTreeMap::new());
        for file in plan::latest_per_unit(&directory, &artifacts.stems)?.values() {
            reports.read_file(file)?;
            if let Gates::Expressions { .. } = self.gates {
                count_places(&fs_err::read_to_string(file)?, &mut places);
            }
        }
        Ok((reports, places))
    }

    /// Returns the pattern of a choice, without the changes that are held.
    fn pattern(&self, choice: &Choice) -> Pattern {
        disabling(choice.pattern(), &self.held)
    }

    /// Returns the value of `bisect-rustc`'s variable for a package. If an earlier pattern enables the same known
    /// changes, it is used again.
    fn value(&self, package: &Package, pattern: &Pattern) -> String {
        let pattern = self.known.equivalent(package.change, pattern);
        // Always ask for text: it may be needed later, when nothing has to be compiled again.
        self.gates.value(&pattern.verbose(true))
    }
}

impl Gates {
    /// Returns the value of `bisect-rustc`'s variable that applies a pattern to these gates.
    fn value(&self, pattern: &Pattern) -> String {
        self.names().iter().map(|gate| format!("{gate}={pattern}")).collect::<Vec<_>>().join(";")
    }

    /// Returns the names of the gates in `bisect-rustc`'s variable.
    fn names(&self) -> &'static [&'static str] {
        match self {
            Gates::Functions { with_std: false, .. } => &["optimize"],
            Gates::Functions { with_std: true, .. } => &["optimize", "std"],
            Gates::Expressions { with_borrows: false, .. } => &["drops", "into-iter", "never-type"],
            Gates::Expressions { with_borrows: true, .. } => {
                &["drops", "into-iter", "never-type", "scopes", "captures"]
            }
        }
    }
}

/// Returns a pattern that enables what another one does, except for these changes.
fn disabling(pattern: &Pattern, held: &BTreeSet<ChangeId>) -> Pattern {
    let suffixes = |is_added: bool| {
        let of = move |term: &Term| match *term {
            Term::Add(suffix) => is_added.then_some(suffix),
            Term::Remove(suffix) => (!is_added).then_some(suffix),
        };
        pattern.terms().iter().filter_map(of)
    };
    let held = held.iter().map(|&id| Suffix::exactly(id));
    // What an inverted pattern selects is disabled.
    let [add, remove] = if pattern.inverted { [Some(held), None] } else { [None, Some(held)] };
    let add = suffixes(true).chain(add.into_iter().flatten());
    let remove = suffixes(false).chain(remove.into_iter().flatten());
    Pattern::new(add, remove).inverted(pattern.inverted).verbose(pattern.verbose)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_disabled_in_all_patterns() {
        let held = BTreeSet::from([ChangeId(5), ChangeId(6)]);
        for text in [
            "y",
            "n",
            "vy",
            "x0000000000000005",
            "!x0000000000000004",
            "01+1-x0000000000000003",
            "!11-x0000000000000007",
        ] {
            let pattern: Pattern = text.parse().unwrap();
            let enabled = |pattern: &Pattern| {
                let matcher = Matcher::new(pattern).unwrap();
                (1..9).map(ChangeId).filter(|&id| matcher.should_enable(id)).collect::<BTreeSet<_>>()
            };
            assert_eq!(enabled(&disabling(&pattern, &held)), &enabled(&pattern) - &held, "{text}");
            assert_eq!(disabling(&pattern, &BTreeSet::new()), pattern, "{text}");
        }
    }
}
