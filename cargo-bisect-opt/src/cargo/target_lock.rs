//! Locks on what searches share: the target directory, for each workspace that is built into it, and its copies.
//!
//! Cargo locks it only while it builds. A search also runs what it has built, so another one that builds the same with other
//! flags or after an edit must wait for its end, as cargo waits for a build. Where files cannot be locked there is no lock,
//! as with cargo; exchanged executables are still found out.

use std::{
    collections::BTreeMap,
    fs::{File, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
    thread,
    time::Duration,
};

use super::CargoError;
use crate::process::interrupt::Interrupt;

/// The directory with the files that are locked, in the target directory.
pub(crate) const LOCKS: &str = ".bisect-opt-locks";
/// How often to see whether a lock is free: nothing waits for it and for Ctrl-C at once.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Holds a lock until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock(#[expect(dead_code, reason = "its end gives the lock back")] File);

/// The lock of this name in a target directory. If another process has it, this says what it waits for: `what`.
///
/// # Errors
/// If the file cannot be made, or the user does not want to wait.
pub(crate) fn take(target_dir: &Path, name: &str, what: &str, interrupt: &Interrupt) -> Result<Lock, CargoError> {
    let file = open(target_dir, name)
        .map_err(|error| CargoError::Usage(format!("{error}; choose another directory with `--target-dir`")))?;
    let mut has_said = false;
    while is_taken(&file) {
        if interrupt.requested() {
            return Err(CargoError::Interrupted);
        }
        if !std::mem::replace(&mut has_said, true) {
            // In cargo's words. Should nobody be able to read it, it is true all the same.
            let _ = writeln!(io::stderr(), "    Blocking waiting for {what}");
        }
        thread::sleep(LOOK_AGAIN);
    }
    Ok(Lock(file))
}

/// The same lock for all who ask for it in this process, one of whom may wait.
///
/// # Errors
/// See [`take`].
pub(crate) fn share(target_dir: &Path, name: &str, what: &str, interrupt: &Interrupt) -> Result<Arc<Lock>, CargoError> {
    static HELD: Mutex<BTreeMap<PathBuf, Weak<Lock>>> = Mutex::new(BTreeMap::new());
    // What is in there is right at any moment.
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let path = std::path::absolute(target_dir)?.join(name);
    if let Some(lock) = held.get(&path).and_then(Weak::upgrade) {
        return Ok(lock);
    }
    let lock = Arc::new(take(target_dir, name, what, interrupt)?);
    held.insert(path, Arc::downgrade(&lock));
    Ok(lock)
}

/// The lock of this name, if nobody has it.
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
    // It stays: were it deleted, two processes could hold locks on two files of this name.
    Ok(fs_err::OpenOptions::new().create(true).truncate(false).write(true).open(dir.join(name))?.into_parts().0)
}

fn is_taken(file: &File) -> bool {
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_shares_a_lock_and_gives_it_back() {
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
    fn nobody_has_to_wait() {
        let dir = tempfile::tempdir().unwrap();
        let interrupt = Interrupt::default();
        let _taken = try_take(dir.path(), "a").unwrap().unwrap();
        interrupt.raise();
        assert!(matches!(take(dir.path(), "a", "a test", &interrupt), Err(CargoError::Interrupted)));
    }
}
