//! The errors of starting a process: the system's message, and advice for the user.

use std::{
    ffi::OsStr,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    process::Command,
};

use super::machine_fault::MachineFault;

/// A reason why a process could not be run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SpawnError {
    /// The program does not exist.
    #[error("cannot start `{}`: {source}; {advice}", program.display())]
    NotFound {
        /// The program that was to be started.
        program: PathBuf,
        /// The system's error.
        source: io::Error,
        /// Advice for the user.
        advice: &'static str,
    },
    /// The file must not be executed, or is no program.
    #[error("cannot start `{}`: {source}; {advice}", program.display())]
    Permission {
        /// The program that was to be started.
        program: PathBuf,
        /// The system's error.
        source: io::Error,
        /// Advice for the user.
        advice: &'static str,
    },
    /// Another error.
    #[error("cannot run `{}`: {source}; {advice}", program.display())]
    Other {
        /// The program that was to be started.
        program: PathBuf,
        /// The system's error.
        source: io::Error,
        /// Advice for the user.
        advice: String,
    },
}

impl SpawnError {
    /// Returns the fault of the machine that is the cause, if one is.
    pub(crate) fn machine_fault(&self) -> Option<MachineFault> {
        match self {
            Self::Other { source, .. } => MachineFault::of(source),
            Self::NotFound { .. } | Self::Permission { .. } => None,
        }
    }

    /// Returns a function that explains an error of running `command`.
    pub(super) fn of(command: &Command) -> impl FnOnce(io::Error) -> Self + use<> {
        let program = PathBuf::from(command.get_program());
        let dir = command.get_current_dir().map(PathBuf::from);
        move |source| Self::new(program, dir, source)
    }

    fn new(program: PathBuf, dir: Option<PathBuf>, source: io::Error) -> Self {
        if let Some(dir) = dir.filter(|dir| !dir.is_dir()) {
            // The system's error looks as if the program were missing.
            let advice = format!("its working directory, `{}`, does not exist", dir.display());
            return Self::Other { program, source, advice };
        }
        match source.kind() {
            ErrorKind::NotFound => {
                let advice = advice_if_not_found(&program);
                Self::NotFound { program, source, advice }
            }
            ErrorKind::PermissionDenied => {
                let advice = advice_if_denied(&program);
                Self::Permission { program, source, advice }
            }
            _ => {
                let advice = advice_if_other(&source);
                Self::Other { program, source, advice }
            }
        }
    }
}

fn is_name(program: &Path) -> bool {
    program.components().count() == 1 && program.as_os_str() == program.file_name().unwrap_or(OsStr::new(""))
}

fn advice_if_not_found(program: &Path) -> &'static str {
    if is_name(program) {
        "it is in no directory of PATH: give its path, or check the name"
    } else if program.exists() {
        "the file exists, but the interpreter or loader that it names does not: check its first line, or build it for this system"
    } else {
        "check the path, and that it has been built"
    }
}

fn advice_if_denied(program: &Path) -> &'static str {
    if program.is_dir() {
        "it is a directory: give the path of the executable in it"
    } else {
        "run `chmod +x` on it, and check that its directory is accessible and not mounted `noexec`"
    }
}

fn advice_if_other(error: &io::Error) -> String {
    /// `ENOEXEC`, for which the standard library has no kind; the same number on every Unix.
    const NO_EXECUTABLE: Option<i32> = Some(8);
    if let Some(fault) = MachineFault::of(error) {
        return fault.advice().to_owned();
    }
    match error.kind() {
        ErrorKind::ExecutableFileBusy => {
            "it is still being written: wait for the build, or the program that has it open, to end"
        }
        ErrorKind::ArgumentListTooLong => {
            return format!("{}; pass fewer arguments, or pass them in a file", argument_limit());
        }
        _ if cfg!(unix) && error.raw_os_error() == NO_EXECUTABLE => {
            "it was built for another system, or is a script without a first line of `#!` and its interpreter"
        }
        _ => "run it by hand to see whether it works without `cargo bisect-opt`",
    }
    .to_owned()
}

/// Returns what the system takes, for people.
fn argument_limit() -> String {
    #[cfg(unix)]
    {
        // SAFETY: it only reads a number.
        let bytes = unsafe { libc::sysconf(libc::_SC_ARG_MAX) };
        let each = if cfg!(target_os = "linux") { ", and 131072 bytes for each" } else { "" };
        format!("the system takes {bytes} bytes of arguments and variables in all{each}")
    }
    #[cfg(not(unix))]
    "the system takes 32767 characters in all".to_owned()
}
