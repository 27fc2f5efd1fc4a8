//! Runs in flight: the slot of each, what it does at the moment, and since when.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use crate::units::plural;

/// The runs in flight of all workers. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct InFlight(Arc<Mutex<BTreeMap<usize, FlightState>>>);

/// The state of a run in flight.
#[derive(Clone, Debug)]
pub(crate) struct FlightState {
    /// The number of the run.
    pub(crate) number: usize,
    /// The time at which the run began.
    pub(crate) since: Instant,
    /// The present activity.
    pub(crate) activity: Activity,
}

/// The activity of a run at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// It prepares files and directories.
    Preparing,
    /// Cargo builds.
    Building,
    /// Cargo builds, and has reported crates.
    Compiling {
        /// The crate that was reported last.
        name: String,
        /// The number of reported crates and build scripts.
        done: usize,
        /// The number in an earlier build, if there was one.
        total: Option<usize>,
    },
    /// A number of tests runs.
    Tests(usize),
    /// A program runs, or all tests of an executable.
    Program(String),
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Preparing => f.write_str("preparing"),
            Self::Building => f.write_str("building"),
            Self::Compiling { name, done, total: Some(total) } if done <= total => {
                write!(f, "building {name} {done}/{total}")
            }
            Self::Compiling { name, done, .. } => write!(f, "building {name} {done}"),
            Self::Tests(count) => write!(f, "running {}", plural(*count, "test")),
            Self::Program(program) => write!(f, "running {program}"),
        }
    }
}

impl InFlight {
    /// Adds the run with this number, until the result is dropped.
    pub(crate) fn begin(&self, slot: usize, number: usize) -> RunEntry {
        self.runs().insert(slot, FlightState { number, since: Instant::now(), activity: Activity::Preparing });
        RunEntry { in_flight: self.clone(), slot }
    }

    /// Returns the runs in flight, by slot.
    pub(crate) fn states(&self) -> Vec<(usize, FlightState)> {
        self.runs().iter().map(|(&slot, state)| (slot, state.clone())).collect()
    }

    fn runs(&self) -> MutexGuard<'_, BTreeMap<usize, FlightState>> {
        // The map is valid whatever its owner did.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The entry of one run among those in flight.
#[derive(Debug)]
pub(crate) struct RunEntry {
    in_flight: InFlight,
    slot: usize,
}

impl RunEntry {
    /// Records the present activity of the run.
    pub(crate) fn set(&self, activity: Activity) {
        if let Some(state) = self.in_flight.runs().get_mut(&self.slot) {
            state.activity = activity;
        }
    }
}

impl Drop for RunEntry {
    fn drop(&mut self) {
        self.in_flight.runs().remove(&self.slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_listed_by_slot_until_they_end() {
        let in_flight = InFlight::default();
        let (second, first) = (in_flight.begin(1, 7), in_flight.begin(0, 8));
        second.set(Activity::Tests(12));
        first.set(Activity::Compiling { name: "foo".to_owned(), done: 1, total: Some(4) });
        let shown = || -> Vec<_> {
            in_flight
                .states()
                .iter()
                .map(|(slot, state)| format!("{slot} {} {}", state.number, state.activity))
                .collect()
        };
        assert_eq!(shown(), ["0 8 building foo 1/4", "1 7 running 12 tests"]);
        drop(first);
        assert_eq!(shown(), ["1 7 running 12 tests"]);
    }
}
