//! The direction in which changes break the target, and the selections that follow from it.

use super::{
    rank::Rank,
    selection::{Prefix, Selection},
    trial::Question,
};

/// The direction in which changes break the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The target passes with no change and fails when the culprits are enabled.
    #[default]
    Enable,
    /// The target passes with every change and fails when the culprits are disabled: the changes repair it.
    ///
    /// The search disables prefixes of its order. If some changes need earlier ones, as the steps of a counter do, that
    /// must be the reverse order: then each run enables the first changes only. [`Selection::mirrored`] converts.
    Disable,
}

impl Mode {
    /// Returns the direction of a trial with this selection. At an end of the search, both directions are the same.
    #[must_use]
    pub const fn of(selection: &Selection) -> Self {
        if selection.inverted { Self::Disable } else { Self::Enable }
    }

    /// Returns the selection under which the target fails, if any selection fails.
    pub(in crate::before) fn everything(self) -> Selection {
        Selection { inverted: self == Self::Disable, ..Selection::all() }
    }

    /// Returns the selection under which the target passes.
    pub(in crate::before) fn nothing(self) -> Selection {
        Selection { inverted: self == Self::Enable, ..Selection::all() }
    }

    /// Returns the selection that switches exactly these changes.
    pub(in crate::before) fn exactly(self, changes: &[Rank]) -> Selection {
        Selection { prefix: Prefix::NONE, forced: changes.to_vec(), ..self.everything() }
    }

    /// Returns the question of the calibration whose answer was a failure, and its selection.
    pub(in crate::before) fn failing_end(self) -> (Question, Selection) {
        let question = match self {
            Self::Enable => Question::AllOn,
            Self::Disable => Question::AllOff,
        };
        (question, self.everything())
    }

    /// Returns the question of the calibration whose answer was a pass, and its selection.
    pub(in crate::before) fn passing_end(self) -> (Question, Selection) {
        let question = match self {
            Self::Enable => Question::AllOff,
            Self::Disable => Question::AllOn,
        };
        (question, self.nothing())
    }
}
