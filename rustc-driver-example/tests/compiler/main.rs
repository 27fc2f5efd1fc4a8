//! Tests of the compiler as cargo and people call it.

mod cargo;
mod edition;
mod edition_captures;
mod edition_cases;
mod edition_generated;
mod edition_macros;
mod edition_session;
mod halve;
mod harness;
mod incremental;
mod ir;
mod optimize;
mod readme;
mod reports;
mod rustc;
