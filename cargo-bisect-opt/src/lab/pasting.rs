//! The lines of a culprit, which are run before they are printed: what is printed for pasting has been pasted.
//!
//! A run of the search has a temporary directory and a slot of its own. A line that does not do what it says without
//! these is printed with them. If a line that should pass does not, one for another state is tried.

use std::{path::Path, thread, time::Duration};

use super::{
    Lab,
    session::Session,
    target::{Runner, Target},
};
use crate::{
    output::json_lines,
    process::{own_file, scratch_dir::ScratchDir, shell, slots::Slots},
    record::pasted::PastedLines,
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
    let (fails, passes) = (failing.next().expect("there is a line that fails"), passing.next());
    let is_refused = shell::is_refusal(&fails);
    if let (Some((temporary, scratch)), Some(passes), false) = (&scratch, &passes, is_refused) {
        run_at_once(session, &[repeated(fails.clone()), repeated(passes.clone())], temporary, scratch.path());
    }
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
    let (reproduce, fails) = if is_refused {
        (fails, LineResult::NotRun)
    } else {
        of(&mut [fails].into_iter().chain(failing), LineResult::Fail).expect("there is a line that fails")
    };
    let (passes, result) = of(&mut passes.into_iter().chain(passing), LineResult::Pass).unzip();
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

/// Runs the line that should fail and the one that should pass at the same time, if two slots are free. Records a result
/// only if it is the expected one, and no line has left files behind: those may decide how the other line ends. The caller
/// runs the other lines again, one after the other.
fn run_at_once<T: Target>(
    session: &Session<'_, '_, '_, '_, T>,
    lines: &[String; 2],
    temporary: &ScratchDir,
    logs: &Path,
) {
    let (lab, runner) = (&*session.lab, session.target.runner());
    let is_known = lines.iter().any(|line| recorded(lab, line).is_some());
    if session.workers.free_slots() < 2 || !runner.can_paste_at_once() || is_known {
        return;
    }
    let logs = ["log", "log-2"].map(|log| logs.join(log));
    let first = pasting(session, &lines[0], temporary, &logs[0]);
    let second = pasting(session, &lines[1], temporary, &logs[1]);
    let (Some(first), Some(second)) = (first, second) else { return };
    let results = thread::scope(|scope| {
        let other = thread::Builder::new().spawn_scoped(scope, || runner.paste(&second)).ok()?;
        Some([runner.paste(&first), other.join().ok()?])
    });
    let leaves_nothing = fs_err::read_dir(temporary.path()).is_ok_and(|mut left| left.next().is_none());
    for ((line, result), expected) in
        lines.iter().zip(results.into_iter().flatten()).zip([LineResult::Fail, LineResult::Pass])
    {
        if result == expected && leaves_nothing {
            record(lab, line, result);
        } else if result != LineResult::NotRun {
            lab.pasted.update(|count| count + 1);
        }
    }
}

/// Runs a line of a culprit, with a directory for temporary files and a log, unless its result is recorded.
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
    let Some(pasting) = pasting(session, line, temporary, log) else { return LineResult::NotRun };
    let result = session.target.runner().paste(&pasting);
    if result != LineResult::NotRun {
        session.lab.pasted.update(|count| count + 1);
        record(session.lab, line, result);
    }
    result
}

/// Returns a line with what its shell needs; `None` if the limits of the search allow no run any more.
fn pasting<'a, T: Target>(
    session: &'a Session<'_, '_, '_, '_, T>,
    line: &'a str,
    temporary: &'a ScratchDir,
    log: &'a Path,
) -> Option<Pasting<'a>> {
    let lab = &session.lab;
    let runs = lab.totals.runs + session.search.progress().runs();
    let is_out_of_runs = lab.options.max_runs.is_some_and(|max| runs >= max);
    let left = lab.time_left();
    if is_out_of_runs || left == Some(Duration::ZERO) || lab.interrupt.requested() {
        return None;
    }
    let time = lab.elapsed() + EXTRA_TIME;
    Some(Pasting {
        line,
        log,
        interrupt: lab.interrupt,
        timeout: left.map_or(time, |left| left.min(time)),
        temporary,
        is_alone: session.workers.is_idle(),
        failures: &session.failures,
    })
}

/// Returns the recorded result of a line, which this search or an interrupted one has run.
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
