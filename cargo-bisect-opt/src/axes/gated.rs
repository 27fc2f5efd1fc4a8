//! Changes that `bisect-rustc` applies in some packages: optimized functions, or expressions as in another edition.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use bisect_core::{ChangeId, Matcher, Pattern, search::Mode};

use super::{AfterBuild, Application, Axis, Files, compilation::Compilation, stop_gap};
use crate::{
    cargo::{Artifacts, BuildOverrides, Edition, graph::Package},
    compiler::{
        bisect_rustc,
        plan::{self, Plan},
    },
    output::{events::StopGap, terms::Terms},
    report::{
        content::Report,
        key_values::KeyValues,
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
pub(crate) struct Gated {
    /// The compilation of all packages.
    pub(crate) compilation: Arc<Compilation>,
    /// The packages whose changes are searched. `bisect-rustc` compiles them with the bad options.
    pub(crate) packages: BTreeSet<ChangeId>,
    /// The path of `bisect-rustc`.
    pub(crate) driver: PathBuf,
    /// The gates.
    pub(crate) gates: Gates,
    /// The knowledge about each package. If the same changes of a package are enabled as before, its variable gets the
    /// same value as before, and cargo does not compile it again.
    pub(crate) told: Mutex<BTreeMap<ChangeId, Told>>,
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

/// The knowledge about a package.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// The changes that were reported when it was compiled, with their reports: its own changes, and those of packages
    /// whose macros it expands.
    met: BTreeMap<ChangeId, Report>,
    /// The patterns in use. Of patterns that enable the same known changes, only the first is here.
    patterns: Vec<Pattern>,
    /// The numbers of places in each of the package's crates, and in macros that they expand.
    places: BTreeMap<Writer, Places>,
}

impl Axis for Gated {
    fn terms(&self) -> Terms {
        match self.gates {
            Gates::Functions { .. } => FUNCTIONS,
            Gates::Expressions { .. } => EXPRESSIONS,
        }
    }

    fn subject(&self) -> Option<String> {
        Some(format!("{} in {}", self.terms().axis, self.compilation.names(&self.packages)))
    }

    fn headline(&self, changes: usize, _: Mode) -> Option<String> {
        let makes = if changes == 1 { "makes" } else { "together make" };
        Some(match (&self.gates, changes) {
            (Gates::Functions { .. }, 1) => format!("this function optimized, {makes} the target fail"),
            (Gates::Functions { .. }, _) => format!("these functions optimized, {makes} the target fail"),
            (Gates::Expressions { edition, .. }, 1) => {
                format!("this expression, as in edition {edition}, {makes} the target fail")
            }
            (Gates::Expressions { edition, .. }, _) => {
                format!("these expressions, as in edition {edition}, {makes} the target fail")
            }
        })
    }

    fn apply(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        let build = self.build(self.gated().collect(), |package| Some(self.value(package, choice.pattern())));
        Ok(Application { build: Some(build), ..Application::default() })
    }

    fn reproduction(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let is_on = |&id: &ChangeId| choice.enables(id);
        // A package differs from a plain build if a function is off, or if an expression is on.
        let is_about_code = self.is_about_optimization();
        let is_asked = |package: &Package| is_about_code || of_package(&told, package).iter().any(is_on);
        let expands = |package: &Package| told.get(&package.change).is_some_and(|told| told.met.keys().any(is_on));
        let packages = self.gated().filter(|package| is_asked(package) || expands(package));
        let value = self.gates.value(choice.pattern());
        let build = self.build(packages.collect(), |package| is_asked(package).then(|| value.clone()));
        Ok(self.compilation.reproduction(build, &self.packages))
    }

    fn builds(&self) -> bool {
        true
    }

    fn needs_text_run(&self) -> bool {
        false
    }

    fn is_about_optimization(&self) -> bool {
        matches!(self.gates, Gates::Functions { .. })
    }

    fn collect(&self, choice: &Choice, built: &AfterBuild<'_>, reports: &mut Reports) -> io::Result<()> {
        let Some(artifacts) = built.artifacts else { return Ok(()) };
        let pattern = choice.pattern();
        let (mut ids, mut all) = (Vec::new(), BTreeMap::<ChangeId, Report>::new());
        for package in self.gated() {
            let (said, places) = self.read(package, pattern, artifacts)?;
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            let told = told.entry(package.change).or_default();
            for (writer, found) in places {
                told.places.entry(writer).or_default().widen(found);
            }
            for &id in said.ids() {
                told.met.entry(id).or_insert_with(|| said.get(id));
            }
            // The report may lack changes in macros of other packages: it may have been written under another pattern
            // of those packages. The macros always have the same changes.
            let is_new = |id: &ChangeId| id.in_crate(package.change) != *id && !said.ids().contains(id);
            let of_others: Vec<_> = told.met.keys().copied().filter(is_new).collect();
            for id in said.ids().iter().copied().chain(of_others) {
                let report = all.entry(id).or_insert_with(|| {
                    ids.push(id);
                    Report::new(id)
                });
                report.append(&told.met[&id]);
            }
        }
        let matcher = Matcher::new(pattern);
        for report in ids.iter().filter_map(|id| all.remove(id)) {
            // The compiler may have used an earlier pattern, which enables the same changes, but reports others.
            if matcher.as_ref().is_some_and(|matcher| matcher.should_report(report.id)) {
                reports.add(report);
            }
        }
        Ok(())
    }

    fn stop_gap(&self, _: &[ChangeId], changes: &[Report]) -> Option<StopGap> {
        let is_own =
            |change: &Report| change.location.as_ref().is_some_and(|location| Path::new(&location.file).is_relative());
        self.is_about_optimization().then(|| stop_gap::of_functions(changes.iter().all(is_own), changes.len()))
    }

    fn change(&self, mut report: Report, root: &Path) -> Report {
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
                Report { kind: EXPRESSION, name, ..report }
            }
        }
    }

    fn summary(&self, _: usize, _: usize) -> Option<String> {
        let Gates::Expressions { edition, .. } = self.gates else { return None };
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let mut places = BTreeMap::<_, Places>::new();
        for (package, told) in told.iter() {
            for (writer, found) in &told.places {
                // Macros have the same changes in each package that expands them.
                let package = Some(package).filter(|_| !writer.is_expanded_elsewhere);
                places.entry((package, writer)).or_default().widen(*found);
            }
        }
        let sum = |of: fn(&Places) -> usize| places.values().map(of).sum::<usize>();
        let (all, borrowing) = (sum(|places| places.all), sum(|places| places.borrowing));
        let met = told.values().flat_map(|told| &told.met).filter(|(_, report)| report.name == "drops");
        let dropping = met.map(|(id, _)| id).collect::<BTreeSet<_>>().len();
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

/// The crate that wrote the counted places.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Writer {
    name: String,
    /// True if another crate is compiled, which expands macros of this one.
    is_expanded_elsewhere: bool,
}

/// The numbers of places in a crate, or in its macros where other crates expand them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Places {
    all: usize,
    /// The number of places that only make a difference to the borrow checker.
    borrowing: usize,
}

impl Places {
    /// Parses the counts of a crate's places, which `bisect-rustc` writes among its reports.
    fn parse(line: &str) -> Option<(Writer, Self)> {
        let pairs = KeyValues::parse(line.strip_prefix("bisect-rustc: ")?)?;
        let writer =
            Writer { name: pairs.get("crate")?.to_owned(), is_expanded_elsewhere: pairs.get("expanded-in").is_some() };
        let borrowing = pairs.parsed::<usize>("scopes")?.checked_add(pairs.parsed("captures")?)?;
        Some((writer, Self { all: pairs.parsed("places")?, borrowing }))
    }

    /// Raises the numbers to those of `other`. A library and its tests are one crate, and macros are the same wherever
    /// they are expanded: the maximum counts.
    fn widen(&mut self, other: Self) {
        *self = Self { all: self.all.max(other.all), borrowing: self.borrowing.max(other.borrowing) };
    }
}

/// Adds the counts in the text of a report file to `places`.
fn count_places(said: &str, places: &mut BTreeMap<Writer, Places>) {
    for (writer, found) in said.lines().filter_map(Places::parse) {
        places.entry(writer).or_default().widen(found);
    }
}

impl Gated {
    /// Returns the packages that `bisect-rustc` compiles: those that are searched and, in a search for expressions,
    /// those that may expand their macros.
    fn gated(&self) -> impl Iterator<Item = &Package> {
        let expands = |package: &Package| !self.packages.is_disjoint(&package.needs);
        let is_about_source = matches!(self.gates, Gates::Expressions { .. });
        let packages = self.compilation.packages.iter();
        packages.filter(move |package| self.packages.contains(&package.change) || is_about_source && expands(package))
    }

    fn plan(&self) -> Plan {
        let mut plan = Plan { bisect_rustc: Some(self.driver.clone()), ..self.compilation.plan(true) };
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
        let values = searched.filter_map(|package| Some((package.bisect_rustc_variable(), value(package)?.into())));
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
        let (mut said, mut places) = (Reports::new(true), BTreeMap::new());
        for file in plan::latest_per_unit(&directory, &artifacts.stems)?.values() {
            said.read_file(file)?;
            if let Gates::Expressions { .. } = self.gates {
                count_places(&fs_err::read_to_string(file)?, &mut places);
            }
        }
        Ok((said, places))
    }

    /// Returns the value of `bisect-rustc`'s variable for a package. If an earlier pattern enables the same known
    /// changes, it is used again.
    fn value(&self, package: &Package, pattern: &Pattern) -> String {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let known = of_package(&told, package);
        let decisions = |pattern: &Pattern| {
            let matcher = Matcher::new(pattern);
            let enables = |&id: &ChangeId| matcher.as_ref().is_none_or(|matcher| matcher.should_enable(id));
            known.iter().map(enables).collect::<Vec<_>>()
        };
        let asked = decisions(pattern);
        let says_the_same = |other: &&Pattern| decisions(other) == asked;
        let patterns = &mut told.entry(package.change).or_default().patterns;
        let earlier = patterns.iter().find(says_the_same).filter(|_| !known.is_empty()).cloned();
        let pattern = earlier.unwrap_or_else(|| {
            patterns.push(pattern.clone());
            pattern.clone()
        });
        // Always ask for text: it may be needed later, when nothing has to be compiled again.
        self.gates.value(&pattern.verbose(true))
    }
}

/// Returns the known changes of a package, also those reported when another package was compiled.
fn of_package(told: &BTreeMap<ChangeId, Told>, package: &Package) -> BTreeSet<ChangeId> {
    let met = told.values().flat_map(|told| told.met.keys());
    met.copied().filter(|&id| id.in_crate(package.change) == id).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted() {
        let line = "bisect-rustc: crate=a_b edition=2024 places=31 drops=9 scopes=4 captures=2";
        let found = Places { all: 31, borrowing: 6 };
        let writer = |is_expanded_elsewhere| Writer { name: "a_b".to_owned(), is_expanded_elsewhere };
        assert_eq!(Places::parse(line), Some((writer(false), found)));
        let of_macros = line.replace("a_b", "a_b expanded-in=c");
        assert_eq!(Places::parse(&of_macros), Some((writer(true), found)));
        let without_edition = line.replace(" edition=2024", "");
        assert_eq!(Places::parse(&without_edition), Some((writer(false), found)));
        for line in [
            "bisect-rustc: crate=a places=x drops=9 scopes=4 captures=2",
            "bisect-rustc: crate=a places=31 drops=9 scopes=-4 captures=2",
            "bisect-rustc: crate=a places=31 drops=9 captures=2",
            "bisect-rustc: crate=a places=31 drops=9 scopes=4",
            "bisect-rustc: places=31 drops=9 scopes=4 captures=2",
            "bisect-rustc: crate=a places=31 drops=9 scopes=4 captures=2, 3",
            "crate=a places=31 drops=9 scopes=4 captures=2",
            "bisect-rustc: ?",
        ] {
            assert_eq!(Places::parse(line), None, "{line}");
        }
    }
}
