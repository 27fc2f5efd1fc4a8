//! A trial of several tests that is worth a run.

use alloc::vec::Vec;

use crate::search::{
    ledger::Why,
    model::{selection::Selection, trial::Question},
    noisy::Toss,
};

/// A trial that is worth a run.
pub(super) struct Plan {
    pub(super) question: Question,
    pub(super) selection: Selection,
    pub(super) tests: Vec<usize>,
    pub(super) why: Why,
    /// The coin toss that selected this trial, if one did.
    pub(super) toss: Option<Toss>,
}
