//! `cargo bisect-opt replay`: the target of an earlier search once more, also in a debugger.

#[cfg(unix)]
use std::os::unix::process::CommandExt as _;
use std::{
    convert::Infallible,
    io,
    path::{Path, PathBuf},
    process::Command,
};

use bisect_core::{protocol::names, search::Mode};

use super::options::ReplayCommand;
use crate::{
    output::{run_dir::RunDirError, run_dir_files, terminal},
    record::{ResultRecord, culprit::CulpritRecord},
    units::plural,
};

/// A reason why nothing can be replayed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    /// The run directory cannot be read.
    #[error("{0}")]
    RunDir(#[from] RunDirError),
    /// The search has not ended.
    #[error("`{}` has no answer: the last command there was killed, or was no search (--verdict); search again", .0.display())]
    NoAnswer(PathBuf),
    /// The search found nothing.
    #[error(
        "the search of `{path}` found no culprit, so there is nothing to replay; `cargo bisect-opt report {path}` shows its answer",
        path = .0.display()
    )]
    NoCulprit(PathBuf),
    /// There is no culprit with this number.
    #[error("there is no culprit {asked}: the search found {}; `--set` takes the number of one of them", plural(*found, "culprit"))]
    NoSuchCulprit {
        /// The number that was asked for.
        asked: usize,
        /// The number of culprits.
        found: usize,
    },
    /// The changes are not decided while the target runs.
    #[error(
        "a change of the kind `{0}` is not decided while the target runs, so no debugger can stop there; leave out `--debugger`"
    )]
    NoDecision(String),
    /// The culprit is a moment.
    #[error(
        "`replay` evaluates the moment, and does not stop there; repeat `cargo bisect-opt watch` with `--debugger`, which stops at the moment"
    )]
    Moment,
    /// The shell cannot be started.
    #[error(
        "the command line of the culprit needs a POSIX shell, `sh`, which cannot be started: {0}; install one, or run the command line in the answer by hand"
    )]
    Shell(#[source] io::Error),
}

/// Replaces this process by the target of an earlier search.
///
/// # Errors
/// If there is nothing to replay, or the shell cannot be started. On success it does not return.
pub(super) fn replay(command: &ReplayCommand) -> Result<Infallible, ReplayError> {
    let recorded = run_dir_files::read(&command.run_dir)?.filter(|recorded| recorded.end.is_some());
    let recorded = recorded.ok_or_else(|| ReplayError::NoAnswer(command.run_dir.clone()))?;
    let culprit = select(&recorded, command.set, &command.run_dir)?;
    let is_counted = culprit.changes.iter().any(|change| matches!(&*change.kind, "commit" | "count" | "pass"));
    let line = if command.off { &culprit.replay.others } else { &culprit.replay.culprit };
    // A culprit whose absence breaks the target is replayed by leaving it out.
    let is_enabled = command.off == (culprit.mode == Mode::Disable);
    let what = match (is_enabled, is_counted) {
        (true, false) => "exactly culprit",
        (true, true) => "everything up to culprit",
        (false, false) => "everything but culprit",
        (false, true) => "everything before culprit",
    };
    let mut shell = Command::new("sh");
    shell.args(["-c", line, "replay"]);
    if let Some(debugger) = &command.debugger {
        shell.args(debugger.words());
        shell.env(names::STOP, decision(&recorded, culprit)?);
    }
    let set = culprit.set;
    terminal::show_lines(&format!("with {what} {set}: {}\n", line.replacen("\"$@\" ", "", 1)));
    Err(ReplayError::Shell(replace_process(shell)))
}

/// Returns the culprit with this number, or else the first one.
fn select<'a>(
    recorded: &'a ResultRecord,
    set: Option<usize>,
    run_dir: &Path,
) -> Result<&'a CulpritRecord, ReplayError> {
    let first = recorded.found.first().ok_or_else(|| ReplayError::NoCulprit(run_dir.to_owned()))?;
    let Some(asked) = set else { return Ok(first) };
    let found = recorded.found.len();
    recorded.found.iter().find(|culprit| culprit.set == asked).ok_or(ReplayError::NoSuchCulprit { asked, found })
}

/// Returns the value of the variable that stops the target at its first decision on the culprit, or at the decision that
/// is the culprit.
fn decision(recorded: &ResultRecord, culprit: &CulpritRecord) -> Result<String, ReplayError> {
    let of = |whole: usize| recorded.found.iter().find(|other| other.set == whole && other.within.is_none());
    let (changes, number) = match (culprit.within.and_then(of), &culprit.changes[..]) {
        (Some(whole), [change]) => (&whole.changes, index(&change.id).saturating_add(1)),
        _ => (&culprit.changes, 1),
    };
    let is_decided = |kind: &str| matches!(kind, "site" | "caller" | "stack");
    if let Some(change) = changes.iter().find(|change| !is_decided(&change.kind)) {
        let is_moment = change.kind == "moment";
        return Err(if is_moment { ReplayError::Moment } else { ReplayError::NoDecision(change.kind.clone()) });
    }
    let ids: Vec<_> = changes.iter().map(|change| change.id.replacen("0x", "x", 1)).collect();
    Ok(format!("{}:{number}", ids.join("+")))
}

/// Returns the index that is the ID of a decision.
fn index(id: &str) -> u64 {
    id.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default()
}

/// Starts a command in place of this process, which so has its terminal, its signals and its exit status.
#[cfg(unix)]
fn replace_process(mut command: Command) -> io::Error {
    command.exec()
}

/// Fails: only Unix can replace a process.
#[cfg(not(unix))]
fn replace_process(_: Command) -> io::Error {
    io::Error::other("this platform has none")
}
