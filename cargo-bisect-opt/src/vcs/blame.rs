//! The commit that changed a line last.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::query;

/// The last change of a line that git tracks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LastChange {
    /// The commit; `None` if the line is not committed yet.
    pub(crate) commit: Option<BlamedCommit>,
}

/// The commit that changed a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BlamedCommit {
    /// Its hash.
    pub(crate) hash: String,
    /// The first line of its message.
    pub(crate) subject: String,
    /// The name of its author.
    pub(crate) author: String,
    /// The time at which it was written, in seconds since 1970.
    pub(crate) time: u64,
    /// True if the history does not go back further, so that an earlier commit may be meant.
    pub(crate) is_oldest: bool,
}

/// Returns the last change of a line in the working tree; `None` if git does not track the file, or cannot say. An
/// answer is complete without it, so there is no error.
pub(crate) fn last_change(file: &Path, line: u32) -> Option<LastChange> {
    let directory = file.parent()?;
    let range = format!("{line},{line}");
    let arguments = ["blame", "--porcelain", "--root", "--no-textconv", "-L", &range, "--"].map(AsRef::as_ref);
    let arguments: Vec<&std::ffi::OsStr> = arguments.into_iter().chain([file.file_name()?]).collect();
    let reply = query::query_locally(directory, &arguments).ok()?;
    if reply.failure.is_some() {
        return None;
    }
    parse(&reply.text())
}

/// Parses the answer of `git blame --porcelain` about one line.
fn parse(text: &str) -> Option<LastChange> {
    let hash = text.split_whitespace().next()?;
    if hash.bytes().all(|byte| byte == b'0') {
        return Some(LastChange { commit: None });
    }
    let header = || text.lines().skip(1).take_while(|line| !line.starts_with('\t'));
    let field = |name: &str| header().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    let (subject, author) = (field("summary")?.to_owned(), field("author")?.to_owned());
    let time = field("author-time")?.parse().ok()?;
    let is_oldest = header().any(|line| line == "boundary");
    Some(LastChange { commit: Some(BlamedCommit { hash: hash.to_owned(), subject, author, time, is_oldest }) })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(directory: &Path, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.arg("-C").arg(directory).args(["-c", "user.name=Ann Other", "-c", "user.email=ann@example.com"]);
        git.args(["-c", "commit.gpgSign=false"]).args(arguments).env("GIT_AUTHOR_DATE", "1700000000 +0000");
        let output = git.output().unwrap();
        assert!(output.status.success(), "{git:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    #[test]
    fn a_line_is_committed_edited_or_unknown() {
        if let Err(error) = Command::new("git").arg("--version").output() {
            assert!(std::env::var_os("CI").is_none(), "CI must have git: {error}");
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a b.rs");
        fs_err::write(&file, "one\ntwo\n").unwrap();
        assert_eq!(last_change(&file, 1), None, "no repository");
        git(directory.path(), &["init", "--quiet"]);
        assert_eq!(last_change(&file, 1), None, "an untracked file");
        git(directory.path(), &["add", "."]);
        git(directory.path(), &["commit", "--quiet", "--message=Count: one, two"]);
        fs_err::write(&file, "one\n2\n").unwrap();
        let commit = last_change(&file, 1).unwrap().commit.unwrap();
        assert_eq!((commit.subject.as_str(), commit.author.as_str()), ("Count: one, two", "Ann Other"));
        assert_eq!((commit.time, commit.hash.len(), commit.is_oldest), (1_700_000_000, 40, false));
        assert_eq!(last_change(&file, 2), Some(LastChange { commit: None }), "an edited line");
        assert_eq!(last_change(&file, 9), None, "no such line");
        assert_eq!(last_change(Path::new("/"), 1), None);
    }

    #[test]
    fn nothing_is_fetched() {
        let version = Command::new("git").arg("--version").output().map(|output| output.stdout).unwrap_or_default();
        let version = String::from_utf8(version).unwrap();
        let numbers: Vec<u32> = version.split(['.', ' ']).filter_map(|word| word.parse().ok()).take(2).collect();
        // Older versions of git do not know the variable.
        if numbers < vec![2, 45] {
            eprintln!("skipped: it needs git 2.45, and this is `{}`", version.trim());
            assert!(std::env::var_os("CI").is_none(), "CI must have git 2.45");
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let (origin, clone) = (directory.path().join("origin"), directory.path().join("clone"));
        fs_err::create_dir(&origin).unwrap();
        git(&origin, &["init", "--quiet"]);
        for text in ["one\n", "one\ntwo\n"] {
            fs_err::write(origin.join("a.rs"), text).unwrap();
            git(&origin, &["add", "."]);
            git(&origin, &["commit", "--quiet", "--message=c"]);
        }
        git(&origin, &["config", "uploadpack.allowFilter", "true"]);
        let url = format!("file://{}", origin.display());
        git(directory.path(), &["clone", "--quiet", "--filter=blob:none", &url, "clone"]);
        let missing = || {
            let mut git = Command::new("git");
            git.arg("-C").arg(&clone).args(["rev-list", "--objects", "--missing=print", "--all"]);
            String::from_utf8(git.output().unwrap().stdout)
                .unwrap()
                .lines()
                .filter(|line| line.starts_with('?'))
                .count()
        };
        assert_eq!(missing(), 1);
        let last = last_change(&clone.join("a.rs"), 1);
        assert!(last.is_none() && missing() == 1, "{last:?}");
    }

    #[test]
    fn the_oldest_commit_of_a_shallow_clone_is_marked() {
        let text = "1a2b 7 7 1\nauthor A\nauthor-time 5\nsummary S\nboundary\nfilename x\n\tauthor B\n";
        assert!(parse(text).unwrap().commit.unwrap().is_oldest);
        assert_eq!(parse("1a2b 7 7 1\nauthor A\n\tsummary S\n"), None);
        assert_eq!(parse(""), None);
    }
}
