//! Events for tests of listeners.

use std::{path::PathBuf, time::Duration};

use bisect_core::search::{Mode, Question, TrialId};

use super::events::RunBegins;
use crate::record::trial::{TrialContext, TrialOutcome, TrialRecord};

/// Returns the beginning of the first run, with every change.
pub(super) fn run_begins() -> RunBegins<'static> {
    RunBegins {
        trial: TrialId(0),
        number: 1,
        n: Some(1),
        is_repeat: false,
        log: PathBuf::new(),
        run: (1, 1),
        mode: Mode::Enable,
        question: Question::AllOn,
        subject: None,
        selected: None,
        tests: None,
        pattern: "y",
        left: None,
        candidates: None,
    }
}

/// Returns the answer to its trial, after this time.
pub(super) fn trial_done(duration: Duration) -> TrialRecord {
    TrialRecord {
        n: 1,
        is_repeat: false,
        pattern: "y".to_owned(),
        matches: 3,
        outcome: TrialOutcome::Pass,
        reason: String::new(),
        runs: 1,
        duration,
        context: TrialContext::default(),
    }
}
