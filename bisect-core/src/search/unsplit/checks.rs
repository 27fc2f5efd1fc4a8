//! The runs that are made before a culprit is named, of a target that has not contradicted itself.
//!
//! A plain search follows every outcome. If outcomes are random, or depend on the run before, they may lead to any
//! change. A few more runs reveal that, if each of them may end differently from what the search expects. With *n*
//! runs, no choice of runs exposes a fair coin in more than 1 - 2^-*n* of all cases. This choice comes near to that
//! bound for all outcomes that do not follow the changes: a coin of the search decides if a run is expected to fail or
//! to pass, so outcomes that are independent of this coin agree in half of the cases. Where a simple [rule](carry_over)
//! that ignores the changes explains all outcomes so far, the check is a run for which the rule and the changes predict
//! different outcomes. Where outcomes only tend to follow the outcome before, the check is mostly one that contradicts
//! the tendency.
//!
//! Among the runs that are expected to fail, or to pass, the posterior of the noisy search selects the one that is most
//! likely to end differently: see [`Alternatives`].
//!
//! Checks in a fixed order can be in step with a target that leaves something behind: with them, 71% of the searches of
//! targets that fail in every other run named something innocent.
//!
//! The target is not trusted. A culprit must fail alone, and everything else must pass; where everything else fails,
//! more culprits are left. The search then still needs a state that has passed, so at least one of the checks must
//! pass.

use alloc::{vec, vec::Vec};

use super::Unsplit;
use crate::search::tuning;
use crate::search::{
    ledger::{Asked, Entry, Ledger, Run, Why},
    model::{
        noise::Noise,
        options::Options,
        rank::Rank,
        trial::{Outcome, Question},
        verdict::{Culprit, Unusable, Verdict},
    },
    noisy::{
        Alternatives,
        carry_over::{self, Rule},
        square_wave,
    },
    sequential::Answer,
    test::Test,
};

impl Unsplit {
    /// Returns the culprit whose checks are not over, if there is one.
    pub(in crate::search) fn under_check(&self, test: &Test, ledger: &Ledger) -> Option<&Culprit> {
        let is_open = test.noisy.is_none() && test.stopped.is_none() && ledger.checks_due().next().is_some();
        self.under_check.as_ref().filter(|_| is_open)
    }

    /// Schedules or awaits checks before this answer is taken, if the answer would name a culprit. Returns true if there
    /// are any.
    pub(super) fn check_before_naming(
        &mut self,
        answer: &Answer<'_>,
        test: &mut Test,
        ledger: &mut Ledger,
        options: &Options,
    ) -> bool {
        let number = test.procedure.found().len();
        if !may_check(options) || test.checked_culprits > number {
            return false;
        }
        let after = test.procedure.after(answer);
        let Some(culprit) = after.found().get(number) else { return false };
        self.under_check = Some(culprit.clone());
        let runs = self.early_checks.predicted_runs(culprit, ledger);
        if !runs.suffice() && runs.may_suffice() {
            // When they have ended, this is called again.
            for trial in runs.in_flight {
                ledger[trial].wait();
            }
            return true;
        }
        test.checked_culprits = number + 1;
        if runs.suffice() {
            return false;
        }
        let checks = self.choose_checks(culprit, test, runs.agreeing, ledger, options);
        for &(ref asked, expected) in &checks {
            ledger.check(asked.clone(), Some(expected));
        }
        !checks.is_empty()
    }

    /// Replaces the question [`Question::Baseline`] by checks, at least one of which must pass. Returns true if the
    /// question is handled this way, by an answer or by scheduled checks.
    pub(super) fn replace_baseline(&mut self, test: &mut Test, ledger: &mut Ledger, options: &Options) -> bool {
        if !may_check(options) {
            return false;
        }
        let passes = Answer::assumed(Outcome::Pass);
        if !self.check_before_naming(&passes, test, ledger, options) {
            test.procedure.answer(&passes);
        }
        true
    }

    /// Returns the runs that are made before this culprit is named, and the outcome expected of each.
    fn choose_checks(
        &mut self,
        culprit: &Culprit,
        test: &Test,
        agreeing: usize,
        ledger: &Ledger,
        options: &Options,
    ) -> Vec<(Asked, Outcome)> {
        // Checks fill whole batches: those beside others take no extra time, and their order is less informative. One run of
        // the last batch is left for the text of the culprit: see `ProgressView::culprit_under_check`. Four checks are
        // therefore seven in two batches where four runs are in flight. Only four, in one batch, save a round, but then
        // 2.7% of the searches of a cycle of a failure and a pass name an innocent (bench `trust`, `-j4`).
        let beside = batch(options);
        let rounded = |runs: usize| if beside == 1 { runs } else { (runs + 1).next_multiple_of(beside) - 1 };
        match culprit.changes.len() {
            1 => {
                let runs =
                    of_change(test.procedure.found().len()).saturating_sub(agreeing).max(tuning::CHECKS_BEFORE_FURTHER);
                self.most_likely_to_differ(culprit, test, rounded(runs), ledger, options)
            }
            size => {
                let parts = left_out(size);
                let runs = parts.len() + tuning::CHECKS_OF_WHOLE_SET;
                self.minimal(culprit, parts, rounded(runs), ledger)
            }
        }
    }

    /// Returns the runs that are most likely to show that this culprit is wrong. Each is chosen on the assumption that
    /// the runs before it end as expected: if one does not, the rest is not needed.
    fn most_likely_to_differ(
        &mut self,
        culprit: &Culprit,
        test: &Test,
        count: usize,
        ledger: &Ledger,
        options: &Options,
    ) -> Vec<(Asked, Outcome)> {
        let found: Vec<_> = test.procedure.found().iter().map(|culprit| culprit.changes.clone()).collect();
        let mut runs = ledger.runs(0).to_vec();
        let mut checks: Vec<(Asked, Outcome)> = Vec::new();
        for _ in 0..count {
            let alternatives = Alternatives::new(options, &self.known, &found, &runs, culprit);
            // A target that has begun to fail always must be seen to pass once more.
            let must_pass = checks.len() + 1 == count && checks.iter().all(|&(_, expected)| expected == Outcome::Fail);
            let fails = self.expects_failure(&runs) && !must_pass;
            let expected = if fails { Outcome::Fail } else { Outcome::Pass };
            let candidates = questions_that(expected, ledger).into_iter();
            let surprises = candidates.map(|asked| (alternatives.probability_of(&asked.selection, !fails), asked));
            // Among equally good questions, take the last one: what it needs may still be built.
            let Some((_, asked)) = surprises.max_by(|(one, _), (other, _)| one.total_cmp(other)) else { break };
            runs.push(Run::expected(ledger.next_id(), &asked.selection, fails));
            checks.push((asked, expected));
        }
        checks.extend(against_the_wave(&runs, ledger));
        checks
    }

    /// Returns `count` checks of a set: one without each change in `left_out`, the others of the whole set.
    fn minimal(
        &mut self,
        culprit: &Culprit,
        left_out: Vec<usize>,
        count: usize,
        ledger: &Ledger,
    ) -> Vec<(Asked, Outcome)> {
        let changes = &culprit.changes;
        let exactly = |changes: &[Rank]| Asked::at_any_time(Question::FoundAlone, culprit.mode.exactly(changes));
        let without = |left_out: usize| [&changes[..left_out], &changes[left_out + 1..]].concat();
        let mut checks: Vec<_> = left_out.into_iter().map(|place| (exactly(&without(place)), Outcome::Pass)).collect();
        checks.resize(count, (exactly(changes), Outcome::Fail));
        self.rng.shuffle(&mut checks);
        self.against_the_tendency(checks, ledger)
    }

    /// Returns the checks in an order that contradicts what carry-over rules, or the tendency of outcomes, predict.
    fn against_the_tendency(&mut self, mut checks: Vec<(Asked, Outcome)>, ledger: &Ledger) -> Vec<(Asked, Outcome)> {
        let mut runs = ledger.runs(0).to_vec();
        for next in 0..checks.len() {
            let fails = self.expects_failure(&runs);
            let place = checks[next..].iter().position(|&(_, expected)| fails == (expected == Outcome::Fail));
            checks.swap(next, next + place.unwrap_or(0));
            let (asked, expected) = &checks[next];
            runs.push(Run::expected(ledger.next_id(), &asked.selection, *expected == Outcome::Fail));
        }
        checks
    }

    /// Returns true if the next check should be one that is expected to fail: the opposite of the outcome that rules
    /// predict. Without a prediction but with a tendency, it is the opposite of the tendency with a probability of 3/4.
    /// Otherwise a coin decides.
    fn expects_failure(&mut self, runs: &[Run]) -> bool {
        if let Some(fails) = contrary(&carry_over::rules(&self.known, runs)) {
            return fails;
        }
        let coin = self.rng.coin();
        match carry_over::tendency(runs) {
            Some(fails) => fails == (coin && self.rng.coin()),
            None => coin,
        }
    }
}

/// Schedules more runs of one end before the search reports [`Verdict::NoDifference`] or [`Unusable::Reversed`]:
/// a flaky target may end like that by chance.
pub(super) fn before_giving_up(test: &Test, ledger: &mut Ledger, options: &Options) {
    let (end, outcome) = match test.procedure.question() {
        Err(&Verdict::NoDifference(Outcome::Fail)) => (Question::AllOff, Outcome::Fail),
        Err(&Verdict::NoDifference(Outcome::Pass)) => (Question::AllOn, Outcome::Pass),
        Err(&Verdict::Unusable(Unusable::Reversed(mode))) => (mode.passing_end().0, Outcome::Pass),
        _ => return,
    };
    let asked = ledger.iter().find(|entry| entry.trial.question == end).map(Entry::asked);
    // Other checks may have been made: the proof of a suspect is repeated while this end is in flight.
    let is_unchecked = |asked: &Asked| may_check(options) && !is_checked(asked, ledger);
    if let Some(asked) = asked.filter(is_unchecked) {
        // Runs that were in flight may influence the first ones. Parallel checks take no extra time.
        for asked in vec![asked; batch(options).max(tuning::CHECKS_BEFORE_NO_DIFFERENCE)] {
            ledger.check(asked, Some(outcome));
        }
    }
}

/// Returns one more check if a wave explains all these runs: one that is expected to end otherwise.
fn against_the_wave(runs: &[Run], ledger: &Ledger) -> Option<(Asked, Outcome)> {
    let expected = if square_wave::predicted(runs)? { Outcome::Pass } else { Outcome::Fail };
    Some((questions_that(expected, ledger).pop()?, expected))
}

/// Returns true if a check repeats this question.
fn is_checked(asked: &Asked, ledger: &Ledger) -> bool {
    let is_check = |entry: &Entry| matches!(entry.why, Why::Check(_)) && entry.trial.selection == asked.selection;
    ledger.iter().any(is_check)
}

/// Returns each question that has a run with this outcome.
fn questions_that(outcome: Outcome, ledger: &Ledger) -> Vec<Asked> {
    let mut questions: Vec<Asked> = Vec::new();
    for entry in ledger.iter().filter(|entry| entry.outcomes().contains(&outcome)) {
        if !questions.iter().any(|asked| asked.selection == entry.trial.selection) {
            questions.push(entry.asked());
        }
    }
    questions
}

/// Returns true if checks are made: only where noise is suspected.
pub(super) fn may_check(options: &Options) -> bool {
    matches!(options.noise, Noise::Suspected(_))
}

/// Returns the number of checks that are made at once.
fn batch(options: &Options) -> usize {
    options.in_flight.get().min(tuning::MAX_CHECK_BATCH)
}

/// Returns the number of runs that are made before the culprit with this number is named, if it is one change.
pub(in crate::search) fn of_change(number: usize) -> usize {
    if number == 0 { tuning::CHECKS_BEFORE_FIRST } else { tuning::CHECKS_BEFORE_FURTHER }
}

/// Returns the indices of the changes that the checks of a set of several changes leave out, one index a run. A flaky
/// change beside a reliable culprit is often found together with an innocent one. No run has shown yet how a set ends
/// without its first change, so that one is left out twice: with one run less, 1.1% of the searches of a pair beside a
/// coin are wrong instead of 0.6% (bench `trust`).
pub(in crate::search) fn left_out(size: usize) -> Vec<usize> {
    (0..size).chain([0]).collect()
}

/// Returns the outcome that the next check should have to contradict the rules: a failure, `Some(true)`, if the rules
/// that predict a pass weigh more. `None` if both predictions weigh the same, or there is none.
fn contrary(rules: &[Rule]) -> Option<bool> {
    let weight = |fails: bool| -> u64 {
        rules.iter().filter(|rule| rule.next_fails == Some(fails)).map(|rule| u64::from(rule.weight)).sum()
    };
    let (fails, passes) = (weight(true), weight(false));
    (fails != passes).then_some(passes > fails)
}
