//! Targets that cargo tests or runs, with a selection of changes; for `build` and `check`, the build itself.
//!
//! The [runner] is shared by threads: it builds, starts executables, and determines the result of each test. The
//! [target] is owned by the loop: it decides which failures count and words the answer.

mod attempt;
mod build;
#[cfg(test)]
mod build_tests;
mod command_line;
mod criteria;
mod dependent_tests;
mod execution;
mod knowledge;
mod listing;
mod make_run;
mod options;
mod prepare;
mod process_per_test;
#[cfg(test)]
mod refusal_tests;
mod run_context;
#[cfg(test)]
mod run_tests;
mod runner;
mod separately;
mod target;
#[cfg(test)]
mod test_bench;
mod test_selection;
mod unended;
mod unmatched_name;

pub(crate) use options::{PerTest, ProjectOptions};
pub(crate) use prepare::{as_it_stands, prepare, prepare_axis, prepare_for, toggles};
pub(crate) use target::ProjectTarget;
