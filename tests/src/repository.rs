//! A generated git repository, to search its commits.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::harness::{Finished, run, scrubbed};

/// A git repository in a folder.
#[derive(Debug)]
pub struct Repository {
    dir: PathBuf,
}

/// The parts of a repository that a search must not change.
#[derive(Debug, PartialEq, Eq)]
pub struct RepositoryState {
    replies: Vec<String>,
    files: Vec<(String, Vec<u8>)>,
}

impl Repository {
    /// Makes an empty repository in a folder. Its settings do not depend on the user.
    ///
    /// # Panics
    /// If git is not installed, or fails.
    #[must_use]
    pub fn new(dir: &Path) -> Self {
        let repository = Self { dir: dir.to_owned() };
        repository.git(&["init", "-q", "-b", "main"]);
        for (name, value) in [("user.name", "n"), ("user.email", "e"), ("commit.gpgSign", "false"), ("gc.auto", "0")] {
            repository.git(&["config", name, value]);
        }
        repository
    }

    /// Writes a file, and creates the folders that contain it.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.dir.join(name);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("the folder can be made");
        fs::write(path, text).expect("the file can be written");
    }

    /// Runs git, and returns its output without the last line break.
    ///
    /// # Panics
    /// If git fails.
    #[expect(clippy::must_use_candidate, reason = "most commands print nothing")]
    pub fn git(&self, arguments: &[&str]) -> String {
        let finished = run(&mut self.command(arguments));
        assert_eq!(finished.status, Some(0), "git {arguments:?}: {finished}");
        finished.stdout.trim_end_matches('\n').to_owned()
    }

    /// Returns a command of git in this repository.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut git = scrubbed("git".as_ref(), &self.dir);
        git.args(arguments);
        git
    }

    /// Commits all files, and returns the hash.
    ///
    /// # Panics
    /// If git fails.
    #[expect(clippy::must_use_candidate, reason = "a commit is often only made")]
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Commits many versions of one file in one call of git: the text of each, and further files with their texts. Then
    /// checks out the last one.
    ///
    /// # Panics
    /// If git fails.
    pub fn import(&self, versions: &[Vec<(&str, String)>]) {
        let mut stream = String::new();
        for (number, files) in versions.iter().enumerate() {
            let subject = format!("change {number}");
            stream += "commit refs/heads/main\n";
            let time = 1_700_000_000 + number;
            let _ = writeln!(stream, "committer n <e> {time} +0000\ndata {}\n{subject}\ndeleteall", subject.len());
            for (name, text) in files {
                let _ = writeln!(stream, "M 100755 inline {name}\ndata {}\n{text}", text.len());
            }
        }
        let path = self.dir.join("stream");
        fs::write(&path, stream).expect("the stream can be written");
        let mut import = self.command(&["fast-import", "--quiet"]);
        let stream = fs::File::open(&path).expect("it was just written");
        let status = import.stdin(stream).stdout(Stdio::null()).status().expect("git can be started");
        assert!(status.success(), "git fast-import");
        fs::remove_file(path).expect("it was just written");
        self.git(&["reset", "-q", "--hard"]);
    }

    /// Returns the hash of a revision.
    #[must_use]
    pub fn hash(&self, revision: &str) -> String {
        self.git(&["rev-parse", revision])
    }

    /// Returns everything that a search must not change: the checkout, the index, stashes, refs and worktrees.
    ///
    /// # Panics
    /// If git fails, or a file cannot be read.
    #[must_use]
    pub fn state(&self) -> RepositoryState {
        let queries: [&[&str]; 7] = [
            &["status", "--porcelain=v2", "--branch"],
            &["stash", "list"],
            &["worktree", "list"],
            &["for-each-ref"],
            &["rev-parse", "HEAD"],
            &["diff", "--cached"],
            &["config", "--list", "--local"],
        ];
        let replies = queries.iter().map(|query| self.git(query)).collect();
        let mut files = Vec::new();
        for name in self.git(&["ls-files", "--cached", "--others", "--exclude-standard"]).lines() {
            files.push((name.to_owned(), fs::read(self.dir.join(name)).unwrap_or_default()));
        }
        Self::expect_no_administration(&self.dir);
        RepositoryState { replies, files }
    }

    fn expect_no_administration(dir: &Path) {
        let left = fs::read_dir(dir.join(".git/worktrees")).map_or(0, Iterator::count);
        assert_eq!(left, 0, "git has records of worktrees in {}", dir.display());
    }
}

/// Returns the full hashes of the changes of each culprit.
///
/// # Panics
/// If an event is not as documented.
#[must_use]
pub fn found_commits(finished: &Finished) -> Vec<Vec<String>> {
    let hashes = |found: &serde_json::Value| {
        let changes = found["changes"].as_array().expect("changes").iter();
        changes
            .map(|change| {
                assert_eq!(change["kind"], "commit", "{finished}");
                change["name"].as_str().expect("a name").to_owned()
            })
            .collect()
    };
    finished.events_of("found").iter().map(hashes).collect()
}
