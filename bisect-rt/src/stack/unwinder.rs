//! Stacks by the platform's unwinder, for programs without frame pointers.

use super::Capture;

/// With at most `depth` callers of the function in whose frame `marker` lies.
///
/// A frame's stack pointer is that of its call of the next inner one. Those of the unwinder, ours and the marker's
/// function are therefore below the marker, and that of the marker's caller is above. Frames beyond may be on another
/// stack (a signal's or a coroutine's caller), which may lie anywhere.
#[inline(always)]
pub(super) fn captured(mut capture: Capture<'_>, depth: usize, marker: usize) -> Capture<'_> {
    let mut left = depth;
    let mut is_ours = true;
    trace(|frame| {
        is_ours = is_ours && frame.sp().addr() <= marker;
        if is_ours {
            return true;
        }
        let address = frame.ip().addr();
        if address == 0 {
            return false;
        }
        capture.push(address as u64);
        left -= 1;
        left > 0
    });
    capture
}

/// Not `backtrace::trace`, which takes a lock: it is there for the debugger library of Windows. The unwinders of other
/// systems can be run by any number of threads.
#[cfg(not(windows))]
fn trace(each: impl FnMut(&backtrace::Frame) -> bool) {
    // SAFETY: `_Unwind_Backtrace`, which this is, may be called by any thread at any time.
    unsafe { backtrace::trace_unsynchronized(each) }
}

#[cfg(windows)]
fn trace(each: impl FnMut(&backtrace::Frame) -> bool) {
    backtrace::trace(each);
}
