//! A suggestion for a name on the command line that no test has.

use std::{ffi::OsString, iter, time::Duration};

use super::runner::ProjectRunner;
use crate::{
    cargo::libtest,
    process::{self, Ending, ProcessSpec, interrupt::Interrupt, scratch_dir::ScratchDir},
    units::{nearest_path, suggestion},
};

/// The time in which an executable must list its tests. A suggestion is not worth more.
const LISTING_TIMEOUT: Duration = Duration::from_secs(10);
/// The size of the list that is read.
const MAX_LIST_SIZE: usize = 4 << 20;

/// Returns the text `, did you mean ...?` with the test that is most like one of the names on the command line; nothing if
/// none is, or the tests cannot be listed.
pub(super) fn suggested(runner: &ProjectRunner) -> String {
    let names = names(&runner.project.arguments());
    let tests = if names.is_empty() { Vec::new() } else { listed(runner).unwrap_or_default() };
    let meant = names.iter().find_map(|name| nearest_path(name, &tests.iter().map(String::as_str)));
    suggestion(meant.as_deref())
}

/// Returns the names, or parts of names, that select tests.
fn names(arguments: &[OsString]) -> Vec<String> {
    let others = libtest::without_names(arguments);
    let before = iter::once(None).chain(arguments.iter().map(Some));
    let is_skipped = |before: Option<&OsString>| before.is_some_and(|word| word == "--skip");
    let words = before.zip(arguments).filter(|(before, word)| !is_skipped(*before) && !others.contains(word));
    let texts = words.map(|(_, word)| word.to_string_lossy().into_owned());
    texts.filter(|text| !text.starts_with('-')).collect()
}

/// Returns all tests that the executables list; `None` if they cannot be started.
fn listed(runner: &ProjectRunner) -> Option<Vec<String>> {
    let (project, artifacts) = (&runner.project, runner.first_artifacts());
    let scratch = ScratchDir::new().ok()?;
    let mut words = libtest::without_names(&project.arguments());
    words.push(OsString::from("--list"));
    let mut tests = Vec::new();
    for executable in project.executables(artifacts).ok()? {
        let spec = ProcessSpec {
            command: project.launch(artifacts, executable).command(&words),
            timeout: Some(LISTING_TIMEOUT),
            log: &scratch.path().join("list.log"),
            append: false,
            // The time is short enough for a user who wants to stop.
            interrupt: &Interrupt::default(),
            reader: None,
            tail: MAX_LIST_SIZE,
        };
        let finished = process::run(spec).ok()?;
        if matches!(finished.ending, Ending::Exited(status) if status.success()) {
            tests.extend(libtest::listed_tests(&finished.output));
        }
    }
    Some(tests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_other_arguments() {
        let line = "sort --skip slow --skip=big --exact other --test-threads 1 --nocapture -- a::b";
        let words: Vec<_> = line.split(' ').map(OsString::from).collect();
        assert_eq!(names(&words), ["sort", "other", "a::b"]);
    }
}
