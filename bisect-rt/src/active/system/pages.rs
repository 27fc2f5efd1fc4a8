//! Memory from the system itself: the program's allocator may have a toggle, or be what a signal has interrupted.

/// At least one byte of zeros, on a page of its own and never given back; none, if there is no more. Pages that nobody
/// touches take no memory.
#[cfg(unix)]
pub(crate) fn zeroed(bytes: usize) -> Option<*mut u8> {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON);
    // SAFETY: a new mapping, at an address that the system chooses.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
    (start != libc::MAP_FAILED).then_some(start.cast())
}

/// As above, but of the program's allocator: where there are no signals and there is no `fork`, only a toggle in the
/// allocator itself comes here from it.
#[cfg(not(unix))]
pub(crate) fn zeroed(bytes: usize) -> Option<*mut u8> {
    let layout = std::alloc::Layout::from_size_align(bytes.max(1), PAGE).ok()?;
    // SAFETY: the layout is not empty.
    let start = unsafe { std::alloc::alloc_zeroed(layout) };
    (!start.is_null()).then_some(start)
}

#[cfg(not(unix))]
const PAGE: usize = 4096;

/// Gives back what [`zeroed`] gave for as many bytes.
///
/// # Safety
/// Nobody uses it any longer.
#[cfg(unix)]
pub(crate) unsafe fn free(start: *mut u8, bytes: usize) {
    // SAFETY: a whole mapping of ours, which the caller says nobody uses.
    unsafe { libc::munmap(start.cast(), bytes) };
}

/// As above.
///
/// # Safety
/// Nobody uses it any longer.
#[cfg(not(unix))]
pub(crate) unsafe fn free(start: *mut u8, bytes: usize) {
    let layout = std::alloc::Layout::from_size_align(bytes.max(1), PAGE).expect("as for the allocation");
    // SAFETY: allocated by `zeroed` with this layout; the caller says that nobody uses it.
    unsafe { std::alloc::dealloc(start, layout) };
}
