//! The search for the moment at which a watched condition breaks: which moment to evaluate next.
//!
//! A program passes moments 1, 2, 3, … The search first goes forward in one run, and asks for the condition at moments
//! 1, 2, 4, 8, … and at the end. At the first change from good to bad it goes back to the last good moment, and halves.
//! It has no I/O: the runtime drives it with copies of the process, and the driver with new runs. Both get the same
//! questions for the same answers, so both name the same moment.
//!
//! Only the last good moment is ever returned to. So one checkpoint is enough: each good moment replaces it.

#[cfg(test)]
mod tests;

/// The value of the condition at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MomentVerdict {
    /// The condition is true.
    Good,
    /// The condition is false, or its evaluation failed.
    Bad,
}

/// The next step of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MomentStep {
    /// Go on in the same run, and evaluate at this moment. If the run ends before, tell [`MomentSearch::ended`].
    Forward(u64),
    /// Go back to a good moment, and evaluate at a later one.
    Back {
        /// The last good moment.
        from: u64,
        /// The moment to evaluate.
        to: u64,
    },
    /// The search is over.
    Done(Finding),
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The program passed no moment.
    NoMoment,
    /// The condition was true at the end, and no change to false was seen before.
    NeverBad,
    /// The condition was false at the first moment, and at no evaluated moment was it true.
    BadFromStart,
    /// The condition is true at one moment, and false at the next one.
    Change {
        /// The last good moment.
        good: u64,
        /// The first bad moment, which follows it.
        bad: u64,
    },
}

/// An observation that does not fit the earlier ones: the program takes another course in each run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contradiction {
    /// A verdict about a moment for which the search has not asked.
    NotAsked {
        /// The moment of the verdict.
        moment: u64,
    },
    /// A run that ended before a moment that another run has reached.
    EndedEarly {
        /// The number of moments of the run.
        count: u64,
        /// The moment that another run has reached.
        reached: u64,
    },
}

impl core::fmt::Display for Contradiction {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotAsked { moment } => write!(f, "moment {moment} was evaluated, and was not asked for"),
            Self::EndedEarly { count, reached } => {
                write!(f, "a run ended after {count} moments, and another one has reached moment {reached}")
            }
        }
    }
}

impl core::error::Error for Contradiction {}

/// A search in progress.
#[derive(Clone, Debug, Default)]
pub struct MomentSearch {
    /// The last good moment.
    good: Option<u64>,
    /// The first bad moment that is known to follow it.
    bad: Option<u64>,
    /// The last moment that was evaluated on the way forward; 0 before the first one.
    last: u64,
    /// The number of moments, once the run forward has ended by itself.
    count: Option<u64>,
    /// A bad moment was seen before a good one.
    was_bad_before: bool,
    evaluations: usize,
}

impl MomentSearch {
    /// Returns a search that knows nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the next step.
    #[must_use]
    pub fn step(&self) -> MomentStep {
        match (self.good, self.bad, self.count) {
            (Some(good), Some(bad), _) if bad - good == 1 => MomentStep::Done(Finding::Change { good, bad }),
            (Some(good), Some(bad), _) => MomentStep::Back { from: good, to: good + (bad - good) / 2 },
            (_, _, Some(0)) => MomentStep::Done(Finding::NoMoment),
            (Some(good), None, Some(count)) if good == count => MomentStep::Done(Finding::NeverBad),
            (Some(good), None, Some(count)) => MomentStep::Back { from: good, to: count },
            // What would be evaluated at the end could not show a change from good to bad.
            (None, _, Some(_)) => MomentStep::Done(Finding::BadFromStart),
            (_, _, None) => MomentStep::Forward(if self.last == 0 { 1 } else { self.last.saturating_mul(2) }),
        }
    }

    /// Records the value of the condition at a moment. On the way forward, a moment beyond the one that was asked for
    /// is accepted: with several threads, a moment can pass while another one is evaluated.
    ///
    /// # Errors
    /// If the search has not asked for this moment.
    pub fn record(&mut self, moment: u64, verdict: MomentVerdict) -> Result<(), Contradiction> {
        match self.step() {
            MomentStep::Forward(asked) if moment >= asked => {
                self.last = moment;
                match verdict {
                    MomentVerdict::Good => self.good = Some(moment),
                    MomentVerdict::Bad if self.good.is_some() => self.bad = Some(moment),
                    MomentVerdict::Bad => self.was_bad_before = true,
                }
            }
            MomentStep::Back { to, .. } if moment == to => match verdict {
                MomentVerdict::Good => self.good = Some(moment),
                MomentVerdict::Bad => self.bad = Some(moment),
            },
            _ => return Err(Contradiction::NotAsked { moment }),
        }
        self.evaluations += 1;
        Ok(())
    }

    /// Records that the run forward has ended by itself, after this number of moments.
    ///
    /// # Errors
    /// If that is before a moment that was evaluated.
    pub fn ended(&mut self, count: u64) -> Result<(), Contradiction> {
        let reached = self.last;
        if count < reached || self.count.is_some_and(|known| known != count) {
            return Err(Contradiction::EndedEarly { count, reached });
        }
        self.count = Some(count);
        Ok(())
    }

    /// Returns the last moment at which the condition is known to be true.
    #[must_use]
    pub fn last_good(&self) -> Option<u64> {
        self.good
    }

    /// Returns the number of moments, if the run forward has ended by itself.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        self.count
    }

    /// Returns the number of the last moment that is known to exist.
    #[must_use]
    pub fn reached(&self) -> u64 {
        self.count.unwrap_or(self.last)
    }

    /// Returns true if the condition changed from bad to good before the moment that the search names.
    #[must_use]
    pub fn was_bad_before(&self) -> bool {
        self.was_bad_before && self.good.is_some()
    }

    /// Returns the number of evaluations.
    #[must_use]
    pub fn evaluations(&self) -> usize {
        self.evaluations
    }
}
