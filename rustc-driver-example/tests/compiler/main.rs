//! The compiler, as cargo and people call it.

mod cargo;
mod halve;
mod harness;
mod incremental;
mod ir;
mod optimize;
mod reports;
mod rustc;
mod search;
