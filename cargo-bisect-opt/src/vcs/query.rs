//! Calls of git, and their replies.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    path::Path,
    process::{Command, Output, Stdio},
};

use crate::process::{self, SpawnError};

/// The variables that name a repository or a part of one. Git sets them for hooks, for instance. A process in a
/// worktree that inherits them works on another repository.
pub(crate) const LOCAL_VARIABLES: [&str; 11] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_PREFIX",
    "GIT_NAMESPACE",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
];

/// The variables that change how git reads the paths on its command line.
const PATHSPEC_VARIABLES: [&str; 4] =
    ["GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"];

/// With these settings, commands that write run no hook, start no process in the background, refuse no line endings, see
/// each change of a file, and leave submodules alone.
const QUIET: [&str; 16] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "-c",
    "advice.detachedHead=false",
    "-c",
    "core.safecrlf=false",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.ignoreStat=false",
    "-c",
    "submodule.recurse=false",
];

/// The reply of git.
pub(super) struct GitReply {
    pub(super) output: Vec<u8>,
    /// The way it ended, if it failed.
    pub(super) failure: Option<String>,
    pub(super) message: String,
}

impl GitReply {
    fn of(output: Output) -> Self {
        let message = String::from_utf8_lossy(&output.stderr);
        Self {
            failure: (!output.status.success()).then(|| process::describe(output.status)),
            message: message.trim_end().strip_prefix("fatal: ").unwrap_or(message.trim_end()).to_owned(),
            output: output.stdout,
        }
    }

    /// Returns the output without the line break at its end.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(line(&self.output)).into_owned()
    }
}

/// Asks git about the repository that the environment names, or that contains a directory.
pub(super) fn query<S: AsRef<OsStr>>(directory: &Path, arguments: &[S]) -> Result<GitReply, SpawnError> {
    reply(query_command(directory, arguments))
}

/// As [`query`], for what an answer can do without: git fetches no objects that a partial clone lacks.
pub(super) fn query_locally<S: AsRef<OsStr>>(directory: &Path, arguments: &[S]) -> Result<GitReply, SpawnError> {
    let mut git = query_command(directory, arguments);
    git.env("GIT_NO_LAZY_FETCH", "1");
    reply(git)
}

fn query_command<S: AsRef<OsStr>>(directory: &Path, arguments: &[S]) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(directory).args(arguments);
    // A query must not write, and the user's preferences for diffs would change the format.
    git.env("GIT_OPTIONAL_LOCKS", "0").env_remove("GIT_DIFF_OPTS");
    git
}

/// Has git work on the repository that contains a directory, whatever the environment names.
pub(super) fn call<S: AsRef<OsStr>>(directory: &Path, arguments: &[S]) -> Result<GitReply, SpawnError> {
    reply(command(directory, arguments))
}

/// As [`call`], with variables, and with a file as standard input.
pub(super) fn call_with<S: AsRef<OsStr>>(
    directory: &Path,
    arguments: &[S],
    variables: &[(&str, OsString)],
    input: Option<File>,
) -> Result<GitReply, SpawnError> {
    let mut git = command(directory, arguments);
    git.envs(variables.iter().map(|(name, value)| (name, value)));
    let input = input.map_or_else(Stdio::null, Stdio::from);
    Ok(GitReply::of(process::output_with(git, input)?))
}

/// Returns the hash of the commit that a revision names, or the reason why it names none. `ask` calls git.
///
/// # Errors
/// If `ask` cannot call git.
pub(super) fn commit_of<E>(
    revision: &str,
    ask: impl Fn(&[&str]) -> Result<GitReply, E>,
) -> Result<Result<String, String>, E> {
    if revision.starts_with('-') {
        // Git would take it for an option.
        return Ok(Err("a revision does not begin with `-`".to_owned()));
    }
    let object = ask(&["rev-parse", "--verify", revision])?;
    if object.failure.is_some() {
        return Ok(Err(object.message));
    }
    // Two steps: after `:/text`, `^{commit}` would be part of the text; and the result for `^HEAD` is no object.
    let commit = ask(&["rev-parse", "--verify", &format!("{}^{{commit}}", object.text())])?;
    let is_hash = |text: &String| !text.is_empty() && text.chars().all(|c| c.is_ascii_hexdigit());
    Ok(match commit.failure {
        Some(_) => Err(commit.message),
        None => Some(commit.text()).filter(is_hash).ok_or_else(|| "it is a range".to_owned()),
    })
}

/// Returns true if a work tree has only the files that patterns select.
///
/// # Errors
/// If git cannot be started.
pub(super) fn is_sparse(top: &Path) -> Result<bool, SpawnError> {
    Ok(call(top, &["config", "--bool", "core.sparseCheckout"])?.text() == "true")
}

/// Returns true if a commit has a file, whose path is relative to this directory.
pub(crate) fn is_in_commit(directory: &Path, commit: &str, file: &Path) -> bool {
    let mut object = OsString::from(format!("{commit}:./"));
    object.push(file);
    call(directory, &["cat-file".as_ref(), "-e".as_ref(), object.as_os_str()])
        .is_ok_and(|reply| reply.failure.is_none())
}

fn command<S: AsRef<OsStr>>(directory: &Path, arguments: &[S]) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(directory).args(QUIET).args(arguments);
    for variable in LOCAL_VARIABLES.into_iter().chain(PATHSPEC_VARIABLES) {
        git.env_remove(variable);
    }
    // Nobody answers a question, such as one for a password.
    git.env("GIT_TERMINAL_PROMPT", "0");
    git
}

fn reply(git: Command) -> Result<GitReply, SpawnError> {
    Ok(GitReply::of(process::output_of(git)?))
}

/// Removes the line break that git adds at the end.
pub(super) fn line(output: &[u8]) -> &[u8] {
    output.strip_suffix(b"\n").unwrap_or(output)
}
