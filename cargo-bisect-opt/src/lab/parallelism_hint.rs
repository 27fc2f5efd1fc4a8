//! The hint to make runs in parallel.
//!
//! If runs wait, but not for a processor, several parallel runs take hardly more time than one.

use std::time::Duration;

/// The least total duration of runs from which a conclusion is drawn.
const ENOUGH: Duration = Duration::from_secs(1);

/// The use of processors until now. A value that is not known is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Processors {
    /// The processor time of the child processes that have ended, including the descendants that they waited for.
    pub(crate) computed: Option<Duration>,
    /// The idle time of all processors together.
    pub(crate) idle: Option<Duration>,
    /// The time for which any process of the machine had to wait for a processor.
    pub(crate) contended: Option<Duration>,
}

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

impl Processors {
    /// Reads the current values.
    #[cfg(target_os = "linux")]
    pub(crate) fn now() -> Self {
        let read = |file| std::fs::read(file).ok();
        let ticks = |ticks: u64| Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second());
        let own = read("/proc/self/stat").and_then(|stat| {
            // The text begins with the third field; user and system time of children are the 16th and the 17th.
            sum(stat.get(memchr::memrchr(b')', &stat)? + 1..)?, 13)
        });
        // After the word `cpu`: user, nice, system, idle, waiting for a disk.
        let idle = read("/proc/stat").and_then(|stat| sum(stat.split(|&byte| byte == b'\n').next()?, 4));
        let contended = read("/proc/pressure/cpu").and_then(|text| some_total(std::str::from_utf8(&text).ok()?));
        Self { computed: own.map(ticks), idle: idle.map(ticks), contended }
    }

    /// Returns no values: this system does not provide them.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn now() -> Self {
        Self::default()
    }
}

/// Returns the sum of the two numbers after the first `skipped` words.
#[cfg(target_os = "linux")]
fn sum(text: &[u8], skipped: usize) -> Option<u64> {
    let words = std::str::from_utf8(text).ok()?.split_ascii_whitespace().skip(skipped);
    words.take(2).map(str::parse::<u64>).sum::<Result<_, _>>().ok()
}

/// Returns the time for which some process had to wait, as counted by the kernel (`some … total=MICROSECONDS`).
#[cfg(target_os = "linux")]
fn some_total(text: &str) -> Option<Duration> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    let total = line.split_ascii_whitespace().find_map(|word| word.strip_prefix("total="))?;
    total.parse().ok().map(Duration::from_micros)
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

    #[cfg(target_os = "linux")]
    #[test]
    fn what_children_compute_is_counted() {
        let before = Processors::now();
        assert!(before.idle.is_some());
        while Processors::now().computed.unwrap() == before.computed.unwrap() {
            let script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
            assert!(std::process::Command::new("sh").args(["-c", script]).status().unwrap().success());
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_kernels_account_of_waiting_is_understood() {
        let text = "some avg10=93.91 avg60=92.02 avg300=90.33 total=1053941397\nfull avg10=0.00 total=7\n";
        assert_eq!(some_total(text), Some(Duration::from_micros(1_053_941_397)));
        assert_eq!(some_total(""), None);
    }
}
