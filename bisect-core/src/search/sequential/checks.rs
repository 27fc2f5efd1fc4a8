//! What is run before something is named, of a target that has not contradicted itself.
//!
//! A plain search follows outcomes wherever they lead, so a coin, or a target that depends on the run before, may lead it
//! to any change. Some runs more show that, if each of them may end otherwise than the search expects. With *n* runs, no
//! choice of them shows a fair coin in more than 1 - 2^-*n* of all cases. This one comes near to that whatever outcomes
//! follow, as long as it is not the changes: whether a run is expected to fail or to pass is decided by a coin of the
//! search's own, so outcomes that know nothing of it agree in half of the cases. Where a simple [rule](carry_over) without
//! changes explains all outcomes so far, the run is one of which the rule and the changes say different things; and where
//! outcomes only tend to follow the one before, it mostly is.
//!
//! Which of the runs that are expected to fail, or to pass, is the likeliest to end otherwise is up to the posterior of
//! the search under noise: see [`Alternatives`].

use alloc::{vec, vec::Vec};

use super::{
    Sequential,
    procedure::{Answer, Asked},
};
use crate::search::tuning;
use crate::search::{
    model::{
        noise::Noise,
        options::Options,
        selection::{Prefix, Selection},
        trial::{Outcome, Question, TrialId},
        verdict::{Culprit, Mode, Verdict},
    },
    noisy::{
        Alternatives, Run,
        carry_over::{self, Rule},
    },
};

impl Sequential {
    /// Schedules checks before this answer is taken, if the answer would name a culprit. Returns whether there are any.
    pub(super) fn check_before_naming(&mut self, answer: &Answer<'_>, options: &Options) -> bool {
        let number = self.procedure.found().len();
        if !may_check(options) || self.checked_culprits > number {
            return false;
        }
        let after = self.procedure.after(answer);
        let Some(culprit) = after.found().get(number) else { return false };
        self.checked_culprits = number + 1;
        let checks = self.choose_checks(culprit, number, options);
        for &(ref asked, expected) in &checks {
            self.trials.check(asked.clone(), expected);
        }
        !checks.is_empty()
    }

    /// Replaces the question [`Question::Baseline`] by checks, at least one of which must pass. Returns whether the question is
    /// handled this way, by an answer or by scheduled checks.
    pub(super) fn replace_baseline(&mut self, options: &Options) -> bool {
        if !may_check(options) {
            return false;
        }
        let passes = Answer { trial: TrialId(self.trials.len()), outcome: Outcome::Pass, reported: None };
        if !self.check_before_naming(&passes, options) {
            self.procedure.answer(&passes);
        }
        true
    }

    /// Returns the runs that are made before this culprit is named, and the outcome expected of each.
    fn choose_checks(&mut self, culprit: &Culprit, number: usize, options: &Options) -> Vec<(Asked, Outcome)> {
        // Parallel checks take no extra time, and their order is less informative.
        let beside = options.in_flight.get().min(tuning::MAX_CHECK_BATCH);
        match culprit.changes.len() {
            1 => self.most_likely_to_differ(culprit, of_change(number).next_multiple_of(beside)),
            size => {
                let parts = left_out(size);
                let runs = parts.len() + tuning::CHECKS_OF_WHOLE_SET;
                self.minimal(culprit, parts, runs.next_multiple_of(beside))
            }
        }
    }

    /// The runs that are the likeliest to show that this culprit is wrong. Each is chosen as if those before it will have
    /// ended as expected: else the rest need not be made.
    fn most_likely_to_differ(&mut self, culprit: &Culprit, count: usize) -> Vec<(Asked, Outcome)> {
        let found: Vec<_> = self.procedure.found().iter().map(|culprit| culprit.changes.clone()).collect();
        let mut runs = self.history.clone();
        let mut checks: Vec<(Asked, Outcome)> = Vec::new();
        for _ in 0..count {
            let alternatives = Alternatives::new(&self.seen, &found, &runs, culprit);
            // A target that has come to fail always must be seen to pass once more.
            let must_pass = checks.len() + 1 == count && checks.iter().all(|&(_, expected)| expected == Outcome::Fail);
            let fails = self.expects_failure(&runs) && !must_pass;
            let expected = if fails { Outcome::Fail } else { Outcome::Pass };
            let candidates = self.questions_that(expected).into_iter();
            let surprises = candidates.map(|asked| (alternatives.probability_of(&asked.selection, !fails), asked));
            // Of several that are as good, the last: what it needs may still be built.
            let Some((_, asked)) = surprises.max_by(|(one, _), (other, _)| one.total_cmp(other)) else { break };
            runs.push(Run::expected(&asked.selection, fails));
            checks.push((asked, expected));
        }
        checks
    }

    /// Returns `count` checks of a set: one without each change in `left_out`, the others of the whole set.
    fn minimal(&mut self, culprit: &Culprit, left_out: Vec<usize>, count: usize) -> Vec<(Asked, Outcome)> {
        let changes = &culprit.changes;
        let exactly = |forced| {
            let inverted = culprit.mode == Mode::Disable;
            let selection = Selection { prefix: Prefix::NONE, forced, inverted, ..Selection::all() };
            Asked::by_others(Question::FoundAlone, selection)
        };
        let without = |left_out: usize| [&changes[..left_out], &changes[left_out + 1..]].concat();
        let mut checks: Vec<_> = left_out.into_iter().map(|place| (exactly(without(place)), Outcome::Pass)).collect();
        checks.resize(count, (exactly(changes.clone()), Outcome::Fail));
        self.rng.shuffle(&mut checks);
        self.against_the_tendency(checks)
    }

    /// Returns the checks in an order that contradicts what carry-over rules, or the tendency of outcomes, predict.
    fn against_the_tendency(&mut self, mut checks: Vec<(Asked, Outcome)>) -> Vec<(Asked, Outcome)> {
        let mut runs = self.history.clone();
        for next in 0..checks.len() {
            let fails = self.expects_failure(&runs);
            let place = checks[next..].iter().position(|&(_, expected)| fails == (expected == Outcome::Fail));
            checks.swap(next, next + place.unwrap_or(0));
            let (asked, expected) = &checks[next];
            runs.push(Run::expected(&asked.selection, *expected == Outcome::Fail));
        }
        checks
    }

    /// Returns whether the next check should be one that is expected to fail: the opposite of what rules predict. If outcomes
    /// only have a tendency, its opposite in three of four cases; else by a coin.
    fn expects_failure(&mut self, runs: &[Run]) -> bool {
        if let Some(fails) = contrary(&carry_over::rules(&self.seen, runs)) {
            return fails;
        }
        let coin = self.rng.coin();
        match carry_over::tendency(runs) {
            Some(fails) => fails == (coin && self.rng.coin()),
            None => coin,
        }
    }

    /// Returns each question of which a run has ended with this outcome.
    fn questions_that(&self, outcome: Outcome) -> Vec<Asked> {
        let mut questions: Vec<Asked> = Vec::new();
        for progress in self.trials.iter().filter(|progress| progress.outcomes.contains(&outcome)) {
            if !questions.iter().any(|asked| asked.selection == progress.asked.selection) {
                questions.push(progress.asked.clone());
            }
        }
        questions
    }

    /// Schedules two more runs of one end before the search reports [`Verdict::NoDifference`]: a flaky target may pass, or
    /// fail, at both ends by chance.
    pub(super) fn check_before_giving_up(&mut self, options: &Options) {
        let &Err(&Verdict::NoDifference(outcome)) = &self.procedure.question() else { return };
        let end = match outcome {
            Outcome::Pass => Question::AllOn,
            Outcome::Fail => Question::AllOff,
            Outcome::Unresolved(_) => return,
        };
        let is_new = may_check(options) && self.trials.checks() < tuning::CHECKS_BEFORE_NO_DIFFERENCE;
        let asked = self.trials.iter().map(|progress| &progress.asked).find(|asked| asked.question == end);
        if let Some(asked) = asked.filter(|_| is_new).cloned() {
            for asked in vec![asked; tuning::CHECKS_BEFORE_NO_DIFFERENCE] {
                self.trials.check(asked, outcome);
            }
        }
    }
}

/// Returns whether checks are made: only where noise is suspected.
pub(super) fn may_check(options: &Options) -> bool {
    matches!(options.noise, Noise::Suspected(_))
}

/// How many runs are made before the culprit with this number is named, if it is one change.
pub(in crate::search) fn of_change(number: usize) -> usize {
    if number == 0 { tuning::CHECKS_BEFORE_FIRST } else { tuning::CHECKS_BEFORE_FURTHER }
}

/// The places of the changes that are left out of a set of several changes in the runs before it is named. A flaky change
/// beside a reliable culprit is often found together with an innocent one. No run has shown yet how a set ends without its
/// first change, so that is left out twice: with one run less, 1.1% of the searches of a pair beside a coin are wrong
/// instead of 0.6% (bench `trust`).
pub(in crate::search) fn left_out(size: usize) -> Vec<usize> {
    (0..size).chain([0]).collect()
}

/// Returns the outcome that the next check should have to contradict the rules: a failure, `Some(true)`, if the rules that
/// predict a pass weigh more. `None` if both predictions weigh the same, or there is none.
fn contrary(rules: &[Rule]) -> Option<bool> {
    let weight = |fails: bool| -> u64 {
        rules.iter().filter(|rule| rule.next_fails == Some(fails)).map(|rule| u64::from(rule.weight)).sum()
    };
    let (fails, passes) = (weight(true), weight(false));
    (fails != passes).then_some(passes > fails)
}
