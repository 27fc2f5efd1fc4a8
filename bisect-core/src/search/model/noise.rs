//! A target that does not always end the same way: what the search makes of it, and what it believes.

use alloc::vec::Vec;

use crate::{ChangeId, search::posterior::Rate};

/// What to make of a target that contradicts itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Each run is believed. A contradiction ends the search: [`Inconsistency`](super::verdict::Inconsistency).
    Refused,
    /// Each run is believed. Before a culprit of one change is named, a few runs are made to see whether that is right: five
    /// before the first one, three before each further one, or more if several are in flight. Before a set of several is
    /// named, runs without each of its changes show that it is minimal. Random choices of the [seed](super::Options::seed)
    /// say which runs these are. After a contradiction all runs, those before it as well, are only evidence, what was found
    /// before is no longer, and the search goes on until an answer is as likely as this.
    Suspected(f64),
    /// All runs are only evidence, from the first on. A change is named when it is as likely as this to be what is searched
    /// for, and runs in random order have proved that it matters, whatever else outcomes follow.
    Expected(f64),
}

/// What is believed of a target that contradicts itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// How often it fails without what is searched for.
    pub without: Rate,
    /// And with it.
    pub with: Rate,
    /// How likely it is that no change that is left makes a difference.
    pub nothing: f64,
    /// The changes that may be what is searched for, those that are known already first in each; the likeliest first.
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
    pub changes: Vec<ChangeId>,
    /// How likely that is.
    pub probability: f64,
}

/// How sure a culprit of such a target is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certainty {
    /// How likely it is one.
    pub confidence: f64,
    /// How often the target fails without it, as far as that was known when it was named.
    pub without: Rate,
    /// And with it.
    pub with: Rate,
}
