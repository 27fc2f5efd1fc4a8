//! Whether runs wait more than they compute: then several at once take hardly more time than one.

use std::time::Duration;

/// Runs shorter than this, all together, say too little.
const ENOUGH: Duration = Duration::from_secs(1);

/// Compares the time that runs took, one at a time, with what they computed in it.
#[derive(Debug)]
pub struct Waiting {
    /// What our children had computed before the first run.
    before: Option<Duration>,
    took: Duration,
    was_told: bool,
}

impl Waiting {
    /// Nothing has run yet; our children have [computed](computed_by_children) so much until now.
    pub fn new(computed: Option<Duration>) -> Self {
        Self { before: computed, took: Duration::ZERO, was_told: false }
    }

    /// Takes one more run into account. The result is what to tell the user, once.
    pub fn add(&mut self, took: Duration, computed: Option<Duration>) -> Option<String> {
        self.took += took;
        let computed = computed?.checked_sub(self.before?)?;
        if self.was_told || self.took < ENOUGH || computed * 2 > self.took {
            return None;
        }
        self.was_told = true;
        let waited = 100.0 * (1.0 - computed.as_secs_f64() / self.took.as_secs_f64());
        Some(format!(
            "the runs wait {waited:.0}% of their time: if the target bears several runs at once, -j 4 takes half as long"
        ))
    }
}

/// What the processes that we have started and waited for have computed, with all that they waited for; if that is known.
#[cfg(target_os = "linux")]
pub fn computed_by_children() -> Option<Duration> {
    let stat = std::fs::read("/proc/self/stat").ok()?;
    let text = std::str::from_utf8(stat.get(memchr::memrchr(b')', &stat)? + 1..)?).ok()?;
    // From the third field on; user and system time of children are the 16th and the 17th, in clock ticks.
    let ticks: u64 =
        text.split_ascii_whitespace().skip(13).take(2).map(str::parse::<u64>).sum::<Result<_, _>>().ok()?;
    Some(Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second()))
}

/// Not known here.
#[cfg(not(target_os = "linux"))]
pub fn computed_by_children() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn who_waits_is_told_once() {
        let mut waiting = Waiting::new(Some(5 * SECOND));
        assert_eq!(waiting.add(SECOND / 2, Some(5 * SECOND)), None, "too short to tell");
        let told = waiting.add(SECOND, Some(5 * SECOND + SECOND / 4)).unwrap();
        assert!(told.starts_with("the runs wait 83% ") && told.contains(" -j 4 "), "{told}");
        assert_eq!(waiting.add(SECOND, Some(5 * SECOND)), None);
    }

    #[test]
    fn who_computes_is_not() {
        let mut waiting = Waiting::new(Some(SECOND));
        assert_eq!(waiting.add(3 * SECOND, Some(3 * SECOND)), None);
        assert_eq!(waiting.add(3 * SECOND, None), None, "not known");
        assert_eq!(Waiting::new(None).add(3 * SECOND, Some(SECOND)), None, "not known");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_children_compute_is_counted() {
        let before = computed_by_children().unwrap();
        while computed_by_children().unwrap() == before {
            let script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
            assert!(std::process::Command::new("sh").args(["-c", script]).status().unwrap().success());
        }
    }
}
