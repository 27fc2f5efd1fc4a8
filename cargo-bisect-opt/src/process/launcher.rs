//! `--launcher`: another command starts the runs, so that a cluster or a queue executes them.
//!
//! Examples are `srun -n1 --exclusive`, `ssh host`, `kubectl run … --`, `systemd-run --scope` and `sem --fg --id runs`.
//!
//! A launcher may start the command on another machine, in another directory and with another environment. So the
//! launcher's arguments are followed by a shell that enters the directory of the run, and by `env` with the variables
//! that the run sets. Reports come back with the output: the file of `BISECT_REPORT` may be out of reach, so the
//! variable is unset. The user must provide the rest: the files (by a shared file system, at the same paths), and a
//! launcher that waits for the command, passes on its output and exit status, and ends it when the launcher is ended.
//!
//! Some launchers join their arguments with spaces and have a shell read the line: `ssh`, and GNU parallel as `sem` or
//! `parallel`. They are recognized by the file name of the first word, and the command is quoted for them. Put any
//! other launcher of this kind into a script that quotes.

use std::{
    collections::BTreeSet,
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::Command,
};

use bisect_core::protocol::names;

use super::shell::{is_name, quote_exactly, quote_without_braces};

/// The variable with the file for reports, which is unset.
const REPORT: &str = names::REPORT;
/// The variable with the directory for temporary files, which is set only where that directory exists.
const SCRATCH: &str = "TMPDIR";
/// The variable with the slot. The launcher gets it, too: it may choose a machine by it.
const SLOT: &str = names::SLOT;
/// The status for an unresolved run, if `--skip-code` is no valid exit status.
const DEFAULT_SKIP_CODE: i32 = 125;

/// The shell script that starts the command. Its arguments are the directory, the program, the directory for temporary
/// files or an empty text, and the command. It is one line, since not every shell supports line breaks in quotes. It
/// has no `${…}`, which systemd would replace.
///
/// A missing directory or program says nothing about the changes, so such a run must not count as failed. `env` looks
/// up a program without a path.
const SCRIPT: &str = r#"unset NAMES; fail() { printf '%s\n' "cargo-bisect-opt: where the launcher starts commands, $1" >&2; exit STATUS; }; cd "$1" || fail "the directory $1 cannot be entered"; case $2 in */*) [ -x "$2" ] || fail "there is no program $2";; esac; [ -d "$3" ] && { TMPDIR=$3; export TMPDIR; }; shift 3; exec "$@""#;

/// A command that launches runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Launcher {
    words: Vec<String>,
    passing: Passing,
}

/// The way in which a launcher treats the command after its own arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passing {
    /// The arguments stay separate.
    Words,
    /// A shell reads them as one line.
    Line,
    /// A shell reads them as one line, after the launcher has replaced parts in braces.
    Template,
}

/// A reason why the value of `--launcher` is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LauncherError {
    /// The text is empty.
    #[error("`--launcher` needs a command, for example `--launcher 'srun -n1'`")]
    Empty,
    /// The text is incomplete.
    #[error("in `--launcher`, a quote is not closed, or the text ends with a backslash: complete the command")]
    Open,
    /// The command would be quoted twice.
    #[error("leave the option `{0}` out of `--launcher`: the command after it is quoted already")]
    Quotes(&'static str),
}

impl Launcher {
    /// Splits a text into words as a shell does, without expansions.
    ///
    /// # Errors
    /// If the text is empty or incomplete.
    pub(crate) fn parse(text: &str) -> Result<Self, LauncherError> {
        let words = shlex::split(text).ok_or(LauncherError::Open)?;
        let program = words.first().filter(|program| !program.is_empty()).ok_or(LauncherError::Empty)?;
        let passing = match Path::new(program).file_stem().and_then(OsStr::to_str) {
            Some("ssh") => Passing::Line,
            Some("sem" | "parallel") => Passing::Template,
            _ => Passing::Words,
        };
        let quotes = ["-q", "--quote"].into_iter().find(|&option| words.iter().any(|word| word == option));
        match quotes.filter(|_| passing == Passing::Template) {
            Some(option) => Err(LauncherError::Quotes(option)),
            None => Ok(Self { words, passing }),
        }
    }

    /// Returns a command that has the launcher start `command`, in its directory and with the variables that it sets.
    /// If that directory or the program is missing, the launched command exits with `skip_code`.
    ///
    /// The launcher itself has the working directory and the environment of this process, without the variables that
    /// `command` removes. The command inherits variables that the launcher adds.
    pub(crate) fn wrap(&self, command: &Command, skip_code: i32) -> Command {
        let mut launched = Command::new(&self.words[0]);
        launched.args(&self.words[1..]);
        launched.args(launched_words(command, skip_code).iter().map(|word| self.pass(word)));
        for (name, value) in command.get_envs() {
            match value {
                None => drop(launched.env_remove(name)),
                Some(value) if name == SLOT => drop(launched.env(name, value)),
                Some(_) => {}
            }
        }
        launched.env_remove(REPORT);
        launched
    }

    /// Quotes a word for the launcher so that the command gets it unchanged.
    fn pass(&self, word: &OsStr) -> OsString {
        match self.passing {
            Passing::Words => word.to_owned(),
            Passing::Line => quote_exactly(word),
            Passing::Template => quote_without_braces(word),
        }
    }
}

/// Returns `sh -c … sh DIRECTORY PROGRAM TMPDIR env -- NAME=VALUE… PROGRAM ARGUMENT…`.
fn launched_words(command: &Command, skip_code: i32) -> Vec<OsString> {
    let directory = command.get_current_dir().map_or_else(|| env::current_dir().unwrap_or_default(), PathBuf::from);
    let directory = std::path::absolute(&directory).unwrap_or(directory);
    let variable = |wanted: &str| command.get_envs().find(|(name, _)| *name == wanted).and_then(|(_, value)| value);
    let program = command.get_program();
    let mut words: Vec<OsString> = vec!["sh".into(), "-c".into(), script(command, skip_code).into(), "sh".into()];
    words.extend([directory.into(), program.to_owned(), variable(SCRATCH).unwrap_or_default().to_owned()]);
    words.extend(["env".into(), "--".into()]);
    for (name, value) in command.get_envs().filter(|(name, _)| *name != REPORT && *name != SCRATCH) {
        let Some(value) = value else { continue };
        words.push([name, value].join(OsStr::new("=")));
    }
    if program.as_encoded_bytes().contains(&b'=') {
        // `env` would take the program for a variable. `nice -n 0` before it has no effect.
        words.extend(["nice", "-n", "0"].map(Into::into));
    }
    words.push(program.to_owned());
    words.extend(command.get_args().map(OsStr::to_owned));
    words
}

fn script(command: &Command, skip_code: i32) -> String {
    // `env -u` is not in POSIX. `unset` takes valid names of shell variables only; ours all are.
    let removed = command.get_envs().filter(|(_, value)| value.is_none()).filter_map(|(name, _)| name.to_str());
    let names: BTreeSet<_> = removed.filter(|name| is_name(name)).chain([REPORT]).collect();
    let names: Vec<_> = names.into_iter().collect();
    let status = if (1..=255).contains(&skip_code) { skip_code } else { DEFAULT_SKIP_CODE };
    SCRIPT.replacen("NAMES", &names.join(" "), 1).replacen("STATUS", &status.to_string(), 1)
}

#[cfg(all(test, unix))]
#[path = "launcher_tests.rs"]
mod tests;
