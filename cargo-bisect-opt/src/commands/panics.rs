//! Panics: defects of this program. They have a status of their own and say how to go on.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
};

use super::command_status::CommandStatus;
use crate::output::{terminal, verdict_status::VerdictStatus};

/// Runs a command. Returns the status of a defect if it panics. For `git bisect run`, the usual status of a panic would
/// be a version that fails.
pub(super) fn guarded(is_verdict: bool, command: impl FnOnce() -> CommandStatus) -> CommandStatus {
    // Nothing of the command is used after a panic.
    catch_unwind(AssertUnwindSafe(command)).unwrap_or_else(|_| {
        terminal::show_error(&defect(env!("CARGO_PKG_REPOSITORY")));
        if is_verdict { CommandStatus::Verdict(VerdictStatus::Stopped) } else { CommandStatus::Defect }
    })
}

/// Returns the message about a defect of this program, whose sources are at the address `repository`, if they are at any.
fn defect(repository: &str) -> String {
    let page =
        if repository.is_empty() { String::new() } else { format!(" at {}/issues", repository.trim_end_matches('/')) };
    format!(
        "this is a defect of cargo bisect-opt, and says nothing about the target: please report it{page}, with the lines above, \
         the command line, and the version (`cargo bisect-opt --version`)"
    )
}

/// The advice that is shown if a panic ends a search.
#[derive(Debug)]
pub(super) struct AdviceOnPanic(Option<String>);

impl AdviceOnPanic {
    /// Creates the advice to continue a search with this command line, if it can be continued.
    pub(super) fn to_continue(line: Option<String>) -> Self {
        Self(line)
    }
}

impl Drop for AdviceOnPanic {
    fn drop(&mut self) {
        if let Some(line) = self.0.take().filter(|_| thread::panicking()) {
            terminal::show_error(&format!(
                "the search has stopped; the runs so far are recorded\nto continue:\n  {line}"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_defect_is_reported_where_the_sources_are() {
        assert!(defect("").contains("please report it, with the lines above"));
        assert!(defect("https://example.org/x/").contains("report it at https://example.org/x/issues, with"));
    }

    fn status_of_panic(is_verdict: bool) -> CommandStatus {
        guarded(is_verdict, || {
            let _advice = AdviceOnPanic::to_continue(Some("cargo bisect-opt exec --resume true".to_owned()));
            panic!("a test of panics");
        })
    }

    #[test]
    fn git_does_not_take_a_panic_for_a_version_that_fails() {
        assert!(matches!(status_of_panic(true), CommandStatus::Verdict(VerdictStatus::Stopped)));
        assert!(matches!(status_of_panic(false), CommandStatus::Defect));
        let passes = || CommandStatus::Verdict(VerdictStatus::Good);
        assert!(matches!(guarded(true, passes), CommandStatus::Verdict(VerdictStatus::Good)));
    }
}
