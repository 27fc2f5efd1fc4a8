//! Targets that cargo tests or runs, with a selection of changes; for `build` and `check`, the build itself.
//!
//! The [runner] is shared by threads: it builds, starts executables, and determines the result of each test. The
//! [target] is owned by the loop: it decides which failures count and words the answer.

mod attempt;
mod build;
mod command_line;
mod criteria;
mod dependent_tests;
mod execution;
mod knowledge;
mod listing;
mod make_run;
mod options;
mod prepare;
mod run_context;
mod runner;
mod separately;
mod target;
mod test_selection;
mod unended;

pub(crate) use options::{PerTest, ProjectOptions};
pub(crate) use prepare::{prepare, toggles};
pub(crate) use target::ProjectTarget;

#[cfg(test)]
#[path = "project_tests.rs"]
mod tests;
