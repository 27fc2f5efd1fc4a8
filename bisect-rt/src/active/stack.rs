//! Decisions by call stack: captures a stack, looks it up, and makes its ID only if it is new.
//!
//! The memory of decisions is keyed by raw return addresses, which cost nothing to compare. The ID of a stack is made
//! of addresses relative to their modules, so it is the same from run to run.

#![allow(clippy::inline_always, reason = "which frame is the first one must not depend on the optimizer")]

use std::{
    fmt,
    mem::MaybeUninit,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use bisect_core::{ChangeId, protocol::xxh3};

use self::modules::Frame;
use super::{
    fingerprint::Fingerprint,
    memory,
    nesting::Nesting,
    report::Text,
    toggle::{Key, MAX_DEPTH, Place, Toggle},
};

#[cfg(all(
    any(bisect_frame_pointers, test),
    any(target_arch = "x86_64", target_arch = "aarch64"),
    any(target_os = "linux", target_os = "android"),
))]
mod bounds;
#[cfg(all(
    bisect_frame_pointers,
    any(target_arch = "x86_64", target_arch = "aarch64"),
    any(target_os = "linux", target_os = "android", target_vendor = "apple"),
))]
mod frame_pointers;
mod modules;
#[cfg(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod roomy;
mod symbolize;
mod symbols;
mod trim;
mod unwinder;

static FORCE_UNWINDER: AtomicBool = AtomicBool::new(false);

/// Prepares stack decisions; called before the first one. With `force_unwinder`, the unwinder captures stacks even
/// where there are frame pointers.
pub(crate) fn prepare(force_unwinder: bool) {
    FORCE_UNWINDER.store(force_unwinder, Relaxed);
    modules::prepare();
}

/// A buffer for addresses, not initialized because that would take longer than the capture.
type Buffer = [MaybeUninit<u64>; MAX_DEPTH];

/// The captured return addresses, innermost first, and their fingerprint. It is passed by value: with a reference, the
/// optimizer would keep it in memory while it grows.
struct Capture<'a> {
    buffer: &'a mut Buffer,
    len: usize,
    fingerprint: Fingerprint,
}

impl Capture<'_> {
    #[inline(always)]
    fn push(&mut self, address: u64) {
        self.buffer[self.len].write(address);
        self.len += 1;
        self.fingerprint.add(address);
    }

    fn addresses(&self) -> &[u64] {
        // SAFETY: `len` counts the addresses that `push` has written.
        unsafe { std::slice::from_raw_parts(self.buffer.as_ptr().cast(), self.len) }
    }
}

/// Returns true if the toggle is on for the stack of the function that calls the one into which this is inlined.
#[inline(always)]
pub(crate) fn decide(toggle: &'static Toggle, value: Option<u64>) -> Option<bool> {
    let Key::Stack(depth) = toggle.key else { return None };
    let mut buffer = [MaybeUninit::uninit(); MAX_DEPTH];
    let fingerprint = Fingerprint::new(toggle.name_hash, value);
    let capture = captured(Capture { buffer: &mut buffer, len: 0, fingerprint }, depth);
    let key = capture.fingerprint.key();
    memory::seen(key).or_else(|| first_of_stack(toggle, value, capture.addresses(), key))
}

/// Captures the addresses of at most `depth` frames.
#[inline(always)]
fn captured(capture: Capture<'_>, depth: usize) -> Capture<'_> {
    #[cfg(all(
        bisect_frame_pointers,
        any(target_arch = "x86_64", target_arch = "aarch64"),
        any(target_os = "linux", target_os = "android", target_vendor = "apple"),
    ))]
    let capture = if FORCE_UNWINDER.load(Relaxed) {
        capture
    } else {
        match frame_pointers::captured(capture, depth) {
            Ok(capture) => return capture,
            Err(capture) => capture,
        }
    };
    // The marker lies in the frame of the function into which this is inlined.
    let marker = 0_u8;
    unwinder::captured(capture, depth, std::hint::black_box(&raw const marker).addr())
}

/// Decides on a stack for the first time.
///
/// Neither this nor the functions that it calls allocate, unless the report is for people: it may run in a signal
/// handler, or in the child of a `fork`.
#[cold]
#[inline(never)]
fn first_of_stack(toggle: &'static Toggle, value: Option<u64>, addresses: &[u64], key: u64) -> Option<bool> {
    let nesting = Nesting::enter()?;
    let mut frames = [MaybeUninit::uninit(); MAX_DEPTH];
    let frames = modules::locate(addresses, &mut frames);
    // Addresses beyond the last one in a module can be random data, if code without frame pointers has used the
    // register for other values. They differ each time, so they are left out of the key: otherwise they would fill the
    // memory.
    let key = if frames.len() == addresses.len() {
        key
    } else {
        let key = key_of(toggle, value, &addresses[..frames.len()]);
        if let Some(decision) = memory::seen(key) {
            return Some(decision);
        }
        key
    };
    let id = id(toggle, value, frames);
    let mut describe = |text: &mut Text| {
        text.line(format_args!("{}", toggle.title(&toggle.place)));
        symbolize::describe(&nesting, &toggle.place, addresses, frames, |function| {
            text.line(format_args!("  {function}"));
        });
    };
    // In the main executable addresses and offsets correspond: other addresses give another ID, and so does another
    // name.
    let is_only_key = frames.len() == addresses.len() && frames.iter().all(Frame::is_in_main);
    if is_only_key {
        memory::first_of_only_key(&nesting, toggle, key, id, &mut describe)
    } else {
        memory::first_of_key(&nesting, toggle, key, id, &mut describe)
    }
}

/// Passes the functions of this thread's stack to `each`, innermost first. The first one is the caller of the function
/// whose frame contains `marker`; that caller contains `place`.
pub(crate) fn describe_beyond(marker: usize, place: &Place, each: impl FnMut(fmt::Arguments<'_>)) {
    let Some(nesting) = Nesting::enter() else { return };
    let mut addresses = unwinder::addresses_beyond(marker);
    addresses.truncate(MAX_DEPTH);
    let mut frames = [MaybeUninit::uninit(); MAX_DEPTH];
    let frames = modules::locate(&addresses, &mut frames);
    symbolize::describe(&nesting, place, &addresses, frames, each);
}

/// Returns the key that `decide` computes from a capture of these addresses.
fn key_of(toggle: &Toggle, value: Option<u64>, addresses: &[u64]) -> u64 {
    let mut fingerprint = Fingerprint::new(toggle.name_hash, value);
    for &address in addresses {
        fingerprint.add(address);
    }
    fingerprint.key()
}

/// Returns the ID of a stack. All frames are hashed at once: hashing them one by one takes longer than all other steps
/// here.
fn id(toggle: &Toggle, value: Option<u64>, frames: &[Frame]) -> ChangeId {
    let seed = Fingerprint::new(toggle.name_hash, value).key();
    ChangeId(xxh3::run_time_hash(Frame::bytes(frames), seed))
}
