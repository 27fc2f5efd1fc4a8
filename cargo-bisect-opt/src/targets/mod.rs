//! Targets of searches: any command, or what cargo tests, runs, builds or checks.

pub(crate) mod command;
pub(crate) mod project;
