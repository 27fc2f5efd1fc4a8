//! The lines of a culprit, which are run before they are printed: what is printed for pasting has been pasted.

use std::time::Duration;

use super::{Lab, session::Session, target::Target};
use crate::{
    output::{events::Found, json_lines, pasted::PastedLines},
    process::{own_file, scratch_dir::ScratchDir},
    run::pasting::{LineEnd, Pasting},
};

/// The time for a line, in addition to that of the whole search.
const EXTRA_TIME: Duration = Duration::from_secs(600);

/// Runs the lines of a culprit. These runs are no trials, and `--max-runs` does not count them, but where it allows no
/// other run, they are not made.
pub(super) fn paste<T: Target>(session: &mut Session<'_, '_, '_, '_, T>, found: &mut Found) {
    // Without it, the output is lost, but not the end.
    let _ = fs_err::create_dir_all(session.lab.run_dir.inputs());
    let temporary = ScratchDir::new().ok();
    let end_of = |line: &str, name| match &temporary {
        Some(temporary) => end_of(session, (line, name), found.set, temporary),
        None => LineEnd::NotRun,
    };
    let reproduce = end_of(&found.reproduce, "fails");
    let passes = found.passes.as_deref().map(|line| end_of(line, "passes"));
    let pasted = PastedLines { reproduce, passes };
    session.lab.pasted += pasted.count();
    found.pasted = Some(pasted);
}

/// Runs a line of a culprit, with its name, unless an interrupted search has done so.
fn end_of<T: Target>(
    session: &Session<'_, '_, '_, '_, T>,
    (line, name): (&str, &str),
    culprit: usize,
    temporary: &ScratchDir,
) -> LineEnd {
    if let Some(known) = recorded(session.lab, line) {
        return known;
    }
    let runs = session.lab.totals.runs + session.search.progress().runs();
    let is_out_of_runs = session.lab.options.max_runs.is_some_and(|max| runs >= max);
    let time_left = session.lab.time_left();
    if is_out_of_runs || time_left == Some(Duration::ZERO) || session.lab.interrupt.requested() {
        return LineEnd::NotRun;
    }
    let time = session.lab.elapsed() + EXTRA_TIME;
    let end = session.target.paste(&Pasting {
        line,
        log: &session.lab.run_dir.log_of_line(culprit, name),
        interrupt: session.lab.interrupt,
        timeout: time_left.map_or(time, |left| left.min(time)),
        temporary,
        is_alone: session.workers.is_idle(),
    });
    if end != LineEnd::NotRun {
        record(session.lab, line, end);
    }
    end
}

/// Returns the end of a line that an interrupted search has run.
fn recorded(lab: &Lab<'_>, line: &str) -> Option<LineEnd> {
    let (_, ends) = json_lines::open::<(String, LineEnd)>(&lab.run_dir.line_ends()).ok()?;
    ends.into_iter().find_map(|(_, (known, end))| (known == line).then_some(end))
}

/// Records the end of a line. Without the record, it is run again if the search is continued.
fn record(lab: &Lab<'_>, line: &str, end: LineEnd) {
    if let Ok(file) = own_file::append(&lab.run_dir.line_ends()) {
        let _ = json_lines::add(file, &(line, end));
    }
}
