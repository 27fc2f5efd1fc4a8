//! The runtime in real processes: programs of `tests/fixture`, built in several flavours and run with the variables.
//!
//! The first run builds the flavours (a few seconds each); later ones find them in cargo's temporary folder.

mod allocations;
mod built;
#[cfg(target_os = "linux")]
mod contexts;
mod cost;
mod fixed;
mod fixture;
mod keys;
mod lean;
mod modes;
mod occurrences;
mod reports;
mod stacks;
