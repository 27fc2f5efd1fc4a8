//! Return addresses by the unwinder of the crate `backtrace`, for programs without frame pointers.

use backtrace::Frame;

use super::Capture;

/// Captures at most `depth` callers of the function whose frame contains `marker`. That function must never be inlined;
/// this one always is.
#[inline(always)]
pub(super) fn captured(mut capture: Capture<'_>, depth: usize, marker: usize) -> Capture<'_> {
    let mut left = depth;
    trace(marker, |address| {
        capture.push(address);
        left -= 1;
        left > 0
    });
    capture
}

/// Returns the return addresses of the callers of the function whose frame contains `marker`, innermost first. That
/// function must never be inlined.
pub(super) fn addresses_beyond(marker: usize) -> Vec<u64> {
    let mut addresses = Vec::new();
    trace(marker, |address| {
        addresses.push(address);
        true
    });
    addresses
}

/// Calls `each` for the return addresses of the callers of the function whose frame contains `marker`, until `each`
/// returns false. `each` must not panic.
///
/// The stack pointer of a frame is its value at the call of the next inner frame. The stack pointers of the unwinder, of
/// this module and of the marker's function are therefore below the marker, and that of the marker's caller is above.
/// Frames beyond may be on another stack (a signal's or a coroutine's caller), which may lie anywhere.
#[inline(always)]
fn trace(marker: usize, mut each: impl FnMut(u64) -> bool) {
    let mut is_below_marker = true;
    let visit = |frame: &Frame| {
        is_below_marker = is_below_marker && frame.sp().addr() <= marker;
        let address = frame.ip().addr();
        is_below_marker || (address != 0 && each(address as u64))
    };
    // SAFETY: these unwinders share nothing between threads.
    #[cfg(not(all(windows, target_pointer_width = "32")))]
    unsafe {
        backtrace::trace_unsynchronized(visit);
    }
    // This unwinder is a library that only one thread may use, so a decision takes a lock.
    #[cfg(all(windows, target_pointer_width = "32"))]
    backtrace::trace(visit);
}
