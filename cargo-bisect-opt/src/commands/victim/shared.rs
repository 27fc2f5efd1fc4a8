//! The answer to what a victim shares with the tests that matter: state in the process, or something outside.
//!
//! The victim runs in a process of its own after the others: first with all that it shares with them, then with one
//! thing of its own. If the first of these runs differs from one process for all, the state is in the process.

use std::{ffi::OsString, io};

use bisect_core::{
    ChangeId,
    search::{Mode, Outcome},
};

use crate::{
    lab::{Lab, Named},
    output::events::Event,
    record::end::{Answer, Fact},
    targets::victim::{Apart, Arrangement, OwnResource, VictimTarget},
    units::plural,
};

/// The probability that a question to a flaky victim misses its failures.
const MISSED: f64 = 0.005;
/// The number of runs that show how often a flaky victim fails in a process of its own.
const SAMPLE: usize = 10;
/// The maximum number of runs for one question.
const MAX_RUNS: i32 = 20;

/// A question about a culprit: what does the victim share with these tests?
struct Question<'a> {
    target: &'a VictimTarget,
    changes: &'a [ChangeId],
    /// True if the victim needs the tests.
    needs: bool,
    /// The maximum number of runs for each way.
    times: usize,
    is_noisy: bool,
}

/// The answer to what a victim shares with a culprit.
pub(super) struct Explanation {
    /// The answer, with how often the victim fails.
    pub(super) answer: Answer,
    /// True if they share state in the process, false if it is outside; `None` if runs do not tell it.
    pub(super) is_in_process: Option<bool>,
}

/// The thing that a victim shares with other tests.
struct Shared {
    is_in_process: bool,
    text: String,
}

/// Emits and returns how often the victim fails with and without one of `all` culprits, and what they share.
///
/// # Errors
/// If an event cannot be emitted.
pub(super) fn explain(
    lab: &mut Lab<'_>,
    target: &VictimTarget,
    (culprit, all): (&Named, &[Named]),
    is_noisy: bool,
) -> io::Result<Explanation> {
    let changes = &culprit.changes;
    let mode = culprit.found.mode;
    let needs = mode == Mode::Disable;
    let sets: Vec<_> = all.iter().map(|named| named.changes.as_slice()).collect();
    let [bad, good] = target.rates(changes, &sets, mode);
    let (bad_runs, good_runs) = (plural(bad.1, "run"), plural(good.1, "run"));
    let is_one = changes.len() == 1;
    let rates = if needs {
        let (without, with) = if is_one { ("it", "it") } else { ("any of them", "at least one of them") };
        format!("in {} of {bad_runs} without {without}, in {} of {good_runs} with {with}", bad.0, good.0)
    } else {
        let (with, without) = match (is_one, all.len()) {
            (_, 2..) => (if is_one { "it" } else { "all of them" }, "without any culprit"),
            (true, _) => ("it", "without it"),
            (false, _) => ("all of them", "with only some of them, or none"),
        };
        format!("in {} of {bad_runs} with {with}, in {} of {good_runs} {without}", bad.0, good.0)
    };
    let mut answer = Answer { set: culprit.found.set, facts: Vec::new(), advice: Vec::new() };
    answer.facts.push(Fact::new("failures", rates));
    let mut is_in_process = None;
    if good.0 == 0
        && target.can_run_apart()
        && let Some(times) = enough(bad, lab.repetition.times(), is_noisy)
        && let Some(shared) = (Question { target, changes, needs, times, is_noisy }).answer(lab)?
    {
        answer.facts.push(Fact::new("shared", shared.text));
        is_in_process = Some(shared.is_in_process);
    }
    lab.emit(&Event::Answer(&answer))?;
    Ok(Explanation { answer, is_in_process })
}

impl Question<'_> {
    /// Returns what the victim and the tests share; `None` if runs do not tell it.
    fn answer(mut self, lab: &mut Lab<'_>) -> io::Result<Option<Shared>> {
        let victim = self.target.victim();
        let with = if self.changes.len() == 1 { "that test" } else { "those tests" };
        let (does, where_) = match (self.needs, self.target.is_parallel()) {
            (true, _) => ("fails", "after"),
            (false, true) => ("passes", "beside"),
            (false, false) => ("passes", "after"),
        };
        let all = self.target.variables();
        // If each run has a new one of these, both processes of a run now share that new one.
        let renewed = self.target.renewed();
        match self.follows(lab, renewed, renewed.is_some(), all)? {
            None => return Ok(None),
            Some(false) => {
                let text = format!(
                    "state in the process, such as a static variable, an environment variable or the current directory \
                     that a test sets: `{victim}` {does} {where_} {with} in a process of its own, as cargo-nextest runs \
                     each test"
                );
                return Ok(Some(Shared { is_in_process: true, text }));
            }
            Some(true) => {}
        }
        let outside = |text: String| Ok(Some(Shared { is_in_process: false, text }));
        if self.is_noisy {
            // In processes of their own, tests may meet less often.
            let Some(times) = self.times_apart(lab)? else {
                return outside(format!(
                    "something outside of the process, such as a file, a port or a service. In a process of its own, \
                     `{victim}` fails too rarely {where_} {with} to tell more"
                ));
            };
            self.times = times;
        }
        let tried = OwnResource::ALL.into_iter().filter(|thing| renewed.is_none_or(|renewed| renewed == *thing));
        for thing in tried.clone() {
            // On a busy machine, flaky tests may meet less often for a while.
            let is_stable = |lab: &mut Lab<'_>| {
                let still = !self.is_noisy || self.follows(lab, renewed, renewed.is_some(), all)? == Some(true);
                io::Result::Ok(still && (!self.is_noisy || self.cures(lab, thing, all)?))
            };
            if !(self.cures(lab, thing, all)? && is_stable(lab)?) {
                continue;
            }
            let what = match thing {
                OwnResource::Environment => match self.variable(lab)? {
                    Some(name) => format!("without the variable {}", name.display()),
                    None => "without several variables of your environment".to_owned(),
                },
                _ => format!("with its own {}", thing.name()),
            };
            return outside(format!("something outside of the process: {what}, `{victim}` {does} {where_} {with}"));
        }
        let things: Vec<_> = tried.map(|thing| thing.name().to_owned()).collect();
        outside(format!(
            "something outside of the process, such as a file at a fixed path, a port or a service. The outcome of \
             `{victim}` stays the same if it gets its own {}",
            things.join(", or its own ")
        ))
    }

    /// Returns true if the victim, in a process of its own, does as it does in one process with the tests; `None` if
    /// runs do not tell it.
    fn follows(
        &self,
        lab: &mut Lab<'_>,
        thing: Option<OwnResource>,
        is_shared: bool,
        variables: &[OsString],
    ) -> io::Result<Option<bool>> {
        let way = Arrangement::Apart(Apart { is_at_once: self.target.is_parallel(), thing, is_shared });
        let mut target = self.target.with(self.changes, way).lacking(variables);
        Ok(fails(lab, &mut target, self.times)?.map(|fails| fails != self.needs))
    }

    /// Returns the number of runs in which the victim, in a process of its own, fails at least once; `None` if that is
    /// too many.
    fn times_apart(&self, lab: &mut Lab<'_>) -> io::Result<Option<usize>> {
        let way = Arrangement::Apart(Apart { is_at_once: self.target.is_parallel(), thing: None, is_shared: false });
        let mut target = self.target.with(self.changes, way);
        let mut failed = 0;
        for _ in 0..SAMPLE {
            match fails(lab, &mut target, 1)? {
                Some(fails) => failed += usize::from(fails),
                None => return Ok(None),
            }
        }
        Ok(enough((failed, SAMPLE), 1, true).map(|times| times.max(2)))
    }

    /// Returns true if the outcome changes where the victim has a new thing of its own.
    fn cures(&self, lab: &mut Lab<'_>, thing: OwnResource, variables: &[OsString]) -> io::Result<bool> {
        // A victim that passes with others in a new directory does not need the user's.
        if self.needs && self.follows(lab, Some(thing), true, variables)? != Some(true) {
            return Ok(false);
        }
        Ok(self.follows(lab, Some(thing), false, variables)? == Some(false))
    }

    /// Returns the variable without which the outcome changes, if it is a single one.
    fn variable(&self, lab: &mut Lab<'_>) -> io::Result<Option<OsString>> {
        let mut rest = self.target.variables();
        while rest.len() > 1 {
            let (first, second) = rest.split_at(rest.len() / 2);
            rest = if self.cures(lab, OwnResource::Environment, first)? { first } else { second };
        }
        Ok(if self.cures(lab, OwnResource::Environment, rest)? { rest.first().cloned() } else { None })
    }
}

/// Returns true if the victim fails in one of at most `times` runs; `None` if a run tells nothing.
fn fails(lab: &mut Lab<'_>, target: &mut VictimTarget, times: usize) -> io::Result<Option<bool>> {
    for _ in 0..times {
        if lab.stops_at_limit() {
            return Ok(None);
        }
        match lab.try_once(target)? {
            Ok(run) if run.outcome == Outcome::Fail => return Ok(Some(true)),
            Ok(run) if run.outcome == Outcome::Pass => {}
            _ => return Ok(None),
        }
    }
    Ok(Some(false))
}

/// Returns the number of runs in which a victim fails at least once, if it failed in `failed` of `executions` so far and
/// a run has this number of executions, except with a small probability; `None` if that is too many.
fn enough((failed, executions): (usize, usize), in_a_run: usize, is_noisy: bool) -> Option<usize> {
    if !is_noisy || failed == executions {
        return Some(1);
    }
    let share = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let passes = (1.0 - share(failed) / share(executions)).powf(share(in_a_run));
    (1..=MAX_RUNS).find(|&times| passes.powi(times) <= MISSED).and_then(|times| usize::try_from(times).ok())
}
