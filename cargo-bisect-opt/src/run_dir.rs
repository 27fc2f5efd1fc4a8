//! The run directory, `bisect.out`: everything that a search leaves behind.
//!
//! ```text
//! bisect-opt.json   says that the directory is ours
//! lock              locked as long as a search runs
//! runs/0001.log     what run 1 printed
//! reports/0001      what run 1 reported through BISECT_REPORT
//! trials.jsonl      one line a trial
//! result.json       the answer; written whole, then renamed
//! .gitignore        nobody wants to commit any of this
//! ```
//! A search begins with an empty directory. What it deletes for that is only what its kind has written: in a directory
//! that is not ours nothing is touched, and in ours no file with a name that we do not give.

use std::{
    fs::{File, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// Version of the layout and of the formats of the files.
const FORMAT: u32 = 1;
const MARK: &str = "bisect-opt.json";
const LOCK: &str = "lock";
const RUNS: &str = "runs";
const REPORTS: &str = "reports";
const TRIALS: &str = "trials.jsonl";
const RESULT: &str = "result.json";
const RESULT_PREFIX: &str = ".result-";

/// A run directory, locked for one search.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    trials: fs_err::File,
    /// Holds the lock until it is closed.
    _lock: File,
}

/// Why a directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RunDirError {
    /// Another search is using it.
    #[error("another search is running in `{}`; wait for it, or give this one a directory of its own with `--out`", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// Someone else's files are in it.
    #[error(
        "`{}` is not empty, and no earlier search has made it: nothing in it was touched; choose another directory with `--out`",
        path.display()
    )]
    NotOurs {
        /// The directory.
        path: PathBuf,
    },
    /// It has a format that this version does not know.
    #[error("`{}` was made by another version (format {found}, not {FORMAT}); delete it, or choose another directory with `--out`", path.display())]
    Format {
        /// The directory.
        path: PathBuf,
        /// The format that it has.
        found: u32,
    },
    /// Its file system does not lock files.
    #[error("`{}` cannot be locked: {source}; choose a directory on another file system with `--out`", path.display())]
    Lock {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file in it cannot be written, read or deleted.
    #[error("{0}; choose another directory with `--out`")]
    Io(#[from] io::Error),
}

/// The content of the file that says whose directory this is.
#[derive(Serialize, Deserialize)]
struct Mark {
    made_by: String,
    format: u32,
}

impl RunDir {
    /// An empty run directory at `path`, which is created, together with the directories above it; an earlier one is
    /// emptied.
    ///
    /// # Errors
    /// If another search is using it, if it is not ours, or if it cannot be written.
    pub fn create(path: &Path) -> Result<Self, RunDirError> {
        // Targets run elsewhere, and are told the names of files in here.
        let path = std::path::absolute(path)?;
        fs_err::create_dir_all(&path)?;
        match read_mark(&path)? {
            Some(Mark { format: FORMAT, .. }) => {}
            Some(Mark { format: found, .. }) => return Err(RunDirError::Format { path, found }),
            None if is_empty(&path)? => write_mark(&path)?,
            None => return Err(RunDirError::NotOurs { path }),
        }
        let lock = take_lock(&path)?;
        empty(&path)?;
        fs_err::create_dir_all(path.join(RUNS))?;
        fs_err::create_dir_all(path.join(REPORTS))?;
        fs_err::write(path.join(".gitignore"), "*\n")?;
        let trials = fs_err::OpenOptions::new().create(true).append(true).open(path.join(TRIALS))?;
        Ok(Self { path, trials, _lock: lock })
    }

    /// The log of a run.
    #[must_use]
    pub fn log(&self, run: usize) -> PathBuf {
        self.path.join(RUNS).join(format!("{run:04}.log"))
    }

    /// The file for the reports of a run. Whoever starts the run creates it: targets only append to it.
    #[must_use]
    pub fn report_file(&self, run: usize) -> PathBuf {
        self.path.join(REPORTS).join(format!("{run:04}"))
    }

    /// Adds a line to the list of trials.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn append_trial(&self, trial: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(trial)?;
        line.push(b'\n');
        // One write: a reader never sees half a line, and neither does who resumes after a crash.
        (&self.trials).write_all(&line)
    }

    /// Writes the answer. Whoever looks sees the one before or the whole of this one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_result(&self, result: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(result)?;
        text.push(b'\n');
        write_whole(&self.path, RESULT, &text)
    }
}

/// Writes a file under another name and renames it.
fn write_whole(dir: &Path, name: &str, text: &[u8]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(RESULT_PREFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Temporary files are private by default; this one is to be as open as the others.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(dir)?;
    file.write_all(text)?;
    // What is renamed is there after a crash as well, or the old one is.
    file.as_file().sync_all()?;
    file.persist(dir.join(name))?;
    Ok(())
}

fn read_mark(dir: &Path) -> io::Result<Option<Mark>> {
    match fs_err::read(dir.join(MARK)) {
        Ok(text) => Ok(serde_json::from_slice(&text).ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn write_mark(dir: &Path) -> io::Result<()> {
    let mark = Mark { made_by: "cargo-bisect-opt".into(), format: FORMAT };
    let mut text = serde_json::to_vec(&mark)?;
    text.push(b'\n');
    fs_err::write(dir.join(MARK), text)
}

fn is_empty(dir: &Path) -> io::Result<bool> {
    Ok(fs_err::read_dir(dir)?.next().is_none())
}

fn take_lock(dir: &Path) -> Result<File, RunDirError> {
    // The file stays where it is for ever: were it deleted, two searches could hold locks on two files of this name.
    let file = File::options().create(true).truncate(false).write(true).open(dir.join(LOCK));
    let file = file.map_err(|source| RunDirError::Lock { path: dir.into(), source })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(RunDirError::InUse { path: dir.into() }),
        Err(TryLockError::Error(source)) => Err(RunDirError::Lock { path: dir.into(), source }),
    }
}

/// Deletes what an earlier search has written.
fn empty(dir: &Path) -> io::Result<()> {
    remove_files(dir, |name| name == TRIALS || name == RESULT || name.starts_with(RESULT_PREFIX))?;
    remove_files(&dir.join(RUNS), |name| name.strip_suffix(".log").is_some_and(is_number))?;
    remove_files(&dir.join(REPORTS), is_number)
}

fn is_number(name: &str) -> bool {
    name.len() >= 4 && name.bytes().all(|byte| byte.is_ascii_digit())
}

fn remove_files(dir: &Path, ours: impl Fn(&str) -> bool) -> io::Result<()> {
    // Not through a link: what is behind one is not ours.
    match fs_err::symlink_metadata(dir) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    }
    for entry in fs_err::read_dir(dir)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(&ours) && !entry.file_type()?.is_dir() {
            fs_err::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "run_dir_tests.rs"]
mod tests;
