//! A victim that fails alone and after all others: it may need one test, and be disturbed by another one.
//!
//! Runs of about log2 N selections, in which each test occurs without each other one, find a subset with which it
//! passes. Then the same engine searches twice: the tests that it needs in that subset, and those that disturb it among
//! all, with the needed ones in each run.

use std::{io, time::Duration};

use bisect_core::{
    ChangeId,
    search::{Outcome, Verdict},
};

use super::{
    Victim, fails_always,
    separating_sets::separating_sets,
    shared::{self, Explanation},
};
use crate::{
    lab::{Lab, Searched, Totals},
    output::events::Event,
    record::{end::End, exit_status::Exit},
    run::{error::RunError, numbering::id},
    targets::victim::{Arrangement, VictimTarget},
    units::plural,
};

/// The result of runs with some of the tests that precede the victim.
enum Probe {
    /// The victim passes after these tests.
    Passes(Vec<ChangeId>),
    /// The victim failed after each of this number of selections.
    Fails(usize),
    /// The limit of runs was reached.
    Limit,
}

/// Searches a victim that has failed alone and after all tests that precede it. It may pass after some of them: then the
/// tests that it needs are searched, and, with these, the tests that disturb it.
///
/// # Errors
/// If an event cannot be emitted.
pub(super) fn search(lab: &mut Lab<'_>, target: &VictimTarget, failed: Searched, begun: Duration) -> io::Result<Exit> {
    let victim = target.victim().to_owned();
    let passing = match probe(lab, target)? {
        Ok(Probe::Passes(passing)) => passing,
        Ok(Probe::Fails(selections)) => {
            return end(lab, End { words: always(target, selections), ..failed.end }, begun);
        }
        Ok(Probe::Limit) => {
            let limit = lab.limit();
            let words = format!(
                "stopped at {limit}: `{victim}` fails alone and after all tests that precede it. Allow {} to see whether it \
                 passes after some of them",
                limit.more()
            );
            return end(lab, End { status: Exit::Limit, words, ..failed.end }, begun);
        }
        Err(error) => return Victim::stopped(lab, &error, begun),
    };
    let (all, some) = (plural(target.others(), "test"), passing.len());
    lab.emit(&Event::Note(&format!(
        "`{victim}` fails alone and after all {all} that precede it, but passes after {some} of them. First, the tests \
         that it needs are searched, then those that disturb it"
    )))?;
    let mut subset = target.with(&passing, Arrangement::Serial);
    let mut needed = lab.search(&mut subset)?;
    if fails_always(&needed) {
        let words = format!(
            "`{victim}` passed once after {}, and failed in the next run after the same ones: it fails at random, alone, \
             too. Debug it alone first",
            plural(some, "test")
        );
        return end(lab, End { status: Exit::Inconsistent, words, ..needed.end }, begun);
    }
    let (mut answers, mut tests, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for named in &needed.found {
        let is_noisy = needed.end.noise.is_some();
        let Explanation { answer, is_in_process } = shared::explain(lab, &subset, (named, &needed.found), is_noisy)?;
        answers.push(answer);
        places.push(is_in_process);
        tests.extend(subset.names(&named.changes));
    }
    if needed.verdict != Some(Verdict::Complete) || lab.interrupt.requested() {
        lab.list(&needed.found)?;
        let words = format!("{}. Tests that disturb `{victim}` were not searched", needed.end.words);
        return end(lab, End { answers, words, ..needed.end }, begun);
    }
    let is_known = places.iter().all(Option::is_some);
    let mut target = target.requiring(tests, is_known.then(|| places.contains(&Some(true))));
    let disturbing = lab.search(&mut target)?;
    for named in &disturbing.found {
        let is_noisy = disturbing.end.noise.is_some();
        answers.push(shared::explain(lab, &target, (named, &disturbing.found), is_noisy)?.answer);
    }
    let is_complete = disturbing.verdict == Some(Verdict::Complete);
    let (needs, disturbs) = (culprits(&needed), culprits(&disturbing));
    needed.found.extend(disturbing.found);
    lab.list(&needed.found)?;
    let words = if is_complete {
        format!(
            "found {needs} (tests that `{victim}` needs) and {disturbs} (tests that disturb it); without the tests that \
             disturb it, it passes"
        )
    } else {
        format!(
            "found {needs} (tests that `{victim}` needs). The search for tests that disturb it: {}",
            disturbing.end.words
        )
    };
    end(lab, End { answers, words, ..disturbing.end }, begun)
}

/// Runs the victim after selections of the tests that precede it, until it passes. It has failed alone and after all of
/// them.
///
/// If it needs one test and another one disturbs it, then one of the selections has the first without the second.
///
/// # Errors
/// If an event cannot be emitted.
fn probe(lab: &mut Lab<'_>, target: &VictimTarget) -> io::Result<Result<Probe, RunError>> {
    let sets = separating_sets(target.others());
    let count = sets.len();
    for set in sets {
        if lab.stops_at_limit() {
            return Ok(Ok(Probe::Limit));
        }
        let changes: Vec<_> = set.into_iter().map(id).collect();
        match lab.try_once(&mut target.with(&changes, Arrangement::Serial))? {
            Ok(run) if run.outcome == Outcome::Pass => return Ok(Ok(Probe::Passes(changes))),
            Ok(_) => {}
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(Probe::Fails(count)))
}

/// Emits the end of all searches, and returns its status.
fn end(lab: &mut Lab<'_>, mut end: End, begun: Duration) -> io::Result<Exit> {
    if lab.interrupt.requested() {
        end.status = Exit::Interrupted;
    }
    let Totals { sets, trials, runs } = lab.totals;
    let end = End { sets, trials, runs, duration: lab.time_since(begun), ..end };
    lab.end(end)
}

fn culprits(searched: &Searched) -> String {
    plural(searched.found.len(), "culprit")
}

/// Returns the conclusion for a victim that fails alone, after all others and after this number of selections.
fn always(target: &VictimTarget, selections: usize) -> String {
    let victim = target.victim();
    let words = format!("`{victim}` fails alone, too: no other test is needed to make it fail");
    if selections == 0 {
        return words;
    }
    format!(
        "{words}. It also fails after all {} that precede it, and after each of {selections} selections of them. For any \
         two of these tests, one selection contains the first without the second. So if it needs other tests to pass, \
         it needs several, or several disturb it, or the harness runs them after it. Debug it alone first",
        plural(target.others(), "test")
    )
}
