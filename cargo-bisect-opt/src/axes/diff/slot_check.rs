//! Checks of sets of parts in the work tree of a slot.

use super::{
    Diff,
    checks::{Check, Checked},
    compiler::Compiler,
    complaint::Complaint,
    words::PartSet,
};
use crate::{run::error::RunError, vcs::worktrees::Checkout};

/// A check of sets of parts in the work tree of a slot.
pub(super) struct SlotCheck<'a> {
    pub(super) diff: &'a Diff,
    pub(super) compiler: &'a Compiler,
    pub(super) slot: usize,
}

impl Check for SlotCheck<'_> {
    type Error = RunError;

    fn check(&mut self, parts: &PartSet) -> Result<Checked, RunError> {
        if let Some(known) = self.diff.findings.checked(parts) {
            return Ok(known);
        }
        let checked = match self.diff.set(self.slot, parts)? {
            // There may be room later.
            Checkout::Failed(_) => return Ok(Checked::Fails(Complaint::default())),
            Checkout::Done(top) => {
                let directory = top.join(&self.diff.trees.subdirectory);
                self.compiler.check(self.slot, &top, &directory)?
            }
        };
        self.diff.findings.add_checked(parts, checked.clone());
        Ok(checked)
    }
}
