//! Lines of an answer, pasted into a shell.

use std::process::Command;

use super::{Finished, driver::scrubbed, run};

/// Runs the lines under `fails:` and `passes:` of all culprits in a shell, as they are printed and in this order, where
/// the search was started and with its environment. Returns their number.
///
/// # Panics
/// If a line under `fails:` succeeds, or one under `passes:` fails.
#[must_use]
#[track_caller]
pub fn paste(search: &Command, finished: &Finished) -> usize {
    let mut pasted = 0;
    for found in finished.events_of("found") {
        for (name, passes) in [("reproduce", false), ("passes", true)] {
            let Some(line) = found[name].as_str() else { continue };
            let printed = run(&mut shell(search, line));
            assert_eq!(printed.status == Some(0), passes, "{name}: {line}\n{printed}\n{finished}");
            pasted += 1;
        }
    }
    pasted
}

/// Returns the command that runs a line in a POSIX shell, where a search was started and with its environment.
#[must_use]
pub fn shell(search: &Command, line: &str) -> Command {
    let mut shell = scrubbed("sh".as_ref(), search.get_current_dir().unwrap_or(".".as_ref()));
    for (name, value) in search.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.args(["-c", line]);
    shell
}
