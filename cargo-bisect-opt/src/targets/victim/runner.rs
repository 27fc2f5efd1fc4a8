//! The runner of a victim, which any thread can use.

use std::{collections::HashSet, env, ffi::OsString, path::Path, process::Command, sync::Arc, thread, time::Duration};

use bisect_core::{ChangeId, protocol::names, search::Outcome};
use serde::{Deserialize, Serialize};

use super::{
    options::VictimOptions,
    outcome::VictimRule,
    suite::Suite,
    way::{Thing, Threads, Way},
};
use crate::{
    cargo::libtest,
    lab::target::Runner,
    process::{self, Ending, Finished, ProcessSpec, scratch_dir::ScratchDir},
    report::scan::Reports,
    run::{
        cause::Cause,
        error::RunError,
        in_flight::Activity,
        outcome::SEARCHED,
        pasting::{LineResult, Pasting},
        repetition::Repetition,
        result::Note,
        spec::{Choice, RunSpec, Surroundings},
        stored_outcome,
        target_kind::TargetKind,
    },
};

/// A maker of runs of a victim with some of the other tests.
#[derive(Clone, Debug)]
pub(crate) struct VictimRunner {
    pub(super) suite: Arc<Suite>,
    pub(super) victim: String,
    /// The other tests, in the order of the harness: the changes.
    pub(super) others: Vec<String>,
    pub(super) required: Required,
    pub(super) way: Way,
    /// A thing that is new in each run.
    pub(super) renewed: Option<Thing>,
    /// The variables that a new environment lacks.
    pub(super) variables: Vec<OsString>,
    pub(super) options: VictimOptions,
}

/// The tests that run in each run, because the victim needs them.
#[derive(Clone, Debug, Default)]
pub(super) struct Required {
    /// Their names.
    pub(super) tests: Vec<String>,
    /// True if what they set is state in the process, false if it is outside; `None` if that is not known.
    pub(super) sets_process_state: Option<bool>,
}

/// The observations of one run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct VictimRun {
    /// The positions of the other tests that ran.
    pub(super) chosen: Vec<usize>,
    #[serde(with = "stored_outcome::list")]
    pub(super) executions: Vec<(Outcome, String)>,
    /// The cause of the first failure.
    pub(super) cause: Option<Cause>,
    pub(super) repetition: Repetition,
    pub(super) reports: Reports,
    pub(super) duration: Duration,
    pub(super) notes: Vec<Note>,
    /// The other test that ended a process before the victim ran.
    pub(super) blocker: Option<String>,
    /// The other tests that were probably running when the process ended with the victim.
    pub(super) crash: Option<Vec<String>>,
}

/// The variables that take precedence over `HOME`.
const BASE_DIRECTORIES: [&str; 4] = ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"];
/// The inherited variables that every process needs, or that have a question of their own.
const KEPT: [&str; 9] = ["PATH", "HOME", "TMPDIR", "TMP", "TEMP", "USER", "LOGNAME", "SHELL", names::SLOT];
/// The beginnings of others.
const KEPT_FAMILIES: [&str; 5] = ["RUST", "CARGO", "LD_", "DYLD_", "LC_"];

/// Returns the names of the variables of the user that a process can do without.
pub(super) fn spare_variables() -> Vec<OsString> {
    let is_spare = |name: &OsString| {
        let name = name.to_string_lossy();
        !KEPT.contains(&&*name) && !KEPT_FAMILIES.iter().any(|family| name.starts_with(family))
    };
    env::vars_os().map(|(name, _)| name).filter(is_spare).collect()
}

impl VictimRunner {
    /// Returns the positions of the tests that a choice enables.
    pub(super) fn chosen(&self, choice: &Choice) -> Vec<usize> {
        (0..self.others.len()).filter(|&at| choice.enables(id(at))).collect()
    }

    /// Returns the tests that the victim needs and that run in its process, or else in the process before it.
    ///
    /// If they set state in the process, they run with the victim. If not, they run with the others, so that the order
    /// of the tests stays the same.
    fn required(&self, with_victim: bool) -> &[String] {
        let is_here = match self.way {
            Way::Serial | Way::Parallel(_) => true,
            Way::Apart(_) => self.required.sets_process_state.unwrap_or(true) == with_victim,
        };
        if is_here { &self.required.tests } else { &[] }
    }

    /// Returns the arguments for one process with these tests, and the victim if it runs with them.
    pub(super) fn arguments(&self, chosen: &[usize], with_victim: bool) -> Vec<OsString> {
        self.suite.arguments_for(&self.tests(chosen, with_victim), !self.is_parallel())
    }

    /// Returns the tests of one process with these tests, and the victim if it runs with them.
    pub(super) fn tests(&self, chosen: &[usize], with_victim: bool) -> Vec<&str> {
        let mut tests: Vec<_> = chosen.iter().map(|&at| self.others[at].as_str()).collect();
        tests.extend(self.required(with_victim).iter().map(String::as_str));
        tests.extend(with_victim.then_some(self.victim.as_str()));
        tests
    }

    /// Returns true if the tests of one process run at once.
    pub(super) fn is_parallel(&self) -> bool {
        matches!(self.way, Way::Parallel(_))
    }

    /// Returns the number of tests that run at once in the process of the victim.
    pub(super) fn threads(&self) -> usize {
        match self.way {
            Way::Parallel(Threads::Usual) => self.suite.threads,
            Way::Parallel(Threads::More) => self.more_threads().unwrap_or(self.suite.threads),
            Way::Serial | Way::Apart(_) => 1,
        }
    }

    /// Returns the number of tests at once that the harness does not choose by itself, if there is one.
    pub(super) fn more_threads(&self) -> Option<usize> {
        self.suite.more_threads.filter(|_| self.way == Way::Parallel(Threads::More))
    }

    /// Returns the chosen tests and the victim, in the order in which the harness starts them.
    fn in_order(&self, chosen: &[usize]) -> Vec<&str> {
        let tests: HashSet<_> = chosen.iter().map(|&at| self.others[at].as_str()).chain([&*self.victim]).collect();
        self.suite.tests.iter().map(String::as_str).filter(|test| tests.contains(test)).collect()
    }

    /// Makes a run, and returns the end of the process in which the victim ran, and the number of tests in it.
    fn execute(
        &self,
        spec: &RunSpec,
        surroundings: &Surroundings<'_>,
        chosen: &[usize],
    ) -> Result<(Finished, usize), RunError> {
        let command = |arguments: &[OsString]| self.suite.launch.command(arguments);
        surroundings.seat.set(Activity::Tests(chosen.len() + self.required.tests.len() + 1));
        let Way::Apart(apart) = self.way else {
            let mut command = command(&self.arguments(chosen, true));
            if let Some(threads) = self.more_threads() {
                command.env(libtest::THREADS, threads.to_string());
            }
            let _temporary = surroundings.set_apart(&mut command, spec.slot)?;
            let own = surroundings.scratch.inner()?;
            if let Some(thing) = self.renewed {
                self.renew(&mut command, thing, &own);
            }
            return Ok((self.run(command, &spec.log, surroundings)?, chosen.len() + self.required.tests.len() + 1));
        };
        let (mut first, mut second) = (command(&self.arguments(chosen, false)), command(&self.arguments(&[], true)));
        let slot = |is_new: bool| spec.slot + usize::from(is_new && apart.thing == Some(Thing::Slot));
        let temporary = surroundings.set_apart(&mut first, slot(apart.is_shared))?;
        surroundings.slots.apply(&mut second, slot(true));
        second.envs(temporary.variables());
        let own = surroundings.scratch.inner()?;
        if let Some(thing) = apart.thing {
            self.renew(&mut second, thing, &own);
            if apart.is_shared {
                self.renew(&mut first, thing, &own);
            }
        }
        let log = temporary.path().join("beside.log");
        let victim = if apart.is_at_once {
            thread::scope(|scope| {
                let others = thread::Builder::new().spawn_scoped(scope, || self.run(first, &log, surroundings))?;
                let victim = self.run(second, &spec.log, surroundings);
                others.join().expect("a run does not panic").and(victim)
            })
        } else {
            self.run(first, &log, surroundings).and_then(|_| self.run(second, &spec.log, surroundings))
        };
        Ok((victim?, self.required(true).len() + 1))
    }

    fn run(&self, command: Command, log: &Path, surroundings: &Surroundings<'_>) -> Result<Finished, RunError> {
        let command = match &self.options.launcher {
            Some(launcher) => launcher.wrap(&command, self.options.skip_code),
            None => command,
        };
        let finished = process::run(ProcessSpec {
            command,
            timeout: self.options.timeout,
            log,
            append: true,
            interrupt: surroundings.interrupt,
            reader: None,
            tail: SEARCHED,
        })?;
        if finished.ending == Ending::Interrupted { Err(RunError::Interrupted) } else { Ok(finished) }
    }

    /// Gives a process a new thing, whose files are in `own`.
    fn renew(&self, command: &mut Command, thing: Thing, own: &ScratchDir) {
        match thing {
            Thing::Temporary => {
                command.envs(own.variables());
            }
            Thing::Home => {
                command.env("HOME", own.path());
                for name in BASE_DIRECTORIES {
                    command.env_remove(name);
                }
            }
            Thing::Directory => {
                command.current_dir(own.path());
            }
            // The variables that have the slot in their values are set with it, before.
            Thing::Slot => {}
            Thing::Environment => {
                for name in &self.variables {
                    command.env_remove(name);
                }
            }
        }
    }
}

impl Runner for VictimRunner {
    type Brief = ();
    type Shown = VictimRun;

    fn run(&self, spec: &RunSpec, (): &(), surroundings: &Surroundings<'_>) -> Result<VictimRun, RunError> {
        let chosen = self.chosen(&spec.choice);
        let mut reports = Reports::new(true);
        reports.add_known((0..self.others.len()).map(id).filter(|&id| spec.choice.selects(id)));
        let (mut executions, mut duration, mut notes) = (Vec::new(), Duration::ZERO, Vec::new());
        let (mut blocker, mut crash, mut cause) = (None, None, None);
        for _ in 0..spec.repetition.times() {
            let (finished, tests) = self.execute(spec, surroundings, &chosen)?;
            let names = self.in_order(&chosen);
            let rule = VictimRule {
                victim: &self.victim,
                tests,
                before: names.iter().take_while(|&&test| test != self.victim).count(),
                threads: self.threads(),
                skip_code: self.options.skip_code,
                fail_when: self.options.fail_when.as_ref(),
            };
            let (outcome, reason) = rule.outcome(&finished);
            blocker = blocker.or_else(|| rule.blocker(&finished));
            if outcome == Outcome::Fail {
                cause = cause.or_else(|| Some(rule.cause(&finished)));
            }
            if let (Outcome::Fail, Some(started)) = (outcome, rule.started_at_most(&finished)) {
                let ended = libtest::ended_tests(&finished.output);
                let is_other = |test: &&&str| **test != self.victim && !ended.contains(**test);
                let running = names.iter().take(started).filter(is_other).map(|&test| test.to_owned());
                crash = Some(running.collect());
            }
            duration += finished.duration;
            notes.extend(finished.lost_log.as_ref().map(Note::lost_log));
            executions.push((outcome, reason));
            if spec.repetition.ends_with(outcome) {
                break;
            }
        }
        let repetition = spec.repetition;
        Ok(VictimRun { chosen, executions, cause, repetition, reports, duration, notes, blocker, crash })
    }

    fn paste(&self, line: &Pasting<'_>) -> LineResult {
        if self.options.launcher.is_some() {
            return LineResult::NotRun;
        }
        // Any failure of the victim counts, whatever its cause.
        Pasting { failures: &[], ..*line }.run(TargetKind::Program, self.options.skip_code, [])
    }
}

/// Returns the ID of the change for the test at this position.
pub(super) fn id(at: usize) -> ChangeId {
    ChangeId(at as u64)
}
