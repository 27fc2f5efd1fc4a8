//! What counts as the failure that is searched for: which tests, and how they fail.

use std::{collections::BTreeMap, sync::Arc};

use bisect_core::search::{Outcome, Reason};

use super::failures::{Failure, Failures, Focus};
use crate::{
    calibration::{Calibration, another},
    cause::Cause,
};

/// What one executable did, or the build that did not make it.
#[derive(Clone, Debug)]
pub struct Part {
    /// Whether it failed.
    pub outcome: Outcome,
    /// More about it, for people.
    pub reason: String,
    /// What failed in it.
    pub failures: Failures,
    /// How; also of tests that are known to have failed before a crash, which is then the failure.
    pub causes: BTreeMap<Failure, Cause>,
    /// How many tests it said it would run.
    pub tests: Option<usize>,
}

/// What is compared with what failed.
#[derive(Clone, Debug)]
pub struct Criteria {
    /// Which tests.
    pub focus: Arc<Focus>,
    /// How they fail; `None`: in any way.
    pub calibration: Option<Arc<Calibration<Failure>>>,
}

impl Criteria {
    /// Whatever fails counts.
    pub fn any() -> Self {
        Self { focus: Arc::new(Focus::any()), calibration: None }
    }

    /// What one executable shows of the failure that is searched for, and the words for it; no words if it is not there.
    pub fn judge(&self, part: &Part) -> (Outcome, String) {
        match part.outcome {
            Outcome::Fail if self.counting(part).next().is_none() => (Outcome::Pass, String::new()),
            outcome => match self.another(part) {
                Some(words) => (Outcome::Unresolved(Reason::Skip), another(words)),
                None => (outcome, part.reason.clone()),
            },
        }
    }

    /// What failed, if that is not the failure that is searched for.
    pub fn another(&self, part: &Part) -> Option<String> {
        if self.counting(part).any(|(failure, cause)| self.fits(failure, cause)) {
            return None;
        }
        let (failure, cause) = self.counting(part).next()?;
        Some(match &failure.test {
            Some(test) if self.is_new(failure) => format!("{test} fails"),
            Some(test) => format!("{test}: {cause}"),
            None => cause.to_string(),
        })
    }

    fn counting<'a>(&self, part: &'a Part) -> impl Iterator<Item = (&'a Failure, &'a Cause)> {
        part.causes.iter().filter(|(failure, _)| self.focus.counts(failure))
    }

    /// The tests among what failed that are searched for, whichever way they failed.
    pub fn failed_tests(&self, part: &Part) -> impl Iterator<Item = String> {
        part.failures.iter().filter(|failure| self.focus.counts(failure)).filter_map(|failure| failure.test.clone())
    }

    fn fits(&self, failure: &Failure, cause: &Cause) -> bool {
        let Some(calibration) = &self.calibration else { return true };
        // Where a process did not come to its end and nobody knows by which test, it may have been this one; and the other
        // way round.
        let both_unended = |known: &Cause| known.is_unended() && cause.is_unended() && known.is_like(cause);
        let may_be_meant = |known: &Cause| known.is_untold() || known.is_unended() && known.is_like(cause);
        let of_tests = calibration.keys().filter(|known| failure.test.is_none() && known.whole() == *failure);
        calibration.fits(failure, cause)
            || calibration.of(&failure.whole()).any(may_be_meant)
            || of_tests.flat_map(|test| calibration.of(test)).any(both_unended)
    }

    /// Whether it did not fail where the failure was seen that is searched for.
    fn is_new(&self, failure: &Failure) -> bool {
        self.calibration.as_ref().is_some_and(|calibration| calibration.of(failure).next().is_none())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{os::unix::process::ExitStatusExt, process::ExitStatus, time::Duration};

    use super::*;
    use crate::{
        calibration::Side,
        process::{Ending, Finished},
    };

    /// `x:test@line`, `x:test@hang`, and how it crashed; `x:test` if it is not known how it failed; `x@line` and `x`: a whole executable.
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
                None => Cause::UNTOLD,
            };
            (Failure { executable: executable.to_owned(), test }, cause)
        };
        list.split_whitespace().map(failure).collect()
    }

    fn part(list: &str) -> Part {
        let causes = causes(list);
        let failures = causes.keys().cloned().collect();
        Part { outcome: Outcome::Fail, reason: "exit status 101".to_owned(), failures, causes, tests: None }
    }

    /// What a run means after these failures with every change.
    fn verdict(calibrated: &str, list: &str) -> String {
        let mut calibration = Calibration::default();
        for (failure, cause) in &causes(calibrated) {
            calibration.learn(Side::All, failure, cause);
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
            // The output does not tell.
            ("x:a@1", "x:a", "same"),
            ("x:a", "x:a@1", "same"),
            ("x:a@1", "x", "same"),
            ("x", "x:a@1", "same"),
            ("x", "y:a@1", "another failure: a fails"),
            // It does, of a whole executable.
            ("x@1", "x:a@1", "another failure: a fails"),
            ("x@1 x:a", "x:a@2", "same"),
            ("x:a@1", "x@3", "another failure: panic at src/lib.rs:3:5"),
            ("x:a@1", "x@3 x:a", "same"),
            // A test that hangs may be known or not to be what its executable hangs in.
            ("x:a@hang", "x:a@hang", "same"),
            ("x:a@hang", "x@hang", "same"),
            ("x@hang", "x:a@hang", "same"),
            ("x:a@hang", "x:b@hang", "another failure: b fails"),
            ("x:a@hang", "y@hang", "another failure: timeout"),
            ("x:a@hang", "x:a@1", "another failure: a: panic at src/lib.rs:1:5"),
            ("x:a@hang", "x@1", "another failure: panic at src/lib.rs:1:5"),
            ("x:a@1", "x@hang", "another failure: timeout"),
            // A test crashes in any way, but a failed assertion is the same only where undefined behaviour has shown itself.
            ("x:a@fault", "x:a@abort", "same"),
            ("x:a@fault", "x:a@1", "same"),
            ("x:a@1", "x:a@fault", "same"),
            ("x:a@abort", "x:a@1", "another failure: a: panic at src/lib.rs:1:5"),
            ("x:a@1", "x:a@abort", "another failure: a: signal 6"),
            ("x:a@fault", "x:a@hang", "another failure: a: timeout"),
            ("x:a@fault", "x:a@term", "another failure: a: signal 15"),
            // Of another test it is another failure; of which one may not be known.
            ("x:a@fault", "x:b@fault", "another failure: b fails"),
            ("x:a@fault", "x:b@1", "another failure: b fails"),
            ("x:a@fault", "x@abort", "same"),
            ("x@fault", "x:a@abort", "same"),
            ("x@fault", "x:a@1", "same"),
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
