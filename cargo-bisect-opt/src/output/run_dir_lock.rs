//! The lock of a run directory: one search at a time.

use std::{
    fs::{File, TryLockError},
    path::Path,
    thread,
    time::Duration,
};

use crate::process::own_file;

/// The name of the file.
pub(super) const LOCK: &str = "lock";
/// The number of pauses before a lock counts as held by a search, and their length.
const PAUSES: (usize, Duration) = (20, Duration::from_millis(25));

/// Locks a directory until the file is closed.
///
/// If the lock is held, another attempt is made after each of these pauses: after `kill -9`, a process that the killed
/// search was starting holds it until its own program begins.
///
/// # Errors
/// If another search holds the lock, or if the file cannot be used.
pub(super) fn take_lock(dir: &Path, pauses: impl IntoIterator<Item = ()>) -> Result<File, TryLockError> {
    // The file is never deleted: otherwise two searches could hold locks on two files of this name.
    let file = own_file::append(&dir.join(LOCK)).map_err(TryLockError::Error)?.into_parts().0;
    let mut pauses = pauses.into_iter();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if pauses.next().is_some() => {}
            locked => return locked.map(|()| file),
        }
    }
}

/// Returns pauses that pass while they are taken.
pub(super) fn pauses() -> impl Iterator<Item = ()> {
    let (count, length) = PAUSES;
    (0..count).map(move |_| thread::sleep(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_given_back_during_a_pause_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let mut earlier = Some(take_lock(dir.path(), []).unwrap());
        let error = take_lock(dir.path(), [()]).unwrap_err();
        assert!(matches!(error, TryLockError::WouldBlock), "{error}");
        let third_gives_back = (1..=3).map(|pause| {
            if pause == 3 {
                earlier = None;
            }
        });
        take_lock(dir.path(), third_gives_back).unwrap();
    }
}
