//! A line that is printed for pasting: it is run in a shell before it is printed.

use std::{ffi::OsString, path::Path, process::Command, time::Duration};

use serde::{Deserialize, Serialize};

use super::{cause::Cause, outcome::UNTESTED, result::Failed, target_kind::TargetKind};
use crate::process::{self, Ending, ProcessSpec, interrupt::Interrupt, plain_text, scratch_dir::ScratchDir};

/// The result of a command line that was run as printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LineResult {
    /// It passed.
    Pass,
    /// It failed.
    Fail,
    /// It failed, but with another failure than the one searched for.
    AnotherFailure,
    /// It gave no result: for example, what it runs did not compile.
    Unresolved,
    /// It was not run.
    NotRun,
}

/// A line, and what its shell needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pasting<'a> {
    /// The line.
    pub(crate) line: &'a str,
    /// The file for its output.
    pub(crate) log: &'a Path,
    /// The user's request to stop.
    pub(crate) interrupt: &'a Interrupt,
    /// The time after which it is ended, without a result.
    pub(crate) timeout: Duration,
    /// The directory for temporary files. Lines that are pasted after each other find the files of earlier ones.
    pub(crate) temporary: &'a ScratchDir,
    /// True if no run is in flight.
    pub(crate) is_alone: bool,
    /// The failures of the search; none if every failure counts.
    pub(crate) failures: &'a [Failed],
}

impl Pasting<'_> {
    /// Returns true if the line says by its status that it could not prepare the run.
    fn has_preparation(&self) -> bool {
        self.line.contains(&format!("|| exit {UNTESTED} && "))
    }

    /// Returns true if the output names the cause of the failure, and no failure of the search has it.
    fn is_another_failure(&self, output: &str) -> bool {
        let names_cause = [" panicked at ", "error["].iter().any(|cause| output.contains(cause));
        names_cause && !self.failures.is_empty() && self.failures.iter().all(|failure| failure.is_absent_from(output))
    }

    /// Runs the line in the working directory of the search. Sets these variables, and removes those without a value. What
    /// it leaves running is ended, as after a run that has taken too long.
    pub(crate) fn run(
        &self,
        kind: TargetKind,
        skip_code: i32,
        variables: impl IntoIterator<Item = (OsString, Option<OsString>)>,
    ) -> LineResult {
        let mut command = Command::new("sh");
        command.arg("-c").arg(self.line).envs(self.temporary.variables());
        for (name, value) in variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let finished = process::run_without_daemons(ProcessSpec {
            command,
            timeout: Some(self.timeout),
            log: self.log,
            append: false,
            interrupt: self.interrupt,
            reader: None,
            tail: super::outcome::SEARCHED,
        });
        // Where there is no such shell, there is nothing to paste into.
        let Ok(finished) = finished else { return LineResult::NotRun };
        match finished.ending {
            Ending::Exited(status) if status.success() => LineResult::Pass,
            Ending::Exited(status) if status.code() == Some(skip_code) => LineResult::Unresolved,
            Ending::Exited(status) if status.code() == Some(UNTESTED) && self.has_preparation() => {
                LineResult::Unresolved
            }
            // A shell did not find what cargo has built.
            Ending::Exited(status) if kind != TargetKind::Command && matches!(status.code(), Some(126 | 127)) => {
                LineResult::Unresolved
            }
            Ending::Exited(_) if kind == TargetKind::Program && Cause::of_program(&finished).is_unbuilt() => {
                LineResult::Unresolved
            }
            Ending::Exited(_) if self.is_another_failure(&plain_text(&finished.output)) => LineResult::AnotherFailure,
            Ending::Exited(_) => LineResult::Fail,
            Ending::TimedOut | Ending::Stopped(_) => LineResult::Unresolved,
            Ending::Interrupted => LineResult::NotRun,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn end(line: &str, kind: TargetKind, failures: &[Failed]) -> LineResult {
        let dir = tempfile::tempdir().unwrap();
        let pasting = Pasting {
            line,
            log: &dir.path().join("log"),
            interrupt: &Interrupt::default(),
            timeout: Duration::from_secs(60),
            temporary: &ScratchDir::new().unwrap(),
            is_alone: true,
            failures,
        };
        pasting.run(kind, 125, [("WHERE".into(), Some("here".into())), ("HOME".into(), None)])
    }

    #[test]
    fn a_line_passes_fails_or_gives_no_result() {
        let unbuilt = "echo 'error: could not compile `x` (lib) due to 1 previous error'; exit 101";
        for (line, kind, expected) in [
            ("test $WHERE = here && test -z \"$HOME\"", TargetKind::Command, LineResult::Pass),
            ("false", TargetKind::Command, LineResult::Fail),
            ("exit 125", TargetKind::Program, LineResult::Unresolved),
            ("/no/such/program", TargetKind::Program, LineResult::Unresolved),
            ("kill -9 $$", TargetKind::Program, LineResult::Fail),
            (unbuilt, TargetKind::Program, LineResult::Unresolved),
            (unbuilt, TargetKind::Build, LineResult::Fail),
        ] {
            assert_eq!(end(line, kind, &[]), expected, "{line}");
        }
    }

    #[test]
    fn another_failure_than_those_of_the_search_is_told_apart() {
        let panic = |place: &str| {
            let printed = format!("thread 't' panicked at {place}:\nbad\n");
            (Failed::new(None, &Cause::of_test(&printed)), format!("echo \"{printed}\"; exit 101"))
        };
        let ((here, panics_here), (_, panics_elsewhere)) = (panic("src/lib.rs:3:5"), panic("src/lib.rs:30:5"));
        let messages = "error[E0716]: temporary value dropped while borrowed\n --> src/lib.rs:3:5\n";
        let error = Failed::new(None, &Cause::of_messages(messages.as_bytes()));
        let refused = |code: &str| format!("echo 'error[{code}]: no'; exit 101");
        let crash = Failed { how: "signal 11".to_owned(), place: None, ..here.clone() };
        for (failures, line, expected) in [
            (vec![here.clone()], panics_here.clone(), LineResult::Fail),
            (vec![here.clone()], panics_here.replace("src/lib.rs", "/copy/src/lib.rs"), LineResult::Fail),
            (vec![here.clone()], panics_elsewhere.clone(), LineResult::AnotherFailure),
            (vec![here.clone()], "exit 101".to_owned(), LineResult::Fail),
            (vec![here.clone()], refused("E0425"), LineResult::AnotherFailure),
            (vec![], panics_elsewhere.clone(), LineResult::Fail),
            (vec![error.clone()], refused("E0716"), LineResult::Fail),
            (vec![error.clone()], refused("E0700"), LineResult::AnotherFailure),
            (vec![error, here], panics_here, LineResult::Fail),
            (vec![crash], panics_elsewhere, LineResult::Fail),
        ] {
            assert_eq!(end(&line, TargetKind::Command, &failures), expected, "{failures:?}: {line}");
        }
    }
}
