//! One build, whatever is enabled: to try something out.

use std::{collections::BTreeSet, io, path::Path, sync::Arc};

use bisect_core::{ChangeId, Pattern};

use super::{Level, compilation::Compilation};
use crate::{
    cargo::{Artifacts, BuildOverrides},
    output::events::Change,
    report::{kind::ChangeKind, scan::Reports},
};

/// No change at all.
#[derive(Debug)]
pub(crate) struct Fixed {
    /// How things are compiled.
    pub(crate) compilation: Arc<Compilation>,
    /// The build.
    pub(crate) build: BuildOverrides,
    /// What is tried out, for people.
    pub(crate) subject: String,
}

impl Level for Fixed {
    fn compilation(&self) -> &Compilation {
        &self.compilation
    }

    fn name(&self) -> &'static str {
        "passes"
    }

    fn subject(&self) -> String {
        self.subject.clone()
    }

    fn headline(&self, _: usize) -> String {
        "this compilation makes the target fail".to_owned()
    }

    fn build_with(&self, _: &Pattern) -> Option<BuildOverrides> {
        Some(self.build.clone())
    }

    fn bad(&self, _: &Pattern) -> BTreeSet<ChangeId> {
        BTreeSet::new()
    }

    fn report(&self, _: &Pattern, _: Option<&Artifacts>, _: &mut Reports) -> io::Result<()> {
        Ok(())
    }

    fn describe(&self, id: ChangeId, text: &[String], _: &Path) -> Change {
        Change::new(id, ChangeKind::Pass, String::new(), text)
    }
}
