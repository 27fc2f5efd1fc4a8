//! A logical clock for the runs of a fake target.
//!
//! Runs end one at a time, after logical steps, so that their order is the same in every test.
//!
//! No real time passes. A run begins at the step at which the loop starts it. A script or a seed determines the number
//! of its steps. It ends when the loop waits and no other run ends before it.

use std::{
    collections::BTreeMap,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bisect_core::{ChangeId, Field};

use crate::process::interrupt::Interrupt;

/// The time after which a thread is considered unable to begin its run. Only tests that would hang otherwise depend on
/// it.
const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

/// The exclusive upper limit of the steps of a random run.
const MOST_STEPS: u64 = 10;

/// The number of steps that runs take.
pub(super) enum Steps {
    /// The steps of the first run, the second run, …; the list repeats.
    Script(Vec<u64>),
    /// Random numbers of steps from this seed.
    Random(u64),
}

impl Steps {
    pub(super) fn parse(text: Option<&str>, seed: u64) -> Self {
        match text {
            Some("random") => Self::Random(seed),
            text => Self::Script(text.unwrap_or("1").split(' ').map(|steps| steps.parse().expect("steps")).collect()),
        }
    }

    fn of(&self, run: usize) -> u64 {
        match self {
            Self::Script(steps) => steps[(run - 1) % steps.len()],
            Self::Random(seed) => 1 + ChangeId::of(&[Field::U64(*seed), Field::U64(run as u64)]).0 % (MOST_STEPS - 1),
        }
    }
}

/// The clock of one fake target.
pub(super) struct Clock {
    steps: Steps,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    now: u64,
    /// Runs that have begun, by their numbers.
    begun: BTreeMap<usize, Begun>,
    /// True if the loop waits for no single run any more: all may end.
    is_over: bool,
}

struct Begun {
    interrupt: Interrupt,
    ends: u64,
    may_end: bool,
}

/// The error of a run that was interrupted before its end.
pub(super) struct Cancelled;

impl Clock {
    pub(super) fn new(steps: Steps) -> Self {
        Self { steps, state: Mutex::default(), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a run and waits for its end. Returns the steps that it took. Called by the thread of the run.
    pub(super) fn run(&self, run: usize, interrupt: &Interrupt) -> Result<u64, Cancelled> {
        let steps = self.steps.of(run);
        let mut state = self.state();
        let ends = state.now + steps;
        state.begun.insert(run, Begun { interrupt: interrupt.clone(), ends, may_end: false });
        self.changed.notify_all();
        while !state.is_over && !state.begun[&run].may_end {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.begun.remove(&run);
        self.changed.notify_all();
        if interrupt.requested() { Err(Cancelled) } else { Ok(steps) }
    }

    /// Returns true if a run is in flight. Called by the loop when it waits for one of `in_flight` runs.
    ///
    /// # Panics
    /// If they do not begin.
    pub(super) fn is_running(&self, run: usize, in_flight: usize) -> bool {
        self.when_begun(in_flight).begun.contains_key(&run)
    }

    /// Ends the run whose turn it is. Called by the loop when it waits for one of `in_flight` runs.
    ///
    /// # Panics
    /// If they do not begin.
    pub(super) fn end_one(&self, in_flight: usize) {
        let mut state = self.when_begun(in_flight);
        // Cancelled runs end at once, before all others.
        let order = |(run, begun): &(&usize, &mut Begun)| {
            let is_cancelled = begun.interrupt.requested();
            (!is_cancelled, if is_cancelled { 0 } else { begun.ends }, **run)
        };
        let next = state.begun.iter_mut().min_by_key(order).map(|(_, begun)| begun);
        let next = next.expect("the loop waits for a run");
        next.may_end = true;
        if !next.interrupt.requested() {
            state.now = next.ends;
        }
        self.changed.notify_all();
    }

    /// Ends all runs. Called when the loop ends.
    pub(super) fn end_all(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }

    /// Waits until `in_flight` runs have begun, and no other run is about to end.
    fn when_begun(&self, in_flight: usize) -> MutexGuard<'_, State> {
        let is_missing = |state: &mut State| state.begun.len() != in_flight;
        let (state, timeout) = self
            .changed
            .wait_timeout_while(self.state(), GIVE_UP_AFTER, is_missing)
            .unwrap_or_else(PoisonError::into_inner);
        assert!(!timeout.timed_out(), "{} of {in_flight} runs have begun", state.begun.len());
        state
    }
}
