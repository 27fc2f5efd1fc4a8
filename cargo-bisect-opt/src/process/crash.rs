//! Crashes: ends of a process by a fault of its own, not by a signal from outside.

use std::process::ExitStatus;

/// The way in which a process ended by a fault of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crash {
    /// It ended itself: by `abort`, after a panic while panicking, or on a stack overflow.
    Abort,
    /// The processor stopped it. Correctly compiled safe code rarely causes that.
    Fault,
}

impl Crash {
    /// Returns whether it shows undefined behaviour, which could also have made an assertion fail.
    pub(crate) fn is_undefined(self) -> bool {
        self == Self::Fault
    }

    /// Returns the crash that ended a process; `None` if it exited, or was ended from outside.
    pub(crate) fn of(status: ExitStatus) -> Option<Self> {
        detect(status)
    }
}

#[cfg(unix)]
fn detect(status: ExitStatus) -> Option<Crash> {
    use rustix::process::Signal;
    use std::os::unix::process::ExitStatusExt;

    const FAULTS: [Signal; 5] = [Signal::SEGV, Signal::BUS, Signal::ILL, Signal::FPE, Signal::TRAP];
    let signal = status.signal()?;
    if signal == Signal::ABORT.as_raw() {
        return Some(Crash::Abort);
    }
    FAULTS.iter().any(|fault| fault.as_raw() == signal).then_some(Crash::Fault)
}

#[cfg(windows)]
fn detect(status: ExitStatus) -> Option<Crash> {
    // NTSTATUS codes of unhandled exceptions have the severity `error`: as signed numbers they are negative.
    let code = status.code().filter(|&code| code < 0)?.cast_unsigned();
    const ACCESS_VIOLATION: u32 = 0xC000_0005;
    const ILLEGAL_INSTRUCTION: u32 = 0xC000_001D;
    const HEAP_CORRUPTION: u32 = 0xC000_0374;
    Some(match code {
        ACCESS_VIOLATION | ILLEGAL_INSTRUCTION | HEAP_CORRUPTION => Crash::Fault,
        _ => Crash::Abort,
    })
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn a_signal_from_outside_is_no_crash() {
        for (status, expected) in [
            (0, None),
            (101 << 8, None),
            (6, Some(Crash::Abort)),
            (11, Some(Crash::Fault)),
            (4, Some(Crash::Fault)),
            (2, None),
            (9, None),
            (15, None),
            // With a core dump.
            (0x8b, Some(Crash::Fault)),
        ] {
            assert_eq!(detect(ExitStatus::from_raw(status)), expected, "{status}");
        }
    }
}
