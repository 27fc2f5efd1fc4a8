//! The runner of a victim, which any thread can use.

use std::{env, ffi::OsString, path::Path, process::Command, thread, time::Duration};

use bisect_core::{protocol::names, search::Outcome};
use serde::{Deserialize, Serialize};

use super::{
    arrangement::{Arrangement, OwnResource},
    options::VictimOptions,
    other_tests::OtherTests,
    outcome::VictimRule,
};
use crate::{
    axes::{AfterBuild, Axis as _},
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
        spec::{RunSpec, Surroundings},
        stored_outcome,
        target_kind::TargetKind,
    },
};

/// A maker of runs of a victim with some of the other tests.
#[derive(Clone, Debug)]
pub(crate) struct VictimRunner {
    pub(super) axis: OtherTests,
    /// The variables that a new environment lacks.
    pub(super) variables: Vec<OsString>,
    pub(super) options: VictimOptions,
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
    /// Makes a run, and returns the end of the process in which the victim ran, and the number of tests in it.
    fn execute(
        &self,
        spec: &RunSpec,
        surroundings: &Surroundings<'_>,
        chosen: &[usize],
    ) -> Result<(Finished, usize), RunError> {
        let axis = &self.axis;
        let command = |arguments: &[OsString]| axis.suite.launch.command(arguments);
        surroundings.seat.set(Activity::Tests(chosen.len() + axis.required.tests.len() + 1));
        let Arrangement::Apart(apart) = axis.way else {
            let mut command = command(&axis.arguments(chosen, true));
            if let Some(threads) = axis.more_threads() {
                command.env(libtest::THREADS, threads.to_string());
            }
            let _temporary = surroundings.set_apart(&mut command, spec.slot)?;
            let own = surroundings.scratch.inner()?;
            if let Some(thing) = axis.renewed {
                self.renew(&mut command, thing, &own);
            }
            return Ok((self.run(command, &spec.log, surroundings)?, chosen.len() + axis.required.tests.len() + 1));
        };
        let (mut first, mut second) = (command(&axis.arguments(chosen, false)), command(&axis.arguments(&[], true)));
        let slot = |is_new: bool| spec.slot + usize::from(is_new && apart.thing == Some(OwnResource::Slot));
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
        Ok((victim?, axis.required(true).len() + 1))
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
    fn renew(&self, command: &mut Command, thing: OwnResource, own: &ScratchDir) {
        match thing {
            OwnResource::Temporary => {
                command.envs(own.variables());
            }
            OwnResource::Home => {
                command.env("HOME", own.path());
                for name in BASE_DIRECTORIES {
                    command.env_remove(name);
                }
            }
            OwnResource::Directory => {
                command.current_dir(own.path());
            }
            // The variables that have the slot in their values are set with it, before.
            OwnResource::Slot => {}
            OwnResource::Environment => {
                for name in &self.variables {
                    command.env_remove(name);
                }
            }
        }
    }
}

impl Runner for VictimRunner {
    type KnownFailures = ();
    type Observations = VictimRun;

    fn run(&self, spec: &RunSpec, (): &(), surroundings: &Surroundings<'_>) -> Result<VictimRun, RunError> {
        let axis = &self.axis;
        let chosen = axis.chosen(&spec.choice);
        let mut reports = Reports::new(true);
        axis.collect(&spec.choice, &AfterBuild { artifacts: None, log: &spec.log }, &mut reports)?;
        let (mut executions, mut duration, mut notes) = (Vec::new(), Duration::ZERO, Vec::new());
        let (mut blocker, mut crash, mut cause) = (None, None, None);
        for _ in 0..spec.repetition.times() {
            let (finished, tests) = self.execute(spec, surroundings, &chosen)?;
            let names = axis.in_order(&chosen);
            let rule = VictimRule {
                victim: &axis.victim,
                tests,
                before: names.iter().take_while(|&&test| test != axis.victim).count(),
                threads: axis.threads(),
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
                let is_other = |test: &&&str| **test != axis.victim && !ended.contains(**test);
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
