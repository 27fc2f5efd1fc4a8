//! Why a process did not run, in the system's words and with what the user can do about it.

use std::{
    ffi::OsStr,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    process::Command,
};

/// Why a process could not be run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SpawnError {
    /// There is no such program.
    #[error("cannot start `{}`: {source}; {next}", program.display())]
    NotFound {
        /// What was to be started.
        program: PathBuf,
        /// What the system says.
        source: io::Error,
        /// What the user can do.
        next: &'static str,
    },
    /// The program must not be executed, or is none.
    #[error("cannot start `{}`: {source}; {next}", program.display())]
    Permission {
        /// What was to be started.
        program: PathBuf,
        /// What the system says.
        source: io::Error,
        /// What the user can do.
        next: &'static str,
    },
    /// Something else, of which the system's words say enough.
    #[error("cannot run `{}`: {source}; {next}", program.display())]
    Other {
        /// What was to be started.
        program: PathBuf,
        /// What the system says.
        source: io::Error,
        /// What the user can do.
        next: String,
    },
}

impl SpawnError {
    /// What an error means that comes up when `command` is run.
    pub(super) fn of(command: &Command) -> impl FnOnce(io::Error) -> Self + use<> {
        let program = PathBuf::from(command.get_program());
        let dir = command.get_current_dir().map(PathBuf::from);
        move |source| Self::new(program, dir, source)
    }

    fn new(program: PathBuf, dir: Option<PathBuf>, source: io::Error) -> Self {
        if let Some(dir) = dir.filter(|dir| !dir.is_dir()) {
            // The system blames the program for that.
            let next = format!("the directory to run it in, `{}`, does not exist", dir.display());
            return Self::Other { program, source, next };
        }
        match source.kind() {
            ErrorKind::NotFound => {
                let next = next_if_not_found(&program);
                Self::NotFound { program, source, next }
            }
            ErrorKind::PermissionDenied => {
                let next = next_if_denied(&program);
                Self::Permission { program, source, next }
            }
            _ => {
                let next = next_if_other(&source);
                Self::Other { program, source, next }
            }
        }
    }
}

fn is_name(program: &Path) -> bool {
    program.components().count() == 1 && program.as_os_str() == program.file_name().unwrap_or(OsStr::new(""))
}

fn next_if_not_found(program: &Path) -> &'static str {
    if is_name(program) {
        "no directory in PATH has it: give its path, or check the name"
    } else if program.exists() {
        "the file is there, but not the interpreter or loader that it names: check its first line, or build it for this system"
    } else {
        "check the path, and whether it has been built"
    }
}

fn next_if_denied(program: &Path) -> &'static str {
    if program.is_dir() {
        "it is a directory: name the executable in it"
    } else {
        "allow it with `chmod +x`, and check that its directory can be entered and is not mounted `noexec`"
    }
}

fn next_if_other(error: &io::Error) -> String {
    /// `ENOEXEC`, for which the standard library has no kind; the same number on every Unix.
    const NO_EXECUTABLE: Option<i32> = Some(8);
    match error.kind() {
        ErrorKind::ExecutableFileBusy => {
            "it is still being written: wait for the build, or whatever else has it open, to end"
        }
        ErrorKind::ArgumentListTooLong => {
            return format!("{}; pass fewer arguments, or pass them in a file", argument_limit());
        }
        _ if cfg!(unix) && error.raw_os_error() == NO_EXECUTABLE => {
            "it was built for another system, or is a script that does not begin with `#!` and its interpreter"
        }
        _ => "run it by hand to see whether it works without us",
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
