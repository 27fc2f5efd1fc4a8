//! Which tests hang, where an executable took too long: the harness names most tests only when they have ended.
//!
//! What was running in the end are the first of those that have not ended, as many as the harness runs at once. Some of
//! them may be slow, or have waited for another one. So each is run again in a process of its own, and hangs if it takes
//! too long there as well, but not with the changes of the other end, as far as that takes no build. Where none does, only
//! the executable as a whole is known to hang. So what misleads (output that looks like the harness's, another order,
//! another harness) may hide a test, but accuses none.

use std::collections::BTreeMap;

use bisect_core::{Pattern, search::Outcome};

use super::{
    Failure, Failures, Program, Share,
    criteria::Part,
    failures::names,
    run::{Start, new_reports},
    separate::{Place, Solo},
};
use crate::{
    cargo::{Subcommand, libtest},
    cause::Cause,
    outcome::SEARCHED,
    process::{self, Ending, Finished, Job},
    repetition::Repetition,
    target::{Request, RunError},
};

impl Program {
    /// What an executable showed, and if it took too long, which tests hang, as far as that can be told.
    pub(super) fn tell_hanging(
        &self,
        part: Part,
        finished: &Finished,
        start: &Start<'_>,
        request: &Request<'_>,
    ) -> Result<Part, RunError> {
        let is_hanging = part.outcome == Outcome::Fail && finished.ending == Ending::TimedOut;
        if !is_hanging || self.settings.subcommand != Subcommand::Test || part.tests.is_none() {
            return Ok(part);
        }
        let tests = self.tests_of(start, request)?;
        if part.tests != Some(tests.len()) {
            return Ok(part);
        }
        let executable = start.executable.key();
        let ended = libtest::ended_tests(&finished.output);
        let open = tests.iter().filter(|&test| !ended.contains(test));
        let mut open = open.map(|test| Failure { executable: executable.clone(), test: Some(test.clone()) });
        let running: Vec<_> = open.by_ref().take(libtest::threads(&self.project.arguments())).collect();
        // To repeat the only test is to repeat the executable.
        let hanging = if tests.len() == 1 { running } else { self.hanging(&running, start, request)? };
        if hanging.is_empty() {
            return Ok(part);
        }
        self.note_unstarted(&open.collect(), start.share);
        // Beside them, tests may have failed before.
        let is_test = |failure: &Failure| failure.test.as_ref().is_some_and(|test| tests.contains(test));
        let failed = part.causes.into_iter().filter(|(failure, _)| is_test(failure));
        let causes: BTreeMap<_, _> = failed.chain(hanging.into_iter().map(|test| (test, Cause::TIMEOUT))).collect();
        Ok(Part { failures: causes.keys().cloned().collect(), causes, ..part })
    }

    /// The tests that an executable is to run; none, if it does not list them.
    fn tests_of(&self, start: &Start<'_>, request: &Request<'_>) -> Result<Vec<String>, RunError> {
        if let Share::Tests(tests) = start.share {
            return Ok(tests.to_vec());
        }
        let file = |name| request.scratch.path().join(name);
        let (log, report_file) = (file("list.log"), file("list.reports"));
        // Before what could end the options.
        let arguments = [vec!["--list".into()], self.arguments(start.share)].concat();
        let finished = process::run(Job {
            command: self.command(&Start { report_file: &report_file, ..*start }, &arguments, request),
            timeout: self.settings.timeout,
            log: &log,
            append: false,
            interrupt: request.interrupt,
            markers: None,
            tail: SEARCHED,
        })?;
        match finished.ending {
            Ending::Interrupted => Err(RunError::Interrupted),
            Ending::Exited(status) if status.success() => Ok(libtest::listed_tests(&finished.output)),
            Ending::Exited(_) | Ending::TimedOut => Ok(Vec::new()),
        }
    }

    /// Those of the tests that were running that hang.
    fn hanging(&self, running: &[Failure], start: &Start<'_>, request: &Request<'_>) -> Result<Vec<Failure>, RunError> {
        if self.focus().is_settled() {
            // Later runs need no proof once more.
            let together = self.learned().together.clone();
            let is_known = |test: &&Failure| together.of(test).any(Cause::is_timeout);
            let known: Vec<_> = running.iter().filter(is_known).cloned().collect();
            if !known.is_empty() {
                return Ok(known);
            }
        }
        let hanging = self.hanging_alone(running, start, request)?;
        if self.axis.builds() || hanging.is_empty() {
            return Ok(hanging);
        }
        // What waits in vain for another test hangs alone whatever is enabled, and must not be told apart from that test.
        let none = Pattern::all().inverted(true);
        let pattern = if *request.pattern == none { Pattern::all() } else { none };
        let report_file = request.scratch.path().join("other-end.reports");
        fs_err::File::create(&report_file)?;
        let request = Request { pattern: &pattern, report_file: &report_file, ..*request };
        let anyway = self.hanging_alone(&hanging, start, &request)?;
        Ok(hanging.into_iter().filter(|test| !anyway.contains(test)).collect())
    }

    /// Those of the tests that take too long each in a process of its own.
    fn hanging_alone(
        &self,
        tests: &[Failure],
        start: &Start<'_>,
        request: &Request<'_>,
    ) -> Result<Vec<Failure>, RunError> {
        let request = Request { repetition: Repetition::Once, ..*request };
        let places = tests.iter().enumerate().map(|(i, test)| Place::new(test, i, &request)).collect();
        let solos = self.run_each(places, start.artifacts, &new_reports(request.pattern), &request)?;
        let hangs = |solo: &Solo| solo.attempt.parts().any(|part| part.causes.values().any(Cause::is_timeout));
        Ok(solos.into_iter().filter(hangs).map(|solo| solo.test).collect())
    }

    /// Tells the user of tests that will not be run, because those that hang left them no time.
    fn note_unstarted(&self, unstarted: &Failures, share: Share<'_>) {
        let is_final = share == Share::Everything && !self.settings.all_tests && !self.focus().is_settled();
        let mut learned = self.learned();
        if is_final && !unstarted.is_empty() && !std::mem::replace(&mut learned.told_unstarted, true) {
            let names = names(unstarted);
            learned.notes.push(format!("left out, because the timeout came before it was their turn: {names}"));
        }
    }
}
