//! The lines of a culprit, which are run before they are printed: what is printed for pasting has been pasted.
//!
//! A run of the search has a temporary directory and a slot of its own. A line that does not do what it says without
//! these is printed with them. A line that has not passed is replaced by one for another state that has passed.

use std::time::Duration;

use super::{Lab, session::Session, target::Target};
use crate::{
    output::{json_lines, pasted::PastedLines},
    process::{own_file, scratch_dir::ScratchDir, shell, slots::Slots},
    run::pasting::{LineEnd, Pasting},
};

/// The time for a line, in addition to that of the whole search.
const EXTRA_TIME: Duration = Duration::from_secs(600);

/// The lines of a culprit, each for one execution.
#[derive(Debug)]
pub(super) struct CulpritLines {
    /// The line that fails.
    pub(super) reproduce: String,
    /// The lines that pass, the best one first.
    pub(super) passes: Vec<String>,
}

/// Runs the lines of a culprit, each repeated by this function, until there is one that fails and one that passes. Returns
/// these, or the best ones.
///
/// These runs are no trials, and `--max-runs` does not count them, but where it allows no other run, they are not made.
pub(super) fn chosen<T: Target>(
    session: &Session<'_, '_, '_, '_, T>,
    culprit: usize,
    lines: CulpritLines,
    repeated: impl Fn(String) -> String,
) -> (String, Option<String>, Option<PastedLines>) {
    // Without it, the output is lost, but not the end.
    let _ = fs_err::create_dir_all(session.lab.run_dir.inputs());
    let temporary = ScratchDir::new().ok();
    let of = |lines: Vec<String>, expected| {
        let name = if expected == LineEnd::Fail { "fails" } else { "passes" };
        let mut best = None;
        let lines = lines.into_iter().filter(|line| !shell::is_refusal(line) || expected == LineEnd::Fail);
        for line in lines.flat_map(|line| [line.clone(), set_apart(&line)]).map(&repeated) {
            let end = match &temporary {
                Some(temporary) => end_of(session, (&line, name), culprit, temporary),
                None => LineEnd::NotRun,
            };
            if [expected, LineEnd::NotRun].contains(&end) {
                return Some((line, end));
            }
            best.get_or_insert((line, end));
        }
        best
    };
    let (reproduce, fails) = of(vec![lines.reproduce], LineEnd::Fail).expect("there is a line that fails");
    let (passes, passing) = of(lines.passes, LineEnd::Pass).unzip();
    (reproduce, passes, Some(PastedLines { reproduce: fails, passes: passing }))
}

/// Returns a line that runs another one with what each run of the search has: an empty directory for temporary files, and
/// the variables of the first slot.
fn set_apart(line: &str) -> String {
    let slots = Slots::inherited();
    let variables = slots.variables(0).map(|(name, value)| format!(" {}={}", name.display(), shell::quote(value)));
    let slot = variables.collect::<String>();
    format!("(export TMPDIR=\"$(mktemp -d)\"{slot} && trap 'rm -rf \"$TMPDIR\"' EXIT && {line})")
}

/// Runs a line of a culprit, with its name, unless an interrupted search has done so.
fn end_of<T: Target>(
    session: &Session<'_, '_, '_, '_, T>,
    (line, name): (&str, &str),
    culprit: usize,
    temporary: &ScratchDir,
) -> LineEnd {
    if let Some(known) = recorded(session.lab, line) {
        session.lab.pasted.update(|count| count + 1);
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
        session.lab.pasted.update(|count| count + 1);
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
