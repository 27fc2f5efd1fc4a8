//! The course of a process: what it does at a moment that it evaluates, and how far it goes then.

use std::sync::{
    Mutex, OnceLock, PoisonError,
    atomic::{AtomicU8, Ordering::Relaxed},
};

use bisect_core::moments::{MomentSearch, MomentStep, MomentVerdict};

#[cfg(target_os = "linux")]
use super::checkpoint;
use super::{
    NEXT, WATCHING,
    evaluate::{self, Value},
    record::{self, Purpose},
    request::WatchRequest,
};
use crate::active::system::exit;
#[cfg(target_os = "linux")]
use crate::active::system::threads::{self, Others};

/// The exit status of a process that the search ends at the decisive moment.
pub(super) const STOPPED: i32 = 113;

/// The request, set before `main`.
static REQUEST: OnceLock<WatchRequest> = OnceLock::new();
/// The search, with the evaluations that the program itself has made.
static SEARCH: Mutex<Option<MomentSearch>> = Mutex::new(None);
/// The role of this process, one of the values in [`role`].
static ROLE: AtomicU8 = AtomicU8::new(role::PROGRAM);

mod role {
    /// The program itself, which goes forward.
    pub(super) const PROGRAM: u8 = 0;
    /// A copy that went back, and evaluates at the next probe.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there are no copies"))]
    pub(super) const WORKER: u8 = 1;
    /// A copy that evaluates and describes the next probe, and ends.
    pub(super) const WITNESS: u8 = 2;
}

/// The plan for a moment, before the condition is evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// The moment is described at once.
    pub(super) describes: bool,
    /// The condition is evaluated.
    pub(super) evaluates: bool,
    /// The copies of the process that may wait at the moment.
    copies: Copies,
}

/// The copies that can be made of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copies {
    /// No copy works.
    None,
    /// A copy lacks the main thread, which waits for this one.
    Partial,
    /// A copy has all threads.
    Whole,
}

/// The course of a process after an evaluation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    /// The moment is described.
    pub(super) describes: bool,
    /// The next moment to evaluate; `None`: the process ends here.
    pub(super) next: Option<u64>,
}

/// Begins to watch.
pub(super) fn begin(request: WatchRequest) {
    // The moment before is described, too.
    let before = u64::from(request.describes);
    NEXT.store(request.at.map_or(1, |at| (at - before).max(1)), Relaxed);
    // Only the start of the process calls this, once.
    let _ = REQUEST.set(request);
    WATCHING.store(true, Relaxed);
}

/// Stops watching: for a child that the program forks.
pub(super) fn cease() {
    WATCHING.store(false, Relaxed);
}

fn request() -> &'static WatchRequest {
    REQUEST.get().expect("it is set before the first moment")
}

/// Returns true if the condition with this name is watched.
pub(super) fn watches(name: &str) -> bool {
    REQUEST.get().is_some_and(|request| request.name == name)
}

/// Returns true if the process stops at its probe for a debugger.
pub(super) fn stops_for_debugger() -> bool {
    REQUEST.get().is_some_and(|request| request.stops)
}

/// Evaluates the condition and records its value.
pub(super) fn evaluate(moment: u64, condition: impl FnOnce() -> bool) -> Value {
    let purpose = if ROLE.load(Relaxed) == role::WITNESS { Purpose::Confirm } else { Purpose::Probe };
    #[cfg(target_os = "linux")]
    super::messages::begin_evaluation(moment);
    let value = evaluate::evaluate(condition);
    #[cfg(target_os = "linux")]
    super::messages::end_evaluation();
    record::value(purpose, moment, &value);
    value
}

/// Returns the plan of this process for a moment.
pub(super) fn before(moment: u64) -> Plan {
    let role = ROLE.load(Relaxed);
    let request = request();
    match request.at.filter(|_| role == role::PROGRAM) {
        Some(at) => Plan { describes: request.describes, evaluates: moment >= at, copies: Copies::None },
        None if role == role::WITNESS => Plan { describes: true, evaluates: true, copies: Copies::None },
        None => Plan { describes: false, evaluates: true, copies: copies(moment) },
    }
}

/// Returns the course of this process after it has evaluated the condition at a moment.
pub(super) fn after(moment: u64, value: &Value, plan: Plan) -> Course {
    const END: Course = Course { describes: false, next: None };
    match ROLE.load(Relaxed) {
        role::WITNESS => END,
        role::PROGRAM if request().at.is_some() => END,
        role::PROGRAM => program(moment, value.verdict, plan),
        _ => worker(moment, value.verdict, plan),
    }
}

fn program(moment: u64, verdict: MomentVerdict, plan: Plan) -> Course {
    let next = {
        let mut search = SEARCH.lock().unwrap_or_else(PoisonError::into_inner);
        let search = search.get_or_insert_default();
        // Each moment is evaluated once, on the way forward, so this cannot fail.
        let _ = search.record(moment, verdict);
        match search.step() {
            MomentStep::Forward(next) => Some(next),
            MomentStep::Back { .. } | MomentStep::Done(_) => None,
        }
    };
    announce(moment, verdict);
    let course = Course { describes: false, next };
    let is_kept = plan.copies != Copies::None && verdict == MomentVerdict::Good && next.is_some();
    if is_kept { checkpoint(moment, plan.copies, course) } else { course }
}

#[cfg(target_os = "linux")]
fn copies(moment: u64) -> Copies {
    if request().reruns {
        return Copies::None;
    }
    match threads::others() {
        Others::None => Copies::Whole,
        Others::WaitingMain => Copies::Partial,
        Others::InTheWay(count) => {
            record::no_checkpoint(moment, format_args!("threads {count}"));
            Copies::None
        }
    }
}

#[cfg(target_os = "linux")]
fn announce(moment: u64, verdict: MomentVerdict) {
    super::messages::Message::Probed { moment, verdict }.send();
}

/// Leaves a copy of the process at a good moment. Returns the course of this process, or that of a copy of the copy.
#[cfg(target_os = "linux")]
fn checkpoint(moment: u64, copies: Copies, course: Course) -> Course {
    match checkpoint::leave(moment, copies == Copies::Whole) {
        Ok(None) => course,
        Ok(Some(order)) => obey(order),
        Err(error) => {
            record::no_checkpoint(moment, format_args!("{error}"));
            Course { describes: true, ..course }
        }
    }
}

/// Returns the course of a copy that was sent to a moment.
#[cfg(target_os = "linux")]
fn obey(order: super::messages::Order) -> Course {
    ROLE.store(if order.describes { role::WITNESS } else { role::WORKER }, Relaxed);
    Course { describes: order.describes, next: Some(order.to) }
}

#[cfg(target_os = "linux")]
fn worker(moment: u64, verdict: MomentVerdict, plan: Plan) -> Course {
    let stays = plan.copies != Copies::None && verdict == MomentVerdict::Good;
    if stays {
        checkpoint::announce_self(moment, plan.copies == Copies::Whole);
    }
    announce(moment, verdict);
    if stays { obey(checkpoint::stay()) } else { Course { describes: false, next: None } }
}

#[cfg(not(target_os = "linux"))]
fn copies(_: u64) -> Copies {
    Copies::None
}

#[cfg(not(target_os = "linux"))]
fn announce(_: u64, _: MomentVerdict) {}

#[cfg(not(target_os = "linux"))]
fn checkpoint(_: u64, _: Copies, course: Course) -> Course {
    course
}

#[cfg(not(target_os = "linux"))]
fn worker(_: u64, _: MomentVerdict, _: Plan) -> Course {
    Course { describes: false, next: None }
}

/// Goes on to the next probe, or ends the process.
pub(super) fn go_on(course: Course) {
    if let Some(next) = course.next {
        NEXT.store(next, Relaxed);
        return;
    }
    if ROLE.load(Relaxed) == role::PROGRAM {
        // Only the program itself shows what it has printed so far: its copies discard their output.
        exit::flush_output(may_flush());
        #[cfg(target_os = "linux")]
        super::messages::Message::Stopped.send();
        #[cfg(not(target_os = "linux"))]
        super::direct::stopped();
    }
    exit::at_once(STOPPED)
}

/// Returns true if no other thread can hold the lock of an output.
fn may_flush() -> bool {
    #[cfg(target_os = "linux")]
    return !matches!(threads::others(), Others::InTheWay(_));
    #[cfg(not(target_os = "linux"))]
    false
}
