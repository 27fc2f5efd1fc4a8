//! How the target fails where it is known to fail: what other failures are compared with.

use std::collections::BTreeMap;

use bisect_core::search::Question;

use crate::cause::Cause;

/// The two ends of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Everything enabled.
    All,
    /// Everything disabled.
    None,
}

impl Side {
    /// The end that a question is about, if it is about one.
    pub fn of(question: Question) -> Option<Self> {
        match question {
            Question::All => Some(Side::All),
            Question::None => Some(Side::None),
            _ => None,
        }
    }
}

/// How each of several things, known by a `K`, fails at the ends of a search.
///
/// What counts is how it fails at the end that fails. Which one that is may be a matter of chance for a while: the one
/// that has failed more often, and both as long as that is undecided.
#[derive(Clone, Debug)]
pub struct Calibration<K>(BTreeMap<K, [Failing; 2]>);

/// How something fails at one end.
#[derive(Clone, Debug, Default)]
struct Failing {
    times: usize,
    /// Each once.
    causes: Vec<Cause>,
}

impl<K> Default for Calibration<K> {
    /// Nothing has failed yet.
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord + Clone> Calibration<K> {
    /// Learns that it failed at an end.
    pub fn learn(&mut self, side: Side, key: &K, cause: &Cause) {
        let ends = self.0.entry(key.clone()).or_default();
        let failing = &mut ends[usize::from(side == Side::None)];
        failing.times += 1;
        if !failing.causes.contains(cause) {
            failing.causes.push(cause.clone());
        }
    }

    /// The failures that others are compared with.
    pub fn of(&self, key: &K) -> impl Iterator<Item = &Cause> {
        let ends = self.0.get(key).into_iter().flatten();
        let most = ends.clone().map(|failing| failing.times).max();
        ends.filter(move |failing| Some(failing.times) == most).flat_map(|failing| &failing.causes)
    }

    /// What has failed at an end.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.0.keys()
    }

    /// Whether a failure may be the one that is searched for. As long as nothing has failed at an end, every failure may.
    pub fn fits(&self, key: &K, cause: &Cause) -> bool {
        self.0.is_empty() || cause.is_untold() || self.of(key).any(|known| known.is_like(cause))
    }
}

/// The words for a run that failed in another way.
pub fn another(what: impl std::fmt::Display) -> String {
    format!("another failure: {what}")
}

/// What the user should know when that happens for the first time.
pub fn another_note(what: impl std::fmt::Display) -> String {
    format!(
        "a run failed in another way than the failure that is searched for ({what}): such runs tell nothing, unless \
         --same-failure=no is given"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(line: u32) -> Cause {
        Cause::of_test(&format!("thread 't' (7) panicked at src/lib.rs:{line}:5:\nbad"))
    }

    /// Failures with every change and with none, in order; then which of the causes 1 to 3 fit.
    #[track_caller]
    fn check(runs: &[(Side, u32)], fitting: &[u32]) {
        let mut calibration = Calibration::default();
        for &(side, line) in runs {
            calibration.learn(side, &'t', &cause(line));
        }
        let fits: Vec<_> = (1..=3).filter(|&line| calibration.fits(&'t', &cause(line))).collect();
        assert_eq!(fits, fitting, "{runs:?}");
        assert!(calibration.fits(&'t', &Cause::UNTOLD));
        assert_eq!(calibration.fits(&'u', &cause(1)), runs.is_empty(), "what never failed");
    }

    #[test]
    fn how_the_failing_end_fails_counts() {
        use Side::{All, None};
        check(&[], &[1, 2, 3]);
        check(&[(All, 1)], &[1]);
        check(&[(None, 2)], &[2]);
        check(&[(All, 1), (All, 3)], &[1, 3]);
        // The end that passes fails too: another failure is none of ours, the same is noise.
        check(&[(All, 1), (All, 1), (None, 2)], &[1]);
        check(&[(All, 1), (All, 1), (None, 1)], &[1]);
        // The first run of the end that passes failed by chance, and the first of the other one passed.
        check(&[(None, 2), (All, 1)], &[1, 2]);
        check(&[(None, 2), (All, 1), (All, 1)], &[1]);
    }
}
