//! The use of the machine's processors, as far as the system counts it.

use std::time::Duration;

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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_children_compute_is_counted() {
        let before = Processors::now();
        assert!(before.idle.is_some());
        while Processors::now().computed.unwrap() == before.computed.unwrap() {
            let script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
            assert!(std::process::Command::new("sh").args(["-c", script]).status().unwrap().success());
        }
    }

    #[test]
    fn the_kernels_account_of_waiting_is_understood() {
        let text = "some avg10=93.91 avg60=92.02 avg300=90.33 total=1053941397\nfull avg10=0.00 total=7\n";
        assert_eq!(some_total(text), Some(Duration::from_micros(1_053_941_397)));
        assert_eq!(some_total(""), None);
    }
}
