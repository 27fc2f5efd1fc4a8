//! A stack with room for reading debug information.
//!
//! Reading it takes some hundred kilobytes, and the whole stack of a thread or a coroutine may be smaller.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::active::system::pages;

/// The size of the stack, equal to the standard library's default for threads. Untouched pages take no memory.
const SIZE: usize = 2 << 20;

/// The number of zero bytes above the first frame: an unwinder that looks for its caller there finds no return address.
const ABOVE: usize = 4096;

/// Runs `work` on a stack with room. It is not run if there is no memory for the stack; a panic ends only `work`.
///
/// It runs on the deciding thread, which may be the only one after a `fork`, and may hold locks that `work` needs.
pub(super) fn run<F: FnOnce()>(work: F) {
    let Some(stack) = Stack::new() else { return };
    let mut work = Some(work);
    stack.call(start::<F>, (&raw mut work).cast());
}

/// Runs the work that `run` passes; this is the first function on the stack.
extern "C" fn start<F: FnOnce()>(work: *mut u8) {
    // SAFETY: `run` passes an `Option<F>`, and waits.
    let work = unsafe { &mut *work.cast::<Option<F>>() };
    if let Some(work) = work.take() {
        // A panic must stop here, because nothing beyond this frame can be unwound. Unfinished work stays undone.
        let _ = catch_unwind(AssertUnwindSafe(work));
    }
}

fn size_of_page() -> usize {
    // SAFETY: it has no preconditions.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

struct Stack {
    start: *mut u8,
}

impl Stack {
    fn new() -> Option<Self> {
        let stack = Self { start: pages::zeroed(SIZE)? };
        // SAFETY: the first page of the mapping, which becomes a guard page: no write can pass the end of the stack.
        let is_guarded = unsafe { libc::mprotect(stack.start.cast(), size_of_page(), libc::PROT_NONE) } == 0;
        is_guarded.then_some(stack)
    }

    /// Calls `start(argument)` on this stack.
    fn call(&self, start: extern "C" fn(*mut u8), argument: *mut u8) {
        let top = self.start.wrapping_add(SIZE - ABOVE);
        // SAFETY: `top` is the aligned end of memory that only this call uses. The old stack pointer is kept in a
        // register that the callee preserves, and `start` does not unwind.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            std::arch::asm!(
                "xchg rsp, r12",
                "call r13",
                "mov rsp, r12",
                inout("r12") top => _,
                in("r13") start,
                inout("rdi") argument => _,
                clobber_abi("C"),
            );
        }
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            std::arch::asm!(
                "mov x20, sp",
                "mov sp, x21",
                "blr x22",
                "mov sp, x20",
                out("x20") _,
                in("x21") top,
                in("x22") start,
                inout("x0") argument => _,
                clobber_abi("C"),
            );
        }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the function that ran on the stack has returned.
        unsafe { pages::free(self.start, SIZE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn uses(kilobytes: usize) -> u8 {
        let page = std::hint::black_box([1_u8; 1024]);
        if kilobytes == 0 { page[0] } else { page[kilobytes % 1024] + uses(kilobytes - 1) - 1 }
    }

    #[test]
    #[cfg_attr(miri, ignore = "it is assembly")]
    fn work_that_takes_more_than_the_stack_of_its_thread() {
        let small = std::thread::Builder::new().stack_size(16 << 10).spawn(|| {
            let mut used = 0;
            run(|| used = uses(512));
            run(|| panic!("on purpose"));
            used
        });
        assert_eq!(small.unwrap().join().unwrap(), 1);
    }
}
