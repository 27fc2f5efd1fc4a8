//! The changes of a search. They are computed late, because the checks of the compiler take long.

use std::sync::OnceLock;

use super::{
    checks::{Check, CheckLimit, Checked},
    ties::{self, Ties},
    words::PartSet,
};
use crate::run::numbering::position;
use bisect_core::ChangeId;

/// The parts of each change, in the order of the search; unset until they are known. If checks found them, prefixes of
/// the order compile.
#[derive(Debug, Default)]
pub(super) struct Changes(OnceLock<Vec<Vec<usize>>>);

impl Changes {
    /// Returns the changes; none until they are known.
    pub(super) fn known(&self) -> &[Vec<usize>] {
        self.0.get().map_or(&[], Vec::as_slice)
    }

    /// Returns the parts of a change.
    pub(super) fn parts_of(&self, id: ChangeId) -> &[usize] {
        position(id).and_then(|index| self.known().get(index)).map_or(&[], Vec::as_slice)
    }

    /// Returns the changes. If they are not known, checks find them.
    ///
    /// # Errors
    /// If a check cannot be made.
    pub(super) fn known_or_checked<'a, C: Check>(
        &self,
        ties: impl FnOnce() -> Ties<'a>,
        check: &mut C,
        limit: CheckLimit,
    ) -> Result<&[Vec<usize>], C::Error> {
        if self.0.get().is_some() {
            return Ok(self.known());
        }
        let ties = ties();
        let order = ties.order();
        // If one of both versions does not compile, errors give no information.
        let mut compiles = |parts: &PartSet| Ok(check.check(parts)? == Checked::Compiles);
        if order.len() > 1 && compiles(&PartSet::new())? && compiles(&ties.all_parts())? {
            let groups = ties.groups(order, check, limit)?;
            return Ok(self.0.get_or_init(|| ties::joined(groups, &ties.conflicts())));
        }
        Ok(self.known_or_units(|| ties))
    }

    /// Returns the changes. If they are not known, each unit becomes one change.
    pub(super) fn known_or_units<'a>(&self, ties: impl FnOnce() -> Ties<'a>) -> &[Vec<usize>] {
        self.0.get_or_init(|| {
            let ties = ties();
            ties::joined(ties.single_units(), &ties.conflicts())
        })
    }
}
