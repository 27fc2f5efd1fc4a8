//! Parts that are enabled or disabled beside those that a run asks for, so that the selection compiles.
//!
//! A change alone gets the least that compiles. If the errors do not lead to it, the builds begin with the prefix of
//! the order up to the change, which compiles, and take away from it.

use std::collections::BTreeSet;

use super::{
    Diff,
    checks::{Check, Checked},
    id,
    reduction::necessary_of_groups,
    tree_check::TreeCheck,
    words::PartSet,
};
use crate::{
    run::{
        error::RunError,
        spec::{Choice, EndState},
    },
    vcs::patch::Patch,
};

/// The maximum number of builds to find the least set of parts beside others.
const MAX_CHECKS_BESIDE: usize = 60;

impl Diff {
    /// Returns the parts that a run enables.
    ///
    /// Prefixes of the order compile. Changes that are enabled beyond a prefix may need others, and changes that it
    /// leaves out may be needed by others. The first get what they need, and the second take along what needs them,
    /// which is decided once for each set of changes: so all runs of a search agree.
    pub(super) fn selected(&self, choice: &Choice) -> Result<PartSet, RunError> {
        let enabled = self.enabled(choice);
        let Some(compiler) = &self.compiler else { return Ok(enabled) };
        let Some((forced, excluded)) = choice.exceptions(self.changes.known().len()) else { return Ok(enabled) };
        let mut check = TreeCheck { diff: self, compiler };
        let mut selected = enabled;
        if let Some(&last) = forced.last() {
            // The order up to the last one compiles.
            let limit = self.parts_of_changes(0..=last);
            selected.extend(self.beside(true, &self.parts_of_changes(forced), &limit, &mut check)?);
        }
        if let Some(&first) = excluded.first() {
            let limit = self.parts_of_changes(first..self.changes.known().len());
            let without = self.beside(false, &self.parts_of_changes(excluded), &limit, &mut check)?;
            selected.retain(|part| !without.contains(part));
        }
        Ok(selected)
    }

    /// Returns the parts that a run with this choice enabled, without a build. If there was no such run, it is only those
    /// that the choice names.
    pub(super) fn known_selected(&self, choice: &Choice) -> PartSet {
        let mut selected = self.enabled(choice);
        let Some((forced, excluded)) = choice.exceptions(self.changes.known().len()) else { return selected };
        selected.extend(self.known_beside(true, &self.parts_of_changes(forced)));
        let without = self.known_beside(false, &self.parts_of_changes(excluded));
        selected.retain(|part| !without.contains(part));
        selected
    }

    /// Returns the additional parts that must be enabled (or disabled) together with these, so that the old tree with them
    /// (or the new tree without them) compiles; an empty set if none are found. With all parts of `limit` it compiles.
    fn beside(
        &self,
        is_enabled: bool,
        parts: &PartSet,
        limit: &PartSet,
        check: &mut TreeCheck<'_>,
    ) -> Result<PartSet, RunError> {
        if let Some(beside) = self.findings.beside(is_enabled, parts) {
            return Ok(beside);
        }
        let all = self.ties().all_parts();
        let found = if is_enabled {
            self.ties().extended(parts.clone(), &all, check)?
        } else {
            self.ties().shrunk(&all - parts, check)?.map(|left| &all - &left)
        };
        let more = &found.unwrap_or_else(|| limit.clone()) - parts;
        // The parts of one change compile only together.
        let has_more = |&change: &usize| self.changes.known()[change].iter().any(|part| more.contains(part));
        let mut changes: Vec<_> = (0..self.changes.known().len()).filter(has_more).collect();
        if !is_enabled {
            // The first changes need no others. So a shorter prefix is one that enables more of them again.
            changes.reverse();
        }
        let first_part = |change: usize| &self.patch.parts()[self.changes.known()[change][0]];
        let mut files: Vec<Vec<usize>> = Vec::new();
        for change in changes {
            let is_same = |file: &&mut Vec<usize>| Patch::is_of_same_file(first_part(file[0]), first_part(change));
            match files.iter_mut().find(is_same) {
                Some(file) => file.push(change),
                None => files.push(vec![change]),
            }
        }
        let beside_of = |changes: &BTreeSet<usize>| &self.parts_of_changes(changes.iter().copied()) & &more;
        let mut compiles = |beside: &PartSet| {
            let with_them = if is_enabled { parts | beside } else { &(&all - parts) - beside };
            Ok::<_, RunError>(check.check(&with_them)? == Checked::Compiles)
        };
        let beside = if more.is_empty() || !compiles(&more)? {
            PartSet::new()
        } else {
            // If the errors did not help, most of these changes, and of their files, are not needed.
            beside_of(&necessary_of_groups(&files, MAX_CHECKS_BESIDE, &mut |changes| compiles(&beside_of(changes)))?)
        };
        self.findings.add_beside(is_enabled, parts, beside.clone());
        Ok(beside)
    }

    /// Returns the parts that a run enabled (or disabled) beside these; none if no run has.
    pub(super) fn known_beside(&self, is_enabled: bool, parts: &PartSet) -> PartSet {
        self.findings.beside(is_enabled, parts).unwrap_or_default()
    }

    /// Returns the parts of the changes that a choice enables.
    pub(super) fn enabled(&self, choice: &Choice) -> PartSet {
        if choice.end_state() == Some(EndState::AllOn) {
            return self.ties().all_parts();
        }
        self.parts_of_changes((0..self.changes.known().len()).filter(|&change| choice.enables(id(change))))
    }

    pub(super) fn parts_of_changes(&self, changes: impl IntoIterator<Item = usize>) -> PartSet {
        changes.into_iter().flat_map(|change| self.changes.known()[change].iter().copied()).collect()
    }
}
