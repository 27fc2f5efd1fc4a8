//! The bounds of this thread's stack, determined without a lock or an allocation.
//!
//! A decision may be inside an allocator or a signal handler, and `pthread_getattr_np` allocates and locks.

use std::{arch::asm, ops::ControlFlow};

use crate::active::system::mappings;

/// The bounds of a stack that contains no frame.
const UNKNOWN: (usize, usize) = (usize::MAX, usize::MAX);

/// Returns the bounds of the stack that the C library or the kernel gave this thread, from its lowest possible address
/// to its end. If the thread has its stack from another library, the bounds contain no frame.
///
/// The C library puts the control block of a thread above its stack, in the same mapping. The main thread's stack ends
/// with data from the kernel, which include random bytes.
#[cold]
pub(super) fn bounds() -> (usize, usize) {
    let local = 0_u8;
    let here = (&raw const local).addr();
    let (control_block, kernels) = (thread_pointer(), kernels_bytes());
    let (mut of_thread, mut of_main, mut end_below) = (UNKNOWN, UNKNOWN, 0);
    mappings::for_each(|mapping| {
        let [start, end] = [mapping.range.start, mapping.range.end].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
        if (start..end).contains(&control_block) {
            of_thread = (start, control_block);
        }
        if (start..end).contains(&kernels) {
            of_main = (kernels.saturating_sub(main_limit()).clamp(end_below, start), kernels);
        }
        end_below = end;
        ControlFlow::Continue(())
    });
    let is_on = |(start, end)| (start..end).contains(&here);
    if is_on(of_main) || (!is_on(of_thread) && is_main_thread()) { of_main } else { of_thread }
}

fn thread_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads a register, or the field where the C library keeps it: the block begins with its own address.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!("mov {}, fs:0", out(reg) pointer, options(pure, readonly, nostack, preserves_flags));
        #[cfg(target_arch = "aarch64")]
        asm!("mrs {}, tpidr_el0", out(reg) pointer, options(pure, nomem, nostack, preserves_flags));
    }
    pointer
}

/// Returns the address of the random bytes that the kernel puts at the end of the main thread's stack; 0 if there are
/// none.
fn kernels_bytes() -> usize {
    // SAFETY: it has no preconditions.
    usize::try_from(unsafe { libc::getauxval(libc::AT_RANDOM) }).unwrap_or(0)
}

/// Returns the size to which the main thread's stack may grow.
fn main_limit() -> usize {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is written to, or left as it is.
    unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) };
    usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX)
}

fn is_main_thread() -> bool {
    // SAFETY: these have no preconditions.
    unsafe { libc::syscall(libc::SYS_gettid) == libc::c_long::from(libc::getpid()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "it has no mappings")]
    fn a_thread_is_on_its_own_stack() {
        let size = 1 << 20;
        let spawned = std::thread::Builder::new().stack_size(size).spawn(|| {
            let local = 0_u8;
            ((&raw const local).addr(), bounds(), std::thread::spawn(bounds).join().unwrap())
        });
        let (here, (start, end), other) = spawned.unwrap().join().unwrap();
        assert!((start..end).contains(&here), "{here:x} {start:x} {end:x}");
        // The bounds leave out the data that the C library puts there.
        assert!(end - here < size && here - start > size / 2, "{here:x} {start:x} {end:x}");
        assert!(other.1 <= start || end <= other.0, "{start:x} {end:x} {other:x?}");
    }
}
