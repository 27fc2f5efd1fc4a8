//! Passes as changes: how far a counter of the compiler goes, in one of the culprits.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
    sync::Arc,
};

use bisect_core::{ChangeId, Pattern};

use super::{Level, compilation::Compilation};
use crate::{
    cargo::{Artifacts, BuildOverrides},
    compiler::{
        passes::Passes,
        plan::{Counter, CounterKind},
    },
    output::events::Change,
    report::{kind::ChangeKind, scan::Reports},
};

/// The passes in one package.
#[derive(Debug)]
pub(crate) struct Counted {
    /// How things are compiled.
    pub(crate) compilation: Arc<Compilation>,
    /// The packages that are compiled in the bad way.
    pub(crate) culprits: BTreeSet<ChangeId>,
    /// The one whose passes they are.
    pub(crate) package: ChangeId,
    /// Whose counter.
    pub(crate) of: CounterKind,
    /// What it counts.
    pub(crate) passes: Passes,
}

impl Level for Counted {
    fn compilation(&self) -> &Compilation {
        &self.compilation
    }

    fn name(&self) -> &'static str {
        "passes"
    }

    fn subject(&self) -> String {
        format!("{} passes in {}", self.of.owner(), self.compilation.names(&[self.package].into()))
    }

    fn headline(&self, _: usize) -> String {
        "up to the pass before this one the target passes, and with it, it fails".to_owned()
    }

    fn build_with(&self, pattern: &Pattern) -> Option<BuildOverrides> {
        let limit = self.passes.limit(pattern)?;
        // With all of them, what was built to list them is just what is to be run.
        let lists = limit == self.passes.len();
        let limits = if lists { BTreeMap::new() } else { self.passes.limits(limit) };
        let counter = Counter { of: self.of, limits, lists };
        Some(self.compilation.counting(&self.culprits, self.package, counter).0)
    }

    fn bad(&self, _: &Pattern) -> BTreeSet<ChangeId> {
        self.culprits.clone()
    }

    fn report(&self, pattern: &Pattern, _: Option<&Artifacts>, reports: &mut Reports) -> io::Result<()> {
        let Some(limit) = self.passes.limit(pattern) else { return Ok(()) };
        for id in self.passes.reported(pattern, limit) {
            reports.add(id, &self.passes.get(id).map_or_else(String::new, |pass| pass.describe(self.of)));
        }
        Ok(())
    }

    fn describe(&self, id: ChangeId, text: &[String], _: &Path) -> Change {
        let name = self.passes.get(id).map(|pass| pass.describe(self.of)).unwrap_or_default();
        Change::new(id, ChangeKind::Pass, name, text)
    }
}
