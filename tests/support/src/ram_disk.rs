//! A RAM disk for scratch directories: searches make and delete thousands of small files. On ext4, some tests spend most
//! of their time on the creation of files whose names were deleted before.

use std::path::Path;

/// Returns the directory of a RAM disk on which programs can be started and this many bytes are free, if there is one,
/// and the user has not chosen a directory for temporary files. Containers often have a RAM disk of 64 MB.
#[must_use]
pub fn directory(needed: u64) -> Option<&'static Path> {
    let path = Path::new("/dev/shm");
    (std::env::var_os("TMPDIR").is_none() && is_usable(path, needed)).then_some(path)
}

#[cfg(target_os = "linux")]
fn is_usable(path: &Path, needed: u64) -> bool {
    use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};

    let enough = |disk: rustix::fs::StatVfs| {
        !disk.f_flag.contains(StatVfsMountFlags::NOEXEC) && disk.f_bavail.saturating_mul(disk.f_frsize) >= needed
    };
    access(path, Access::WRITE_OK).is_ok() && statvfs(path).is_ok_and(enough)
}

#[cfg(not(target_os = "linux"))]
fn is_usable(_: &Path, _: u64) -> bool {
    false
}
