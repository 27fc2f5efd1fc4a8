//! A trial in words: the label of its row, and the details that a reader asks for.

use crate::{
    record::{milliseconds::to_whole_milliseconds, trial::TrialRecord},
    units::{grouped, grouped_plural, plural, seconds},
};

/// The maximum number of characters of a pattern, and of another text, in the details.
const MAX_TEXT: usize = 300;
/// The number of intervals from which on some may be merged.
const MANY_INTERVALS: usize = 64;
/// The maximum number of logs that are named.
const MAX_LOGS: usize = 3;

/// Returns the trial in a line: `trial 7: fail, 12 of 1,204 changes, 0.3s`.
pub(super) fn label(trial: &TrialRecord) -> String {
    let title = trial.title();
    let selected = &trial.context.selected;
    let enabled = selected.iter().map(|(start, end)| end.saturating_sub(*start)).fold(0, usize::saturating_add);
    // Intervals that were merged contain changes that were not enabled.
    let about = if selected.len() < MANY_INTERVALS { "" } else { "at most " };
    let changes = grouped_plural(trial.context.of, "change");
    let time = seconds(to_whole_milliseconds(trial.duration));
    let enabled = grouped(u64::try_from(enabled).unwrap_or(u64::MAX));
    format!("{title}: {}, {about}{enabled} of {changes}, {time}", trial.outcome.name())
}

/// Returns the label and the details, one a line.
pub(super) fn details(trial: &TrialRecord) -> String {
    let context = &trial.context;
    let mut lines = vec![label(trial)];
    if !trial.reason.is_empty() {
        lines.push(format!("reason: {}", shortened(&trial.reason)));
    }
    if let Some(question) = question(&context.question) {
        lines.push(format!("question: {question}"));
    }
    lines.push(format!("pattern: {}", shortened(&trial.pattern)));
    let matches = grouped_plural(trial.matches, "change");
    lines.push(format!("reported: {matches}; {} in slot {}", plural(trial.runs, "run"), context.slot));
    for log in context.logs.iter().take(MAX_LOGS) {
        lines.push(format!("log: runs/{log}"));
    }
    lines.join("\n")
}

/// Returns the question of a trial in words; `None` if it has none.
fn question(name: &str) -> Option<&str> {
    Some(match name {
        "" => return None,
        "all-on" => "does it fail with every change?",
        "all-off" => "does it fail with no change?",
        "prefix" => "where in the order does it begin to fail?",
        "found-alone" => "does it fail with the culprit alone?",
        "all-but-found" => "does it fail with everything but the culprits?",
        "baseline" => "does it still fail, or pass, as at the beginning?",
        other => other,
    })
}

/// Returns the beginning of a text.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
