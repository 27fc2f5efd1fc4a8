//! How the search treats a target that may be flaky, and what it estimates.

use alloc::vec::Vec;

use super::rank::Rank;
use crate::search::posterior::Rate;

/// What to make of a target that contradicts itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Each run is believed. A contradiction ends the search: [`Inconsistency`](super::verdict::Inconsistency).
    Refused,
    /// Each run is believed. Extra runs check this: five before the first culprit of one change, three before each further
    /// one, more if several trials may be in flight; two before [`NoDifference`](super::verdict::Verdict::NoDifference). Before
    /// a set of several changes is named, runs without each of its changes show that it is minimal. The
    /// [seed](super::Options::seed) decides which runs these are. After a contradiction all runs, earlier ones included, are
    /// evidence only, the culprits found so far are dropped, and the search goes on until an answer has this probability.
    Suspected(f64),
    /// All runs are only evidence, from the first on. A change is named when it is as likely as this to be what is searched
    /// for, and runs in random order have proved that it matters, whatever else outcomes follow.
    Expected(f64),
}

/// What is believed of a target that contradicts itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The failure rate without what is searched for.
    pub without: Rate,
    /// The failure rate with what is searched for.
    pub with: Rate,
    /// How likely it is that no change that is left makes a difference.
    pub nothing: f64,
    /// Candidate sets, the likeliest first; within a set, the changes already found come first.
    pub suspects: Vec<Suspect>,
    /// About how many more runs it takes to name the next culprit.
    pub runs_left: f64,
    /// How likely an answer must be.
    pub confidence: f64,
}

/// Changes that may be a culprit, or part of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// The last is the one in question; those before it are known to be needed.
    pub changes: Vec<Rank>,
    /// How likely that is.
    pub probability: f64,
}

/// The confidence in a culprit of a noisy target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certainty {
    /// How likely it is one.
    pub confidence: f64,
    /// The failure rate without the culprit, as estimated when it was named.
    pub without: Rate,
    /// The failure rate with the culprit.
    pub with: Rate,
}
