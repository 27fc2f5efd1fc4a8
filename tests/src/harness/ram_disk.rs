//! A RAM disk for scratch directories: searches make and delete thousands of small files.

use std::{
    path::{Path, PathBuf},
    sync::LazyLock,
};

/// The free space below which the RAM disk is not used, in bytes. Containers often have a RAM disk of 64 MB.
const NEEDED: u64 = 4 << 30;

/// Returns the directory of a RAM disk on which programs can be started, if there is one with enough space, and the
/// user has not chosen a directory for temporary files.
pub(super) fn directory() -> Option<&'static Path> {
    static FOUND: LazyLock<Option<&'static Path>> = LazyLock::new(|| {
        let path = Path::new("/dev/shm");
        (std::env::var_os("TMPDIR").is_none() && is_usable(path)).then_some(path)
    });
    *FOUND
}

/// Returns the directory for temporary files of tests and of the commands that they run.
#[must_use]
pub fn temp_dir() -> PathBuf {
    directory().map_or_else(std::env::temp_dir, Path::to_owned)
}

#[cfg(target_os = "linux")]
fn is_usable(path: &Path) -> bool {
    use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};

    let enough = |disk: rustix::fs::StatVfs| {
        !disk.f_flag.contains(StatVfsMountFlags::NOEXEC) && disk.f_bavail.saturating_mul(disk.f_frsize) >= NEEDED
    };
    access(path, Access::WRITE_OK).is_ok() && statvfs(path).is_ok_and(enough)
}

#[cfg(not(target_os = "linux"))]
fn is_usable(_: &Path) -> bool {
    false
}
