//! The run directory, `bisect.out`: everything that a search leaves.
//!
//! ```text
//! bisect-opt.json   marks the directory as ours
//! lock              locked while a search runs
//! runs/0001.log     what run 1 printed
//! reports/0001      what run 1 reported through BISECT_REPORT, until it is read, or if the answer quotes it
//! inputs/culprit-1* files that the command line of culprit 1 needs
//! culprit-1.patch   culprit 1 as a patch, if it is an edit of source files; culprit-1-undo.patch undoes it
//! conditions.json   what must be the same to continue the search
//! journal.jsonl     the ends of runs, to continue the search
//! checks.jsonl      which hunks compile together, to continue the search
//! trials.jsonl      one line a trial
//! result.json       the answer; written whole, then renamed
//! .gitignore        keeps all of these files out of commits
//! ```
//! A search begins with an empty directory. For that it deletes only what an earlier search has written. In a directory
//! that is not ours it touches nothing, and in ours no file with a name that we do not use.
//!
//! The mark and the answer are written under another name and renamed. So a full disk or a kill at any moment leaves a
//! directory that the next search accepts.

use std::{
    cell::RefCell,
    fs::{File, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    json_lines,
    run_dir_lock::{LOCK, pauses, take_lock},
};
use crate::{
    hidden::escaped_in_json,
    process::{machine_fault::patiently, own_file},
};

/// The version of the layout and of the formats of the files.
const FORMAT: u32 = 1;
const MARK: &str = "bisect-opt.json";
const RUNS: &str = "runs";
const REPORTS: &str = "reports";
const INPUTS: &str = "inputs";
/// The beginning of the names of files there for the smallest set of changes so far.
const SMALLEST: &str = "smallest";
const CONDITIONS: &str = "conditions.json";
const JOURNAL: &str = "journal.jsonl";
const CHECKS: &str = "checks.jsonl";
const TRIALS: &str = "trials.jsonl";
const RESULT: &str = "result.json";
/// The prefix of the names of files that are not completely written yet.
const UNFINISHED: &str = ".result-";

/// A run directory, locked for one search.
#[derive(Debug)]
pub(crate) struct RunDir {
    path: PathBuf,
    open: RefCell<OpenFiles>,
    /// A note for the user, once the directory was made again.
    note: RefCell<Option<String>>,
}

/// The files that are open while a search runs.
#[derive(Debug)]
struct OpenFiles {
    trials: fs_err::File,
    /// The file that holds the lock until it is closed.
    lock: File,
}

/// A reason why a directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunDirError {
    /// A directory that another search is using.
    #[error("another search is running in `{}`; wait for it, or give this one a directory of its own with `--out`", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// A directory with files that no search has written.
    #[error(
        "`{}` is not empty, and no earlier search has made it: nothing in it was touched; choose another directory with `--out`",
        path.display()
    )]
    NotOurs {
        /// The directory.
        path: PathBuf,
    },
    /// A directory of a format that this version does not know.
    #[error("`{}` was made by another version (format {found}, not {FORMAT}); delete it, or choose another directory with `--out`", path.display())]
    Format {
        /// The directory.
        path: PathBuf,
        /// The format of the directory.
        found: u32,
    },
    /// No run directory.
    #[error("`{}` is not the directory of a search; name the one that `--out` named, or leave it out for `bisect.out`", path.display())]
    None {
        /// The path.
        path: PathBuf,
    },
    /// An answer that another version has written.
    #[error("the answer in `{}` was written by another version, or is damaged; search again", path.display())]
    Content {
        /// The directory.
        path: PathBuf,
    },
    /// A directory on a file system that does not lock files.
    #[error("`{}` cannot be locked: {source}; choose a directory on another file system with `--out`", path.display())]
    Lock {
        /// The directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file that cannot be written, read or deleted.
    #[error("{0}; choose another directory with `--out`")]
    Io(#[from] io::Error),
}

/// The content of the file that marks a directory as ours.
#[derive(Serialize, Deserialize)]
struct MarkText {
    made_by: String,
    format: u32,
}

/// The owner of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// A search that writes this format.
    Of(u32),
    /// A search that was stopped before it wrote anything else; or no owner, since the directory is empty.
    Unwritten,
    /// Another owner.
    NotOurs,
}

impl RunDir {
    /// Creates an empty run directory at `path`, together with the directories above it. Empties an earlier run
    /// directory there.
    ///
    /// # Errors
    /// If another search is using it, if it is not ours, or if it cannot be written.
    pub(crate) fn create(path: &Path) -> Result<Self, RunDirError> {
        // Targets run in other directories, and get the paths of files in this one.
        let path = std::path::absolute(path)?;
        fs_err::create_dir_all(&path)?;
        check_mark(&path)?;
        let lock = lock(&path)?;
        // Another search may have written the mark meanwhile.
        if check_mark(&path)? == Mark::Unwritten {
            write_whole(&path, MARK, &mark_text()?)?;
        }
        empty(&path)?;
        let trials = make_content(&path)?;
        Ok(Self::with(path, trials, lock))
    }

    fn with(path: PathBuf, trials: fs_err::File, lock: File) -> Self {
        Self { path, open: RefCell::new(OpenFiles { trials, lock }), note: RefCell::new(None) }
    }

    /// Makes the directory again if it was deleted while the search runs.
    ///
    /// # Errors
    /// If it cannot be made, or if another search uses it now.
    pub(crate) fn restore(&self) -> Result<(), RunDirError> {
        if is_at(&self.open.borrow().lock, &self.path.join(LOCK)) {
            return Ok(());
        }
        // A run may have made its own files again, so the directory need not be empty.
        fs_err::create_dir_all(&self.path)?;
        let lock = lock(&self.path)?;
        write_whole(&self.path, MARK, &mark_text()?)?;
        let trials = make_content(&self.path)?;
        *self.open.borrow_mut() = OpenFiles { trials, lock };
        let lost = "it is made again, and the answer is not affected, but the logs, reports and trials of earlier runs are lost";
        let note = format!("`{}` was deleted while the search runs: {lost}", self.path.display());
        *self.note.borrow_mut() = Some(note);
        Ok(())
    }

    /// Takes the note for the user that the directory was made again.
    pub(crate) fn take_note(&self) -> Option<String> {
        self.note.take()
    }

    /// Opens the directory of an interrupted search at `path`, to continue it. Nothing in it is changed.
    ///
    /// # Errors
    /// If it is no run directory of this version, if another search is using it, or if it cannot be written.
    pub(crate) fn reopen(path: &Path) -> Result<Self, RunDirError> {
        let path = std::path::absolute(path)?;
        if !path.join(MARK).is_file() {
            return Err(RunDirError::None { path });
        }
        check_mark(&path)?;
        let lock = lock(&path)?;
        let trials = own_file::append(&path.join(TRIALS))?;
        Ok(Self::with(path, trials, lock))
    }

    /// Empties the list of trials: a search that is continued lists all of them again.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn empty_trials(&self) -> io::Result<()> {
        self.open.borrow().trials.set_len(0)
    }

    /// Returns the path of the journal.
    pub(crate) fn journal(&self) -> PathBuf {
        self.path.join(JOURNAL)
    }

    /// Returns the path of the results of checks outside runs.
    pub(crate) fn checks(&self) -> PathBuf {
        self.path.join(CHECKS)
    }

    /// Writes the conditions of the search.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(crate) fn write_conditions(&self, conditions: &impl Serialize) -> io::Result<()> {
        write_whole(&self.path, CONDITIONS, &serde_json::to_vec(conditions)?)
    }

    /// Reads the conditions of the search in `path`; `None` if it has none, or if another version has written them.
    ///
    /// # Errors
    /// If it is no run directory of this version, or cannot be read.
    pub(crate) fn read_conditions<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, RunDirError> {
        Ok(read_file(path, CONDITIONS)?.and_then(|text| serde_json::from_slice(&text).ok()))
    }

    /// Reads the text of the answer of the search in `path`; `None` if it has none yet.
    ///
    /// # Errors
    /// If it is no run directory of this version, or cannot be read.
    pub(crate) fn read_result_text(path: &Path) -> Result<Option<String>, RunDirError> {
        let text = read_file(path, RESULT)?.map(String::from_utf8);
        text.transpose().map_err(|_| RunDirError::Content { path: path.to_owned() })
    }

    /// Reads the list of trials. The last line is left out if it is not complete: the disk was full when it was written.
    ///
    /// # Errors
    /// If it cannot be read, or another version has written it.
    pub(crate) fn read_trials<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, RunDirError> {
        let damaged = || RunDirError::Content { path: path.to_owned() };
        let text = match own_file::read(&path.join(TRIALS)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let text = String::from_utf8(text).map_err(|_| damaged())?;
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let parsed: Result<_, _> = whole.lines().map(serde_json::from_str).collect();
        parsed.map_err(|_| damaged())
    }

    /// Returns the path of a run's log.
    #[must_use]
    pub(crate) fn log(&self, run: usize) -> PathBuf {
        self.path.join(RUNS).join(format!("{run:04}.log"))
    }

    /// Returns the path of the results of the lines of culprits, which were run as printed. The file may not exist yet.
    #[must_use]
    pub(crate) fn line_results(&self) -> PathBuf {
        self.inputs().join("culprit-lines.jsonl")
    }

    /// Returns the path of the file for the reports of a run. The runner creates the file: targets only append to it.
    #[must_use]
    pub(crate) fn report_file(&self, run: usize) -> PathBuf {
        self.path.join(REPORTS).join(format!("{run:04}"))
    }

    /// Returns the directory for files that the command lines of culprits need. It may not exist yet.
    #[must_use]
    pub(crate) fn inputs(&self) -> PathBuf {
        self.path.join(INPUTS)
    }

    /// Writes a patch of a culprit. Returns the path, relative to the working directory if it is below that.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write_patch(&self, stem: &str, text: &[u8]) -> io::Result<PathBuf> {
        let name = format!("{stem}.patch");
        write_whole(&self.path, &name, text)?;
        let path = self.path.join(name);
        let here = std::env::current_dir()?;
        Ok(path.strip_prefix(here).map(Path::to_owned).unwrap_or(path))
    }

    /// Adds a line to the list of trials.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn append_trial(&self, trial: &impl Serialize) -> io::Result<()> {
        self.restore().map_err(io::Error::other)?;
        let trials = &self.open.borrow().trials;
        let before = trials.metadata()?.len();
        patiently(|| {
            json_lines::add(trials, trial).inspect_err(|_| {
                // On a full disk, the beginning of the line may have been written. If it cannot be removed, it stays:
                // that does less harm.
                let _ = trials.set_len(before);
            })
        })
    }

    /// Writes the answer. A reader sees the previous one or the whole of this one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write_result(&self, result: &impl Serialize) -> io::Result<()> {
        self.restore().map_err(io::Error::other)?;
        let write = |text: String| write_whole(&self.path, RESULT, escaped_in_json(&(text + "\n")).as_bytes());
        match write(serde_json::to_string_pretty(result)?) {
            // On one line, it may fit.
            Err(error) if error.kind() == io::ErrorKind::StorageFull => write(serde_json::to_string(result)?),
            written => written,
        }
    }

    /// Removes the result, if there is one, and what is needed only while a search goes on.
    pub(crate) fn remove_result(&self) {
        // Where this fails, too, the result stays, and is the best that there is.
        let _ = fs_err::remove_file(self.path.join(RESULT));
        let _ = remove_files(&self.inputs(), |name| name.starts_with(SMALLEST));
    }
}

/// Returns the absolute path of the directory for files that the command lines of culprits need, in the run directory
/// `path`. Neither needs to exist.
///
/// # Errors
/// If the working directory is not known.
pub(crate) fn inputs_of(path: &Path) -> io::Result<PathBuf> {
    Ok(std::path::absolute(path)?.join(INPUTS))
}

/// Returns true if `path` does not exist, or is a directory in which no search has written anything.
pub(crate) fn is_unwritten(path: &Path) -> bool {
    match read_mark(path) {
        Ok(mark) => mark == Mark::Unwritten,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Returns true if this path still names an open file.
fn is_at(file: &File, path: &Path) -> bool {
    let Ok(there) = fs_err::symlink_metadata(path) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        file.metadata().is_ok_and(|open| (open.dev(), open.ino()) == (there.dev(), there.ino()))
    }
    #[cfg(not(unix))]
    {
        // An open file cannot be replaced there.
        let _ = file;
        there.is_file()
    }
}

/// Makes the directories and files with which a search begins. Returns the list of trials.
fn make_content(path: &Path) -> io::Result<fs_err::File> {
    fs_err::create_dir_all(path.join(RUNS))?;
    fs_err::create_dir_all(path.join(REPORTS))?;
    own_file::write(&path.join(".gitignore"), "*\n")?;
    own_file::append(&path.join(TRIALS))
}

/// Reads a file of the run directory `path`; `None` if it does not exist.
fn read_file(path: &Path, name: &str) -> Result<Option<Vec<u8>>, RunDirError> {
    if !path.join(MARK).is_file() {
        return Err(RunDirError::None { path: path.to_owned() });
    }
    check_mark(path)?;
    match own_file::read(&path.join(name)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Writes a file under another name and renames it.
fn write_whole(dir: &Path, name: &str, text: &[u8]) -> io::Result<()> {
    patiently(|| write_whole_once(dir, name, text))
}

fn write_whole_once(dir: &Path, name: &str, text: &[u8]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(UNFINISHED);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Temporary files are private by default; this one is to have the same permissions as the others.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(dir)?;
    file.write_all(text)?;
    // After a crash, the directory has either the complete new file or the old one.
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
    // The directory is listed before the mark is read: another search may write the mark, and then other files, in
    // between.
    let has_nothing_else = has_nothing_else(dir)?;
    let text = match own_file::read(&dir.join(MARK)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    if let Ok(MarkText { format, .. }) = serde_json::from_slice(&text) {
        return Ok(Mark::Of(format));
    }
    // Earlier versions wrote the mark in place, so it may be incomplete.
    let is_ours = has_nothing_else && mark_text()?.starts_with(&text);
    Ok(if is_ours { Mark::Unwritten } else { Mark::NotOurs })
}

fn mark_text() -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(&MarkText { made_by: "cargo-bisect-opt".into(), format: FORMAT })?;
    text.push(b'\n');
    Ok(text)
}

/// Returns true if a directory contains nothing except the files that exist before the mark.
fn has_nothing_else(dir: &Path) -> io::Result<bool> {
    for entry in fs_err::read_dir(dir)? {
        let name = entry?.file_name();
        if name != MARK && name != LOCK && !name.to_str().is_some_and(|name| name.starts_with(UNFINISHED)) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn lock(dir: &Path) -> Result<File, RunDirError> {
    take_lock(dir, pauses()).map_err(|error| match error {
        TryLockError::WouldBlock => RunDirError::InUse { path: dir.into() },
        TryLockError::Error(source) => RunDirError::Lock { path: dir.into(), source },
    })
}

/// Deletes the files that an earlier search has written.
fn empty(dir: &Path) -> io::Result<()> {
    let is_patch = |name: &str| name.starts_with("culprit-") && name.strip_suffix(".patch").is_some();
    remove_files(dir, |name| {
        [TRIALS, RESULT, CONDITIONS, JOURNAL, CHECKS].contains(&name) || name.starts_with(UNFINISHED) || is_patch(name)
    })?;
    remove_files(&dir.join(RUNS), |name| name.strip_suffix(".log").is_some_and(is_number))?;
    remove_files(&dir.join(REPORTS), is_number)?;
    remove_files(&dir.join(INPUTS), |name| ["culprit-", SMALLEST, "run-"].iter().any(|stem| name.starts_with(stem)))
}

fn is_number(name: &str) -> bool {
    name.len() >= 4 && name.bytes().all(|byte| byte.is_ascii_digit())
}

fn remove_files(dir: &Path, ours: impl Fn(&str) -> bool) -> io::Result<()> {
    // Links are not followed: the target of a link is not ours.
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
