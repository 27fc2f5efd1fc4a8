//! Checks of sets of parts, in a work tree beside those of the runs.

use super::{
    Diff,
    checks::{Check, Checked},
    compiler::Compiler,
    complaint::Complaint,
    words::PartSet,
};
use crate::{run::error::RunError, vcs::worktrees::Checkout};

/// The number of the work tree for checks. It is no slot's number, because runs may be in flight during a check.
const BESIDE_RUNS: usize = usize::MAX;

/// A check of sets of parts.
pub(super) struct TreeCheck<'a> {
    pub(super) diff: &'a Diff,
    pub(super) compiler: &'a Compiler,
}

impl Check for TreeCheck<'_> {
    type Error = RunError;

    fn check(&mut self, parts: &PartSet) -> Result<Checked, RunError> {
        let _tree = self.compiler.lock();
        if let Some(known) = self.diff.findings.checked(parts) {
            return Ok(known);
        }
        let checked = match self.diff.set(BESIDE_RUNS, parts)? {
            // There may be room later.
            Checkout::Failed(_) => return Ok(Checked::Fails(Complaint::default())),
            Checkout::Done(top) => {
                let directory = top.join(&self.diff.trees.subdirectory);
                self.compiler.check(&top, &directory)?
            }
        };
        self.diff.findings.add_checked(parts, checked.clone());
        Ok(checked)
    }
}
