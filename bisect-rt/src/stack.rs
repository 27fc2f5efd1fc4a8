//! Decisions by call stack: capture, recognise, and only for a stack that is new, name it.
//!
//! The memory of decisions goes by raw return addresses, which cost nothing to compare. The ID of a stack is made of
//! addresses relative to their modules, so that it is the same from run to run.

#![allow(clippy::inline_always, reason = "which frame is the first one must not depend on the optimizer")]

use std::{
    mem::MaybeUninit,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use bisect_core::{ChangeId, Field, IdHasher};

use self::modules::Frame;
use crate::{
    decision::{self, Nesting},
    toggle::{Key, Toggle},
};

#[cfg(all(
    bisect_frame_pointers,
    any(target_arch = "x86_64", target_arch = "aarch64"),
    any(target_os = "linux", target_os = "android", target_vendor = "apple"),
))]
mod frame_pointers;
mod modules;
mod symbolize;
mod trim;
mod unwinder;

/// The most frames of a stack that a toggle may ask for.
pub(crate) const MAX_DEPTH: usize = 128;

/// Words before the return addresses of a captured stack: what else the decision depends on.
const HEAD: usize = 2;

static FORCE_UNWINDER: AtomicBool = AtomicBool::new(false);

/// Whether stacks are captured by the unwinder even where there are frame pointers.
pub(crate) fn force_unwinder(force: bool) {
    FORCE_UNWINDER.store(force, Relaxed);
}

/// Return addresses, innermost first, behind the words of the head; not initialized, because that would take longer
/// than the capture.
struct Capture {
    words: [MaybeUninit<u64>; HEAD + MAX_DEPTH],
    len: usize,
}

impl Capture {
    #[inline(always)]
    fn new(head: [u64; HEAD]) -> Self {
        let mut capture = Self { words: [MaybeUninit::uninit(); HEAD + MAX_DEPTH], len: 0 };
        for word in head {
            capture.push(word);
        }
        capture
    }

    #[inline(always)]
    fn push(&mut self, word: u64) {
        self.words[self.len].write(word);
        self.len += 1;
    }

    #[inline(always)]
    fn words(&self) -> &[u64] {
        // SAFETY: `len` counts the words that `push` has written.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.len) }
    }

    fn addresses(&self) -> &[u64] {
        &self.words()[HEAD..]
    }
}

/// Whether the toggle is on for the stack of the function that calls the one into which this is inlined.
#[inline(always)]
pub(crate) fn decide(toggle: &'static Toggle, value: Option<u64>) -> Option<bool> {
    let Key::Stack(depth) = toggle.key else { return None };
    let mut capture = Capture::new([toggle.address(), value.unwrap_or(0)]);
    capture_addresses(&mut capture, depth);
    let key = decision::key(capture.words());
    decision::seen(key).or_else(|| first_of_stack(toggle, value, &capture, key))
}

#[inline(always)]
fn capture_addresses(capture: &mut Capture, depth: usize) {
    #[cfg(all(
        bisect_frame_pointers,
        any(target_arch = "x86_64", target_arch = "aarch64"),
        any(target_os = "linux", target_os = "android", target_vendor = "apple"),
    ))]
    if !FORCE_UNWINDER.load(Relaxed) && frame_pointers::capture(capture, depth) {
        return;
    }
    // Lies in the frame of the function into which this is inlined.
    let marker = 0_u8;
    unwinder::capture(capture, depth, std::hint::black_box(&raw const marker).addr());
}

/// Neither this nor what it calls allocates, unless the report is for people: it may be in a signal handler, or in the
/// child of a `fork`.
#[cold]
#[inline(never)]
fn first_of_stack(toggle: &'static Toggle, value: Option<u64>, capture: &Capture, key: u64) -> Option<bool> {
    let nesting = Nesting::enter()?;
    let mut frames = [Frame::NOWHERE; MAX_DEPTH];
    let frames = modules::locate(capture.addresses(), &mut frames);
    let id = id(toggle, value, frames);
    let decision = decision::first(&nesting, toggle, id, |text| {
        toggle.describe(&toggle.place, text);
        symbolize::describe(&nesting, &toggle.place, frames, text);
    })?;
    decision::remember(key, decision);
    Some(decision)
}

fn id(toggle: &Toggle, value: Option<u64>, frames: &[Frame]) -> ChangeId {
    let mut hasher = IdHasher::new();
    hasher.field(Field::Str(toggle.name));
    if let Some(value) = value {
        hasher.field(Field::U64(value));
    }
    for frame in frames {
        hasher.field(Field::U64(frame.module)).field(Field::U64(frame.offset));
    }
    hasher.finish()
}
