//! A test and the others of its executable: which of them make it fail, or which does it need?
//!
//! The [runner] runs the test, the *victim*, in one process with others that are chosen by name, or in a process of its
//! own after them. The [target] is owned by the loop. Its axis is the [other tests](other_tests).
//!
//! One after the other, only tests that precede the victim in the harness's order can matter.

mod arrangement;
mod candidates;
mod options;
mod other_tests;
mod outcome;
#[cfg(test)]
mod outcome_tests;
mod runner;
mod suite;
mod target;

pub(crate) use arrangement::{Apart, Arrangement, OwnResource, Threads};
pub(crate) use candidates::Candidates;
pub(crate) use options::VictimOptions;
pub(crate) use suite::{Suite, SuiteError, suites};
pub(crate) use target::VictimTarget;
