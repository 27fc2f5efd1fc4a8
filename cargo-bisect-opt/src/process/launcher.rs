//! `--launcher`: runs are started by another command, such as `srun -n1 --exclusive`, `ssh host`,
//! `kubectl run … --`, `systemd-run --scope` or `sem --fg --id runs`, so that a cluster or a queue takes them.
//!
//! A launcher may start the command on another machine, in another directory and with another environment. So the words
//! behind it are a shell that goes to the directory of the run, and `env` with the variables that the run sets. Reports come
//! back with the output: nobody can append to a file elsewhere, so `BISECT_REPORT` is unset. What else must be the same there
//! is the user's to provide: the files (by a shared file system, at the same paths), and a launcher that waits for the command,
//! passes on its output and exit status, and ends it when it is ended itself.
//!
//! Some launchers join their words with blanks and have a shell read the line: `ssh`, and GNU parallel as `sem` or `parallel`.
//! They are known by the file name of the first word, and their words are quoted. Put any other one of that kind into a
//! script that quotes.

use std::{
    collections::BTreeSet,
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::Command,
};

use super::shell::{is_name, quote_exactly, quote_without_braces};

/// The variable that must not be set.
const REPORT: &str = "BISECT_REPORT";
/// The variable that is only set where there is such a directory.
const SCRATCH: &str = "TMPDIR";
/// The variable that launchers have too: they may choose a machine by it.
const SLOT: &str = "BISECT_SLOT";
/// Unresolved, where the status for that cannot be used.
const SKIP: i32 = 125;

/// Where the command is started, with the directory, the program, the directory for temporary files or nothing, and the
/// words of the command. On one line, since not every shell knows others in quotes; and without `${…}`, which systemd
/// would replace.
///
/// What is missing there says nothing about the changes, so the run must not seem to have failed. A program without a path is
/// looked up by `env`.
const SCRIPT: &str = r#"unset NAMES; fail() { printf '%s\n' "cargo-bisect-opt: where the launcher starts commands, $1" >&2; exit STATUS; }; cd "$1" || fail "the directory $1 cannot be entered"; case $2 in */*) [ -x "$2" ] || fail "there is no program $2";; esac; [ -d "$3" ] && { TMPDIR=$3; export TMPDIR; }; shift 3; exec "$@""#;

/// The words of a launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Launcher {
    words: Vec<String>,
    passing: Passing,
}

/// What a launcher makes of the words behind its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passing {
    /// They are those of the command.
    Words,
    /// It has a shell read them as one line.
    Line,
    /// That too, but first it replaces what stands in braces.
    Template,
}

/// Why there is no such launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LauncherError {
    /// There is no word.
    #[error("`--launcher` needs a command, for example `--launcher 'srun -n1'`")]
    Empty,
    /// A shell would wait for the rest.
    #[error("in `--launcher`, a quote is not closed, or there is nothing behind the last backslash")]
    Open,
    /// The command would be quoted twice.
    #[error("leave the option `{0}` out of `--launcher`: what is behind it is quoted already")]
    Quotes(&'static str),
}

impl Launcher {
    /// Splits a text into words as a shell does, without replacing anything in it.
    ///
    /// # Errors
    /// If there is no word, or the text is not complete.
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

    /// The command that has the launcher start `command`, in its directory and with the variables that it sets. Where that
    /// directory or its program is missing, the launched command ends with `skip_code`.
    ///
    /// The launcher itself works in the directory of this process, with its environment; variables that `command` takes out
    /// are taken out of that. What else a launcher adds to the environment, the command has.
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

    /// The word that must be given for the command to get this one.
    fn pass(&self, word: &OsStr) -> OsString {
        match self.passing {
            Passing::Words => word.to_owned(),
            Passing::Line => quote_exactly(word),
            Passing::Template => quote_without_braces(word),
        }
    }
}

/// `sh -c … sh DIRECTORY PROGRAM TMPDIR env -- NAME=VALUE… PROGRAM ARGUMENT…`
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
        // `env` would take it for a variable. There must be a command before it that only passes on.
        words.extend(["nice", "-n", "0"].map(Into::into));
    }
    words.push(program.to_owned());
    words.extend(command.get_args().map(OsStr::to_owned));
    words
}

fn script(command: &Command, skip_code: i32) -> String {
    // `env -u` is not in POSIX. That `unset` knows only names such as shells have is enough: all of ours are.
    let removed = command.get_envs().filter(|(_, value)| value.is_none()).filter_map(|(name, _)| name.to_str());
    let names: BTreeSet<_> = removed.filter(|name| is_name(name)).chain([REPORT]).collect();
    let names: Vec<_> = names.into_iter().collect();
    let status = if (1..=255).contains(&skip_code) { skip_code } else { SKIP };
    SCRIPT.replacen("NAMES", &names.join(" "), 1).replacen("STATUS", &status.to_string(), 1)
}

#[cfg(all(test, unix))]
#[path = "launcher_tests.rs"]
mod tests;
