//! The treatment of targets that may be flaky, and the estimates of a noisy search.

use alloc::vec::Vec;
use core::ops::Range;

use super::{mode::Mode, rank::Rank};
use crate::before::posterior::Rate;

/// The treatment of a target that contradicts itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Each run is believed. A contradiction ends the search: [`Inconsistency`](super::verdict::Inconsistency).
    Refused,
    /// Each run is believed. Extra runs check this: four before the first culprit of one change, three before each
    /// further one, more if several trials may be in flight; two before
    /// [`NoDifference`](super::verdict::Verdict::NoDifference). Before a set of several changes is named, runs without
    /// each of its changes show that it is minimal. The [seed](super::Options::seed) decides which runs these are.
    /// After a contradiction all runs, earlier ones included, are only evidence, the culprits found so far are dropped,
    /// and the search continues until an answer has this probability.
    Suspected(f64),
    /// All runs are only evidence, from the first on. A change is named when it is the one searched for with at least
    /// this probability, and runs in random order have proved that it matters, whatever else outcomes follow.
    Expected(f64),
}

/// The estimate for a target that contradicts itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The more likely direction in which changes break the target.
    pub mode: Mode,
    /// The failure rate without the change that is searched for.
    pub without: Rate,
    /// The failure rate with the change that is searched for.
    pub with: Rate,
    /// The probability that none of the remaining changes makes a difference.
    pub nothing: f64,
    /// The failure rate if none of the remaining changes makes a difference: one rate for all selections.
    pub rate_if_nothing: Rate,
    /// The intervals in which the change may be, in order.
    pub places: Vec<LikelyPlace>,
    /// Candidate sets, the most likely first; within a set, the changes already found come first.
    pub suspects: Vec<Suspect>,
    /// The estimated number of runs until the next culprit is named.
    pub runs_left: f64,
    /// The probability that an answer must have.
    pub confidence: f64,
}

/// An interval of changes that no run has divided yet.
#[derive(Clone, Debug, PartialEq)]
pub struct LikelyPlace {
    /// Positions among the changes reported so far, in the order of the search.
    pub positions: Range<usize>,
    /// The probability that the change in question is one of them.
    pub probability: f64,
}

/// Changes that may be a culprit, or part of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// The last change is the one in question; the changes before it are known to be needed.
    pub changes: Vec<Rank>,
    /// The probability of this suspect.
    pub probability: f64,
}

/// The confidence in a culprit of a noisy target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certainty {
    /// The probability that this is a culprit.
    pub confidence: f64,
    /// The failure rate without the culprit, as estimated when it was named.
    pub without: Rate,
    /// The failure rate with the culprit.
    pub with: Rate,
}
