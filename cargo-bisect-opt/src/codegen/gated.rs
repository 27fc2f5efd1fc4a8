//! What `bisect-rustc` decides as changes, in some packages: which functions are optimized, or which expressions mean what they
//! mean in another edition.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use bisect_core::{ChangeId, Matcher, Pattern};
use cargo_metadata::Edition;

use super::{
    Level,
    compilation::Compilation,
    driver,
    graph::Package,
    plan::{self, Plan},
};
use crate::{
    cargo::{Artifacts, With},
    console::plural,
    describe::Description,
    events::Change,
    reports::Reports,
    target::Kind,
};

/// What the driver decides.
#[derive(Debug)]
pub struct Gated {
    /// How things are compiled.
    pub compilation: Arc<Compilation>,
    /// The packages that are compiled by the driver, in the bad way.
    pub packages: BTreeSet<ChangeId>,
    /// `bisect-rustc`.
    pub driver: PathBuf,
    /// What is decided.
    pub gates: Gates,
    /// What is known of each package: one of which the same changes are selected is told the same, and not compiled again.
    pub told: Mutex<BTreeMap<ChangeId, Told>>,
}

/// Which of the driver's gates are asked for.
#[derive(Debug)]
pub enum Gates {
    /// Functions: whether they are optimized.
    Functions {
        /// Whether passes are off that optimize functions although they are not to be optimized.
        is_strict: bool,
        /// Whether functions of the standard library are among them, where they are compiled in these packages.
        with_std: bool,
    },
    /// Expressions: whether they mean what they mean in another edition.
    Expressions {
        /// That edition.
        edition: Edition,
        /// Whether expressions are among them of which only the borrow checker can tell.
        with_borrows: bool,
    },
}

/// What is known of the changes in a package.
#[derive(Debug, Default)]
pub struct Told {
    known: BTreeSet<ChangeId>,
    /// Patterns that were asked for; of those that say the same of all changes, the first.
    patterns: Vec<Pattern>,
    /// The places in each of the package's crates, by its name.
    places: BTreeMap<String, Places>,
}

impl Level for Gated {
    fn compilation(&self) -> &Compilation {
        &self.compilation
    }

    fn name(&self) -> &'static str {
        match self.gates {
            Gates::Functions { .. } => "functions",
            Gates::Expressions { .. } => "expressions",
        }
    }

    fn subject(&self) -> String {
        format!("{} in {}", self.name(), self.compilation.names(&self.packages))
    }

    fn headline(&self, changes: usize) -> String {
        let makes = if changes == 1 { "makes" } else { "together make" };
        match (&self.gates, changes) {
            (Gates::Functions { .. }, 1) => format!("this function optimized, {makes} the target fail"),
            (Gates::Functions { .. }, _) => format!("these functions optimized, {makes} the target fail"),
            (Gates::Expressions { edition, .. }, 1) => {
                format!("this expression, as in edition {edition}, {makes} the target fail")
            }
            (Gates::Expressions { edition, .. }, _) => {
                format!("these expressions, as in edition {edition}, {makes} the target fail")
            }
        }
    }

    fn build_with(&self, pattern: &Pattern) -> Option<With> {
        Some(self.build(|package| Some(self.value(package, pattern))))
    }

    fn build_again(&self, pattern: &Pattern) -> Option<With> {
        Some(self.build(|package| self.matters(package, pattern).then(|| self.gates.value(pattern))))
    }

    fn bad(&self, _: &Pattern) -> BTreeSet<ChangeId> {
        self.packages.clone()
    }

    fn report(&self, pattern: &Pattern, artifacts: Option<&Artifacts>, reports: &mut Reports) -> io::Result<()> {
        let Some(artifacts) = artifacts else { return Ok(()) };
        let matcher = Matcher::new(pattern);
        let (store, plan) = (artifacts.store(), self.plan().value().unwrap_or_default());
        for package in self.gated() {
            let value = self.value(package, pattern);
            let variable = plan::variable(plan::PREFIX, &package.name, &package.version);
            let files = plan::kept(&plan::told(&store, &variable, [&plan, &value]), &artifacts.stems)?;
            let mut said = Reports::new(true);
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            let Told { known, places, .. } = told.entry(package.change).or_default();
            for file in files.values() {
                said.read_file(file)?;
                if let Gates::Expressions { .. } = self.gates {
                    count_places(&fs_err::read_to_string(file)?, places);
                }
            }
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

    fn describe(&self, id: ChangeId, text: &[String], _: &Path) -> Change {
        let Description { place, frames, .. } = Description::parse(text);
        match self.gates {
            Gates::Functions { .. } => {
                let name = frames.first().map(|frame| frame.function.clone()).unwrap_or_default();
                Change::new(id, Kind::Function, name, text).at(place)
            }
            Gates::Expressions { .. } => {
                let (end, form) = text.iter().find_map(|line| extent(line)).unzip();
                let details = text.iter().skip(2).filter(|line| extent(line).is_none());
                let details = details.map(|line| line.trim_start().to_owned()).collect();
                let frames = frames.into_iter().take(1).collect();
                // Without an extent it is about all expressions of a kind in the crate.
                let name = form.unwrap_or("type of what never returns").to_owned();
                Change { end, frames, details, ..Change::new(id, Kind::Expression, name, text).at(place) }
            }
        }
    }

    fn summary(&self) -> Option<String> {
        let Gates::Expressions { edition, .. } = self.gates else { return None };
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = |of: fn(&Places) -> usize| told.values().flat_map(|told| told.places.values()).map(of).sum::<usize>();
        let [all, dropping, borrowing] = [sum(|places| places.all), sum(|p| p.dropping), sum(|p| p.borrowing)];
        (all > 0).then(|| {
            format!(
                "of {} that edition {edition} speaks of, {dropping} drop something elsewhere then, and of {borrowing} more \
                 only the borrow checker can tell",
                plural(all, "place")
            )
        })
    }
}

/// How many places there are in a crate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Places {
    all: usize,
    /// Those at which something is dropped elsewhere.
    dropping: usize,
    /// Those of which only the borrow checker can tell.
    borrowing: usize,
}

impl Places {
    /// What the driver says beside its reports, and of which crate.
    fn parse(line: &str) -> Option<(&str, Self)> {
        let rest = line.strip_prefix("bisect-rustc: ")?;
        let (dropping, rest) = rest.split_once(" of ")?;
        let (all, rest) = rest.split_once(" places of ")?;
        let (name, rest) = rest.split_once(' ')?;
        let borrowing = rest.split_once("; of ")?.1.split_once(' ')?.0;
        let [dropping, all, borrowing] = [dropping, all, borrowing].map(|number| number.parse().ok());
        Some((name, Self { all: all?, dropping: dropping?, borrowing: borrowing? }))
    }
}

/// Adds what the driver has said about a crate to what is known of the crates of its package.
fn count_places(said: &str, places: &mut BTreeMap<String, Places>) {
    if let Some((name, found)) = said.lines().find_map(Places::parse) {
        // A library and its tests are one crate.
        let known = places.entry(name.to_owned()).or_insert(found);
        *known = (*known).max(found);
    }
}

/// Where an expression ends, and of which form it is: `expression: 7:14-7:101 if let`.
fn extent(line: &str) -> Option<((u32, u32), &str)> {
    let (range, form) = line.trim_start().strip_prefix("expression: ")?.split_once(' ')?;
    let (line, column) = range.split_once('-')?.1.split_once(':')?;
    Some(((line.parse().ok()?, column.parse().ok()?), form))
}

impl Gated {
    /// The packages that the driver compiles.
    fn gated(&self) -> impl Iterator<Item = &Package> {
        self.compilation.packages.iter().filter(|package| self.packages.contains(&package.change))
    }

    fn plan(&self) -> Plan {
        let mut plan = Plan { driver: Some(self.driver.clone()), ..self.compilation.plan(true) };
        if let Gates::Functions { is_strict: true, .. } = self.gates {
            plan.flags.push(driver::WITHOUT_MODULE_PASSES.to_owned());
        }
        plan
    }

    /// The build in which each package's driver is told so; those that it is told nothing for are compiled as they are.
    fn build(&self, value: impl Fn(&Package) -> Option<String>) -> With {
        let values: Vec<_> = self.gated().filter_map(|package| Some((package, value(package)?))).collect();
        let plan = self.plan();
        let plans: BTreeMap<_, _> = values.iter().map(|(package, _)| (package.change, plan.clone())).collect();
        let mut with = self.compilation.with(&plans.keys().copied().collect(), &plans);
        for (package, value) in values {
            let variable = plan::variable(plan::DRIVER_PREFIX, &package.name, &package.version);
            with.variables.insert(variable, value.into());
        }
        with
    }

    /// Whether a package is another one with this pattern than without the driver. A function that is off is.
    fn matters(&self, package: &Package, pattern: &Pattern) -> bool {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        match (&self.gates, told.get(&package.change)) {
            (Gates::Expressions { .. }, Some(Told { known, .. })) => {
                let matcher = Matcher::new(pattern);
                known.iter().any(|&id| matcher.as_ref().is_none_or(|matcher| matcher.should_enable(id)))
            }
            _ => true,
        }
    }

    /// What the driver is told for a package.
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
        // Always with text: what is said of a change is asked for later, when it need not be compiled again.
        self.gates.value(&pattern.verbose(true))
    }
}

impl Gates {
    /// What the driver is told to ask a pattern.
    fn value(&self, pattern: &Pattern) -> String {
        self.names().iter().map(|gate| format!("{gate}={pattern}")).collect::<Vec<_>>().join(";")
    }

    /// As the driver names them.
    fn names(&self) -> &'static [&'static str] {
        match self {
            Gates::Functions { with_std: false, .. } => &["optimize"],
            Gates::Functions { with_std: true, .. } => &["optimize", "std"],
            Gates::Expressions { with_borrows: false, .. } => &["drops", "into-iter", "never-type"],
            Gates::Expressions { with_borrows: true, .. } => &["drops", "into-iter", "never-type", "scopes"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted() {
        let line = "bisect-rustc: 9 of 31 places of a_b drop something elsewhere in edition 2024; of 6 more only the borrow checker can tell";
        assert_eq!(Places::parse(line), Some(("a_b", Places { all: 31, dropping: 9, borrowing: 6 })));
        for line in [
            "bisect-rustc: x of 31 places of a drop; of 6 more",
            "9 of 31 places of a drop; of 6 more",
            "bisect-rustc: ?",
        ] {
            assert_eq!(Places::parse(line), None, "{line}");
        }
    }

    #[test]
    fn where_an_expression_ends() {
        for (line, expected) in [
            ("    expression: 7:14-7:101 if let", Some(((7, 101), "if let"))),
            ("    expression: 12:5-40:6 tail of a block", Some(((40, 6), "tail of a block"))),
            ("    expression: 7:14", None),
            ("    expression: 7:14-x:1 if", None),
            ("  krate::f at src/lib.rs:7:14", None),
        ] {
            assert_eq!(extent(line), expected, "{line}");
        }
    }
}
