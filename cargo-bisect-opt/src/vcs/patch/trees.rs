//! Two trees of a repository, and the files in which they differ.
//!
//! The tree of the working files is made with an index and objects in a directory for temporary files, so the user's
//! repository is only read.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::File,
    io,
    path::{Path, PathBuf},
};

use crate::{
    process::{SpawnError, scratch_dir::ScratchDir},
    vcs::{diff::to_path, query},
};

/// A reason why two trees cannot be compared.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TreeError {
    /// The text names no pair of versions.
    #[error("`--diff {0}`: give one revision, or two as OLD..NEW, for example main or v1.2..HEAD")]
    NoRange(String),
    /// There is no git, or it cannot be started.
    #[error("`--diff` compares versions with git: {0}")]
    Start(#[from] SpawnError),
    /// The directory is not in a work tree.
    #[error("`{}` is not in a git work tree: {message}; change to a directory of the repository", directory.display())]
    NoWorkTree {
        /// The directory.
        directory: PathBuf,
        /// Git's message.
        message: String,
    },
    /// A revision names no commit.
    #[error(
        "`{revision}` names no commit: {message}; give a branch, a tag or a hash, and fetch it if necessary. If it names \
         a test or a program, write `--diff -- {revision}`"
    )]
    UnknownRevision {
        /// The revision as the user wrote it.
        revision: String,
        /// Git's message.
        message: String,
    },
    /// A query failed.
    #[error("`--diff`: `git {query}` failed: {message}; run it by hand in the repository to see why")]
    Failed {
        /// The name of the query.
        query: String,
        /// Git's message.
        message: String,
    },
    /// Git printed something unknown.
    #[error("the output of `git {query}` is not as documented: {problem}; report this with the version of git")]
    Unknown {
        /// The name of the query.
        query: &'static str,
        /// The problem.
        problem: &'static str,
    },
    /// A file for git cannot be made.
    #[error("cannot prepare files for git: {0}; free space, or set TMPDIR to another directory")]
    Files(#[from] io::Error),
}

/// A file that differs between two trees. At least one version exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChangedFile {
    /// The old version; `None`: the file is new.
    pub(crate) old: Option<FileVersion>,
    /// The new version; `None`: the file is deleted.
    pub(crate) new: Option<FileVersion>,
}

#[cfg(test)]
impl ChangedFile {
    /// Returns a plain file with these two texts.
    pub(crate) fn of_texts(path: &str, old: &str, new: &str) -> Self {
        let version = |text: &str| Some(FileVersion { path: path.into(), mode: FileMode::Plain, content: text.into() });
        Self { old: version(old), new: version(new) }
    }
}

/// A version of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileVersion {
    /// The path, relative to the top directory.
    pub(crate) path: PathBuf,
    /// The mode.
    pub(crate) mode: FileMode,
    /// The content; of a link, its target.
    pub(crate) content: Vec<u8>,
}

/// The mode of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileMode {
    /// A file.
    Plain,
    /// An executable file.
    Executable,
    /// A symbolic link.
    Link,
}

/// Two trees, and their difference.
#[derive(Clone, Debug)]
pub(crate) struct Trees {
    /// The top directory of the user's work tree.
    pub(crate) top: PathBuf,
    /// The user's directory, relative to the top.
    pub(crate) subdirectory: PathBuf,
    /// The commit of the old tree.
    pub(crate) old: String,
    /// The names of both trees for people.
    pub(crate) names: (String, String),
    /// The files that differ.
    pub(crate) files: Vec<ChangedFile>,
    /// The submodules that differ. They stay at the commit of the old tree.
    pub(crate) submodules: Vec<PathBuf>,
}

impl Trees {
    /// Compares two trees of the repository that contains `directory`: `OLD..NEW`; `OLD` and the working files; or, by
    /// default, `HEAD` and the working files. These include untracked files that are not ignored.
    ///
    /// # Errors
    /// If there are no such trees, or git fails.
    pub(crate) fn load(directory: &Path, range: Option<&str>) -> Result<Self, TreeError> {
        let top = query::call(directory, &["rev-parse", "--show-toplevel"])?;
        if top.failure.is_some() {
            return Err(TreeError::NoWorkTree { directory: directory.to_owned(), message: top.message });
        }
        let top = to_path(query::line(&top.output));
        let git = TreeQueries { top: top.clone(), variables: Vec::new() };
        let subdirectory = query::call(directory, &["rev-parse", "--show-prefix"])?;
        let subdirectory = to_path(query::line(&subdirectory.output));
        let (old, new) = match range.map(|range| (range, range.split_once(".."))) {
            None => ("HEAD", None),
            Some((revision, None)) => (revision, None),
            Some((range, Some((old, new)))) => {
                if old.is_empty() || new.starts_with('.') || new.contains("..") {
                    return Err(TreeError::NoRange(range.to_owned()));
                }
                (old, Some(if new.is_empty() { "HEAD" } else { new }))
            }
        };
        let commit = git.commit(old)?;
        let scratch = ScratchDir::new()?;
        let (git, tree) = match new {
            Some(new) => (git.clone(), git.commit(new)?),
            None => git.tree_of_working_files(scratch.path())?,
        };
        let (files, submodules) = git.difference(&commit, &tree, scratch.path())?;
        let names = (old.to_owned(), new.unwrap_or("the working files").to_owned());
        Ok(Self { top, subdirectory, old: commit, names, files, submodules })
    }
}

impl Trees {
    /// Returns the top directory of the user's work tree, unless it is the user's directory.
    pub(crate) fn top_if_elsewhere(&self) -> Option<PathBuf> {
        (!self.subdirectory.as_os_str().is_empty()).then(|| self.top.clone())
    }

    /// Returns a note about submodules that are not searched; empty if there are none.
    pub(crate) fn submodule_note(&self) -> String {
        match self.submodules.as_slice() {
            [] => String::new(),
            [one] => format!(" (the submodule `{}` stays as in {})", one.display(), self.names.0),
            all => format!(" ({} submodules stay as in {})", all.len(), self.names.0),
        }
    }
}

/// Git with variables that name an index and objects.
#[derive(Clone)]
struct TreeQueries {
    top: PathBuf,
    variables: Vec<(&'static str, OsString)>,
}

/// A version of a file in the output of `git diff-tree`.
struct Entry {
    path: PathBuf,
    mode: Vec<u8>,
    hash: String,
}

const SUBMODULE: &[u8] = b"160000";
const MISSING: TreeError = TreeError::Unknown { query: "cat-file", problem: "an object is missing" };

impl TreeQueries {
    fn ask(&self, arguments: &[&str], input: Option<File>) -> Result<Vec<u8>, TreeError> {
        let reply = query::call_with(&self.top, arguments, &self.variables, input)?;
        if reply.failure.is_none() {
            return Ok(reply.output);
        }
        Err(TreeError::Failed { query: arguments[0].to_owned(), message: reply.message })
    }

    /// Returns the hash of the commit that a revision names.
    fn commit(&self, revision: &str) -> Result<String, TreeError> {
        let commit = query::commit_of(revision, |arguments| query::call(&self.top, arguments))?;
        commit.map_err(|message| TreeError::UnknownRevision { revision: revision.to_owned(), message })
    }

    /// Makes a tree of the working files with an index in `scratch`. The result can read that tree.
    fn tree_of_working_files(&self, scratch: &Path) -> Result<(Self, String), TreeError> {
        let path = |name: &str| -> Result<PathBuf, TreeError> {
            let path = self.ask(&["rev-parse", "--git-path", name], None)?;
            Ok(self.top.join(to_path(query::line(&path))))
        };
        let (index, objects) = (scratch.join("index"), scratch.join("objects"));
        let users = path("index")?;
        if users.exists() {
            // With it, git reads only files that were changed since. It also reads those that are as old as the index,
            // because they may have been changed just after it: so the copy keeps the time.
            fs_err::copy(&users, &index)?;
            File::options().write(true).open(&index)?.set_modified(fs_err::metadata(&users)?.modified()?)?;
        }
        fs_err::create_dir(&objects)?;
        let variables = vec![
            ("GIT_INDEX_FILE", index.into_os_string()),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", list_of_one(path("objects")?)),
            ("GIT_OBJECT_DIRECTORY", objects.into_os_string()),
            // Otherwise git writes the indices of submodules anew.
            ("GIT_OPTIONAL_LOCKS", "0".into()),
        ];
        let git = Self { variables, ..self.clone() };
        // In a sparse checkout, the user may have files outside of its patterns. Git before 2.34 does not know the option.
        let option = query::is_sparse(&self.top)?.then_some("--sparse");
        let add = ["add", "--all"].into_iter().chain(option).chain(["--", ":/"]);
        git.ask(&add.collect::<Vec<_>>(), None)?;
        let tree = git.ask(&["write-tree"], None)?;
        let tree = String::from_utf8_lossy(query::line(&tree)).into_owned();
        Ok((git, tree))
    }

    /// Returns the files in which two trees differ, and the submodules.
    fn difference(&self, old: &str, new: &str, scratch: &Path) -> Result<(Vec<ChangedFile>, Vec<PathBuf>), TreeError> {
        let raw = self.ask(&["diff-tree", "-r", "-z", "-M", "--raw", "--no-abbrev", old, new], None)?;
        let (mut pairs, mut submodules) = (Vec::new(), Vec::new());
        for pair in entries(&raw)? {
            let is_submodule = pair.iter().flatten().any(|entry| entry.mode == SUBMODULE);
            let path = || pair.iter().flatten().map(|entry| entry.path.clone()).next_back();
            if is_submodule { submodules.extend(path()) } else { pairs.push(pair) }
        }
        let hashes = pairs.iter().flatten().flatten().map(|entry| entry.hash.as_str());
        let contents = self.contents(hashes, scratch)?;
        let version = |entry: Option<Entry>| -> Result<Option<FileVersion>, TreeError> {
            let Some(Entry { path, mode, hash }) = entry else { return Ok(None) };
            let mode = match mode.as_slice() {
                b"120000" => FileMode::Link,
                b"100755" => FileMode::Executable,
                _ => FileMode::Plain,
            };
            let content = contents.get(&hash).cloned().ok_or(MISSING)?;
            Ok(Some(FileVersion { path, mode, content }))
        };
        let files = pairs.into_iter().map(|[old, new]| Ok(ChangedFile { old: version(old)?, new: version(new)? }));
        Ok((files.collect::<Result<_, TreeError>>()?, submodules))
    }

    /// Reads the contents of files by their hashes.
    fn contents<'a>(
        &self,
        hashes: impl Iterator<Item = &'a str>,
        scratch: &Path,
    ) -> Result<BTreeMap<String, Vec<u8>>, TreeError> {
        const ENDLESS: TreeError = TreeError::Unknown { query: "cat-file", problem: "a header does not end" };
        let list = scratch.join("hashes");
        fs_err::write(&list, hashes.fold(String::new(), |list, hash| list + hash + "\n"))?;
        let output = self.ask(&["cat-file", "--batch"], Some(fs_err::File::open(&list)?.into_parts().0))?;
        let mut contents = BTreeMap::new();
        let mut rest = output.as_slice();
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).ok_or(ENDLESS)?;
            let header = String::from_utf8_lossy(&rest[..end]).into_owned();
            let mut words = header.split(' ');
            let (hash, kind, size) = (words.next().unwrap_or_default(), words.next(), words.next());
            let size = size.filter(|_| kind == Some("blob")).and_then(|size| size.parse::<usize>().ok());
            let content = size.and_then(|size| rest.get(end + 1..end + 1 + size));
            let content = content.ok_or(MISSING)?;
            contents.insert(hash.to_owned(), content.to_vec());
            // A line break follows.
            rest = rest.get(end + 2 + content.len()..).unwrap_or_default();
        }
        Ok(contents)
    }
}

/// Returns the value of `GIT_ALTERNATE_OBJECT_DIRECTORIES` for one directory. A path with the separator or a quote is
/// quoted as in C.
fn list_of_one(directory: PathBuf) -> OsString {
    let directory = directory.into_os_string();
    let separator = if cfg!(windows) { ';' } else { ':' };
    match directory.to_str() {
        Some(text) if text.contains([separator, '"']) => {
            format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")).into()
        }
        _ => directory,
    }
}

/// Parses the output of `git diff-tree -z --raw`: both versions of each file.
fn entries(raw: &[u8]) -> Result<Vec<[Option<Entry>; 2]>, TreeError> {
    const PROBLEM: TreeError = TreeError::Unknown { query: "diff-tree", problem: "an entry is incomplete" };
    let mut fields = raw.split(|&byte| byte == 0).filter(|field| !field.is_empty());
    let mut pairs = Vec::new();
    while let Some(head) = fields.next() {
        let words: Vec<_> = head.strip_prefix(b":").ok_or(PROBLEM)?.split(|&byte| byte == b' ').collect();
        let [old_mode, new_mode, old_hash, new_hash, status] = words[..] else { return Err(PROBLEM) };
        let path = to_path(fields.next().ok_or(PROBLEM)?);
        let new_path = match status.first() {
            Some(b'R' | b'C') => to_path(fields.next().ok_or(PROBLEM)?),
            _ => path.clone(),
        };
        let entry = |path: PathBuf, mode: &[u8], hash: &[u8]| {
            let hash = String::from_utf8_lossy(hash).into_owned();
            (mode != b"000000").then(|| Entry { path, mode: mode.to_vec(), hash })
        };
        pairs.push([entry(path, old_mode, old_hash), entry(new_path, new_mode, new_hash)]);
    }
    Ok(pairs)
}
