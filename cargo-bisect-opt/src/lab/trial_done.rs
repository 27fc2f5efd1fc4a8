//! The record of an answered trial, with its place in the search.

use std::{collections::HashSet, time::Duration};

use bisect_core::search::{Outcome, Question, Trial};

use super::{session::Session, target::Target};
use crate::{
    record::trial::{TrialContext, TrialEstimate, TrialOutcome, TrialRecord, compact},
    run::result::RunResult,
};

/// Returns the record of a trial, from the runs of each of its tests.
pub(super) fn done(n: usize, pattern: String, times: usize, duration: Duration, runs: &[RunResult]) -> TrialRecord {
    let (outcome, reason) = together(runs);
    TrialRecord {
        n,
        is_repeat: false,
        pattern,
        matches: distinct(runs),
        outcome,
        reason,
        runs: times,
        duration,
        context: TrialContext::default(),
    }
}

/// Returns the place of a trial in its search, without the time and the slot of its first run.
pub(super) fn context<T: Target>(session: &Session<'_, '_, '_, '_, T>, trial: &Trial) -> TrialContext {
    let search = &session.search;
    let runs = session.runs.get(&trial.id).into_iter().flatten();
    // Of several tests, each has an estimate of its own.
    let estimate = if session.tests.is_none() { search.test(0).estimate() } else { None };
    TrialContext {
        search: session.lab.searches,
        question: question_name(trial.question).to_owned(),
        of: search.progress().changes(),
        selected: compact(&search.trial_state(trial.id).enabled()),
        logs: runs.map(|&run| session.lab.log_name(run)).collect(),
        estimate: estimate.map(|estimate| TrialEstimate::from(&estimate).per_execution(session.lab.repetition)),
        ..TrialContext::default()
    }
}

/// Returns the name of a question in the JSON.
pub(super) fn question_name(question: Question) -> &'static str {
    match question {
        Question::AllOn => "all-on",
        Question::AllOff => "all-off",
        Question::Prefix => "prefix",
        Question::FoundAlone => "found-alone",
        Question::AllButFound => "all-but-found",
        Question::Baseline => "baseline",
    }
}

/// Returns the number of distinct changes that the runs of a trial reported.
pub(super) fn distinct(runs: &[RunResult]) -> usize {
    match runs {
        [run] => run.reports.len(),
        runs => runs.iter().flat_map(|run| run.reports.ids()).collect::<HashSet<_>>().len(),
    }
}

/// Returns the outcome of all tests of a trial, and its reason.
fn together(runs: &[RunResult]) -> (TrialOutcome, String) {
    let with = |is: fn(Outcome) -> bool| runs.iter().filter(|run| is(run.outcome)).collect::<Vec<_>>();
    let failed = with(|outcome| outcome == Outcome::Fail);
    let unresolved = with(|outcome| matches!(outcome, Outcome::Unresolved(_)));
    let (outcome, those) = match (failed.as_slice(), unresolved.as_slice()) {
        ([], []) => {
            return (
                TrialOutcome::Pass,
                runs.iter().map(|run| run.reason.clone()).find(|reason| !reason.is_empty()).unwrap_or_default(),
            );
        }
        ([], unresolved) => (TrialOutcome::Unresolved, unresolved),
        (failed, _) => (TrialOutcome::Fail, failed),
    };
    let reason = match (runs, those) {
        ([run], _) => run.reason.clone(),
        (_, those) => format!("{} of {} tests", those.len(), runs.len()),
    };
    (outcome, reason)
}
