//! One run whose target is the build itself: it passes if cargo succeeds, and fails if a compilation fails.
//!
//! Cargo keeps what was compiled without an error, also from one run to the next: compiling it again would only succeed
//! again. The rest is compiled again.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use bisect_core::search::{Outcome, Reason};

use super::{
    attempt::Attempt,
    criteria::Part,
    run_context::{RunContext, unusable},
    test_selection::{Failure, Failures},
};
use crate::{
    cargo::{BuildCounts, Built},
    process::{Ending, Finished},
    run::{
        cause::Cause,
        error::RunError,
        outcome::classify,
        spec::{EndState, Surroundings},
    },
};

/// The reason of a run in which cargo fails before it compiles anything.
const NOT_BEGUN: &str = "cargo fails before it compiles anything";

/// Builds with the selection, several times if that is requested.
pub(super) fn attempt(run: &RunContext<'_>, builds: &mut BuildCounts) -> Result<Attempt, RunError> {
    let mut reports = run.new_reports();
    if let Some(missing) = run.missing() {
        run.collect(None, &mut reports)?;
        return Ok(Attempt::unresolved(Reason::Build, missing, reports, Duration::ZERO));
    }
    let overrides = run.build_overrides().unwrap_or_default();
    let Surroundings { scratch, interrupt, .. } = run.surroundings;
    let (timeout, output) = (run.runner.options.timeout, run.build_output());
    let started = Instant::now();
    let mut artifacts = None;
    let repetition = run.spec.repetition;
    let executions = run.repeat(repetition, &run.together(), || {
        let project = &run.project;
        let built = project.attempt_in(run.spec.slot, &overrides, output, scratch.path(), timeout, interrupt);
        let built = built.map_err(unusable)?;
        builds.add(&built.artifacts);
        let part = part(run, &built, builds)?;
        artifacts = Some(built.artifacts);
        Ok(vec![part])
    })?;
    // Zero means that there was nothing to build: such a run passes, but no command line does.
    let is_nothing = artifacts.as_ref().is_some_and(|artifacts| artifacts.is_complete && artifacts.units == 0);
    let duration = if is_nothing { Duration::ZERO } else { started.elapsed() };
    run.collect(artifacts.as_ref(), &mut reports)?;
    reports.read_file(&run.spec.report_file)?;
    let (build_time, dependent) = (Duration::ZERO, Failures::new());
    Ok(Attempt { executions, repetition, reports, build_time, duration, dependent })
}

fn part(run: &RunContext<'_>, built: &Built, builds: &mut BuildCounts) -> Result<Part, RunError> {
    let has_begun = built.began || built.ending == Ending::TimedOut;
    builds.has_compiled |= has_begun;
    let has_compiled = builds.has_compiled || run.known_failures.has_compiled;
    // If the changes may be the cause, only the run without them decides.
    let may_be_changes = run.runner.axis.facts().decides_whether_cargo_compiles;
    let is_without = run.spec.choice.end_state() == Some(EndState::AllOff);
    if !has_begun && (!may_be_changes || is_without && !has_compiled) {
        if !has_compiled {
            // No run has compiled anything, so the selection is not the cause.
            let error = built.to_error();
            return Err(RunError::Unusable(format!("{NOT_BEGUN}: {error}")));
        }
        let outcome = Outcome::Unresolved(Reason::Build);
        return Ok(Part { outcome, reason: NOT_BEGUN.to_owned(), ..Part::default() });
    }
    let (ending, output) = (built.ending, built.messages.clone());
    let finished = Finished { ending, output, duration: Duration::ZERO, lost_log: None };
    let options = &run.runner.options;
    let (outcome, mut reason) = classify(&finished, options.skip_code, options.fail_when.as_ref());
    let mut causes = BTreeMap::new();
    if outcome == Outcome::Fail {
        let cause = Cause::of_build(&finished);
        let cause = if run.is_of_other_code() { cause.without_lines() } else { cause };
        // The exit status of cargo is always the same.
        reason = cause.to_string();
        let executable = run.runner.project.subcommand.name().to_owned();
        causes.insert(Failure { executable, test: None }, cause);
    }
    Ok(Part { outcome, reason, failures: causes.keys().cloned().collect(), causes, ..Part::default() })
}
