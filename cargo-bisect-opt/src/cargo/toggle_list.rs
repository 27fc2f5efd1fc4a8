//! The list of toggles that the executables of a build print.

use std::{collections::BTreeSet, ffi::OsString, path::Path, time::Duration};

use super::{
    Artifacts, CargoError, Project,
    toggles::{self, Libraries, Toggle},
};
use crate::process::{self, Ending, ProcessSpec, interrupt::Interrupt};

/// The longest time limit for listing toggles. A program that takes longer does something else.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The size limit for a list of toggles.
const MAX_LIST_SIZE: usize = 64 << 20;

/// Lists the toggles of all executables, also of programs that only tests start. `limit` is that of `--timeout`.
///
/// # Errors
/// If an executable cannot be read or started, or does not end in time.
pub(crate) fn toggles_of(
    project: &Project,
    artifacts: &Artifacts,
    limit: Option<Duration>,
    scratch: &Path,
    interrupt: &Interrupt,
) -> Result<BTreeSet<Toggle>, CargoError> {
    let limit = limit.unwrap_or(TIMEOUT).min(TIMEOUT);
    let libraries = Libraries::among(artifacts.libraries.iter().cloned())?;
    let log = scratch.join("toggles.log");
    let (mut found, mut asked) = (BTreeSet::new(), None);
    for executable in &artifacts.executables {
        if !libraries.or_runtime_in(&fs_err::read(&executable.path)?) {
            continue;
        }
        // If it does not list its toggles after all, a test executable lists its tests, and runs none.
        let arguments: &[OsString] = if executable.is_test { &["--list".into()] } else { &[] };
        let mut command = project.launch(artifacts, executable).command(arguments);
        command.env(toggles::VARIABLE, "1");
        let spec = ProcessSpec {
            command,
            timeout: Some(limit),
            log: &log,
            append: false,
            interrupt,
            reader: None,
            tail: MAX_LIST_SIZE,
        };
        let finished = process::run(spec)?;
        match finished.ending {
            Ending::Interrupted => return Err(CargoError::Interrupted),
            ended @ (Ending::TimedOut | Ending::Stopped(_)) => {
                let when = if ended == Ending::TimedOut {
                    format!(" within {limit:?}")
                } else {
                    ": it was stopped".to_owned()
                };
                let runner = if project.has_runner { ", or in the runner" } else { "" };
                return Err(CargoError::Nothing(format!(
                    "{executable} did not list its toggles{when}; they are listed before `main` starts, so look for \
                     what waits before it{runner}"
                )));
            }
            Ending::Exited(_) => found.extend(toggles::parse(&finished.output)),
        }
        asked = Some(executable);
    }
    toggles::check_runner(&found, asked, &project.config.runner)?;
    Ok(found)
}
