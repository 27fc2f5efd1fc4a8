//! `--when`: the first decision on a culprit that makes the target fail.

use std::io;

use bisect_core::{
    protocol::names::UNTIL,
    search::{Mode, Outcome, Verdict},
};

use super::refinable_target::RefinableTarget;
use crate::{
    axes::occurrences::Occurrences,
    lab::{Lab, Named, Searched},
    output::events::Event,
    record::exit_status::Exit,
    report::kind::ChangeKind,
};

/// The maximum number of decisions of a thread that are searched. The search lists all of them.
const MAX_DECISIONS: usize = 1 << 24;

/// Searches a target, and then, within each culprit, for the first decision that makes the target fail.
///
/// # Errors
/// If an event cannot be emitted.
pub(super) fn run<T: RefinableTarget>(lab: &mut Lab<'_>, target: &mut T) -> io::Result<Exit> {
    let begun = lab.elapsed();
    let Searched { mut end, found, .. } = lab.search(target)?;
    lab.list(&found)?;
    for culprit in &found {
        if lab.interrupt.requested() {
            break;
        }
        lab.parent_culprit = Some(culprit.found.set);
        let is_decided = |kind| [ChangeKind::SITE, ChangeKind::CALLER, ChangeKind::STACK].contains(&kind);
        match culprit.reports.iter().find(|change| !is_decided(change.kind)) {
            Some(change) => {
                let (set, kind) = (culprit.found.set, change.kind.name);
                let note = format!(
                    "--when: culprit {set} has a change of the kind `{kind}`, on which the target does not decide while it runs"
                );
                lab.emit(&Event::Note(&note))?;
            }
            None => decision(lab, target, culprit)?,
        }
    }
    if lab.interrupt.requested() {
        end.status = Exit::Interrupted;
    }
    end.duration = lab.time_since(begun);
    (end.trials, end.runs) = (lab.totals.trials, lab.totals.runs);
    lab.end(end)
}

/// Searches for the first decision on this culprit that makes the target fail, among the first 1, 2, 4, 8, … decisions.
fn decision<T: RefinableTarget>(lab: &mut Lab<'_>, target: &T, culprit: &Named) -> io::Result<()> {
    let Named { changes, found, .. } = culprit;
    let first = Occurrences::first(target.axis(), changes, found.mode == Mode::Enable).map_err(io::Error::other)?;
    let beside = |axis: Occurrences| target.beside(&found.tests, Box::new(axis));
    let mut target = beside(first.clone())?;
    let Ok(mut run) = lab.try_once(&mut target)? else { return Ok(()) };
    let threads = Occurrences::threads(&run.reports);
    let mut each = 1;
    target = beside(first.of(each, &threads))?;
    while run.outcome != Outcome::Fail && each < MAX_DECISIONS {
        each *= 2;
        target = beside(first.of(each, &threads))?;
        match lab.try_once(&mut target)? {
            Ok(larger) => run = larger,
            Err(_) => return Ok(()),
        }
    }
    let Searched { found, end, verdict, .. } = lab.search(&mut target)?;
    if found.is_empty() && end.status != Exit::Interrupted {
        let why = match verdict {
            Some(Verdict::NoDifference(Outcome::Fail)) if threads.is_empty() => {
                format!(
                    "the target does not count its decisions: it has a version of bisect-rt without {UNTIL}, or another runtime"
                )
            }
            _ => end.words,
        };
        lab.emit(&Event::Note(&format!("no decision was found: {why}")))?;
    }
    Ok(())
}
