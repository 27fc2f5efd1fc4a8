//! Watched conditions: counts moments, and evaluates the condition at those that the search asks for.
//!
//! A *moment* is one pass of the program through a [`bisect_watch!`](crate::bisect_watch) with the watched name, in any
//! thread. Moments count from 1, over the whole process. `request` is the value of the variable, `course` decides what
//! a process does at a moment that it evaluates, and `record` writes lines for the driver. On Linux, `supervisor` and
//! `checkpoint` return to earlier moments by copies of the process.
#![allow(clippy::inline_always, reason = "what a moment costs is to be the same in every build")]

#[cfg(target_os = "linux")]
mod checkpoint;
mod course;
#[cfg(not(target_os = "linux"))]
mod direct;
mod evaluate;
#[cfg(target_os = "linux")]
mod messages;
mod record;
mod request;
mod start;
#[cfg(target_os = "linux")]
mod supervisor;

use std::{
    cell::Cell,
    fmt, hint, ptr,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, Ordering::Relaxed},
};

use self::course::{Course, Plan};
pub(crate) use self::start::start;
use super::{system::breakpoint, toggle::Place};

/// True if this process watches a condition: set before `main`, and unset in the children that the program forks.
static WATCHING: AtomicBool = AtomicBool::new(false);

/// The number of moments, where no memory is shared with a supervisor.
static OWN_COUNT: AtomicU64 = AtomicU64::new(0);
/// The number of moments so far; null for [`OWN_COUNT`].
static COUNT: AtomicPtr<AtomicU64> = AtomicPtr::new(ptr::null_mut());
/// The moment at which the condition is evaluated next.
static NEXT: AtomicU64 = AtomicU64::new(NEVER);
const NEVER: u64 = u64::MAX;

thread_local! {
    /// True while this thread evaluates a condition: moments within the condition are not counted.
    static EVALUATES: Cell<bool> = const { Cell::new(false) };
}

/// Returns true if no condition is watched: the only check then, one relaxed load and one branch.
#[inline(always)]
#[must_use]
pub fn unwatched() -> bool {
    let watching = WATCHING.load(Relaxed);
    if watching {
        unlikely();
    }
    !watching
}

/// Marks a branch as unlikely, which decides its layout.
#[cold]
#[inline(always)]
fn unlikely() {}

/// A place that marks moments.
#[derive(Debug)]
pub struct Watch {
    name: &'static str,
    place: Place,
    /// One of the values in [`state`].
    state: AtomicU8,
}

/// The states of a place.
mod state {
    /// Not looked up yet.
    pub(super) const NEW: u8 = 0;
    /// The condition with its name is watched.
    pub(super) const WATCHED: u8 = 1;
    /// Another condition is watched.
    pub(super) const OTHER: u8 = 2;
}

impl Watch {
    /// Makes a place that is not looked up yet.
    #[must_use]
    pub const fn new(name: &'static str, place: Place) -> Self {
        Self { name, place, state: AtomicU8::new(state::NEW) }
    }

    /// Counts a moment, if the condition with this name is watched. Returns a probe if the condition is to be evaluated
    /// at this moment.
    ///
    /// This is never inlined: a debugger that is stopped here shows the user's function as the next frame.
    #[cold]
    #[inline(never)]
    pub fn reached(&'static self) -> Option<Probe> {
        let is_watched = match self.state.load(Relaxed) {
            state::WATCHED => true,
            state::OTHER => false,
            _ => self.resolve(),
        };
        if !is_watched || EVALUATES.get() {
            return None;
        }
        let moment = counter().fetch_add(1, Relaxed) + 1;
        let next = NEXT.load(Relaxed);
        // With several threads, one of them takes the probe.
        if moment < next || NEXT.compare_exchange(next, NEVER, Relaxed, Relaxed).is_err() {
            return None;
        }
        if course::stops_for_debugger() {
            breakpoint::stop();
            return None;
        }
        Some(Probe { watch: self, moment, plan: course::before(moment) })
    }

    fn resolve(&self) -> bool {
        let is_watched = course::watches(self.name);
        self.state.store(if is_watched { state::WATCHED } else { state::OTHER }, Relaxed);
        if !is_watched {
            record::other_name(self.name);
        }
        is_watched
    }
}

/// Returns the counter of moments.
fn counter() -> &'static AtomicU64 {
    let shared = COUNT.load(Relaxed);
    if shared.is_null() {
        return &OWN_COUNT;
    }
    // SAFETY: `count_in` got a counter that lives as long as the process.
    unsafe { &*shared }
}

/// Counts in this counter from now on.
fn count_in(counter: &'static AtomicU64) {
    COUNT.store(ptr::from_ref(counter).cast_mut(), Relaxed);
}

/// A moment at which the condition is to be evaluated.
#[derive(Debug)]
#[must_use]
pub struct Probe {
    watch: &'static Watch,
    moment: u64,
    plan: Plan,
}

/// A moment at which the condition was evaluated.
#[derive(Debug)]
#[must_use]
pub struct Probed {
    probe: Probe,
    course: Course,
}

impl Probe {
    /// Returns true if the moment is to be described before the evaluation, which may crash.
    #[must_use]
    pub fn is_described(&self) -> bool {
        self.plan.describes
    }

    /// Describes the moment: its place, its call stack, and the values that the user asked for.
    ///
    /// This is never inlined: the frame of its caller must be that of the user's function.
    #[cold]
    #[inline(never)]
    pub fn describe(&self, values: fmt::Arguments<'_>) {
        let marker = 0_u8;
        let Self { watch, moment, .. } = self;
        EVALUATES.set(true);
        record::describe(hint::black_box(&raw const marker).addr(), *moment, watch.name, &watch.place, values);
        EVALUATES.set(false);
    }

    /// Evaluates the condition, and decides on the course of this process. A copy of the process may return from here
    /// later, to take another course.
    #[cold]
    pub fn evaluate(self, condition: impl FnOnce() -> bool) -> Probed {
        if !self.plan.evaluates {
            let course = Course { describes: false, next: Some(self.moment + 1) };
            return Probed { probe: self, course };
        }
        EVALUATES.set(true);
        let value = course::evaluate(self.moment, condition);
        EVALUATES.set(false);
        let course = course::after(self.moment, &value, self.plan);
        Probed { probe: self, course }
    }
}

impl Probed {
    /// Returns the probe, if the moment is to be described.
    #[must_use]
    pub fn described(&self) -> Option<&Probe> {
        self.course.describes.then_some(&self.probe)
    }

    /// Goes on to the next probe, or ends the process.
    #[cold]
    #[inline(never)]
    pub fn go_on(self) {
        course::go_on(self.course);
    }
}
