//! Passes as changes: the limit of a compiler's counter, in one package of a culprit.
//!
//! The counters of LLVM and rustc run the first N passes. So passes have the order of a counter (`Order::Counter`): one
//! pass means itself and all before it.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
    sync::Arc,
};

use bisect_core::{
    ChangeId,
    search::{Mode, Order},
};

use super::{
    AfterBuild, Application, Axis, CulpritChanges, CulpritWords, Files, compilation::Compilation, facts::AxisFacts,
};
use crate::{
    cargo::BuildOverrides,
    compiler::{
        passes::Passes,
        plan::{Counter, CounterKind},
    },
    output::terms::Terms,
    report::{content::Report, kind::ChangeKind, scan::Reports},
    run::{
        error::RunError,
        numbering::{Numbering, id},
        spec::Choice,
    },
};

/// The terms of this axis.
pub(crate) const TERMS: Terms = Terms { reported: Some("run"), ..Terms::of_compilation("passes", "pass") };
/// A pass of the compiler.
pub(crate) const KIND: ChangeKind = ChangeKind::own("pass", "pass", "compiled differently");

/// The passes in one package.
#[derive(Debug)]
pub(crate) struct CountedPasses {
    /// The compilation of all packages.
    pub(crate) compilation: Arc<Compilation>,
    /// The packages that are compiled with the bad options.
    pub(crate) culprits: BTreeSet<ChangeId>,
    /// The package whose passes are searched.
    pub(crate) package: ChangeId,
    /// The counter that counts them: rustc's or LLVM's.
    pub(crate) of: CounterKind,
    /// The passes that it counts.
    pub(crate) passes: Passes,
}

impl Axis for CountedPasses {
    fn facts(&self) -> AxisFacts {
        AxisFacts::of_builds(TERMS)
    }

    fn subject(&self) -> Option<String> {
        Some(format!("{} passes in {}", self.of.owner(), self.compilation.names(&[self.package].into())))
    }

    fn words(&self, _: &CulpritChanges<'_>) -> CulpritWords {
        CulpritWords {
            headline: Some("up to the pass before this one the target passes, and with it, it fails".to_owned()),
            ..CulpritWords::default()
        }
    }

    fn numbering(&self) -> Numbering {
        Numbering::of(Order::Counter)
    }

    fn apply(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        Ok(Application { build: Some(self.build(choice)), ..Application::default() })
    }

    fn reproduction(&self, choice: &Choice, _: &Files<'_>) -> Result<Application, RunError> {
        Ok(self.compilation.reproduction(self.build(choice), &self.culprits))
    }

    fn collect(&self, choice: &Choice, _: &AfterBuild<'_>, reports: &mut Reports) -> io::Result<()> {
        let limit = choice.counter_limit(self.passes.len());
        for (index, pass) in self.passes.all().iter().enumerate().take(limit) {
            let id = id(index);
            if choice.selects(id) {
                reports.add(Report::with_text(id, pass.describe(self.of)));
            }
        }
        Ok(())
    }

    fn change(&self, report: Report, _: &Path, _: Mode) -> Report {
        let name = self.passes.get(report.id).map(|pass| pass.describe(self.of)).unwrap_or_default();
        Report { kind: KIND, name, ..report }
    }
}

impl CountedPasses {
    fn build(&self, choice: &Choice) -> BuildOverrides {
        let limit = choice.counter_limit(self.passes.len());
        // With all passes, the build that listed them is the one to run.
        let lists = limit == self.passes.len();
        let limits = if lists { BTreeMap::new() } else { self.passes.limits(limit) };
        let counter = Counter { of: self.of, limits, lists };
        self.compilation.counting(&self.culprits, self.package, counter).0
    }
}
