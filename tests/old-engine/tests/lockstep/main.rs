//! Both engines in lockstep: the tests of the present engine, in which each step is compared, and random searches.

extern crate bisect_old_engine as bisect_core;

#[path = "../../../../bisect-core/tests/search/behaviour.rs"]
mod behaviour;
#[path = "../../../../bisect-core/tests/search/brute_force.rs"]
mod brute_force;
#[path = "../../../../bisect-core/tests/search/dense.rs"]
mod dense;
#[path = "../../../../bisect-core/tests/search/favour.rs"]
mod favour;
#[path = "../../../../bisect-core/tests/search/flaky.rs"]
mod flaky;
#[path = "../../../../bisect-core/tests/search/given.rs"]
mod given;
#[path = "../../../../bisect-core/tests/search/golden.rs"]
mod golden;
#[path = "../../../../bisect-core/tests/search/hostile.rs"]
mod hostile;
#[path = "../../../../bisect-core/tests/search/in_flight.rs"]
mod in_flight;
mod random;
#[path = "../../../../bisect-core/tests/search/simulator.rs"]
mod simulator;
#[path = "../../../../bisect-core/tests/search/suite/mod.rs"]
mod suite;
#[path = "../../../../bisect-core/tests/search/transcript.rs"]
mod transcript;
#[path = "../../../../bisect-core/tests/search/unresolved.rs"]
mod unresolved;

/// The folder of the searches as text files.
const SEARCHES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bisect-core/tests/searches");
