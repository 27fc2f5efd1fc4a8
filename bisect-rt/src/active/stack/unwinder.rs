//! Return addresses by the platform's unwinder, for programs without frame pointers.

use super::Capture;

/// Captures at most `depth` callers of the function whose frame contains `marker`. That function must never be inlined;
/// this one always is.
#[inline(always)]
pub(super) fn captured(mut capture: Capture<'_>, depth: usize, marker: usize) -> Capture<'_> {
    let mut left = depth;
    system::trace(marker, |address| {
        capture.push(address);
        left -= 1;
        left > 0
    });
    capture
}

/// Returns the return addresses of the whole stack, innermost first, without those of this crate.
#[inline(never)]
pub(super) fn all_addresses() -> Vec<u64> {
    let marker = 0_u8;
    addresses_beyond(std::hint::black_box(&raw const marker).addr())
}

/// Returns the return addresses of the callers of the function whose frame contains `marker`, innermost first. That
/// function must never be inlined.
pub(super) fn addresses_beyond(marker: usize) -> Vec<u64> {
    let mut addresses = Vec::new();
    system::trace(marker, |address| {
        addresses.push(address);
        true
    });
    addresses
}

/// The unwinder that the standard library links. Its functions take no lock on systems that are not Windows.
#[cfg(unix)]
mod system {
    use std::ffi::{c_int, c_void};

    /// A frame that the unwinder currently visits.
    #[repr(C)]
    struct Context {
        opaque: [u8; 0],
    }

    type Visit = unsafe extern "C" fn(*mut Context, *mut c_void) -> c_int;

    unsafe extern "C" {
        fn _Unwind_Backtrace(visit: Visit, data: *mut c_void) -> c_int;
    }

    /// The code `_URC_NO_REASON`.
    const GO_ON: c_int = 0;
    /// The code `_URC_FAILURE`, which ends the walk on all platforms.
    const STOP: c_int = 9;

    struct Walk<F> {
        marker: usize,
        is_below_marker: bool,
        each: F,
    }

    /// Calls `each` for the return addresses of the callers of the function whose frame contains `marker`, until `each`
    /// returns false. `each` must not panic.
    ///
    /// The stack pointer of a frame is its value at the call of the next inner frame. The stack pointers of the
    /// unwinder, of this module and of the marker's function are therefore below the marker, and that of the marker's
    /// caller is above. Frames beyond may be on another stack (a signal's or a coroutine's caller), which may lie
    /// anywhere.
    #[inline(always)]
    pub(super) fn trace<F: FnMut(u64) -> bool>(marker: usize, each: F) {
        let mut walk = Walk { marker, is_below_marker: true, each };
        // SAFETY: `visit::<F>` uses the data as the type that it has here, and only during this call.
        unsafe { _Unwind_Backtrace(visit::<F>, (&raw mut walk).cast()) };
    }

    unsafe extern "C" fn visit<F: FnMut(u64) -> bool>(context: *mut Context, data: *mut c_void) -> c_int {
        // SAFETY: `trace` passes a `Walk<F>`, which nothing else uses meanwhile.
        let walk = unsafe { &mut *data.cast::<Walk<F>>() };
        // SAFETY: the unwinder passes a valid context.
        let (address, stack_pointer) = unsafe { (registers::address(context), registers::stack_pointer(context)) };
        walk.is_below_marker = walk.is_below_marker && stack_pointer <= walk.marker;
        if walk.is_below_marker || (address != 0 && (walk.each)(address as u64)) { GO_ON } else { STOP }
    }

    #[cfg(not(all(target_arch = "arm", not(target_vendor = "apple"))))]
    mod registers {
        use super::Context;

        unsafe extern "C" {
            fn _Unwind_GetIP(context: *mut Context) -> usize;
            #[cfg(not(target_arch = "s390x"))]
            fn _Unwind_GetCFA(context: *mut Context) -> usize;
            #[cfg(target_arch = "s390x")]
            fn _Unwind_GetGR(context: *mut Context, register: std::ffi::c_int) -> usize;
        }

        pub(super) unsafe fn address(context: *mut Context) -> usize {
            // SAFETY: the caller has a valid context.
            unsafe { _Unwind_GetIP(context) }
        }

        /// Returns the frame's own stack pointer, which is the result of `_Unwind_GetCFA` despite its name.
        #[cfg(not(target_arch = "s390x"))]
        pub(super) unsafe fn stack_pointer(context: *mut Context) -> usize {
            // SAFETY: the caller has a valid context.
            unsafe { _Unwind_GetCFA(context) }
        }

        /// Returns the frame's own stack pointer; on this architecture the CFA is biased.
        #[cfg(target_arch = "s390x")]
        pub(super) unsafe fn stack_pointer(context: *mut Context) -> usize {
            // SAFETY: the caller has a valid context; register 15 is the stack pointer.
            unsafe { _Unwind_GetGR(context, 15) }
        }
    }

    /// The registers on 32-bit ARM, whose unwinder has one function for all of them.
    #[cfg(all(target_arch = "arm", not(target_vendor = "apple")))]
    mod registers {
        use std::ffi::{c_int, c_void};

        use super::Context;

        unsafe extern "C" {
            fn _Unwind_VRS_Get(
                context: *mut Context,
                class: c_int,
                register: u32,
                representation: c_int,
                value: *mut c_void,
            ) -> c_int;
        }

        /// Returns the address without the bit that marks Thumb code.
        pub(super) unsafe fn address(context: *mut Context) -> usize {
            // SAFETY: the caller has a valid context.
            unsafe { core_register(context, 15) & !1 }
        }

        pub(super) unsafe fn stack_pointer(context: *mut Context) -> usize {
            // SAFETY: the caller has a valid context.
            unsafe { core_register(context, 13) }
        }

        unsafe fn core_register(context: *mut Context, register: u32) -> usize {
            let mut value = 0_usize;
            // SAFETY: the caller has a valid context; class and representation 0 are a core register, as 32 bits.
            unsafe { _Unwind_VRS_Get(context, 0, register, 0, (&raw mut value).cast()) };
            value
        }
    }
}

#[cfg(windows)]
mod system {
    use std::{ffi::c_void, ptr};

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn RtlCaptureStackBackTrace(skip: u32, count: u32, addresses: *mut *mut c_void, hash: *mut u32) -> u16;
    }

    /// The number of addresses that the system captures at once; most stacks have far fewer.
    const AT_ONCE: usize = 128;

    /// Calls `each` for the return addresses of the callers of the function into which this is inlined, until `each`
    /// returns false.
    #[inline(always)]
    pub(super) fn trace(_: usize, mut each: impl FnMut(u64) -> bool) {
        let mut skipped = 0;
        loop {
            let mut addresses = [ptr::null_mut(); AT_ONCE];
            let count = capture(skipped, &mut addresses);
            if !addresses[..count].iter().all(|address| each(address.addr() as u64)) || count < AT_ONCE {
                return;
            }
            skipped += AT_ONCE;
        }
    }

    /// Captures addresses. It is not inlined, so that it and its caller are two frames.
    #[inline(never)]
    fn capture(skipped: usize, addresses: &mut [*mut c_void; AT_ONCE]) -> usize {
        let Ok(skip) = u32::try_from(skipped + 2) else { return 0 };
        // SAFETY: the buffer has as many elements as the argument states.
        usize::from(unsafe { RtlCaptureStackBackTrace(skip, AT_ONCE as u32, addresses.as_mut_ptr(), ptr::null_mut()) })
    }
}

/// The unwinder of other platforms, which captures nothing.
#[cfg(not(any(unix, windows)))]
mod system {
    pub(super) fn trace(_: usize, _: impl FnMut(u64) -> bool) {}
}
