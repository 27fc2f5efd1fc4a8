//! The search engine on a simulated target: against brute force, against hostile targets, and whole searches as text.

mod behaviour;
mod brute_force;
mod dense;
mod favour;
mod flaky;
mod given;
mod golden;
mod hostile;
mod in_flight;
mod simulator;
mod suite;
mod transcript;
mod unresolved;

/// The folder of the searches as text files.
const SEARCHES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/searches");
