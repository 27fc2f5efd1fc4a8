//! Faults of the machine: at the moment there is no further process, thread, file, memory or space.
//!
//! A fault may be over soon, so an attempt is repeated after a pause. If it lasts, it is no property of the target.

use std::{error::Error, io, sync::mpsc, thread, time::Duration};

use super::interrupt::Interrupt;

/// The pauses before further attempts.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(400)];
/// The pause before a run is made again.
const PAUSE_BEFORE_RUN: Duration = Duration::from_secs(1);

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MachineFault {
    /// No further process or thread can be started, or a system call was interrupted.
    Busy,
    /// Too many files are open.
    Files,
    /// There is no memory.
    Memory,
    /// A disk is full, or has no more inodes, or a quota is used up.
    Space,
    /// A device fails.
    Device,
}

impl MachineFault {
    /// Returns the fault that is the cause of an error, if one is.
    pub(crate) fn of(error: &io::Error) -> Option<Self> {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => return Some(Self::Busy),
            io::ErrorKind::OutOfMemory => return Some(Self::Memory),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => return Some(Self::Space),
            _ => {}
        }
        #[cfg(unix)]
        match code(error)? {
            libc::EMFILE | libc::ENFILE => Some(Self::Files),
            libc::EAGAIN | libc::EINTR => Some(Self::Busy),
            libc::ENOMEM | libc::ENOBUFS => Some(Self::Memory),
            libc::ENOSPC | libc::EDQUOT => Some(Self::Space),
            libc::EIO => Some(Self::Device),
            _ => None,
        }
        #[cfg(not(unix))]
        None
    }

    /// Returns the fault that is the cause of an error of another kind, if one is.
    pub(crate) fn behind(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(fault) = error.downcast_ref().and_then(Self::of) {
                return Some(fault);
            }
            next = error.source();
        }
        None
    }

    /// Returns what the user can do about it.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Self::Busy => {
                "make fewer runs at once (`-j`), close other programs, or raise the limit of processes (`ulimit -u`)"
            }
            Self::Files => {
                "make fewer runs at once (`-j`), close other programs, or raise the limit of open files (`ulimit -n`)"
            }
            Self::Memory => {
                "make fewer runs at once (`-j`), close other programs, or raise the limit of memory (`ulimit -v`)"
            }
            Self::Space => {
                "free space on that disk, or use another one: the variable TMPDIR names the directory for temporary files, and \
                 `--out` that for logs and the answer"
            }
            Self::Device => "check the disk, and what the kernel says about it (`dmesg`)",
        }
    }
}

/// Returns the number of a system's error. Errors that name a file have it only in their text.
#[cfg(unix)]
fn code(error: &io::Error) -> Option<i32> {
    error.raw_os_error().or_else(|| {
        let text = error.to_string();
        let (_, rest) = text.rsplit_once("(os error ")?;
        rest.split_once(')')?.0.parse().ok()
    })
}

/// Makes an attempt, and further ones after pauses while a fault of the machine lasts.
///
/// # Errors
/// If the last attempt fails.
pub(crate) fn patiently<T, E: Error + 'static>(mut attempt: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    for pause in PAUSES {
        match attempt() {
            Err(error) if MachineFault::behind(&error).is_some() => thread::sleep(pause),
            result => return result,
        }
    }
    attempt()
}

/// Waits before a run is made again. Returns early if the user wants to stop.
pub(crate) fn pause_before_run(interrupt: &Interrupt) {
    let (sender, woken) = mpsc::channel();
    let _registration = interrupt.on_request(move || {
        let _ = sender.send(());
    });
    if !interrupt.requested() {
        let _ = woken.recv_timeout(PAUSE_BEFORE_RUN);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_machine_are_known() {
        for (code, expected) in [
            (libc::EMFILE, Some(MachineFault::Files)),
            (libc::ENFILE, Some(MachineFault::Files)),
            (libc::EAGAIN, Some(MachineFault::Busy)),
            (libc::EINTR, Some(MachineFault::Busy)),
            (libc::ENOMEM, Some(MachineFault::Memory)),
            (libc::ENOSPC, Some(MachineFault::Space)),
            (libc::EDQUOT, Some(MachineFault::Space)),
            (libc::EIO, Some(MachineFault::Device)),
            (libc::ENOENT, None),
            (libc::EACCES, None),
            (libc::E2BIG, None),
        ] {
            let error = io::Error::from_raw_os_error(code);
            let in_a_file = io::Error::new(error.kind(), format!("failed to create file `x`: {error}"));
            assert_eq!([error, in_a_file].map(|error| MachineFault::of(&error)), [expected; 2], "{code}");
        }
    }

    #[test]
    fn the_cause_of_another_error_is_found() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot execute `rustc -vV`")]
        struct Outer(#[source] io::Error);
        let outer = |code| Outer(io::Error::from_raw_os_error(code));
        assert_eq!(MachineFault::behind(&outer(libc::EAGAIN)), Some(MachineFault::Busy));
        assert_eq!(MachineFault::behind(&outer(libc::ENOENT)), None);
    }

    #[test]
    fn each_fault_has_its_advice() {
        for (fault, advice) in [
            (
                MachineFault::Busy,
                "make fewer runs at once (`-j`), close other programs, or raise the limit of processes",
            ),
            (MachineFault::Files, "or raise the limit of open files (`ulimit -n`)"),
            (MachineFault::Memory, "or raise the limit of memory (`ulimit -v`)"),
            (
                MachineFault::Space,
                "use another one: the variable TMPDIR names the directory for temporary files, and `--out`",
            ),
            (MachineFault::Device, "check the disk, and what the kernel says about it"),
        ] {
            assert!(fault.advice().contains(advice), "{fault:?}");
        }
    }

    #[test]
    fn a_fault_that_is_over_soon_is_no_error() {
        let mut faults = vec![libc::EAGAIN, libc::EMFILE];
        let mut attempt = || faults.pop().map_or(Ok("made"), |code| Err(io::Error::from_raw_os_error(code)));
        assert_eq!(patiently(&mut attempt).unwrap(), "made");
        let mut attempts = 0;
        let error = patiently(|| -> io::Result<()> {
            attempts += 1;
            Err(io::Error::from_raw_os_error(libc::EMFILE))
        });
        assert_eq!((MachineFault::of(&error.unwrap_err()), attempts), (Some(MachineFault::Files), PAUSES.len() + 1));
        let mut attempts = 0;
        let missing = patiently(|| -> io::Result<()> {
            attempts += 1;
            Err(io::Error::from_raw_os_error(libc::ENOENT))
        });
        assert_eq!((missing.unwrap_err().kind(), attempts), (io::ErrorKind::NotFound, 1));
    }

    #[test]
    fn a_request_to_stop_ends_the_pause() {
        let interrupt = Interrupt::default();
        interrupt.raise();
        // It would take a second.
        let begun = std::time::Instant::now();
        pause_before_run(&interrupt);
        assert!(begun.elapsed() < PAUSE_BEFORE_RUN);
    }
}
