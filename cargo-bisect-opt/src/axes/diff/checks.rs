//! Checks whether sets of parts compile: each made once, and a limited number of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{complaint::Complaint, words::PartSet};
use crate::axes::option_axis::Show;

/// The maximum number of builds to divide a patch. Parts that remain undivided are changes of their own: a selection
/// that does not compile is unresolved.
pub(super) const MAX_CHECKS: usize = 300;
/// The maximum number of builds to divide a culprit. It is smaller because most lines of many culprits compile only
/// together.
pub(super) const MAX_CHECKS_WITHIN: usize = 60;

/// The answer of the compiler about a set of parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Checked {
    /// The selection compiles.
    Compiles,
    /// It does not compile, and the errors.
    Fails(Complaint),
}

/// A compiler for sets of parts.
pub(super) trait Check {
    /// The reason why nothing more can be checked.
    type Error;

    /// Returns whether a set compiles.
    fn check(&mut self, parts: &PartSet) -> Result<Checked, Self::Error>;
}

/// A check that remembers the answers. After a number of them, everything else counts as not compiling.
pub(super) struct CountedChecks<'a, C> {
    check: &'a mut C,
    known: BTreeMap<PartSet, Checked>,
    limit: CheckLimit,
}

/// A limit of checks.
#[derive(Clone, Copy, Debug)]
pub(super) struct CheckLimit {
    /// The maximum number of checks.
    pub(super) most: usize,
    /// Shows lines about the progress.
    pub(super) show: Option<Show>,
}

/// The number of checks between two lines about the progress.
const INTERVAL: usize = 50;

impl CheckLimit {
    /// Returns a line about the number of checks, if it is time for one.
    fn progress(self, made: usize) -> Option<String> {
        let Self { most, .. } = self;
        made.is_multiple_of(INTERVAL).then(|| format!("checked {made} of at most {most} sets of hunks\n"))
    }
}

impl<'a, C: Check> CountedChecks<'a, C> {
    pub(super) fn new(check: &'a mut C, limit: CheckLimit) -> Self {
        Self { check, known: BTreeMap::new(), limit }
    }

    pub(super) fn is_over(&self) -> bool {
        self.known.len() >= self.limit.most
    }

    pub(super) fn compiles(&mut self, parts: &PartSet) -> Result<bool, C::Error> {
        Ok(self.check(parts)? == Checked::Compiles)
    }
}

impl<C: Check> Check for CountedChecks<'_, C> {
    type Error = C::Error;

    fn check(&mut self, parts: &PartSet) -> Result<Checked, C::Error> {
        if let Some(known) = self.known.get(parts) {
            return Ok(known.clone());
        }
        if self.is_over() {
            return Ok(Checked::Fails(Complaint::default()));
        }
        let checked = self.check.check(parts)?;
        self.known.insert(parts.clone(), checked.clone());
        if let (Some(show), Some(line)) = (self.limit.show, self.limit.progress(self.known.len())) {
            (show.lines)(&line);
        }
        Ok(checked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_now_and_then_says_how_many_checks_are_made() {
        let limit = CheckLimit { most: MAX_CHECKS, show: None };
        let lines: Vec<_> = (1..110).filter_map(|made| limit.progress(made)).collect();
        assert_eq!(lines, ["checked 50 of at most 300 sets of hunks\n", "checked 100 of at most 300 sets of hunks\n"]);
    }
}
