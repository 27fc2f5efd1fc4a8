//! The hint to make runs in parallel.
//!
//! If runs wait, but not for a processor, several parallel runs take hardly more time than one.

use std::time::Duration;

use crate::process::processors::Processors;

/// The least total duration of runs from which a conclusion is drawn.
const ENOUGH: Duration = Duration::from_secs(1);

/// A comparison of the time that runs took, one at a time, with the processor time that they used.
#[derive(Debug)]
pub(crate) struct ParallelismHint {
    before: Processors,
    took: Duration,
    was_given: bool,
}

impl ParallelismHint {
    /// Creates a comparison before the first run.
    pub(crate) fn new(before: Processors) -> Self {
        Self { before, took: Duration::ZERO, was_given: false }
    }

    /// Adds one more run. Returns the hint for the user, once. Returns nothing as long as it is uncertain that the runs
    /// wait for something other than a processor.
    pub(crate) fn add(&mut self, took: Duration, now: Processors) -> Option<String> {
        self.took += took;
        let since = |before: Option<Duration>, now: Option<Duration>| now?.checked_sub(before?);
        let computed = since(self.before.computed, now.computed)?;
        let idle = since(self.before.idle, now.idle)?;
        if self.was_given || self.took < ENOUGH || computed * 2 > self.took {
            return None;
        }
        let waited = self.took.saturating_sub(computed);
        // While a run waits for something else, a processor is idle.
        let contended = since(self.before.contended, now.contended).unwrap_or_default();
        if idle * 10 < waited * 9 || contended * 10 > self.took {
            return None;
        }
        self.was_given = true;
        let percent = 100.0 * waited.as_secs_f64() / self.took.as_secs_f64();
        Some(format!(
            "the runs wait {percent:.0}% of their time, and not for a processor: if the target bears several runs at once, \
             -j 4 takes about half as long"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Returns the values after these seconds of computing runs, of idle processors, and of processes that waited for
    /// one.
    fn after(computed: f64, idle: f64, contended: f64) -> Processors {
        let [computed, idle, contended] =
            [computed, idle, contended].map(|seconds| Some(5 * SECOND + Duration::from_secs_f64(seconds)));
        Processors { computed, idle, contended }
    }

    fn hint(took: Duration, now: Processors) -> Option<String> {
        ParallelismHint::new(after(0.0, 0.0, 0.0)).add(took, now)
    }

    #[test]
    fn runs_that_wait_for_something_else_than_a_processor_get_the_hint_once() {
        let mut waiting = ParallelismHint::new(after(0.0, 0.0, 0.0));
        assert_eq!(waiting.add(SECOND / 2, after(0.0, 1.0, 0.0)), None, "too short to tell");
        let words = waiting.add(SECOND, after(0.25, 3.0, 0.01)).unwrap();
        assert!(words.starts_with("the runs wait 83% ") && words.contains(" -j 4 "), "{words}");
        assert_eq!(waiting.add(SECOND, after(0.25, 5.0, 0.01)), None);
    }

    #[test]
    fn one_processor_is_idle_while_a_run_waits() {
        assert!(hint(2 * SECOND, after(0.5, 1.5, 0.0)).is_some());
    }

    #[test]
    fn on_a_busy_machine_runs_wait_for_a_processor() {
        assert_eq!(hint(2 * SECOND, after(0.5, 0.1, 0.0)), None, "no processor was idle");
        assert_eq!(hint(2 * SECOND, after(0.5, 8.0, 1.5)), None, "others were, but not for these runs");
    }

    #[test]
    fn runs_that_compute_do_not_wait() {
        assert_eq!(hint(3 * SECOND, after(2.0, 3.0, 0.0)), None);
    }

    #[test]
    fn what_is_not_known_is_no_reason_for_a_hint() {
        let now = after(0.1, 3.0, 0.0);
        assert!(hint(2 * SECOND, Processors { contended: None, ..now }).is_some(), "not all kernels tell");
        assert_eq!(hint(2 * SECOND, Processors { idle: None, ..now }), None);
        assert_eq!(hint(2 * SECOND, Processors { computed: None, ..now }), None);
        assert_eq!(ParallelismHint::new(Processors::default()).add(2 * SECOND, now), None);
    }
}
