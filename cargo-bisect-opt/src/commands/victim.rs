//! `test --victim`: the tests that make another one fail, or that it needs, and what they share.

mod chances;
mod needed;
mod separating_sets;
mod shared;

use std::{io, num::NonZeroUsize, sync::Arc, time::Duration};

use bisect_core::search::{Inconsistency, Noise, Outcome, Verdict};

use chances::{Chances, Chosen, DEFAULT_BUDGET, Tally};

use super::{
    bisect, command_error::CommandError, command_status::CommandStatus, install_interrupt, options::CargoCommand,
    resume,
};
use crate::{
    cargo::Subcommand,
    lab::{Lab, Searched},
    output::events::Event,
    process::interrupt::Interrupt,
    record::{end::End, exit_status::Exit, noise},
    run::{error::RunError, repetition::Repetition},
    targets::{
        project::{PerTest, ProjectOptions},
        victim::{self, Arrangement, Candidates, OwnResource, Suite, SuiteError, Threads, VictimOptions, VictimTarget},
    },
    units::{listed, nearest_path, suggestion},
};

/// The number of runs alone of a victim that has failed in each run with the others.
const RUNS_ALONE: usize = 3;

/// A victim, and the options for its runs.
struct Victim {
    suite: Arc<Suite>,
    position: usize,
    options: VictimOptions,
}

/// Searches for the tests that matter for the test `name`; `None`: for a test that fails with others and passes alone.
///
/// # Errors
/// If the command line is wrong, if the tests cannot be built, or if there is no victim.
pub(super) fn run(name: Option<&str>, command: CargoCommand) -> Result<CommandStatus, CommandError> {
    command.show.color.apply();
    let interrupt = install_interrupt()?;
    let args = &command.search;
    let options = ProjectOptions {
        subcommand: Subcommand::Test,
        cargo: command.words.cargo,
        target: command.words.target,
        toggles: Vec::new(),
        all_tests: true,
        per_test: PerTest::Never,
        rustflags: None,
        timeout: args.timeout,
        skip_code: args.skip_code,
        fail_when: args.fail_when.clone(),
        same_failure: false,
        direction: None,
        launcher: args.launcher.clone(),
        quiet: command.show.quiet,
    };
    let suites = victim::suites(&options, &interrupt)?;
    let ProjectOptions { timeout, skip_code, fail_when, launcher, quiet, .. } = options;
    let options = VictimOptions { timeout, skip_code, fail_when, launcher };
    let (suite, position) = match name {
        Some(name) => named(&suites, name)?,
        None => failing(&suites, &options, quiet, &interrupt)?,
    };
    let victim = Victim { suite, position, options };
    let seed = resume::seed(args)?;
    let root = victim.suite.root.clone();
    let status = bisect(&root, args, seed, &command.show, &interrupt, |lab| victim.search(lab))?;
    Ok(CommandStatus::Search(status))
}

/// Returns the test with this name. A full name precedes the end of a longer one.
fn named(suites: &[Arc<Suite>], name: &str) -> Result<(Arc<Suite>, usize), SuiteError> {
    let (mut full, mut ending) = (Vec::new(), Vec::new());
    for suite in suites {
        let (exact, ends) = suite.positions(name);
        full.extend(exact.into_iter().map(|at| (suite, at)));
        ending.extend(ends.into_iter().map(|at| (suite, at)));
    }
    let found = if full.is_empty() { ending } else { full };
    if let [(suite, at)] = found.as_slice() {
        return Ok((Arc::clone(suite), *at));
    }
    if !found.is_empty() {
        let names = found.iter().map(|(suite, at)| format!("`{}` in {}", suite.tests[*at], suite.name));
        let help = if found.iter().all(|(suite, _)| Arc::ptr_eq(suite, found[0].0)) {
            "give the whole name"
        } else {
            "select an executable with -p, --lib, --bin or --test"
        };
        return Err(SuiteError::Usage(format!("which test? `{name}` can be {}: {help}", listed(names))));
    }
    if let Some(ignored) = suites.iter().find_map(|suite| suite.ignored(name)) {
        return Err(SuiteError::Usage(format!(
            "the test `{ignored}` is ignored: add `-- --include-ignored` at the end of the command line"
        )));
    }
    let all = suites.iter().flat_map(|suite| suite.tests.iter().map(String::as_str));
    let meant = suggestion(nearest_path(name, &all).as_deref());
    Err(SuiteError::Usage(format!("no test is called `{name}`{meant} (`cargo test -- --list` shows all)")))
}

/// Returns the first test that fails with all others of its executable and passes alone.
fn failing(
    suites: &[Arc<Suite>],
    options: &VictimOptions,
    is_quiet: bool,
    interrupt: &Interrupt,
) -> Result<(Arc<Suite>, usize), SuiteError> {
    let mut candidates = Candidates::new(is_quiet);
    for suite in suites {
        if let Some(position) = candidates.victim(suite, options, interrupt)? {
            return Ok((suite.clone(), position));
        }
    }
    Err(candidates.none())
}

impl Victim {
    fn target(&self, way: Arrangement) -> VictimTarget {
        VictimTarget::new(&self.suite, self.position, way, self.options.clone())
    }

    fn serial_target(&self, renewed: Option<OwnResource>) -> VictimTarget {
        let target = self.target(Arrangement::Serial);
        match renewed {
            Some(thing) => target.renewing(thing),
            None => target,
        }
    }

    /// Searches the tests that precede the victim, one after the other, with a new thing for each run. Tests that end
    /// the process are left out.
    fn search_serially(
        &mut self,
        lab: &mut Lab<'_>,
        renewed: Option<OwnResource>,
    ) -> io::Result<(VictimTarget, Option<Searched>)> {
        let mut target = self.serial_target(renewed);
        while target.others() > 0 {
            let searched = lab.search(&mut target)?;
            let blocker = target.blocker().filter(|_| matches!(searched.verdict, Some(Verdict::Unusable(_))));
            let Some(blocker) = blocker.map(str::to_owned) else { return Ok((target, Some(searched))) };
            let reason = target.unresolved().unwrap_or_default();
            lab.emit(&Event::Note(&format!("{reason}. It is left out, so that the tests after it run")))?;
            self.leave_out(&blocker);
            target = self.serial_target(renewed);
        }
        Ok((target, None))
    }

    /// Returns the first lasting thing whose replacement changes the outcome of the victim alone from `outcome`.
    fn leftover(&self, lab: &mut Lab<'_>, outcome: Outcome) -> io::Result<Result<Option<OwnResource>, RunError>> {
        for thing in OwnResource::LASTING {
            if lab.stops_at_limit() {
                return Ok(Ok(None));
            }
            match lab.try_once(&mut self.serial_target(Some(thing)).alone())? {
                Ok(run) if matches!(run.outcome, Outcome::Pass | Outcome::Fail) && run.outcome != outcome => {
                    return Ok(Ok(Some(thing)));
                }
                Ok(_) => {}
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(None))
    }

    /// Searches one after the other, then, if the victim never fails so, in the way in which it fails by chance.
    fn search(mut self, lab: &mut Lab<'_>) -> io::Result<Exit> {
        let begun = lab.elapsed();
        let (mut target, mut searched) = self.search_serially(lab, None)?;
        let mut leftover = None;
        if let Some(Searched { verdict: Some(Verdict::NoDifference(outcome)), .. }) = searched {
            match self.leftover(lab, outcome)? {
                Ok(thing) => leftover = thing,
                Err(error) => return Self::stopped(lab, &error, begun),
            }
            if let Some(thing) = leftover {
                let (renewing, again) = self.search_serially(lab, leftover)?;
                if again.as_ref().is_some_and(|again| !again.found.is_empty()) {
                    let text = format!(
                        "a test leaves files in the {0} that change later runs: the search was repeated with an empty {0} \
                         for each run",
                        thing.name()
                    );
                    lab.emit(&Event::Note(&text))?;
                    (target, searched) = (renewing, again);
                }
            }
        }
        if leftover.is_none()
            && let Some(failed) = searched.take_if(|searched| fails_always(searched))
        {
            return needed::search(lab, &target, failed, begun);
        }
        let mut chances = self.chances(lab.repetition);
        chances.add_serial(tally(&target, true));
        let mut chosen = None;
        let is_open = |searched: &Searched| match searched.verdict {
            Some(Verdict::NoDifference(Outcome::Pass)) => true,
            // The rates may be too low for single runs.
            Some(Verdict::Inconsistent(Inconsistency::Noise)) => chances.chosen().is_none_or(|it| it.executions != 1),
            _ => false,
        };
        if searched.as_ref().is_none_or(is_open) {
            chosen = match self.fails_by_chance(lab, &mut chances)? {
                Ok(chosen) => chosen,
                Err(error) => return Self::stopped(lab, &error, begun),
            };
        }
        if let Some(chosen) = &chosen {
            if chosen.tally.is_always() && self.fails_alone(lab)? {
                let words = format!("`{}` fails alone, too: no other test is needed to make it fail", target.victim());
                return Self::end(lab, Exit::Nothing, words, begun);
            }
            target = self.target(chosen.way);
            searched = Some(search_repeatedly(lab, &mut target, chosen)?);
        }
        let alone = tally(&target, false);
        let Some(Searched { mut end, found, verdict, .. }) = searched else {
            let (status, words) = if self.suite.tests.len() > 1 {
                self.never_failed(lab, &chances, alone)
            } else {
                (Exit::Nothing, format!("`{}` is the only test of {}", target.victim(), self.suite.name))
            };
            return Self::end(lab, status, words, begun);
        };
        lab.list(&found)?;
        for named in &found {
            end.answers.push(shared::explain(lab, &target, (named, &found), end.noise.is_some())?.answer);
        }
        let victim = target.victim();
        match verdict {
            Some(Verdict::NoDifference(Outcome::Pass)) => {
                (end.status, end.words) = match &chosen {
                    Some(chosen) => (Exit::Inconsistent, chosen.no_more(victim, tally(&target, true))),
                    None => self.never_failed(lab, &chances, alone),
                }
            }
            Some(Verdict::Inconsistent(Inconsistency::Noise)) => {
                let is_likely = end.noise.as_ref().is_none_or(|noise| noise.low_probability_of_nothing().is_none());
                end.words = chances::nothing_matters(victim, tally(&target, true), alone, is_likely);
            }
            Some(Verdict::NoDifference(Outcome::Fail)) => {
                let words = |thing: OwnResource| {
                    format!(
                        "`{victim}` fails alone, and passes with an empty {0}. Something in your {0} makes it fail, and no \
                         other test of this executable creates it",
                        thing.name()
                    )
                };
                end.words = leftover.map_or(end.words, words);
            }
            Some(Verdict::Unusable(_)) => {
                let reason = target.unresolved().map(|reason| format!(": {reason}"));
                end.words = format!(
                    "runs do not tell whether `{victim}` fails{}. Leave out the other test, with `-- --skip NAME`",
                    reason.unwrap_or_default()
                );
            }
            _ => {}
        }
        if lab.interrupt.requested() {
            end.status = Exit::Interrupted;
        }
        end.duration = lab.time_since(begun);
        (end.trials, end.runs) = (lab.totals.trials, lab.totals.runs);
        lab.end(end)
    }

    /// Removes another test.
    fn leave_out(&mut self, test: &str) {
        self.position -= usize::from(self.suite.tests[..self.position].iter().any(|other| other == test));
        self.suite = Arc::new(self.suite.without(test));
    }

    /// Returns the status and the conclusion for a victim that has not failed.
    fn never_failed(&self, lab: &Lab<'_>, chances: &Chances, alone: Tally) -> (Exit, String) {
        let victim = &self.suite.tests[self.position];
        let failed = if chances.has_failed() { "has failed too rarely for a search" } else { "has not failed" };
        if let Some(limit) = lab.cut_short.filter(|_| lab.budget.is_none() || chances.has_failed() || chances.are_few())
        {
            let words = format!(
                "stopped at {limit}: `{victim}` {failed} so far. Allow {}, in which it may fail by chance",
                limit.more()
            );
            return (Exit::Limit, words);
        }
        (Exit::Nothing, chances.never_failed(victim, alone, lab.budget.is_some()))
    }

    /// Returns the chances in all ways that can matter.
    fn chances(&self, repetition: Repetition) -> Chances {
        let has_others = self.suite.tests.len() > 1;
        let serial = (self.position > 0).then_some((Arrangement::Serial, 1));
        let usual = (has_others && self.suite.threads > 1)
            .then_some((Arrangement::Parallel(Threads::Usual), self.suite.threads));
        let more =
            self.suite.more_threads.filter(|_| has_others).map(|more| (Arrangement::Parallel(Threads::More), more));
        Chances::new([serial, usual, more].into_iter().flatten(), repetition.times())
    }

    /// Runs all tests again and again, in each way, until the victim has failed often enough, or the time is over.
    /// Returns the way in which it is searched. Tests that end the process without the victim, too, are left out.
    fn fails_by_chance(
        &mut self,
        lab: &mut Lab<'_>,
        chances: &mut Chances,
    ) -> io::Result<Result<Option<Chosen>, RunError>> {
        let asked = lab.repetition;
        let chosen = self.take_chances(lab, chances);
        lab.repetition = asked;
        chosen
    }

    fn take_chances(
        &mut self,
        lab: &mut Lab<'_>,
        chances: &mut Chances,
    ) -> io::Result<Result<Option<Chosen>, RunError>> {
        loop {
            if let Some(chosen) = chances.chosen() {
                return Ok(Ok(Some(chosen)));
            }
            let Some((way, executions)) = chances.next() else { return Ok(Ok(None)) };
            if !chances.has_failed() && !lab.has_time(DEFAULT_BUDGET) || lab.stops_at_limit() {
                return Ok(Ok(None));
            }
            let mut target = self.target(way).for_a_chance(executions);
            if !matches!(lab.repetition, Repetition::UntilPass(_)) {
                lab.repetition = Repetition::new(NonZeroUsize::new(executions), None);
            }
            let run = match lab.try_once(&mut target)? {
                Ok(run) => run,
                Err(RunError::Limit(_)) => return Ok(Ok(None)),
                Err(error) => return Ok(Err(error)),
            };
            if run.outcome == Outcome::Fail
                && let crash @ [_, ..] = target.crash().unwrap_or_default()
            {
                match self.crashing_alone(lab, crash)? {
                    Ok(None) => {}
                    Ok(Some(crashing)) => {
                        let text = format!("`{crashing}` ends the process when it runs alone. It is left out");
                        lab.emit(&Event::Note(&text))?;
                        self.leave_out(&crashing);
                        *chances = self.chances(lab.repetition);
                        continue;
                    }
                    Err(error) => return Ok(Err(error)),
                }
            }
            chances.take(&run);
        }
    }

    /// Returns true if the victim fails in each of a few runs alone.
    fn fails_alone(&self, lab: &mut Lab<'_>) -> io::Result<bool> {
        for _ in 0..RUNS_ALONE {
            match lab.try_once(&mut self.target(Arrangement::Serial).alone())? {
                Ok(run) if run.outcome == Outcome::Fail => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Returns the first of these tests that ends the process when it runs alone.
    fn crashing_alone(&self, lab: &mut Lab<'_>, tests: &[String]) -> io::Result<Result<Option<String>, RunError>> {
        for test in tests {
            let Some(position) = self.suite.tests.iter().position(|other| other == test) else { continue };
            let mut target =
                VictimTarget::new(&self.suite, position, Arrangement::Parallel(Threads::Usual), self.options.clone())
                    .alone();
            match lab.try_once(&mut target)? {
                Ok(_) if target.crash().is_some() => return Ok(Ok(Some(test.clone()))),
                Ok(_) => {}
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(None))
    }

    /// Emits the end of a search that could not go on.
    fn stopped(lab: &mut Lab<'_>, error: &RunError, begun: Duration) -> io::Result<Exit> {
        let status = match error {
            RunError::Interrupted => Exit::Interrupted,
            RunError::Limit(_) => Exit::Limit,
            _ => Exit::Unusable,
        };
        Self::end(lab, status, error.to_string(), begun)
    }

    fn end(lab: &mut Lab<'_>, status: Exit, words: String, begun: Duration) -> io::Result<Exit> {
        let (trials, runs, duration) = (lab.totals.trials, lab.totals.runs, lab.time_since(begun));
        lab.end(End { sets: lab.totals.sets, trials, runs, duration, ..End::new(status, words) })
    }
}

/// Searches a victim that fails by chance, in runs that repeat it as often as its rate needs.
fn search_repeatedly(lab: &mut Lab<'_>, target: &mut VictimTarget, chosen: &Chosen) -> io::Result<Searched> {
    lab.emit(&Event::Note(&chosen.note(target.victim())))?;
    let confidence = match lab.options.noise {
        Noise::Expected(confidence) => confidence,
        _ => noise::CONFIDENCE,
    };
    lab.options.noise = Noise::Expected(confidence);
    lab.repetition = chosen.repetition(lab.repetition);
    lab.search(target)
}

/// Returns how often the victim failed with all of the other tests, or with none.
fn tally(target: &VictimTarget, all: bool) -> Tally {
    let (failed, executions) = target.failures_at_end(all);
    Tally { failed, executions }
}

/// Returns true if the victim fails alone and with all others.
fn fails_always(searched: &Searched) -> bool {
    searched.verdict == Some(Verdict::NoDifference(Outcome::Fail))
}
