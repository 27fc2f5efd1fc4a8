//! The program's `errno`: a decision may interrupt code that is about to read it.

/// A saved `errno`, which is restored when this is dropped.
pub(crate) struct Kept(i32);

impl Kept {
    /// Saves the value of this thread.
    pub(crate) fn new() -> Self {
        // SAFETY: the address of this thread's own variable.
        Self(unsafe { *address() })
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: the address of this thread's own variable.
        unsafe { *address() = self.0 };
    }
}

#[cfg(target_os = "linux")]
unsafe fn address() -> *mut i32 {
    // SAFETY: it has no preconditions.
    unsafe { libc::__errno_location() }
}

#[cfg(target_os = "android")]
unsafe fn address() -> *mut i32 {
    // SAFETY: it has no preconditions.
    unsafe { libc::__errno() }
}
