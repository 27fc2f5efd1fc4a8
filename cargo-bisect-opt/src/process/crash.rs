//! Crashes: ends of a process by a fault of its own, not by a signal from outside.

use std::process::ExitStatus;

/// Returns whether a process ended by a fault of its own: it aborted, or the system stopped it.
pub(crate) fn is_crash(status: ExitStatus) -> bool {
    detect(status)
}

/// Returns whether a shell reports such an end of the process that it waited for, as a status above 128.
pub(crate) fn is_crash_in_shell(status: ExitStatus) -> bool {
    status.code().and_then(|code| code.checked_sub(128)).is_some_and(is_of_crash)
}

#[cfg(unix)]
fn detect(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;

    status.signal().is_some_and(is_of_crash)
}

#[cfg(unix)]
fn is_of_crash(signal: i32) -> bool {
    use rustix::process::Signal;

    const CRASHES: [Signal; 6] = [Signal::ABORT, Signal::SEGV, Signal::BUS, Signal::ILL, Signal::FPE, Signal::TRAP];
    CRASHES.iter().any(|crash| crash.as_raw() == signal)
}

#[cfg(windows)]
fn detect(status: ExitStatus) -> bool {
    // NTSTATUS codes of unhandled exceptions have the severity `error`: as signed numbers they are negative.
    status.code().is_some_and(|code| code < 0)
}

#[cfg(windows)]
fn is_of_crash(_: i32) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn a_signal_from_outside_is_no_crash() {
        for (status, expected) in [
            (0, false),
            (101 << 8, false),
            (6, true),
            (11, true),
            (4, true),
            (2, false),
            (9, false),
            (15, false),
            // With a core dump.
            (0x8b, true),
        ] {
            assert_eq!(is_crash(ExitStatus::from_raw(status)), expected, "{status}");
        }
        for (code, expected) in [(139, true), (134, true), (0, false), (101, false), (130, false)] {
            let status = ExitStatus::from_raw(code << 8);
            assert_eq!((is_crash(status), is_crash_in_shell(status)), (false, expected), "{code}");
        }
    }
}
