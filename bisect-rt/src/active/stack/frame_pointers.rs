//! Stacks by frame pointers: each frame's record holds the caller's frame pointer and the return address into it.

use std::{arch::asm, cell::Cell, ops::Range};

use super::Capture;

thread_local! {
    /// The stack of this thread; empty before its first use. It has no destructor, so it neither allocates nor
    /// disappears.
    static STACK: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// The number of bytes of a frame's record.
const RECORD: usize = 2 * size_of::<usize>();

/// The bits of a return address; a signed one has its signature above them.
#[cfg(target_arch = "aarch64")]
const ADDRESS: usize = 0x0000_ffff_ffff_ffff;
#[cfg(target_arch = "x86_64")]
const ADDRESS: usize = usize::MAX;

/// Adds the callers of the function into which this is inlined, at most `depth`. Returns an error on a stack that is
/// not the thread's own (a signal's, a coroutine's), because its end is unknown.
#[inline(always)]
pub(super) fn captured(mut capture: Capture<'_>, depth: usize) -> Result<Capture<'_>, Capture<'_>> {
    let mut frame: usize;
    // SAFETY: reads a register.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!("mov {}, rbp", out(reg) frame, options(nomem, nostack, preserves_flags));
        #[cfg(target_arch = "aarch64")]
        asm!("mov {}, x29", out(reg) frame, options(nomem, nostack, preserves_flags));
    }
    let stack = stack();
    // On an empty or unknown stack, no address passes these checks.
    let last = stack.end.wrapping_sub(RECORD);
    if frame < stack.start || !may_be_record(frame, last) {
        return Err(capture);
    }
    for _ in 0..depth {
        let record = std::ptr::with_exposed_provenance::<[usize; 2]>(frame);
        // SAFETY: aligned, and wholly within the part of this thread's stack that is in use: not below the frame of
        // this function. Its bytes are initialized.
        let [caller, return_address] = unsafe { record.read_volatile() };
        let return_address = return_address & ADDRESS;
        if return_address == 0 {
            break;
        }
        capture.push(return_address as u64);
        // The stack grows downwards, so a caller's record lies above. Any other value comes from a function without
        // frame pointers.
        if caller <= frame || !may_be_record(caller, last) {
            break;
        }
        frame = caller;
    }
    Ok(capture)
}

/// Returns true if a record at `frame` is aligned and ends within the stack. The caller checks the lower bound.
#[inline(always)]
fn may_be_record(frame: usize, last: usize) -> bool {
    frame <= last && frame.is_multiple_of(align_of::<usize>())
}

/// Returns the stack of this thread.
#[inline(always)]
fn stack() -> Range<usize> {
    let (start, end) = STACK.get();
    if end != 0 { start..end } else { first_of_thread() }
}

#[cold]
fn first_of_thread() -> Range<usize> {
    let (start, end) = bounds();
    STACK.set((start, end));
    start..end
}

#[cfg(not(target_vendor = "apple"))]
use super::bounds::bounds;

#[cfg(target_vendor = "apple")]
fn bounds() -> (usize, usize) {
    // SAFETY: both accept any thread that is alive, and this one is.
    let (end, size) = unsafe {
        let thread = libc::pthread_self();
        (libc::pthread_get_stackaddr_np(thread).addr(), libc::pthread_get_stacksize_np(thread))
    };
    (end - size, end)
}
