//! What `bisect-rustc` decides as changes: which functions of some packages are optimized.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use bisect_core::{ChangeId, Matcher, Pattern};

use super::{
    Level,
    compilation::Compilation,
    driver,
    graph::Package,
    plan::{self, Plan},
};
use crate::{
    cargo::{Artifacts, With},
    describe::Description,
    events::Change,
    reports::Reports,
    target::Kind,
};

/// Functions of culprits.
#[derive(Debug)]
pub struct Gated {
    /// How things are compiled.
    pub compilation: Arc<Compilation>,
    /// The packages that are compiled in the bad way, by the driver.
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

/// What is known of the changes in a package.
#[derive(Debug, Default)]
pub struct Told {
    known: BTreeSet<ChangeId>,
    /// Patterns that were asked for; of those that say the same of all changes, the first.
    patterns: Vec<Pattern>,
}

impl Level for Gated {
    fn compilation(&self) -> &Compilation {
        &self.compilation
    }

    fn name(&self) -> &'static str {
        "functions"
    }

    fn subject(&self) -> String {
        format!("functions in {}", self.compilation.names(&self.culprits))
    }

    fn headline(&self, changes: usize) -> String {
        let (these, make) =
            if changes == 1 { ("this function", "makes") } else { ("these functions", "together make") };
        format!("{these} optimized, {make} the target fail")
    }

    fn build_with(&self, pattern: &Pattern) -> Option<With> {
        let is_bad = |package: &Package| self.is_bad(package, pattern);
        let plans = self.culprits.iter().map(|&change| (change, self.plan())).collect();
        let mut with = self.compilation.with(&is_bad, &plans);
        for package in self.compilation.packages.iter().filter(|package| is_bad(package)) {
            let variable = plan::variable(plan::DRIVER_PREFIX, &package.name, &package.version);
            with.variables.insert(variable, self.value(package, pattern).into());
        }
        Some(with)
    }

    fn is_bad(&self, package: &Package, _: &Pattern) -> bool {
        self.culprits.contains(&package.change)
    }

    fn report(&self, pattern: &Pattern, artifacts: Option<&Artifacts>, reports: &mut Reports) -> io::Result<()> {
        let Some(artifacts) = artifacts else { return Ok(()) };
        let matcher = Matcher::new(pattern);
        for package in self.compilation.packages.iter().filter(|package| self.is_bad(package, pattern)) {
            let value = self.value(package, pattern);
            let variable = plan::variable(plan::PREFIX, &package.name, &package.version);
            let directory =
                plan::told(&artifacts.store(), &variable, [&self.plan().value().unwrap_or_default(), &value]);
            let mut said = Reports::new(true);
            for file in plan::kept(&directory, &artifacts.stems)?.values() {
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

    fn describe(&self, id: ChangeId, text: &[String], _: &Path) -> Change {
        let Description { place, frames, .. } = Description::parse(text);
        let name = frames.first().map(|frame| frame.function.clone()).unwrap_or_default();
        let place = place.as_ref();
        Change {
            file: place.map(|place| place.file.clone()),
            line: place.map(|place| place.line),
            column: place.and_then(|place| place.column),
            ..Change::new(id, Kind::Function, name, text)
        }
    }
}

impl Gated {
    fn plan(&self) -> Plan {
        let mut plan = Plan { driver: Some(self.driver.clone()), ..self.compilation.plan(true) };
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
}
