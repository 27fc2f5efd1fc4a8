//! What the end of a process says about the target.

use bisect_core::search::{Outcome, Reason};
use regex::bytes::Regex;

use crate::process::{self, Ending, Finished};

/// Of the output of a run, so much is searched for the failure that counts.
pub(crate) const SEARCHED: usize = 16 << 20;

/// What a run that was not interrupted shows, and the words for it; no words if it passed.
///
/// A run that exits with `skip_code` does not tell, and neither does one that fails without an output that matches
/// `fail_when`.
pub(crate) fn classify(finished: &Finished, skip_code: i32, fail_when: Option<&Regex>) -> (Outcome, String) {
    let (reason, words) = match finished.ending {
        Ending::Exited(status) if status.success() => return (Outcome::Pass, String::new()),
        Ending::Exited(status) if status.code() == Some(skip_code) => {
            return (Outcome::Unresolved(Reason::Skip), process::describe(status));
        }
        // Whatever it waits for, it is not what was asked.
        Ending::Stopped(signal) => return (Outcome::Unresolved(Reason::Skip), process::describe_stop(signal)),
        Ending::Exited(status) => (Reason::Skip, process::describe(status)),
        Ending::TimedOut | Ending::Interrupted => (Reason::Timeout, "timeout".to_owned()),
    };
    match fail_when {
        Some(regex) if !regex.is_match(&finished.output) => {
            (Outcome::Unresolved(reason), format!("another failure: {words}"))
        }
        _ => (Outcome::Fail, words),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{os::unix::process::ExitStatusExt, process::ExitStatus, time::Duration};

    use super::*;

    #[test]
    fn what_counts_as_a_failure() {
        let exit = |code: i32| Ending::Exited(ExitStatus::from_raw(code << 8));
        let killed = Ending::Exited(ExitStatus::from_raw(11));
        let skip = Outcome::Unresolved(Reason::Skip);
        for (ending, fail_when, outcome, words) in [
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
            let expected = (outcome, words.to_owned());
            assert_eq!(classify(&finished, 99, fail_when.as_ref()), expected, "{ending:?} {fail_when:?}");
        }
    }
}
