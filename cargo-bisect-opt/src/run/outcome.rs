//! The outcome of an execution, from the end of its process.

use bisect_core::search::{Outcome, Reason};
use regex::bytes::Regex;

use crate::process::{self, Ending, Finished};

/// The number of bytes of a run's output that are searched for the failure that counts.
pub(crate) const SEARCHED: usize = 16 << 20;

/// The exit status of a line whose target was not tested, as `git bisect run` takes it.
pub(crate) const UNTESTED: i32 = 125;

/// The description of an execution that did not end in time.
pub(crate) const TIMEOUT: &str = "timeout";

/// Returns the outcome of an execution that was not interrupted, with its description, which is empty if it passed.
///
/// The outcome is unresolved if the process exits with `skip_code`, or fails without output that matches `fail_when`.
pub(crate) fn classify(finished: &Finished, skip_code: i32, fail_when: Option<&Regex>) -> (Outcome, String) {
    let (reason, description) = match finished.ending {
        Ending::Exited(status) if status.success() => return (Outcome::Pass, String::new()),
        Ending::Exited(status) if status.code() == Some(skip_code) => {
            return (Outcome::Unresolved(Reason::Skip), process::describe(status));
        }
        // A stopped process says nothing about the changes.
        Ending::Stopped(signal) => return (Outcome::Unresolved(Reason::Skip), process::describe_stop(signal)),
        Ending::Exited(status) => (Reason::Skip, process::describe(status)),
        Ending::TimedOut | Ending::Interrupted => (Reason::Timeout, TIMEOUT.to_owned()),
    };
    match fail_when {
        Some(regex) if !regex.is_match(&finished.output) => {
            (Outcome::Unresolved(reason), format!("another failure: {description}"))
        }
        _ => (Outcome::Fail, description),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{os::unix::process::ExitStatusExt, process::ExitStatus, time::Duration};

    use super::*;

    #[test]
    fn statuses_and_output_decide_what_counts_as_a_failure() {
        let exit = |code: i32| Ending::Exited(ExitStatus::from_raw(code << 8));
        let killed = Ending::Exited(ExitStatus::from_raw(11));
        let skip = Outcome::Unresolved(Reason::Skip);
        for (ending, fail_when, outcome, description) in [
            (exit(0), None, Outcome::Pass, ""),
            (exit(0), Some("other"), Outcome::Pass, ""),
            (exit(7), None, Outcome::Fail, "exit status 7"),
            (exit(7), Some("b.d"), Outcome::Fail, "exit status 7"),
            (exit(7), Some("other"), skip, "another failure: exit status 7"),
            (exit(99), None, skip, "exit status 99"),
            (exit(99), Some("b.d"), skip, "exit status 99"),
            (killed, None, Outcome::Fail, "signal 11"),
            (Ending::TimedOut, None, Outcome::Fail, "timeout"),
            (Ending::Stopped(19), Some("b.d"), skip, "stopped by SIGSTOP and did not go on"),
            (Ending::TimedOut, Some("other"), Outcome::Unresolved(Reason::Timeout), "another failure: timeout"),
        ] {
            let finished =
                Finished { ending, output: b"\xff bad \xff".to_vec(), duration: Duration::ZERO, lost_log: None };
            let fail_when = fail_when.map(|regex| Regex::new(regex).unwrap());
            let expected = (outcome, description.to_owned());
            assert_eq!(classify(&finished, 99, fail_when.as_ref()), expected, "{ending:?} {fail_when:?}");
        }
    }
}
