//! The lines of a culprit, which are run before they are printed: what is printed for pasting has been pasted.
//!
//! A run of the search has a temporary directory and a slot of its own. A line that does not do what it says without
//! these is printed with them. If a line that should pass does not, one for another state is tried.

use std::{path::Path, time::Duration};

use super::{Lab, session::Session, target::Target};
use crate::{
    output::{json_lines, pasted::PastedLines},
    process::{own_file, scratch_dir::ScratchDir, shell, slots::Slots},
    run::pasting::{LineResult, Pasting},
};

/// A line may take as long as the whole search so far, and this much more.
const EXTRA_TIME: Duration = Duration::from_secs(600);

/// Runs lines that are to fail with a culprit, and lines that are to pass without it, the best ones first, until there is
/// one that fails and one that passes, and returns these. If no line holds, it is the first one. Each line is for one
/// execution, which `repeated` repeats.
///
/// These runs are no trials, and `--max-runs` does not count them, but where it allows no other run, they are not made.
pub(super) fn chosen<T: Target>(
    session: &Session<'_, '_, '_, '_, T>,
    mut failing: impl Iterator<Item = String>,
    mut passing: impl Iterator<Item = String>,
    repeated: impl Fn(String) -> String,
) -> (String, Option<String>, Option<PastedLines>) {
    let scratch = ScratchDir::new().and_then(|scratch| Ok((scratch.inner()?, scratch))).ok();
    let of = |lines: &mut dyn Iterator<Item = String>, expected| {
        let mut best = None;
        for line in lines.flat_map(|line| [line.clone(), set_apart(&line)]).map(&repeated) {
            let result = match &scratch {
                Some((temporary, scratch)) => result_of(session, &line, temporary, &scratch.path().join("log")),
                None => LineResult::NotRun,
            };
            if [expected, LineResult::NotRun].contains(&result) {
                return Some((line, result));
            }
            best.get_or_insert((line, result));
        }
        best
    };
    let best = failing.next().expect("there is a line that fails");
    let (reproduce, fails) = if shell::is_refusal(&best) {
        (best, LineResult::NotRun)
    } else {
        of(&mut [best].into_iter().chain(failing), LineResult::Fail).expect("there is a line that fails")
    };
    let (passes, result) = of(&mut passing, LineResult::Pass).unzip();
    (reproduce, passes, Some(PastedLines { reproduce: fails, passes: result }))
}

/// Returns a line that runs another one with what each run of the search has: an empty directory for temporary files, and
/// the variables of the first slot.
fn set_apart(line: &str) -> String {
    let slots = Slots::inherited();
    let variables = slots.variables(0).map(|(name, value)| format!(" {}={}", name.display(), shell::quote(value)));
    let slot = variables.collect::<String>();
    let begin = shell::exiting_at_signals(&format!("export TMPDIR=\"$(mktemp -d)\"{slot}"));
    format!("({begin} && trap 'rm -rf \"$TMPDIR\"' EXIT && {line})")
}

/// Runs a line of a culprit, with a directory for temporary files and a log, unless an interrupted search has done so.
fn result_of<T: Target>(
    session: &Session<'_, '_, '_, '_, T>,
    line: &str,
    temporary: &ScratchDir,
    log: &Path,
) -> LineResult {
    if let Some(known) = recorded(session.lab, line) {
        session.lab.pasted.update(|count| count + 1);
        return known;
    }
    let runs = session.lab.totals.runs + session.search.progress().runs();
    let is_out_of_runs = session.lab.options.max_runs.is_some_and(|max| runs >= max);
    let time_left = session.lab.time_left();
    if is_out_of_runs || time_left == Some(Duration::ZERO) || session.lab.interrupt.requested() {
        return LineResult::NotRun;
    }
    let time = session.lab.elapsed() + EXTRA_TIME;
    let result = session.target.paste(&Pasting {
        line,
        log,
        interrupt: session.lab.interrupt,
        timeout: time_left.map_or(time, |left| left.min(time)),
        temporary,
        is_alone: session.workers.is_idle(),
        failures: &session.failures,
    });
    if result != LineResult::NotRun {
        session.lab.pasted.update(|count| count + 1);
        record(session.lab, line, result);
    }
    result
}

/// Returns the result of a line that an interrupted search has run.
fn recorded(lab: &Lab<'_>, line: &str) -> Option<LineResult> {
    let (_, results) = json_lines::open::<(String, LineResult)>(&lab.run_dir.line_results()).ok()?;
    results.into_iter().find_map(|(_, (known, result))| (known == line).then_some(result))
}

/// Records the result of a line. Without the record, it is run again if the search is continued.
fn record(lab: &Lab<'_>, line: &str, result: LineResult) {
    let _ = fs_err::create_dir_all(lab.run_dir.inputs());
    if let Ok(file) = own_file::append(&lab.run_dir.line_results()) {
        let _ = json_lines::add(file, &(line, result));
    }
}
