//! Runs that ask for text about changes. Their outcomes do not count.
//!
//! A run that asks for text is another experiment: naming the frames of a stack takes time, locks and memory inside the
//! target. So the runs of a search ask for markers only. Once a culprit is found, one more run of exactly its changes
//! asks for their text.
//!
//! This run is no trial. Under noise it comes after the search. With parallel runs it is made beside the proof or the
//! checks, in a free slot. The line below `fails:` shows what was confirmed, without text.

use std::{collections::BTreeSet, io};

use bisect_core::{
    ChangeId,
    search::{Culprit, Mode, Order, Question, Trial, Verdict},
};

use super::{
    session::{Session, SideRun},
    target::{Runner, Target},
    texts::{OfAll, Texts},
    workers,
};
use crate::{
    axes::facts::LikelyKnown,
    output::events::Event,
    report::content::Report,
    run::{
        repetition::Repetition,
        spec::{Purpose, RunSpec},
    },
    vcs::since::Touched,
};

/// A flaky target does not reach its changes in every run: after this many runs a change stays without text.
const TRIES: usize = 3;

/// The text of more changes is not asked for only to name suspects.
const MANY_SUSPECTS: usize = 10_000;
/// The places of more changes are not looked up unless the user asks for it.
const MANY_PLACES: usize = 10_000;

/// Asks for the text about culprits that were found and have none. With parallel runs, the text of a culprit is
/// asked for beside its checks.
pub(super) fn want_texts<T: Target>(session: &mut Session<'_, '_, '_, '_, T>) {
    let is_at_limit = session.lab.runs_left().is_some_and(|left| session.search.progress().runs() >= left);
    if !session.target.axis().facts().reporter.needs_text_run() || is_at_limit {
        return;
    }
    want_texts_of_all(session);
    if session.texts.is_pending() {
        return;
    }
    let found = session.search.culprits();
    let found = found.iter().map(|shared| (shared.culprit.clone(), shared.tests.first().copied()));
    let under_check = session.search.progress().culprit_under_check().filter(|_| session.lab.jobs.get() > 1);
    let under_check = under_check.map(|culprit| (culprit.clone(), Some(0)));
    for (culprit, test) in found.chain(under_check).collect::<Vec<_>>() {
        want_text(session, &culprit, test);
    }
}

/// Asks for the text about the culprit that the search expects to name. Call this only if a slot is free.
pub(super) fn want_text_early<T: Target>(session: &mut Session<'_, '_, '_, '_, T>) {
    // A run for a wrong suspect must not use up a limit.
    let is_limited = session.lab.options.max_runs.is_some();
    if session.target.axis().facts().reporter.needs_text_run()
        && !is_limited
        && session.lab.jobs.get() > 1
        && !session.texts.is_pending()
        && let Some(culprit) = session.search.progress().expected_culprit()
    {
        want_text(session, &culprit, Some(0));
    }
}

/// Asks for the text about a culprit of this test, or of the target, unless it is known or [`TRIES`] runs have asked.
fn want_text<T: Target>(session: &mut Session<'_, '_, '_, '_, T>, culprit: &Culprit, test: Option<usize>) {
    let changes: BTreeSet<_> = session.target.axis().numbering().ids(culprit).collect();
    let is_known = changes.iter().all(|&id| session.texts.of(id).is_some());
    let tries = session.texts.tries.entry(changes).or_default();
    if !is_known && *tries < TRIES {
        *tries += 1;
        session.texts.wanted.push_back(Trial {
            id: culprit.confirmed_by,
            question: Question::FoundAlone,
            selection: culprit.selection(),
            tests: test.into_iter().collect(),
        });
    }
}

/// Asks for the text about all changes, where it matters which lines they are on, or to name suspects.
fn want_texts_of_all<T: Target>(session: &mut Session<'_, '_, '_, '_, T>) {
    let is_noisy = (0..session.search.progress().tests()).any(|test| session.search.test(test).is_noisy());
    let is_urgent = awaits_places(session) && session.tests.is_none();
    let verdict = session.search.verdict();
    // In the middle of a search, a run beside it would hide that each depends on the one before. At a limit, no run is
    // left to ask.
    let is_time = verdict.is_some() || session.lab.options.max_runs.is_some();
    let names_suspects = is_noisy && is_time && session.search.progress().changes() < MANY_SUSPECTS;
    let is_unusable = matches!(verdict, Some(Verdict::NoDifference(_) | Verdict::Unusable(_)));
    if session.knows_ends()
        && !is_unusable
        && session.texts.of_all == OfAll::Unknown
        && (is_urgent || names_suspects)
        && let Some(end) = &session.failing_end
    {
        session.texts.of_all = if is_urgent { OfAll::Awaited } else { OfAll::Asked };
        let tests = if session.tests.is_some() { (0..session.search.progress().tests()).collect() } else { vec![0] };
        session.texts.wanted.push_back(Trial { tests, ..end.clone() });
    }
}

/// Returns true if a culprit can be shown: the text of its changes is known, or will not be known.
pub(super) fn has_text<T: Target>(session: &Session<'_, '_, '_, '_, T>, changes: &BTreeSet<ChangeId>) -> bool {
    let is_known = changes.iter().all(|&id| session.texts.of(id).is_some());
    is_known
        || !session.target.axis().facts().reporter.needs_text_run()
        || session.texts.tries.get(changes) >= Some(&TRIES)
}

/// Starts the run that is wanted first, if there is one. Returns true if the search has to wait for it.
pub(super) fn start_text_run<T: Target>(session: &mut Session<'_, '_, '_, '_, T>) -> bool {
    if !session.texts.is_in_flight
        && let Some(slot) = session.workers.free_slot()
        && let Some(trial) = session.texts.wanted.pop_front()
    {
        session.texts.is_in_flight = true;
        let choice = session.target.axis().numbering().choice(&trial.selection).with_text();
        session
            .start_beside_search(slot, SideRun { purpose: Purpose::Text, trial, choice, repetition: Repetition::Once });
    }
    session.texts.of_all == OfAll::Awaited
}

/// Takes the reports of a run that asked for text.
pub(super) fn take<T: Target>(
    session: &mut Session<'_, '_, '_, '_, T>,
    spec: &RunSpec,
    shown: &<T::Runner as Runner>::Observations,
) {
    session.texts.is_in_flight = false;
    for reports in session.target.reports(shown) {
        session.texts.learn(reports);
    }
    workers::delete_reports(spec);
}

/// Returns true if it is not known yet which changes are on lines that were touched, or are likely for another reason.
/// The steps of a counter are on no lines.
pub(super) fn awaits_places<T: Target>(session: &Session<'_, '_, '_, '_, T>) -> bool {
    (session.since.is_some() || session.target.axis().facts().likely == LikelyKnown::AfterEnds)
        && session.target.axis().numbering().order != Order::Counter
        && session.texts.of_all != OfAll::Used
        && !session.search.progress().is_noisy()
}

/// Returns the direction that the runs of both ends show.
fn direction<T: Target>(session: &Session<'_, '_, '_, '_, T>) -> Mode {
    if session.failing_question() == Some(Question::AllOff) { Mode::Disable } else { Mode::Enable }
}

/// Returns the reports of all changes, with their locations.
fn places<T: Target>(session: &Session<'_, '_, '_, '_, T>) -> Vec<Report> {
    let Texts { known, .. } = &session.texts;
    if session.target.axis().facts().reporter.needs_text_run() {
        return known.values().cloned().collect();
    }
    // No run describes the items of a list.
    let is_list = session.target.axis().numbering().order == Order::Given;
    let listed = if is_list { session.search.progress().changes() as u64 } else { 0 };
    let unknown = (0..listed).map(ChangeId).filter(|id| !known.contains_key(id)).map(Report::new);
    // The axis completes a report, and may show another ID.
    let mode = direction(session);
    let complete =
        |report: Report| Report { id: report.id, ..session.target.axis().change(report, session.target.root(), mode) };
    known.values().cloned().chain(unknown).map(complete).collect()
}

/// Favours changes before the first cut. With a revision: those on edited lines, then those in edited files, once their
/// places are known. Without one: those that the target calls likely after the runs of both ends. Returns true if the
/// search was waiting for this.
pub(super) fn favour_touched<T: Target>(session: &mut Session<'_, '_, '_, '_, T>) -> io::Result<bool> {
    let is_time = if session.target.axis().facts().reporter.needs_text_run() {
        session.texts.of_all == OfAll::Awaited && !session.texts.is_pending()
    } else {
        awaits_places(session) && session.tests.is_none() && session.knows_ends()
    };
    if !is_time {
        return Ok(false);
    }
    session.texts.of_all = OfAll::Used;
    let (numbering, mode) = (session.target.axis().numbering(), direction(session));
    let ranks = |group: Vec<ChangeId>| group.into_iter().map(|id| numbering.rank(mode, id)).collect::<Vec<_>>();
    let Some(since) = &session.since else {
        let failed = session.failed_at_end.first().map_or(&[][..], Vec::as_slice);
        session.search.favour(session.target.axis().likely(failed).into_iter().map(ranks));
        return Ok(true);
    };
    if session.lab.since.is_none() && session.search.progress().changes() > MANY_PLACES {
        return Ok(true);
    }
    let Touched { on_lines, in_files } = since.touched(&places(session));
    let commit = &since.commit()[..12];
    let are_all_in_files = in_files.len() >= session.search.progress().changes();
    let note = match (on_lines.len(), in_files.len()) {
        (0, count) if count > 0 && !are_all_in_files => format!(
            "no change is on a line that changed since {commit}, but {count} are in files that did: these are tried first"
        ),
        (0, _) => format!("no change is on a line that changed since {commit}"),
        (count, _) => {
            format!("of the changes, {count} are on lines that changed since {commit}: these are tried first")
        }
    };
    let is_any_favoured = !on_lines.is_empty() || !in_files.is_empty() && !are_all_in_files;
    let likely = in_files.into_iter().chain(session.likely_before_runs());
    let groups: [Vec<_>; 2] = [on_lines.into_iter().collect(), likely.collect()];
    session.search.favour(groups.map(ranks));
    if session.lab.since.is_some() || is_any_favoured {
        session.lab.emit(&Event::Note(&note))?;
    }
    Ok(true)
}
