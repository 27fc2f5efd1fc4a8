//! Failures due to the environment of a target: a kill, a signal from outside, a full disk, an address in use.
//!
//! Only unambiguous texts count: the system's error messages, as Rust and C print them, and the names of these errors.
//!
//! Such a failure may be chance or an effect of the changes. So the run is repeated at once, and a second failure
//! counts only if it occurs at one end of the search and not at the other.

use std::{fmt, process::ExitStatus, sync::LazyLock};

use regex::bytes::Regex;
use serde::{Deserialize, Serialize};

/// A cause of a failure outside of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Environment {
    /// A SIGKILL that the driver did not send: usually the system ran out of memory.
    Killed,
    /// A signal by which users and systems end programs.
    Ended(EndSignal),
    /// No space is left, or the quota is used up.
    DiskFull,
    /// Another process listens on the address.
    AddressInUse,
}

/// A signal by which users and systems end programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum EndSignal {
    /// SIGHUP.
    Hangup,
    /// SIGINT.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

/// The signals from outside; POSIX fixes their numbers.
const SIGNALS: [(i32, Environment); 4] = [
    (1, Environment::Ended(EndSignal::Hangup)),
    (2, Environment::Ended(EndSignal::Interrupt)),
    (9, Environment::Killed),
    (15, Environment::Ended(EndSignal::Terminate)),
];

/// The number of bytes at the end of an output that are searched for these errors: programs print them last.
const SEARCHED_END: usize = 64 << 10;

impl Environment {
    /// Returns the cause that an exit status shows. Shells and launchers report a signal as a status above 128.
    pub(crate) fn of_status(status: ExitStatus) -> Option<Self> {
        let signal = signal(status).or_else(|| status.code()?.checked_sub(128))?;
        Self::of_signal(signal)
    }

    /// Returns the cause that a signal shows.
    pub(crate) fn of_signal(signal: i32) -> Option<Self> {
        SIGNALS.iter().find(|&&(number, _)| number == signal).map(|&(_, environment)| environment)
    }

    /// Returns the cause that the end of an output shows.
    pub(crate) fn of_text(output: &[u8]) -> Option<Self> {
        static DISK: LazyLock<Regex> = LazyLock::new(|| {
            regex(
                r"No space left on device|Disk quota exceeded|There is not enough space on the disk\. \(os error 112\)|\b(?:ENOSPC|EDQUOT)\b",
            )
        });
        static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
            regex(
                r"Address already in use|Only one usage of each socket address [^\n]*\(os error 10048\)|\bEADDRINUSE\b",
            )
        });
        let output = &output[output.len().saturating_sub(SEARCHED_END)..];
        if DISK.is_match(output) {
            Some(Self::DiskFull)
        } else if ADDRESS.is_match(output) {
            Some(Self::AddressInUse)
        } else {
            None
        }
    }
}

fn regex(text: &str) -> Regex {
    Regex::new(text).expect("the expression is valid")
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Environment::Killed => f.write_str("killed by SIGKILL (out of memory?)"),
            Environment::Ended(EndSignal::Hangup) => f.write_str("ended by SIGHUP"),
            Environment::Ended(EndSignal::Interrupt) => f.write_str("ended by SIGINT"),
            Environment::Ended(EndSignal::Terminate) => f.write_str("ended by SIGTERM"),
            Environment::DiskFull => f.write_str("disk full"),
            Environment::AddressInUse => f.write_str("address in use"),
        }
    }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<i32> {
    None
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn signals_from_outside() {
        use std::os::unix::process::ExitStatusExt;
        for (signal, expected) in [
            (9, Some(Environment::Killed)),
            (15, Some(Environment::Ended(EndSignal::Terminate))),
            (2, Some(Environment::Ended(EndSignal::Interrupt))),
            (1, Some(Environment::Ended(EndSignal::Hangup))),
            (11, None),
            (6, None),
        ] {
            assert_eq!(Environment::of_status(ExitStatus::from_raw(signal)), expected, "signal {signal}");
            let of_a_shell = ExitStatus::from_raw((128 + signal) << 8);
            assert_eq!(Environment::of_status(of_a_shell), expected, "status {}", 128 + signal);
            assert_eq!(Environment::of_status(ExitStatus::from_raw(signal << 8)), None, "status {signal}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_texts_of_the_standard_library() {
        for (errno, expected) in [
            (28, Some(Environment::DiskFull)),
            (122, Some(Environment::DiskFull)),
            (98, Some(Environment::AddressInUse)),
            (2, None),
            (13, None),
        ] {
            let error = io::Error::from_raw_os_error(errno);
            for text in [error.to_string(), format!("called `Result::unwrap()` on an `Err` value: {error:?}")] {
                assert_eq!(Environment::of_text(text.as_bytes()), expected, "{text}");
            }
        }
    }

    #[test]
    fn other_texts() {
        for (text, expected) in [
            ("Error: listen EADDRINUSE: address already in use :::8080", Some(Environment::AddressInUse)),
            ("write: ENOSPC", Some(Environment::DiskFull)),
            ("tests::address_already_in_use ... FAILED", None),
            ("the disk of the clock is full", None),
            ("MYENOSPCX", None),
        ] {
            assert_eq!(Environment::of_text(text.as_bytes()), expected, "{text}");
        }
        let far = [b"No space left on device".as_slice(), &vec![b'\n'; SEARCHED_END]].concat();
        assert_eq!(Environment::of_text(&far), None, "only the end is searched");
    }
}
