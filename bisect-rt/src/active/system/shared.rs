//! Memory that a process shares with the copies that it makes of itself.

use std::{io, ptr};

/// Puts a value into memory that all later copies of this process share. It is never freed.
pub(crate) fn leak<T: Sync>(value: T) -> io::Result<&'static T> {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping, at an address that the system chooses.
    let start = unsafe { libc::mmap(ptr::null_mut(), size_of::<T>().max(1), protection, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let start = start.cast::<T>();
    // SAFETY: the mapping is large enough, is aligned to a page, and is not in use yet.
    unsafe {
        start.write(value);
        Ok(&*start)
    }
}
