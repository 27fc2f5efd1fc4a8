//! Memory from the system itself: the program's allocator may contain a toggle, or be interrupted by a signal.

/// Returns at least one byte of zeros, on pages that nothing else shares; `None` if there is no more memory. Untouched
/// pages take no memory.
#[cfg(unix)]
pub(crate) fn zeroed(bytes: usize) -> Option<*mut u8> {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON);
    // SAFETY: a new mapping, at an address that the system chooses.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
    (start != libc::MAP_FAILED).then_some(start.cast())
}

/// Returns zeros from the program's allocator. On this platform there are no signals and there is no `fork`, so the
/// only call from inside the allocator is that of a toggle in the allocator itself.
#[cfg(not(unix))]
pub(crate) fn zeroed(bytes: usize) -> Option<*mut u8> {
    let layout = std::alloc::Layout::from_size_align(bytes.max(1), PAGE).ok()?;
    // SAFETY: the layout is not empty.
    let start = unsafe { std::alloc::alloc_zeroed(layout) };
    (!start.is_null()).then_some(start)
}

#[cfg(not(unix))]
const PAGE: usize = 4096;

/// Frees memory that [`zeroed`] returned for this number of bytes.
///
/// # Safety
/// The memory is no longer in use.
#[cfg(unix)]
pub(crate) unsafe fn free(start: *mut u8, bytes: usize) {
    // SAFETY: a whole mapping of ours, which the caller guarantees is no longer in use.
    unsafe { libc::munmap(start.cast(), bytes) };
}

/// Frees memory that [`zeroed`] returned for this number of bytes.
///
/// # Safety
/// The memory is no longer in use.
#[cfg(not(unix))]
pub(crate) unsafe fn free(start: *mut u8, bytes: usize) {
    let layout = std::alloc::Layout::from_size_align(bytes.max(1), PAGE).expect("as for the allocation");
    // SAFETY: allocated by `zeroed` with this layout; the caller guarantees that it is no longer in use.
    unsafe { std::alloc::dealloc(start, layout) };
}
