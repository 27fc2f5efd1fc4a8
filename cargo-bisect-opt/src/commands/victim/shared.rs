//! The answer to what a victim shares with the tests that matter: state in the process, or something outside.

use std::io;

use bisect_core::{ChangeId, search::Outcome};

use crate::{
    lab::{Lab, Named},
    output::events::{Answer, Fact},
    targets::victim::{Apart, Thing, VictimTarget, Way},
    units::plural,
};

/// The probability that a question to a flaky victim misses its failures.
const MISSED: f64 = 0.02;
/// The maximum number of runs for one question.
const MAX_RUNS: i32 = 15;

/// Returns how often the victim fails with and without a culprit, and what they share.
///
/// # Errors
/// If an event cannot be emitted.
pub(super) fn explain(lab: &mut Lab<'_>, target: &VictimTarget, culprit: &Named, is_noisy: bool) -> io::Result<Answer> {
    let changes = &culprit.changes;
    let [with, without] = target.rates(changes);
    let them = if changes.len() == 1 { "it" } else { "all of them" };
    let rates = format!(
        "in {} of {} with {them}, in {} of {} without",
        with.0,
        plural(with.1, "run"),
        without.0,
        plural(without.1, "run")
    );
    let mut answer = Answer { set: culprit.found.set, facts: Vec::new(), advice: Vec::new() };
    answer.facts.push(Fact { of: "failures", text: rates });
    let needs = without.0 > with.0;
    let (bad, good) = if needs { (without, with) } else { (with, without) };
    if good.0 == 0
        && let Some(times) = enough(bad, is_noisy)
        && let Some(text) = shared(lab, target, changes, needs, times)?
    {
        answer.facts.push(Fact { of: "shared", text });
    }
    Ok(answer)
}

/// Returns what the victim and these tests share, in words. Each question is asked up to `times` times. `None` if
/// runs tell nothing.
fn shared(
    lab: &mut Lab<'_>,
    target: &VictimTarget,
    changes: &[ChangeId],
    needs: bool,
    times: usize,
) -> io::Result<Option<String>> {
    let (victim, is_at_once) = (target.victim(), target.is_parallel());
    let with = if changes.len() == 1 { "that test" } else { "those tests" };
    // Whether the victim does as it does in one process with the tests.
    let mut follows = |thing, is_shared| {
        let way = Way::Apart(Apart { is_at_once, thing, is_shared });
        let fails = fails(lab, &mut target.with(changes, way), times)?;
        io::Result::Ok(fails.map(|fails| fails != needs))
    };
    let (does, where_) =
        if needs { ("fails", "after") } else { ("passes", if is_at_once { "beside" } else { "after" }) };
    match follows(None, false)? {
        None => return Ok(None),
        Some(false) => {
            return Ok(Some(format!(
                "state in the process, such as a static variable, an environment variable or the current directory that a \
                 test sets: `{victim}` {does} {where_} {with} in a process of its own, as cargo-nextest runs it"
            )));
        }
        Some(true) => {}
    }
    for thing in Thing::ALL {
        // A victim that passes with others in a new directory does not need the user's.
        if needs && follows(Some(thing), true)? != Some(true) {
            continue;
        }
        if follows(Some(thing), false)? == Some(false) {
            return Ok(Some(format!(
                "something outside of the process: with its own {}, `{victim}` {does} {where_} {with}",
                thing.name()
            )));
        }
    }
    let things: Vec<_> = Thing::ALL.iter().map(|thing| thing.name()).collect();
    Ok(Some(format!(
        "something outside of the process, such as a file at a fixed path, a port or a service: its own {} changes \
         nothing",
        things.join(", ")
    )))
}

/// Returns true if the victim fails in one of at most `times` runs; `None` if a run tells nothing.
fn fails(lab: &mut Lab<'_>, target: &mut VictimTarget, times: usize) -> io::Result<Option<bool>> {
    for _ in 0..times {
        match lab.try_once(target)? {
            Ok(run) if run.outcome == Outcome::Fail => return Ok(Some(true)),
            Ok(run) if run.outcome == Outcome::Pass => {}
            _ => return Ok(None),
        }
    }
    Ok(Some(false))
}

/// Returns the number of runs in which a victim fails at least once, if it failed in `failed` of `runs` runs so far,
/// except with a small probability; `None` if that is too many.
fn enough((failed, runs): (usize, usize), is_noisy: bool) -> Option<usize> {
    if !is_noisy || failed == runs {
        return Some(1);
    }
    let share = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let passes = 1.0 - share(failed) / share(runs);
    (1..=MAX_RUNS).find(|&times| passes.powi(times) <= MISSED).and_then(|times| usize::try_from(times).ok())
}
