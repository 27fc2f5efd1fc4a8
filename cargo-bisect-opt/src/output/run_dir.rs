//! The run directory, `bisect.out`: everything that a search leaves behind.
//!
//! ```text
//! bisect-opt.json   says that the directory is ours
//! lock              locked as long as a search runs
//! runs/0001.log     what run 1 printed
//! reports/0001      what run 1 reported through BISECT_REPORT
//! inputs/culprit-1* what reproduces culprit 1 beside its command line
//! trials.jsonl      one line a trial
//! result.json       the answer; written whole, then renamed
//! .gitignore        nobody wants to commit any of this
//! ```
//! A search begins with an empty directory. What it deletes for that is only what its kind has written: in a directory
//! that is not ours nothing is touched, and in ours no file with a name that we do not give.
//!
//! Files that say something are written under another name and renamed, so that a full disk or a kill at any moment leaves
//! a directory that the next search takes.

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
const INPUTS: &str = "inputs";
const TRIALS: &str = "trials.jsonl";
const RESULT: &str = "result.json";
/// How names of files begin that are not yet written to their end.
const UNFINISHED: &str = ".result-";

/// A run directory, locked for one search.
#[derive(Debug)]
pub(crate) struct RunDir {
    path: PathBuf,
    trials: fs_err::File,
    /// Holds the lock until it is closed.
    _lock: File,
}

/// Why a directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunDirError {
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
struct MarkText {
    made_by: String,
    format: u32,
}

/// Whose directory it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// Of a search that writes this format.
    Of(u32),
    /// Of a search that was stopped before anything else was in it; or of nobody, since it is empty.
    Unwritten,
    /// Of someone else.
    NotOurs,
}

impl RunDir {
    /// An empty run directory at `path`, which is created, together with the directories above it; an earlier one is
    /// emptied.
    ///
    /// # Errors
    /// If another search is using it, if it is not ours, or if it cannot be written.
    pub(crate) fn create(path: &Path) -> Result<Self, RunDirError> {
        // Targets run elsewhere, and are told the names of files in here.
        let path = std::path::absolute(path)?;
        fs_err::create_dir_all(&path)?;
        check_mark(&path)?;
        let lock = take_lock(&path)?;
        // Another search may have written it meanwhile.
        if check_mark(&path)? == Mark::Unwritten {
            write_whole(&path, MARK, &mark_text()?)?;
        }
        empty(&path)?;
        fs_err::create_dir_all(path.join(RUNS))?;
        fs_err::create_dir_all(path.join(REPORTS))?;
        fs_err::write(path.join(".gitignore"), "*\n")?;
        let trials = fs_err::OpenOptions::new().create(true).append(true).open(path.join(TRIALS))?;
        Ok(Self { path, trials, _lock: lock })
    }

    /// The log of a run.
    #[must_use]
    pub(crate) fn log(&self, run: usize) -> PathBuf {
        self.path.join(RUNS).join(format!("{run:04}.log"))
    }

    /// The file for the reports of a run. Whoever starts the run creates it: targets only append to it.
    #[must_use]
    pub(crate) fn report_file(&self, run: usize) -> PathBuf {
        self.path.join(REPORTS).join(format!("{run:04}"))
    }

    /// Returns the directory for what reproduces culprits beside their command lines. It may have to be made.
    #[must_use]
    pub(crate) fn inputs(&self) -> PathBuf {
        self.path.join(INPUTS)
    }

    /// Adds a line to the list of trials.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn append_trial(&self, trial: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(trial)?;
        line.push(b'\n');
        // One write: a reader never sees half a line, and neither does who resumes after a crash.
        let before = self.trials.metadata()?.len();
        (&self.trials).write_all(&line).inspect_err(|_| {
            // Of a full disk, the beginning of the line may be there. That it stays is the smaller trouble.
            let _ = self.trials.set_len(before);
        })
    }

    /// Writes the answer. Whoever looks sees the one before or the whole of this one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write_result(&self, result: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(result)?;
        text.push(b'\n');
        write_whole(&self.path, RESULT, &text)
    }
}

/// Writes a file under another name and renames it.
fn write_whole(dir: &Path, name: &str, text: &[u8]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(UNFINISHED);
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

fn check_mark(dir: &Path) -> Result<Mark, RunDirError> {
    match read_mark(dir)? {
        Mark::Of(found) if found != FORMAT => Err(RunDirError::Format { path: dir.into(), found }),
        Mark::NotOurs => Err(RunDirError::NotOurs { path: dir.into() }),
        mark => Ok(mark),
    }
}

fn read_mark(dir: &Path) -> io::Result<Mark> {
    let text = match fs_err::read(dir.join(MARK)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    if let Ok(MarkText { format, .. }) = serde_json::from_slice(&text) {
        return Ok(Mark::Of(format));
    }
    // Earlier versions wrote it in place, so that it may have been cut off.
    let is_ours = mark_text()?.starts_with(&text) && has_nothing_else(dir)?;
    Ok(if is_ours { Mark::Unwritten } else { Mark::NotOurs })
}

fn mark_text() -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(&MarkText { made_by: "cargo-bisect-opt".into(), format: FORMAT })?;
    text.push(b'\n');
    Ok(text)
}

/// Whether a directory has nothing in it but what is there before the mark is.
fn has_nothing_else(dir: &Path) -> io::Result<bool> {
    for entry in fs_err::read_dir(dir)? {
        let name = entry?.file_name();
        if name != MARK && name != LOCK && !name.to_str().is_some_and(|name| name.starts_with(UNFINISHED)) {
            return Ok(false);
        }
    }
    Ok(true)
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
    remove_files(dir, |name| name == TRIALS || name == RESULT || name.starts_with(UNFINISHED))?;
    remove_files(&dir.join(RUNS), |name| name.strip_suffix(".log").is_some_and(is_number))?;
    remove_files(&dir.join(REPORTS), is_number)?;
    remove_files(&dir.join(INPUTS), |name| name.starts_with("culprit-"))
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
