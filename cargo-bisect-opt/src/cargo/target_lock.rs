//! Locks on the directories that searches share: the target directory, for each workspace, and its copies.
//!
//! Cargo locks a target directory only while it builds. A search also runs the executables. So another search that
//! builds the same with other flags or after an edit must wait for its end, as cargo waits for a build. On file systems
//! without locks there is no lock, as with cargo; replaced executables are still detected.

use std::{
    collections::BTreeMap,
    fs::{File, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
    thread,
    time::Duration,
};

use super::CargoError;
use crate::{process::interrupt::Interrupt, stderr};

/// The directory of the lock files, in the target directory.
pub(crate) const LOCKS: &str = ".bisect-opt-locks";
/// The interval of checks for a lock: no wait combines it with Ctrl-C.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A lock, which is released when this is dropped.
#[derive(Debug)]
pub(crate) struct Lock(#[expect(dead_code, reason = "closing it releases the lock")] File);

/// Takes the lock of this name in a target directory. If another process has it, prints that it waits for `what`.
///
/// # Errors
/// If the file cannot be made, or the user interrupts.
pub(crate) fn take(target_dir: &Path, name: &str, what: &str, interrupt: &Interrupt) -> Result<Lock, CargoError> {
    let file = open(target_dir, name)
        .map_err(|error| CargoError::Usage(format!("{error}; choose another directory with `--target-dir`")))?;
    let mut has_printed = false;
    while is_taken(&file) {
        if interrupt.requested() {
            return Err(CargoError::Interrupted);
        }
        if !std::mem::replace(&mut has_printed, true) {
            // Cargo's wording. A closed standard error is no reason to fail.
            let _ = stderr::write_lines(&format!("    Blocking waiting for {what}\n"));
        }
        thread::sleep(POLL_INTERVAL);
    }
    Ok(Lock(file))
}

/// Takes a lock that all its users in this process share.
///
/// # Errors
/// See [`take`].
pub(crate) fn share(target_dir: &Path, name: &str, what: &str, interrupt: &Interrupt) -> Result<Arc<Lock>, CargoError> {
    static HELD: Mutex<BTreeMap<PathBuf, Weak<Lock>>> = Mutex::new(BTreeMap::new());
    // The map stays consistent if a thread panics.
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let path = std::path::absolute(target_dir)?.join(name);
    if let Some(lock) = held.get(&path).and_then(Weak::upgrade) {
        return Ok(lock);
    }
    let lock = Arc::new(take(target_dir, name, what, interrupt)?);
    held.insert(path, Arc::downgrade(&lock));
    Ok(lock)
}

/// Takes the lock of this name if it is free.
///
/// # Errors
/// If the file cannot be made.
pub(crate) fn try_take(target_dir: &Path, name: &str) -> io::Result<Option<Lock>> {
    let file = open(target_dir, name)?;
    Ok((!is_taken(&file)).then(|| Lock(file)))
}

fn open(target_dir: &Path, name: &str) -> io::Result<File> {
    let dir = target_dir.join(LOCKS);
    fs_err::create_dir_all(&dir)?;
    // The file is never deleted: otherwise two processes could lock two files of this name.
    Ok(fs_err::OpenOptions::new().create(true).truncate(false).write(true).open(dir.join(name))?.into_parts().0)
}

fn is_taken(file: &File) -> bool {
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_shares_a_lock_and_releases_it() {
        let dir = tempfile::tempdir().unwrap();
        let interrupt = Interrupt::default();
        let first = share(dir.path(), "a", "nothing", &interrupt).unwrap();
        let second = share(dir.path(), "a", "nothing", &interrupt).unwrap();
        assert!(try_take(dir.path(), "a").unwrap().is_none());
        assert!(try_take(dir.path(), "b").unwrap().is_some());
        drop(first);
        assert!(try_take(dir.path(), "a").unwrap().is_none());
        drop(second);
        assert!(try_take(dir.path(), "a").unwrap().is_some());
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_named_with_the_option_that_takes_another() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = take(file.path(), "a", "nothing", &Interrupt::default()).unwrap_err();
        assert!(error.is_usage());
        assert!(error.to_string().contains(file.path().to_str().unwrap()), "{error}");
        assert!(error.to_string().ends_with("; choose another directory with `--target-dir`"), "{error}");
    }

    #[test]
    fn waiting_can_be_interrupted() {
        let dir = tempfile::tempdir().unwrap();
        let interrupt = Interrupt::default();
        let _taken = try_take(dir.path(), "a").unwrap().unwrap();
        interrupt.raise();
        assert!(matches!(take(dir.path(), "a", "a test", &interrupt), Err(CargoError::Interrupted)));
    }
}
