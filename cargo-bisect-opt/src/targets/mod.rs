//! Targets of searches: any command; what cargo tests, runs, builds or checks; a test with others of its executable.

pub(crate) mod command;
pub(crate) mod project;
pub(crate) mod victim;
