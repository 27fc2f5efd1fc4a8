//! One run where the build itself is the target: it passes if cargo succeeds, and fails if what it compiles does not.
//!
//! Cargo keeps what was compiled without an error, also from one run to the next: that would only pass once more. What was
//! not, it compiles again.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use bisect_core::search::{Outcome, Reason};

use super::{
    Program,
    attempt::Attempt,
    criteria::Part,
    failures::{Failure, Failures},
    run::unusable,
};
use crate::{
    cargo::{BuildOutput, Built},
    process::{Ending, Finished},
    run::{cause::Cause, error::RunError, outcome::classify, spec::Request},
};

/// Of a selection with which cargo does not come to compiling.
const NOT_BEGUN: &str = "cargo fails before it compiles anything";

impl Program {
    /// Builds what the selection says; several times, if that is asked for.
    pub(super) fn compile(&self, request: &Request<'_>) -> Result<Attempt, RunError> {
        let mut reports = self.new_reports(request.pattern);
        let with = self.build_with(request)?;
        let (timeout, output, scratch) = (self.settings.timeout, BuildOutput::Log(request.log), request.scratch.path());
        let started = Instant::now();
        let mut artifacts = None;
        let repetition = request.repetition;
        let executions = self.repeat(repetition, &self.together(None), || {
            let built = self.project.attempt_in(request.slot, &with, output, scratch, timeout, request.interrupt);
            let built = built.map_err(unusable)?;
            self.count_build(&built.artifacts);
            let part = self.part_of_build(&built)?;
            artifacts = Some(built.artifacts);
            Ok(vec![part])
        })?;
        let duration = started.elapsed();
        self.read_messages(artifacts.as_ref(), request, &mut reports)?;
        reports.read_file(request.report_file)?;
        let (started_in, dependent) = (Duration::ZERO, Failures::new());
        Ok(Attempt { executions, repetition, reports, started_in, duration, dependent })
    }

    fn part_of_build(&self, built: &Built) -> Result<Part, RunError> {
        let has_begun = built.began || built.ending == Ending::TimedOut;
        let mut learned = self.learned();
        learned.has_compiled |= has_begun;
        let has_ever = learned.has_compiled;
        drop(learned);
        if !has_begun {
            if !has_ever {
                // It is not the selection then.
                let error = self.project.build_error(built);
                return Err(RunError::Unusable(format!("{NOT_BEGUN}: {error}")));
            }
            let outcome = Outcome::Unresolved(Reason::Build);
            return Ok(Part {
                outcome,
                reason: NOT_BEGUN.to_owned(),
                failures: Failures::new(),
                causes: [].into(),
                tests: None,
            });
        }
        let (ending, output) = (built.ending, built.messages.clone());
        let finished = Finished { ending, output, duration: Duration::ZERO, lost_log: None };
        let (outcome, mut reason) = classify(&finished, self.settings.skip_code, self.settings.fail_when.as_ref());
        let mut causes = BTreeMap::new();
        if outcome == Outcome::Fail {
            let cause = Cause::of_build(&finished);
            // The status is always the same.
            reason = cause.to_string();
            causes.insert(Failure { executable: self.project.subcommand.name().to_owned(), test: None }, cause);
        }
        Ok(Part { outcome, reason, failures: causes.keys().cloned().collect(), causes, tests: None })
    }
}
