//! The chances that a victim gets to fail: runs of all tests, again and again, in each way in which they can run.
//!
//! Time limits these runs, not a number: a victim that fails in 1% of its runs needs hundreds. A run that takes a few
//! milliseconds is repeated, in more and more executions, so that a minute has few rows. Once the victim has failed, the
//! runs go on until it is known how often it fails, in the way in which it fails most.

use std::{num::NonZeroUsize, time::Duration};

use bisect_core::search::Outcome;

use crate::{
    record::noise,
    run::{repetition::Repetition, result::RunResult},
    targets::victim::{Arrangement, Threads},
    units::{listed, plural},
};

/// The time for a victim that has not failed, if the user gives none.
pub(super) const DEFAULT_BUDGET: Duration = Duration::from_secs(60);
/// The least number of executions in each way before a victim is said never to fail. One that fails in 30% of them is
/// missed in one case of 300.
const FEW_EXECUTIONS: usize = 16;
/// The time after which the number of executions in a run is not doubled any more.
const LONG_RUN: Duration = Duration::from_secs(1);
/// The number of failures from which the rate is known well enough: within a factor of two in most cases.
const SUFFICIENT_FAILURES: usize = 4;
/// The fewest executions for which the excluded failure rate is stated.
const TELLING_EXECUTIONS: usize = 4;
/// A rate from which on a search needs no repetition within a run.
const HIGH_RATE: f64 = 0.3;

/// The executions in one way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Tally {
    /// The number of executions in which the victim failed.
    pub(super) failed: usize,
    /// The number of executions that show whether it fails.
    pub(super) executions: usize,
}

impl Tally {
    pub(super) fn add(&mut self, other: Self) {
        self.failed += other.failed;
        self.executions += other.executions;
    }

    /// Returns true if the victim failed in each execution.
    pub(super) fn is_always(self) -> bool {
        self.failed == self.executions
    }

    fn rate(self) -> f64 {
        number(self.failed) / number(self.executions.max(1))
    }

    /// Returns the number of executions in a run that fails in about two of three cases.
    fn executions_in_a_run(self) -> usize {
        match self.rate() {
            rate if rate >= HIGH_RATE => 1,
            _ => self.executions.div_ceil(self.failed.max(1)),
        }
    }
}

/// The chances in each way.
#[derive(Debug)]
pub(super) struct Chances {
    ways: Vec<Chance>,
    /// The index of the way of the next run.
    next: usize,
    /// The least number of executions in a run.
    least: usize,
}

#[derive(Debug)]
struct Chance {
    way: Arrangement,
    /// The number of tests that run at once.
    threads: usize,
    tally: Tally,
    /// The number of executions in the next run.
    batch: usize,
}

/// The way in which the victim is searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Chosen {
    pub(super) way: Arrangement,
    pub(super) tally: Tally,
    /// The number of tests that run at once.
    pub(super) threads: usize,
    /// The number of executions in a run of the search.
    pub(super) executions: usize,
}

impl Chances {
    /// Returns chances in these ways, each with the number of tests that run at once. A run has at least `least`
    /// executions.
    pub(super) fn new(ways: impl IntoIterator<Item = (Arrangement, usize)>, least: usize) -> Self {
        let chance = |(way, threads)| Chance { way, threads, tally: Tally::default(), batch: least };
        Self { ways: ways.into_iter().map(chance).collect(), next: 0, least }
    }

    /// Returns the way of the next run and the number of its executions; `None` if there is no way.
    pub(super) fn next(&self) -> Option<(Arrangement, usize)> {
        let chance = self.ways.get(self.next)?;
        Some((chance.way, chance.batch))
    }

    /// Takes the end of the run that was returned last. An unresolved one tells nothing.
    pub(super) fn take(&mut self, run: &RunResult) {
        let Some(chance) = self.ways.get_mut(self.next) else { return };
        if !matches!(run.outcome, Outcome::Unresolved(_)) {
            chance.tally.add(Tally { failed: usize::from(run.outcome == Outcome::Fail), executions: run.executions });
        }
        if run.duration < LONG_RUN && run.executions == chance.batch {
            chance.batch *= 2;
        }
        self.next = (self.next + 1) % self.ways.len();
    }

    /// Adds executions that were made before, one test after the other.
    pub(super) fn add_serial(&mut self, tally: Tally) {
        if let Some(chance) = self.ways.iter_mut().find(|chance| chance.way == Arrangement::Serial) {
            chance.tally.add(tally);
        }
    }

    /// Returns true if the victim has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.ways.iter().any(|chance| chance.tally.failed > 0)
    }

    /// Returns true if the victim had hardly a chance to fail in one of the ways.
    pub(super) fn are_few(&self) -> bool {
        self.ways.iter().any(|chance| chance.tally.executions < FEW_EXECUTIONS)
    }

    /// Returns the way in which the victim is searched, once it has failed often enough. Of ways in which it fails about
    /// equally often, the first one is the most usual.
    pub(super) fn chosen(&self) -> Option<Chosen> {
        let is_known = |chance: &&Chance| chance.tally.failed >= SUFFICIENT_FAILURES;
        let best = self.ways.iter().filter(is_known).map(|chance| chance.tally.rate()).max_by(f64::total_cmp)?;
        let chance = self.ways.iter().find(|chance| 2.0 * chance.tally.rate() >= best)?;
        let executions = chance.tally.executions_in_a_run().max(self.least);
        Some(Chosen { way: chance.way, tally: chance.tally, threads: chance.threads, executions })
    }

    /// Returns the conclusion for a victim that has not failed within the time for it.
    pub(super) fn never_failed(&self, victim: &str, alone: Tally, is_time_given: bool) -> String {
        let advice = if is_time_given {
            "It may fail more rarely, or only on another machine, or under load"
        } else {
            "If it fails more rarely, allow more time: --budget 10m"
        };
        format!("`{victim}` never failed: {}. {advice}", self.bounds(alone))
    }

    /// Returns how often the victim was run in each way, and the rate that this excludes, if it never failed.
    fn bounds(&self, alone: Tally) -> String {
        let of = |tally: Tally, how: String| {
            (tally.executions > 0).then(|| {
                let executions = plural(tally.executions, "execution");
                let excluded = format!(" ({})", noise::excluded(tally.executions));
                let excluded = if tally.executions < TELLING_EXECUTIONS { "" } else { &excluded };
                format!("in 0 of {executions} {how}{excluded}")
            })
        };
        let how = |chance: &Chance| how(chance.way, chance.threads);
        let ways = self.ways.iter().filter_map(|chance| of(chance.tally, how(chance)));
        listed(ways.chain(of(alone, "alone".to_owned())))
    }
}

impl Chosen {
    /// Returns the note about the rate in this way.
    pub(super) fn note(&self, victim: &str) -> String {
        let Tally { failed, executions } = self.tally;
        let executions = plural(executions, "execution");
        let how = how(self.way, self.threads);
        let times = match self.executions {
            1 => String::new(),
            times => format!(". From here on, a run executes it up to {times} times, until it fails"),
        };
        format!("`{victim}` fails now and then, in {failed} of {executions} {how}{times}")
    }

    /// Returns the conclusion for a victim that has not failed in the runs of its search.
    pub(super) fn no_more(&self, victim: &str, after: Tally) -> String {
        let (Tally { failed, executions }, how) = (self.tally, how(self.way, self.threads));
        let (before, after) = (plural(executions, "execution"), plural(after.executions, "later one"));
        format!(
            "`{victim}` failed in {failed} of {before} {how}, and in none of {after}: the cause of its failures is gone"
        )
    }

    /// Returns the repetition of the search, if the user asks for this one.
    pub(super) fn repetition(&self, asked: Repetition) -> Repetition {
        match asked {
            Repetition::UntilPass(_) => asked,
            _ => Repetition::new(NonZeroUsize::new(self.executions), None),
        }
    }
}

/// Returns the way in which the victim runs, in words.
fn how(way: Arrangement, threads: usize) -> String {
    match way {
        Arrangement::Serial => "after the tests listed before it".to_owned(),
        Arrangement::Parallel(Threads::More) => format!("beside all others, {threads} at once (more than usual)"),
        _ => format!("beside all others, {threads} at once"),
    }
}

/// Returns the conclusion for a victim of which no other test seems to change the rate.
pub(super) fn nothing_matters(victim: &str, all: Tally, none: Tally, is_likely: bool) -> String {
    let of = |tally: Tally| format!("in {} of {}", tally.failed, plural(tally.executions, "execution"));
    let rates = format!("it failed {} with all other tests, {} with none", of(all), of(none));
    if is_likely {
        format!("`{victim}` is flaky, and no other test makes a difference: {rates}. Debug it alone")
    } else {
        format!("`{victim}` is flaky, and the runs do not show whether another test makes a difference: {rates}")
    }
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Arrangement = Arrangement::Parallel(Threads::Usual);
    const MORE: Arrangement = Arrangement::Parallel(Threads::More);

    fn chances(tallies: [(usize, usize); 3]) -> Chances {
        let mut chances = Chances::new([(Arrangement::Serial, 1), (USUAL, 2), (MORE, 16)], 1);
        for (chance, (failed, executions)) in chances.ways.iter_mut().zip(tallies) {
            chance.tally = Tally { failed, executions };
        }
        chances
    }

    #[test]
    fn a_rate_is_known_after_some_failures() {
        assert_eq!(chances([(0, 100), (3, 100), (3, 100)]).chosen(), None);
        let way = |tallies| chances(tallies).chosen().map(|chosen| (chosen.way, chosen.executions));
        assert_eq!(way([(0, 100), (4, 100), (5, 100)]), Some((USUAL, 25)));
        assert_eq!(way([(0, 100), (4, 400), (4, 100)]), Some((MORE, 25)));
        assert_eq!(way([(3, 100), (4, 100), (5, 100)]), Some((Arrangement::Serial, 34)));
        assert_eq!(way([(0, 4), (4, 4), (0, 4)]), Some((USUAL, 1)));
    }

    #[test]
    fn rates_are_worded() {
        let tally = |failed, executions| Tally { failed, executions };
        let chosen = chances([(0, 9), (0, 9), (4, 200)]).chosen().unwrap();
        let note = "`v` fails now and then, in 4 of 200 executions beside all others, 16 at once (more than usual). From here on, a run \
                    executes it up to 50 times, until it fails";
        assert_eq!(chosen.note("v"), note);
        let words = chosen.no_more("v", tally(0, 7));
        assert!(words.ends_with("and in none of 7 later ones: the cause of its failures is gone"), "{words}");
        let words = |is_likely| nothing_matters("v", tally(3, 100), tally(4, 90), is_likely);
        let rates = "it failed in 3 of 100 executions with all other tests, in 4 of 90 executions with none";
        assert_eq!(words(true), format!("`v` is flaky, and no other test makes a difference: {rates}. Debug it alone"));
        let open = format!("`v` is flaky, and the runs do not show whether another test makes a difference: {rates}");
        assert_eq!(words(false), open);
    }

    #[test]
    fn without_a_failure_a_bound_is_stated() {
        let words = chances([(0, 812), (0, 60), (0, 0)]).bounds(Tally { failed: 0, executions: 3 });
        let expected = "in 0 of 812 executions after the tests listed before it (a rate above 0.4% is excluded at 95%), in \
                        0 of 60 executions beside all others, 2 at once (a rate above 5% is excluded at 95%) and in 0 of 3 \
                        executions alone";
        assert_eq!(words, expected);
        let words =
            |is_time_given| chances([(0, 8), (0, 0), (0, 0)]).never_failed("v", Tally::default(), is_time_given);
        assert!(words(false).starts_with("`v` never failed: in 0 of 8 executions after"), "{}", words(false));
        assert!(words(false).ends_with(". If it fails more rarely, allow more time: --budget 10m"), "{}", words(false));
        assert!(words(true).ends_with("It may fail more rarely, or only on another machine, or under load"));
    }
}
