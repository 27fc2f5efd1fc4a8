//! The criteria of the searched failure: the tests, and the causes of their failures.

use std::{collections::BTreeMap, sync::Arc};

use bisect_core::search::{Outcome, Reason};
use serde::{Deserialize, Serialize};

use super::test_selection::{Failure, Failures, TestSelection};
use crate::{
    lab::calibration::{Calibration, Meaning, another, usual},
    run::{
        cause::{Cause, Environment},
        result::{Failed, Note},
        stored_map, stored_outcome,
    },
};

/// The result of one executable, or of the build that did not make it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    /// The outcome, before it is judged.
    #[serde(with = "stored_outcome")]
    pub(crate) outcome: Outcome,
    /// Details of the outcome, for people.
    pub(crate) reason: String,
    /// The failures.
    pub(crate) failures: Failures,
    /// The causes of the failures. They include tests that are known to have failed before a crash, where the crash is
    /// the failure.
    #[serde(with = "stored_map")]
    pub(crate) causes: BTreeMap<Failure, Cause>,
    /// The number of tests that the executable announced.
    pub(crate) tests: Option<usize>,
    /// The message of the runtime, if it could not write reports.
    pub(crate) lost_reports: Option<String>,
    /// Notes for the user.
    pub(crate) notes: Vec<Note>,
}

impl Default for Part {
    /// Returns the result of an executable that passed.
    fn default() -> Self {
        Self {
            outcome: Outcome::Pass,
            reason: String::new(),
            failures: Failures::new(),
            causes: BTreeMap::new(),
            tests: None,
            lost_reports: None,
            notes: Vec::new(),
        }
    }
}

/// The criteria by which failures are judged.
#[derive(Clone, Debug)]
pub(crate) struct Criteria {
    /// The tests that count.
    pub(crate) tests: Arc<TestSelection>,
    /// The known causes of failures; `None` if every failure counts.
    pub(crate) calibration: Option<Arc<Calibration<Failure>>>,
    /// True if a failure must be like those of the calibration.
    pub(crate) same_failure: bool,
}

impl Criteria {
    /// Returns criteria by which every failure counts.
    pub(crate) fn any() -> Self {
        Self { tests: Arc::new(TestSelection::any()), calibration: None, same_failure: true }
    }

    /// Returns the outcome of one executable with respect to the searched failure, and the reason. The reason is empty
    /// if nothing failed that counts.
    pub(crate) fn judge(&self, part: &Part) -> (Outcome, String) {
        if part.outcome == Outcome::Fail && self.counting(part).next().is_none() {
            return (Outcome::Pass, String::new());
        }
        if let (Outcome::Fail, Some(words)) = (part.outcome, self.usual(part)) {
            return (Outcome::Pass, usual(words));
        }
        match (self.another(part), self.environment(part)) {
            (Some(words), _) => (Outcome::Unresolved(Reason::Skip), another(words)),
            (None, Some(environment)) => (Outcome::Unresolved(Reason::Environment), environment.to_string()),
            (None, None) => (part.outcome, part.reason.clone()),
        }
    }

    /// Returns the problem of the environment that made something fail, unless the searched failure occurred.
    fn environment(&self, part: &Part) -> Option<Environment> {
        if self.counting(part).any(|(failure, cause)| self.fits(failure, cause)) {
            return None;
        }
        self.counting(part).find_map(|(_, cause)| cause.environment())
    }

    /// Returns the problem of the environment that made something fail, unless the changes are known to cause it.
    pub(crate) fn disturbance(&self, part: &Part) -> Option<Environment> {
        let mut disturbed = self.counting(part).filter(|(failure, cause)| {
            let is_known = |environment| {
                self.calibration.as_ref().is_some_and(|known| known.is_made_by_changes(failure, environment))
            };
            cause.environment().is_some_and(|environment| !is_known(environment))
        });
        disturbed.find_map(|(_, cause)| cause.environment())
    }

    /// Returns the problem of the environment that made something fail, if the changes are known to cause it.
    pub(crate) fn made_by_changes(&self, part: &Part) -> Option<Environment> {
        let mut fitting = self.counting(part).filter(|(failure, cause)| self.fits(failure, cause));
        self.calibration.as_ref()?;
        fitting.find_map(|(_, cause)| cause.environment())
    }

    /// Returns a description of a failure that may hide the searched one, unless that occurred as well.
    pub(crate) fn another(&self, part: &Part) -> Option<String> {
        if self.counting(part).any(|(failure, cause)| self.fits(failure, cause)) {
            return None;
        }
        let is_another = |&(failure, cause): &(&Failure, &Cause)| {
            cause.environment().is_none() && self.meaning(failure, cause) == Meaning::Another
        };
        self.counting(part).find(is_another).map(|(failure, cause)| self.describe(failure, cause))
    }

    /// Returns a description of the failure, if the target did what it does without the searched one.
    pub(crate) fn usual(&self, part: &Part) -> Option<String> {
        let is_usual = |(failure, cause): (&Failure, &Cause)| self.meaning(failure, cause) == Meaning::Usual;
        let (failure, cause) = self.counting(part).next()?;
        self.counting(part).all(is_usual).then(|| self.describe(failure, cause))
    }

    /// Returns a description of a failure.
    pub(crate) fn describe(&self, failure: &Failure, cause: &Cause) -> String {
        match &failure.test {
            Some(test) if self.is_new(failure) => format!("{test} fails"),
            Some(test) => format!("{test}: {cause}"),
            None => cause.to_string(),
        }
    }

    /// Returns the searched failures with their causes; none if failures are not distinguished by their causes.
    pub(crate) fn told<'a>(&self, parts: impl Iterator<Item = &'a Part>) -> Vec<Failed> {
        if self.calibration.is_none() || !self.same_failure {
            return Vec::new();
        }
        let failed = |part: &'a Part| self.counting(part).filter(|(failure, cause)| self.fits(failure, cause));
        let told = parts.filter(|part| part.outcome == Outcome::Fail).flat_map(failed);
        let told = told.filter(|(_, cause)| !cause.is_unknown());
        let mut told: Vec<_> = told.map(|(failure, cause)| Failed::new(failure.test.clone(), cause)).collect();
        told.dedup_by(|a, b| a.is_same(b));
        told
    }

    /// Returns the failures of searched tests, whatever their causes.
    pub(crate) fn counting<'a>(&self, part: &'a Part) -> impl Iterator<Item = (&'a Failure, &'a Cause)> {
        part.causes.iter().filter(|(failure, _)| self.tests.counts(failure))
    }

    /// Returns the names of searched tests that failed, whatever the causes.
    pub(crate) fn failed_tests(&self, part: &Part) -> impl Iterator<Item = String> {
        part.failures.iter().filter(|failure| self.tests.counts(failure)).filter_map(|failure| failure.test.clone())
    }

    fn fits(&self, failure: &Failure, cause: &Cause) -> bool {
        self.meaning(failure, cause) == Meaning::Searched
    }

    fn meaning(&self, failure: &Failure, cause: &Cause) -> Meaning {
        let Some(calibration) = &self.calibration else { return Meaning::Searched };
        let meaning = calibration.meaning(failure, cause);
        if cause.environment().is_some() {
            return meaning;
        }
        // If a process crashed or timed out in an unknown test, it may have been this test; and the other way round.
        let both_unended = |known: &Cause| known.is_unended() && cause.is_unended() && known.is_like(cause);
        let may_be_meant = |known: &Cause| known.is_unknown() || known.is_unended() && known.is_like(cause);
        let of_tests = calibration.keys().filter(|known| failure.test.is_none() && known.whole() == *failure);
        let is_meant = !self.same_failure
            || calibration.of(&failure.whole()).any(may_be_meant)
            || of_tests.flat_map(|test| calibration.of(test)).any(both_unended);
        if is_meant { Meaning::Searched } else { meaning }
    }

    /// Returns true if the test did not fail where the searched failure was seen.
    fn is_new(&self, failure: &Failure) -> bool {
        self.calibration.as_ref().is_some_and(|calibration| calibration.of(failure).next().is_none())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{os::unix::process::ExitStatusExt, process::ExitStatus, time::Duration};

    use super::*;

    use crate::{
        process::{Ending, Finished},
        run::spec::EndState,
    };

    /// Parses causes: `x:test@line`, `x:test@hang` and kinds of crashes; `x:test` for an unknown cause; `x@line` and
    /// `x` for a whole executable.
    fn causes(list: &str) -> BTreeMap<Failure, Cause> {
        let failure = |item: &str| {
            let (name, how) = item.split_once('@').map_or((item, None), |(name, how)| (name, Some(how)));
            let (executable, test) = name.split_once(':').map_or((name, None), |(e, t)| (e, Some(t.to_owned())));
            let cause = match how {
                Some("hang") => Cause::TIMEOUT,
                Some(signal @ ("abort" | "fault" | "term")) => {
                    let number = match signal {
                        "abort" => 6,
                        "fault" => 11,
                        _ => 15,
                    };
                    let ending = Ending::Exited(ExitStatus::from_raw(number));
                    Cause::of_harness(&Finished {
                        ending,
                        output: Vec::new(),
                        duration: Duration::ZERO,
                        lost_log: None,
                    })
                }
                Some(line) => Cause::of_test(&format!("thread 't' panicked at src/lib.rs:{line}:5:\nbad\n")),
                None => Cause::UNKNOWN,
            };
            (Failure { executable: executable.to_owned(), test }, cause)
        };
        list.split_whitespace().map(failure).collect()
    }

    #[test]
    fn surroundings_are_no_failure_unless_changes_make_them() {
        let full = || Cause::of_test("No space left on device (os error 28)");
        let with = |list: &str| {
            let mut part = part(list);
            for failure in causes("x:full").into_keys() {
                part.failures.insert(failure.clone());
                part.causes.insert(failure, full());
            }
            part
        };
        for same_failure in [true, false] {
            let judge = |ends: &[EndState], list: &str| {
                let mut calibration = Calibration::default();
                for &side in ends {
                    calibration.learn(side, &causes("x:full").into_keys().next().unwrap(), &full());
                    calibration.learn(
                        side,
                        &causes("x:a").into_keys().next().unwrap(),
                        &causes("x:a@1")[&causes("x:a").into_keys().next().unwrap()],
                    );
                }
                let criteria = Criteria { calibration: Some(Arc::new(calibration)), same_failure, ..Criteria::any() };
                let part = with(list);
                (criteria.judge(&part).0, criteria.disturbance(&part))
            };
            let unresolved = Outcome::Unresolved(Reason::Environment);
            assert_eq!(judge(&[], ""), (unresolved, Some(Environment::DiskFull)));
            assert_eq!(judge(&[EndState::AllOn], ""), (Outcome::Fail, None));
            assert_eq!(judge(&[EndState::AllOn, EndState::AllOff], ""), (unresolved, Some(Environment::DiskFull)));
            assert_eq!(
                judge(&[EndState::AllOn, EndState::AllOff], "x:a@1"),
                (Outcome::Fail, Some(Environment::DiskFull)),
                "another test fails"
            );
        }
        assert_eq!(Criteria::any().judge(&with("")).0, Outcome::Fail, "before anything is known");
    }

    fn part(list: &str) -> Part {
        let causes = causes(list);
        let failures = causes.keys().cloned().collect();
        Part { outcome: Outcome::Fail, reason: "exit status 101".to_owned(), failures, causes, ..Part::default() }
    }

    /// Returns the judgement of a run after these failures with every change.
    fn verdict(calibrated: &str, list: &str) -> String {
        let mut calibration = Calibration::default();
        for (failure, cause) in &causes(calibrated) {
            calibration.learn(EndState::AllOn, failure, cause);
        }
        let criteria = Criteria { calibration: Some(Arc::new(calibration)), ..Criteria::any() };
        let (outcome, words) = criteria.judge(&part(list));
        if outcome == Outcome::Fail { "same".to_owned() } else { words }
    }

    #[test]
    fn another_failure_does_not_count() {
        for (calibrated, list, expected) in [
            ("", "x:a@1", "same"),
            ("x:a@1", "x:a@1", "same"),
            ("x:a@1", "x:a@2", "another failure: a: panic at src/lib.rs:2:5"),
            ("x:a@1", "x:b@1", "another failure: b fails"),
            ("x:a@1", "y:a@1", "another failure: a fails"),
            ("x:a@1 x:b@2", "x:b@2", "same"),
            ("x:a@1 x:b@2", "x:a@2 x:b@2", "same"),
            // The output does not show the cause, or the test.
            ("x:a@1", "x:a", "same"),
            ("x:a", "x:a@1", "same"),
            ("x:a@1", "x", "same"),
            ("x", "x:a@1", "same"),
            ("x", "y:a@1", "another failure: a fails"),
            // The output shows the cause of a whole executable.
            ("x@1", "x:a@1", "another failure: a fails"),
            ("x@1 x:a", "x:a@2", "same"),
            ("x:a@1", "x@3", "another failure: panic at src/lib.rs:3:5"),
            ("x:a@1", "x@3 x:a", "same"),
            // It may be unknown which test of an executable hangs.
            ("x:a@hang", "x:a@hang", "same"),
            ("x:a@hang", "x@hang", "same"),
            ("x@hang", "x:a@hang", "same"),
            ("x:a@hang", "x:b@hang", "another failure: b fails"),
            ("x:a@hang", "y@hang", "another failure: timeout"),
            ("x:a@hang", "x:a@1", "another failure: a: panic at src/lib.rs:1:5"),
            ("x:a@hang", "x@1", "another failure: panic at src/lib.rs:1:5"),
            ("x:a@1", "x@hang", "another failure: timeout"),
            // All crashes of a test are alike, and a crash is another failure than a panic.
            ("x:a@fault", "x:a@abort", "same"),
            ("x:a@fault", "x:a@1", "another failure: a: panic at src/lib.rs:1:5"),
            ("x:a@1", "x:a@fault", "another failure: a: signal 11"),
            ("x:a@abort", "x:a@1", "another failure: a: panic at src/lib.rs:1:5"),
            ("x:a@1", "x:a@abort", "another failure: a: signal 6"),
            ("x:a@fault", "x:a@hang", "another failure: a: timeout"),
            ("x:a@fault", "x:a@term", "ended by SIGTERM"),
            // A crash of another test is another failure. The test that crashed may be unknown.
            ("x:a@fault", "x:b@fault", "another failure: b fails"),
            ("x:a@fault", "x:b@1", "another failure: b fails"),
            ("x:a@fault", "x@abort", "same"),
            ("x@fault", "x:a@abort", "same"),
            ("x@fault", "x:a@1", "another failure: a fails"),
            ("x@abort", "x:a@1", "another failure: a fails"),
            ("x:a@fault", "y@fault", "another failure: signal 11"),
            ("x:a@1", "x@fault", "another failure: signal 11"),
        ] {
            assert_eq!(verdict(calibrated, list), expected, "with every change: {calibrated}; now: {list}");
        }
    }

    #[test]
    fn where_any_failure_counts_it_counts() {
        let criteria = Criteria::any();
        assert_eq!(criteria.judge(&part("x:a@1")).0, Outcome::Fail);
        let passed = Part { outcome: Outcome::Pass, reason: String::new(), ..part("") };
        assert_eq!(criteria.judge(&passed), (Outcome::Pass, String::new()));
    }
}
