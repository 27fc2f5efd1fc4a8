//! Checks of sets of parts in the work tree of a slot.

use super::{
    Diff,
    checks::{Check, Checked},
    compiler::Compiler,
    complaint::Complaint,
    words::PartSet,
};
use crate::{run::error::RunError, vcs::worktrees::Checkout};

/// The number of checks between two lines about the progress.
const INTERVAL: usize = 50;

/// A check of sets of parts in the work tree of a slot.
pub(super) struct SlotCheck<'a> {
    diff: &'a Diff,
    compiler: &'a Compiler,
    slot: usize,
    /// The number of checks that were made.
    made: usize,
    /// The maximum number of checks, for these lines.
    most: usize,
    /// Shows a line about the progress.
    show: Option<fn(&str)>,
}

impl<'a> SlotCheck<'a> {
    pub(super) fn new(diff: &'a Diff, compiler: &'a Compiler, slot: usize) -> Self {
        Self { diff, compiler, slot, made: 0, most: 0, show: None }
    }

    /// Shows the progress towards `most` checks.
    pub(super) fn with_progress(self, show: Option<fn(&str)>, most: usize) -> Self {
        Self { most, show, ..self }
    }
}

impl Check for SlotCheck<'_> {
    type Error = RunError;

    fn check(&mut self, parts: &PartSet) -> Result<Checked, RunError> {
        if let Some(known) = self.compiler.known(parts) {
            return Ok(known);
        }
        let checked = match self.diff.set(self.slot, parts)? {
            Checkout::Failed(_) => Checked::Fails(Complaint::default()),
            Checkout::Done(top) => {
                let directory = top.join(&self.diff.trees.subdirectory);
                self.compiler.check(self.slot, parts, &top, &directory)?
            }
        };
        self.made += 1;
        if let (Some(show), Some(line)) = (self.show, progress(self.made, self.most)) {
            show(&line);
        }
        Ok(checked)
    }
}

/// Returns a line about the number of checks, if it is time for one.
fn progress(made: usize, most: usize) -> Option<String> {
    made.is_multiple_of(INTERVAL).then(|| format!("{made} of at most {most} checks are made\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_now_and_then_says_how_many_checks_are_made() {
        let lines: Vec<_> = (1..110).filter_map(|made| progress(made, 300)).collect();
        assert_eq!(lines, ["50 of at most 300 checks are made\n", "100 of at most 300 checks are made\n"]);
    }
}
