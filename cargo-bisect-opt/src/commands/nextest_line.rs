//! Checks of the words of `nextest`: its command, and options that mean nothing in a search.

use std::ffi::OsString;

use clap::error::ErrorKind;

use super::unknown_option;
use crate::cargo::nextest_words;

/// Removes the command of nextest from its words.
pub(super) fn remove_run(command: &clap::Command, words: &mut Vec<OsString>) -> Result<(), clap::Error> {
    if words.first().is_some_and(|word| word == "run") {
        words.remove(0);
        return Ok(());
    }
    let text = "of the commands of cargo-nextest, only `run` can be searched: write `cargo bisect-opt nextest run`";
    Err(command.clone().error(ErrorKind::InvalidSubcommand, text))
}

/// Returns an error for an option of nextest that means nothing in a search, or that does not exist.
pub(super) fn check(command: &clap::Command, words: &[OsString]) -> Result<(), clap::Error> {
    let Some(option) = nextest_words::first_unusable(words) else { return Ok(()) };
    let meant = unknown_option::hint(command, &option, nextest_words::options());
    let text = format!(
        "`cargo bisect-opt nextest run` cannot use the option `{option}`{meant}\n\
         help: it takes nextest's options for the build and for the selection of tests; the search itself decides how \
         often tests are run, and what is shown"
    );
    Err(command.clone().error(ErrorKind::UnknownArgument, text))
}
