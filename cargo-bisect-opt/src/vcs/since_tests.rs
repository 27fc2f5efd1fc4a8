//! `--since` on real repositories; skipped where git is missing.

use std::{ffi::OsStr, io::Write, process::Command};

use super::*;
use crate::report::{kind::ChangeKind, text};

/// A repository in a directory of its own, on a branch `main` with one commit.
struct Repository {
    dir: tempfile::TempDir,
}

impl Repository {
    /// Creates one; `None`, with a visible message, where git is missing.
    fn new() -> Option<Self> {
        let repository = Self::empty()?;
        let text = (1..=20).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n") + "\n";
        for name in ["src/lib.rs", "src/deep/other.rs", "moved.rs", "gone.rs", "two words ö.rs"] {
            repository.write(name, &text);
        }
        repository.write(".gitignore", "ignored.rs\n");
        repository.git(["add", "."]);
        repository.commit();
        Some(repository)
    }

    fn empty() -> Option<Self> {
        if let Err(error) = Command::new("git").arg("--version").output() {
            assert!(std::env::var_os("CI").is_none(), "CI must have git: {error}");
            // Not `eprintln!`: the harness would capture it.
            writeln!(std::io::stderr(), "*** SKIPPED: no git: {error} ***").expect("standard error is there");
            return None;
        }
        let repository = Self { dir: tempfile::tempdir().unwrap() };
        repository.git(["init", "-q"]);
        // `init -b` is not in old versions.
        repository.git(["symbolic-ref", "HEAD", "refs/heads/main"]);
        Some(repository)
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn git<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> String {
        let mut git = Command::new("git");
        git.arg("-C").arg(self.path()).args(["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgSign=false"]);
        let output = git.args(arguments).output().unwrap();
        assert!(output.status.success(), "{git:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Commits what is staged, and returns the hash.
    fn commit(&self) -> String {
        self.git(["commit", "-q", "--allow-empty", "-m", "message"]);
        self.git(["rev-parse", "HEAD"])
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    /// Replaces a line of a file.
    fn change(&self, name: &str, line: usize, text: &str) {
        let old = fs_err::read_to_string(self.path().join(name)).unwrap();
        let mut lines: Vec<_> = old.lines().collect();
        lines[line - 1] = text;
        self.write(name, &(lines.join("\n") + "\n"));
    }

    fn since(&self, revision: &str) -> Since {
        Since::load(self.path(), Some(revision)).unwrap()
    }
}

/// Returns the changed lines among the first 25 of a file.
fn changed(since: &Since, file: impl AsRef<Path>) -> Vec<u32> {
    (1..=25).filter(|&line| since.touches(file.as_ref(), line)).collect()
}

const ALL: fn() -> Vec<u32> = || (1..=25).collect();

#[test]
fn all_that_can_happen_to_files() {
    let Some(repository) = Repository::new() else { return };
    assert!(repository.since("HEAD").files.is_empty());
    repository.change("src/lib.rs", 3, "committed");
    repository.git(["commit", "-q", "-a", "-m", "message"]);
    repository.git(["mv", "moved.rs", "src/new place.rs"]);
    repository.change("src/new place.rs", 9, "moved");
    repository.git(["rm", "-q", "gone.rs"]);
    repository.write("staged.rs", "1\n2\n");
    repository.git(["add", "staged.rs"]);
    repository.change("src/lib.rs", 7, "in the work tree");
    repository.change("two words ö.rs", 1, "odd name");
    let odd = if cfg!(windows) { "odd.rs" } else { "tab\tquote\"line\nend.rs" };
    repository.write(odd, "1\n");
    repository.write("ignored.rs", "1\n");

    let since = repository.since("HEAD~1");
    assert!(!since.files.is_empty());
    assert_eq!(since.commit(), repository.git(["rev-parse", "HEAD~1"]));
    assert_eq!(changed(&since, "src/lib.rs"), [3, 7]);
    assert_eq!(changed(&since, repository.path().join("src/./../src/lib.rs")), [3, 7]);
    assert_eq!(changed(&since, "src/new place.rs"), [9]);
    assert_eq!(changed(&since, "staged.rs"), [1, 2]);
    assert_eq!(changed(&since, "two words ö.rs"), [1]);
    assert_eq!(changed(&since, odd), ALL());
    for name in ["src/deep/other.rs", "moved.rs", "gone.rs", "ignored.rs", "", "\0", "src", "nowhere/../lib.rs", "/"] {
        assert!(changed(&since, name).is_empty(), "{name:?}");
    }
    assert_eq!(changed(&repository.since("HEAD"), "src/lib.rs"), [7]);
}

#[test]
fn neither_settings_nor_attributes_matter() {
    let Some(repository) = Repository::new() else { return };
    for (name, value) in [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.relative", "true"),
        ("diff.external", "false"),
        ("diff.interHunkContext", "9"),
        ("diff.suppressBlankEmpty", "true"),
        ("diff.renames", "false"),
        ("diff.odd.textconv", "false"),
        ("color.ui", "always"),
        ("core.quotePath", "false"),
    ] {
        repository.git(["config", name, value]);
    }
    repository.write(".gitattributes", "src/lib.rs diff=odd\nsrc/deep/other.rs -diff\n");
    repository.change("src/lib.rs", 3, "");
    repository.change("src/lib.rs", 7, "");
    repository.change("src/deep/other.rs", 3, "");
    repository.change("two words ö.rs", 3, "");
    repository.git(["mv", "moved.rs", "src/place.rs"]);
    let since = Since::load(&repository.path().join("src"), Some("HEAD")).unwrap();
    assert_eq!(changed(&since, "lib.rs"), [3, 7]);
    // Git prints no lines for this file.
    assert_eq!(changed(&since, "deep/other.rs"), ALL());
    assert_eq!(changed(&since, "../two words ö.rs"), [3]);
    assert!(changed(&since, "place.rs").is_empty(), "it was only moved");
}

#[test]
fn below_a_work_tree_and_beside_it() {
    let Some(repository) = Repository::new() else { return };
    let elsewhere = tempfile::tempdir().unwrap();
    let tree = elsewhere.path().join("tree");
    repository.git([OsStr::new("worktree"), OsStr::new("add"), OsStr::new("-q"), tree.as_os_str()]);
    fs_err::write(tree.join("src/lib.rs"), "all is new\n").unwrap();
    fs_err::write(tree.join("new.rs"), "all is new\n").unwrap();
    let since = Since::load(&tree.join("src"), Some("main")).unwrap();
    assert_eq!(changed(&since, "lib.rs"), [1]);
    assert_eq!(changed(&since, tree.join("new.rs")), ALL());
    assert_eq!(changed(&since, "../new.rs"), ALL());
    assert!(changed(&since, repository.path().join("src/lib.rs")).is_empty(), "another work tree");
}

#[cfg(unix)]
#[test]
fn through_links() {
    use std::os::unix::fs::symlink;

    let Some(repository) = Repository::new() else { return };
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link");
    symlink(repository.path(), &link).unwrap();
    symlink("src/deep/other.rs", repository.path().join("alias.rs")).unwrap();
    repository.change("src/lib.rs", 3, "");
    let through = Since::load(&link, Some("HEAD")).unwrap();
    let real = repository.since("HEAD");
    for since in [&through, &real] {
        for file in ["src/lib.rs".into(), link.join("src/lib.rs"), repository.path().join("src/lib.rs")] {
            assert_eq!(changed(since, &file), [3], "{file:?}");
        }
        // The link is new, what it leads to is not.
        assert!(changed(since, "alias.rs").is_empty() && changed(since, "src/deep/other.rs").is_empty());
    }
}

#[test]
fn by_default_since_the_branch_began() {
    let Some(repository) = Repository::new() else { return };
    let load = || Since::load(repository.path(), None);
    let first = repository.git(["rev-parse", "HEAD"]);
    repository.git(["checkout", "-q", "-b", "topic"]);
    repository.change("src/lib.rs", 3, "on the branch");
    repository.git(["add", "."]);
    let second = repository.commit();
    repository.git(["checkout", "-q", "main"]);
    repository.change("src/lib.rs", 9, "not on the branch");
    repository.git(["add", "."]);
    repository.commit();
    repository.git(["checkout", "-q", "topic"]);
    let since = load().unwrap();
    assert_eq!((since.commit(), changed(&since, "src/lib.rs")), (first.as_str(), vec![3]));

    // Branches of the remote come before local ones, and its default branch before known names.
    repository.git(["update-ref", "refs/remotes/origin/trunk", &second]);
    assert_eq!(load().unwrap().commit(), second);
    repository.git(["update-ref", "refs/remotes/origin/strange", &first]);
    repository.git(["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/strange"]);
    assert_eq!(load().unwrap().commit(), first);
    repository.git(["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone"]);
    assert_eq!(load().unwrap().commit(), second);

    repository.git(["update-ref", "-d", "refs/remotes/origin/trunk"]);
    repository.git(["branch", "-q", "-m", "main", "unusual"]);
    let error = load().unwrap_err();
    assert!(matches!(error, SinceError::NoDefaultBranch { .. }), "{error:?}");
    let advice = "give a revision with `--since REV`, or set the branch with `git remote set-head origin --auto`";
    assert!(error.to_string().contains("cannot find the default branch: there is neither"), "{error}");
    assert!(error.to_string().ends_with(advice), "{error}");
    repository.git(["config", "init.defaultBranch", "unusual"]);
    assert_eq!(load().unwrap().commit(), first);
    // Nothing in common.
    repository.git(["checkout", "-q", "--orphan", "other"]);
    repository.commit();
    let error = load().unwrap_err();
    assert!(error.to_string().starts_with("HEAD and the default branch `unusual` have no commit in common"), "{error}");
}

#[test]
fn invalid_revisions_and_directories_are_errors() {
    let Some(repository) = Repository::new() else { return };
    let commit = repository.git(["rev-parse", "HEAD"]);
    repository.git(["tag", "-a", "tag", "-m", "message"]);
    for revision in ["tag", "main", "@", "HEAD^0", &commit, &commit[..8], ":/message"] {
        assert_eq!(repository.since(revision).commit(), commit, "{revision}");
    }
    for revision in ["no-such", "", "-q", "--output=/dev/null", "^HEAD", "HEAD..main", "HEAD^{tree}", "HEAD:src", "a b"]
    {
        let error = Since::load(repository.path(), Some(revision)).unwrap_err();
        assert!(matches!(error, SinceError::UnknownRevision { .. }), "{revision}: {error:?}");
        let text = error.to_string();
        assert!(text.contains(&format!("`--since {revision}` names no commit: ")), "{text}");
        assert!(text.ends_with("give a branch, a tag or a hash, and fetch it if necessary"), "{text}");
        assert!(revision != "-q" || text.contains("a revision does not begin with `-`"), "{text}");
    }

    let empty = Repository::empty().unwrap();
    let error = Since::load(empty.path(), None).unwrap_err().to_string();
    assert_eq!(error, "the repository has no commit yet; leave out `--since`");
    let nowhere = tempfile::tempdir().unwrap();
    for revision in [None, Some("HEAD")] {
        for dir in [nowhere.path(), &nowhere.path().join("missing"), &repository.path().join(".git")] {
            let error = Since::load(dir, revision).unwrap_err();
            assert!(matches!(error, SinceError::NoWorkTree { .. }), "{error:?}");
            assert!(error.to_string().contains("is not in a git work tree: "), "{error}");
            assert!(error.to_string().ends_with("; leave out `--since`"), "{error}");
        }
    }
}

#[test]
fn changes_are_touched_by_their_place_or_by_any_frame() {
    let Some(repository) = Repository::new() else { return };
    repository.change("src/lib.rs", 3, "");
    repository.change("src/deep/other.rs", 8, "");
    let since = repository.since("HEAD");
    let absolute = repository.path().join("src/lib.rs");
    let texts: Vec<Vec<String>> = vec![
        vec!["src/lib.rs:3:5 name".into()],
        vec!["src/lib.rs:4:5 name".into()],
        vec![format!("{}:3:5 name", absolute.display())],
        vec!["src/lib.rs:4:5 name".into(), "  a at src/lib.rs:5:1".into(), "  b at src/deep/other.rs:8:1".into()],
        vec!["src/lib.rs:4:5 name".into(), "  a at src/lib.rs:5:1".into(), "  b at src/deep/other.rs:9:1".into()],
        vec!["src/lib.rs:4:5 name".into(), "  0x1 in libc.so".into(), "  main at /rustc/x/src/lib.rs:3:1".into()],
        vec!["f()".into(), "\tsrc/lib.rs:3".into()],
        vec!["nothing".into()],
        vec![],
    ];
    let reports: Vec<_> = (0..).map(ChangeId).zip(texts).map(|(id, lines)| text::parse(id, lines)).collect();
    let touched = since.touched(&reports);
    assert_eq!(touched.on_lines, [0, 2, 3, 6].map(ChangeId).into());
    assert_eq!(touched.in_files, [0, 1, 2, 3, 4, 5, 6].map(ChangeId).into());
}

#[test]
fn functions_end_before_the_next_one_and_crates_are_directories() {
    let Some(repository) = Repository::new() else { return };
    repository.change("src/lib.rs", 7, "");
    repository.change("src/deep/other.rs", 8, "");
    let since = repository.since("HEAD");
    let function = |file: &str, line| {
        let location = Some(Location::new(file, line, None));
        let kind = ChangeKind { source: ShownSource::Function, ..ChangeKind::SITE };
        Report { kind, location, ..Report::new(ChangeId(0)) }
    };
    let package =
        |file: &str| Report { location: Some(Location::of_file(file.to_owned())), ..Report::new(ChangeId(0)) };
    let reports = [
        function("src/lib.rs", 1),
        function("src/lib.rs", 5),
        function("src/lib.rs", 8),
        function("src/deep/other.rs", 3),
        function("moved.rs", 1),
        package("src/lib.rs"),
        package("src/deep/lib.rs"),
        package("other/src/lib.rs"),
    ];
    let reports: Vec<_> = (0..).map(ChangeId).zip(reports).map(|(id, report)| Report { id, ..report }).collect();
    let touched = since.touched(&reports);
    assert_eq!(touched.on_lines, [1, 3, 5, 6].map(ChangeId).into());
    assert_eq!(touched.in_files, [0, 1, 2, 3].map(ChangeId).into());
}
