//! What one run of all executables showed, and what it means for the search.

use std::time::Duration;

use bisect_core::search::{Outcome, Reason};

use super::failures::{Failure, Failures, Focus};
use crate::{reports::Reports, target::Run};

/// One run of everything that is to be run, before it is judged.
#[derive(Debug)]
pub struct Attempt {
    /// In the order in which they ran; after one that took too long, there are no more.
    pub parts: Vec<Part>,
    /// The changes that they reported.
    pub reports: Reports,
    /// How long they took together.
    pub duration: Duration,
}

/// What one executable did, or the build that did not make it.
#[derive(Debug)]
pub struct Part {
    /// Whether it failed.
    pub outcome: Outcome,
    /// More about it, for people.
    pub reason: String,
    /// What failed in it.
    pub failures: Failures,
    /// How many tests it said it would run.
    pub tests: Option<usize>,
}

impl Attempt {
    /// There was nothing to run.
    pub fn unbuilt(reports: Reports) -> Self {
        let outcome = Outcome::Unresolved(Reason::Build);
        let part = Part { outcome, reason: "does not build".to_owned(), failures: Failures::new(), tests: None };
        Self { parts: vec![part], reports, duration: Duration::ZERO }
    }

    /// Whether any part failed, counting or not.
    pub fn outcome(&self) -> Outcome {
        let outcomes = || self.parts.iter().map(|part| part.outcome);
        let failed = outcomes().find(|&outcome| outcome == Outcome::Fail);
        failed.or_else(|| outcomes().find(|&outcome| outcome != Outcome::Pass)).unwrap_or(Outcome::Pass)
    }

    /// Everything that failed.
    pub fn failures(&self) -> Failures {
        self.parts.iter().flat_map(|part| part.failures.iter().cloned()).collect()
    }

    /// What the search is told: one failure that counts is a failure, whatever else is unresolved.
    pub fn judge(self, focus: &Focus) -> Run {
        let counts = |failure: &&Failure| focus.counts(failure);
        let mut verdict = (Outcome::Pass, String::new());
        for part in &self.parts {
            let is_worse = match part.outcome {
                Outcome::Pass => false,
                Outcome::Fail => verdict.0 != Outcome::Fail && part.failures.iter().any(|failure| counts(&failure)),
                Outcome::Unresolved(_) => verdict.0 == Outcome::Pass,
            };
            if is_worse {
                verdict = (part.outcome, part.reason.clone());
            }
        }
        let failed = self.parts.iter().flat_map(|part| &part.failures).filter(counts);
        let failed_tests = failed.filter_map(|failure| failure.test.clone()).collect();
        let (outcome, reason) = verdict;
        Run { outcome, reason, reports: self.reports, failed_tests, duration: self.duration }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::failures::Side, *};

    fn part(outcome: Outcome, tests: &[&str]) -> Part {
        let failure = |&test: &&str| Failure { executable: "x".to_owned(), test: Some(test.to_owned()) };
        Part { outcome, reason: format!("{outcome:?}"), failures: tests.iter().map(failure).collect(), tests: None }
    }

    #[test]
    fn one_failure_that_counts_decides() {
        let skip = Outcome::Unresolved(Reason::Skip);
        let mut focus = Focus::default();
        focus.learn(Side::All, part(Outcome::Fail, &["a", "broken"]).failures);
        focus.learn(Side::None, part(Outcome::Fail, &["broken"]).failures);
        let failing = |tests: &[&str]| part(Outcome::Fail, tests);
        for (parts, outcome, failed) in [
            (vec![], Outcome::Pass, &[] as &[&str]),
            (vec![part(Outcome::Pass, &[])], Outcome::Pass, &[]),
            (vec![part(skip, &[]), failing(&["a"])], Outcome::Fail, &["a"]),
            (vec![failing(&["a", "broken"]), part(skip, &[])], Outcome::Fail, &["a"]),
            (vec![failing(&["broken"])], Outcome::Pass, &[]),
            (vec![failing(&["broken"]), part(skip, &[])], skip, &[]),
            (vec![failing(&["new"])], Outcome::Fail, &["new"]),
        ] {
            let run = Attempt { parts, reports: Reports::new(false), duration: Duration::ZERO }.judge(&focus);
            assert_eq!(
                (run.outcome, run.failed_tests.as_slice()),
                (outcome, &failed.iter().map(|&f| f.to_owned()).collect::<Vec<_>>()[..])
            );
            let reason = if outcome == Outcome::Pass { String::new() } else { format!("{outcome:?}") };
            assert_eq!(run.reason, reason);
        }
    }
}
