//! A line that is printed for pasting: it is run in a shell before it is printed.

use std::{ffi::OsString, path::Path, process::Command, time::Duration};

use serde::{Deserialize, Serialize};

use super::{cause::Cause, target_kind::TargetKind};
use crate::process::{self, Ending, ProcessSpec, interrupt::Interrupt, scratch_dir::ScratchDir};

/// The end of a line that was run as printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LineEnd {
    /// It passed.
    Pass,
    /// It failed.
    Fail,
    /// It gave no result: for example, what it runs did not compile.
    Unresolved,
    /// It was not run.
    NotRun,
}

/// A line, and what its shell needs.
#[derive(Debug)]
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
}

impl Pasting<'_> {
    /// Runs the line where the search was started, with these variables; without those that have no value.
    pub(crate) fn run(
        &self,
        kind: TargetKind,
        skip_code: i32,
        variables: impl IntoIterator<Item = (OsString, Option<OsString>)>,
    ) -> LineEnd {
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
        let Ok(finished) = finished else { return LineEnd::NotRun };
        match finished.ending {
            Ending::Exited(status) if status.success() => LineEnd::Pass,
            Ending::Exited(status) if status.code() == Some(skip_code) => LineEnd::Unresolved,
            Ending::Exited(_) if kind == TargetKind::Program && Cause::of_program(&finished).is_unbuilt() => {
                LineEnd::Unresolved
            }
            Ending::Exited(_) => LineEnd::Fail,
            Ending::TimedOut | Ending::Stopped(_) => LineEnd::Unresolved,
            Ending::Interrupted => LineEnd::NotRun,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn end(line: &str, kind: TargetKind) -> LineEnd {
        let dir = tempfile::tempdir().unwrap();
        let pasting = Pasting {
            line,
            log: &dir.path().join("log"),
            interrupt: &Interrupt::default(),
            timeout: Duration::from_secs(60),
            temporary: &ScratchDir::new().unwrap(),
            is_alone: true,
        };
        pasting.run(kind, 125, [("WHERE".into(), Some("here".into())), ("HOME".into(), None)])
    }

    #[test]
    fn a_line_passes_fails_or_gives_no_result() {
        let unbuilt = "echo 'error: could not compile `x` (lib) due to 1 previous error'; exit 101";
        for (line, kind, expected) in [
            ("test $WHERE = here && test -z \"$HOME\"", TargetKind::Command, LineEnd::Pass),
            ("false", TargetKind::Command, LineEnd::Fail),
            ("exit 125", TargetKind::Program, LineEnd::Unresolved),
            ("kill -9 $$", TargetKind::Program, LineEnd::Fail),
            (unbuilt, TargetKind::Program, LineEnd::Unresolved),
            (unbuilt, TargetKind::Build, LineEnd::Fail),
        ] {
            assert_eq!(end(line, kind), expected, "{line}");
        }
    }
}
