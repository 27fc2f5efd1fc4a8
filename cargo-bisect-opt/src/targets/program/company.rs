//! Whether what fails does so without the tests that pass. Only what fails is repeated, and a test may need another one
//! that passes: the one leaves something behind in the process, and the other comes across it.
//!
//! The first run that fails tells: what failed in it is run once more without the others, with the same changes. If a test
//! passes, it is run so again, and then beside the others. One that passes twice without them and fails twice beside them
//! needs them. A reliable target pays one execution of what fails.

use bisect_core::Pattern;

use super::{Failure, Failures, Program, attempt::Attempt, criteria::Part, failures::Focus};
use crate::{
    cargo::{Artifacts, Subcommand},
    lab::calibration::Side,
    run::{cause::Cause, error::RunError, spec::Request},
};

impl Program {
    /// The tests that failed in a run of everything and need others for it, which pass.
    pub(super) fn dependent(
        &self,
        attempt: &Attempt,
        artifacts: &Artifacts,
        request: &Request<'_>,
    ) -> Result<Failures, RunError> {
        let (all, none) = (Pattern::all(), Pattern::all().inverted(true));
        let other_end = match request.pattern.clone().verbose(false) {
            pattern if pattern == all => Side::None,
            pattern if pattern == none => Side::All,
            _ => return Ok(Failures::new()),
        };
        let is_narrowed = self.settings.subcommand == Subcommand::Test && !self.settings.all_tests;
        if !is_narrowed || self.focus().is_settled() {
            return Ok(Failures::new());
        }
        let Some(mut open) = attempt.failures().filter(|failures| can_need_others(attempt, failures)) else {
            return Ok(Failures::new());
        };
        // What was broken anyway is not searched for.
        open.retain(|failure| !self.focus().failed_at(other_end).is_some_and(|failed| failed.contains(failure)));
        if open.is_empty() {
            return Ok(open);
        }
        let report_file = request.scratch.path().join("without-others.reports");
        fs_err::File::create(&report_file)?;
        let request = Request { report_file: &report_file, ..*request };
        let (alone, beside) = (Focus::only(&open), Focus::executables_of(&open));
        for (focus, fails) in [(&alone, false), (&alone, false), (&beside, true)] {
            let failed = self.failing_with(focus, &open, artifacts, &request)?;
            open.retain(|failure| failed.contains(failure) == fails);
            if open.is_empty() {
                break;
            }
        }
        Ok(open)
    }

    /// What fails where only this is run: as often as in a run, or until all of what is asked about has failed.
    fn failing_with(
        &self,
        focus: &Focus,
        asked: &Failures,
        artifacts: &Artifacts,
        request: &Request<'_>,
    ) -> Result<Failures, RunError> {
        let mut reports = self.new_reports(request.pattern);
        let mut failed = Failures::new();
        for _ in 0..request.repetition.times() {
            let execution = self.execute(focus, artifacts, request, &mut reports)?;
            failed.extend(execution.into_iter().flat_map(|part| part.failures));
            if asked.is_subset(&failed) {
                break;
            }
        }
        Ok(failed)
    }
}

/// Whether all that failed are tests, by themselves, beside others that did not.
fn can_need_others(attempt: &Attempt, failures: &Failures) -> bool {
    let causes = || attempt.parts().flat_map(|part| part.causes.values());
    let are_tests = failures.iter().all(|failure| failure.test.is_some());
    let by_themselves = causes().all(|cause: &Cause| !cause.is_unended() && cause.environment().is_none());
    are_tests && by_themselves && attempt.parts().any(|part| has_others(part, failures))
}

fn has_others(part: &Part, failures: &Failures) -> bool {
    let Some(Failure { executable, .. }) = part.failures.first() else { return false };
    let failed = failures.iter().filter(|failure| failure.executable == *executable).count();
    part.tests.is_none_or(|tests| tests > failed)
}
