//! Failures due to the environment of a target: a signal from outside, a full disk, a used address, refused processes.
//!
//! Only unambiguous texts count: the system's error messages, as Rust and C print them, and the names of these errors.
//! "Resource temporarily unavailable" is also the error of a read that would block. So it counts only together with the
//! words of a shell, a library or Rust about a process or a thread that cannot be started.
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
    /// The system starts no further process or thread.
    NoProcess,
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
        static PROCESS: LazyLock<Regex> = LazyLock::new(|| {
            regex(concat!(
                r"\b(?i:can(?:not|'t) fork)\b|\bfork: (?:retry: )?(?:Resource temporarily unavailable|No child processes)",
                r"|(?i:\b(?:v?fork|posix_spawn|pthread_create)\b[^\n]{0,40}: resource temporarily unavailable)",
                r"|\bthread: Resource temporarily unavailable",
                r"|failed to spawn thread: Os \{ code: (?:11|35),",
            ))
        });
        let output = &output[output.len().saturating_sub(SEARCHED_END)..];
        if DISK.is_match(output) {
            Some(Self::DiskFull)
        } else if ADDRESS.is_match(output) {
            Some(Self::AddressInUse)
        } else if PROCESS.is_match(output) {
            Some(Self::NoProcess)
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
            Environment::NoProcess => f.write_str("no further process or thread could be started"),
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
            ("/bin/sh: 1: Cannot fork", Some(Environment::NoProcess)),
            ("sh: fork: retry: Resource temporarily unavailable", Some(Environment::NoProcess)),
            ("bash: fork: Resource temporarily unavailable", Some(Environment::NoProcess)),
            ("bash: fork: retry: No child processes", Some(Environment::NoProcess)),
            ("sh: can't fork: Resource temporarily unavailable", Some(Environment::NoProcess)),
            ("zsh: fork failed: resource temporarily unavailable", Some(Environment::NoProcess)),
            (
                "OS can't spawn worker thread: Resource temporarily unavailable (os error 11)",
                Some(Environment::NoProcess),
            ),
            ("thread 'main' panicked at 'read: Resource temporarily unavailable'", None),
            (
                "failed to spawn thread: Os { code: 11, kind: WouldBlock, message: \"Resource temporarily unavailable\" }",
                Some(Environment::NoProcess),
            ),
            ("recv: Resource temporarily unavailable (os error 11)", None),
            ("tests::cannot_forklift ... FAILED", None),
            ("tests::cannot_fork ... FAILED", None),
        ] {
            assert_eq!(Environment::of_text(text.as_bytes()), expected, "{text}");
        }
        let far = [b"No space left on device".as_slice(), &vec![b'\n'; SEARCHED_END]].concat();
        assert_eq!(Environment::of_text(&far), None, "only the end is searched");
    }
}
