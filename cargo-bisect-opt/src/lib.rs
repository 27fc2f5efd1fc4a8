//! `cargo bisect-opt`: names the call stack, line, function or compiler pass that makes a test or a program fail.
//!
//! The rooms, from the top floor down; a room imports only from rooms below it. `commands` reads a command line. A
//! target in `targets` runs with a selection of changes, which an axis in `axes` applies. The `lab` runs the target as
//! the search of `bisect-core` requests, and emits events, the increments of the `record`, to the listeners in
//! `output`. `cargo` and `compiler` build, `vcs` queries git, `run` describes a run and its outcome, `report` reads
//! reports, and `process` starts processes.
//!
//! The crate is a library so that its parts can be tested. Only the program has a stable interface.

mod axes;
mod cargo;
mod commands;
mod compiler;
#[cfg(test)]
mod fixture;
mod hidden;
mod lab;
mod output;
mod process;
mod record;
mod report;
mod run;
mod stderr;
mod targets;
mod units;
mod vcs;

pub use commands::main;
