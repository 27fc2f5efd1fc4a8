//! The progress of a search: the summary line below the runs in flight.

use std::time::{Duration, Instant};

use super::{
    events::{Event, RunBegins},
    terms::Terms,
};
use crate::units::{grouped, grouped_plural, whole_seconds};

/// The progress of a search, as its events show it.
#[derive(Debug)]
pub(super) struct SearchProgress {
    begun: Instant,
    terms: Terms,
    jobs: u32,
    /// The number of the trial whose run began last, where it is known.
    begun_last: usize,
    /// True if the run that began last repeats an earlier one.
    is_check: bool,
    /// The number of answered trials, and the time of their runs.
    answered: usize,
    spent: Duration,
    /// The number of trials left with the present one, and the time of that estimate.
    left: Option<(usize, Instant)>,
    /// The numbers of changes that may still be needed, and of all known changes.
    candidates: Option<(usize, usize)>,
    culprits: usize,
}

impl SearchProgress {
    /// Creates the progress of a search that begins now.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            begun: now,
            terms: Terms::TOGGLES,
            jobs: 1,
            begun_last: 0,
            is_check: false,
            answered: 0,
            spent: Duration::ZERO,
            left: None,
            candidates: None,
            culprits: 0,
        }
    }

    /// Takes an event of the search.
    pub(super) fn learn(&mut self, event: &Event<'_>, now: Instant) {
        match event {
            Event::Start(start) => {
                self.terms = start.terms;
                self.jobs = u32::try_from(start.search.jobs).unwrap_or(u32::MAX).max(1);
                (self.left, self.candidates) = (None, None);
            }
            Event::Run(RunBegins { n, is_repeat, left, candidates, selected, .. }) => {
                self.is_check = *is_repeat;
                self.begun_last = n.unwrap_or(self.begun_last);
                self.left = left.map(|left| (left, now));
                self.candidates = candidates.zip(selected.map(|(_, known)| known));
            }
            Event::Trial(_, trial) if !trial.is_repeat => {
                self.answered += 1;
                self.spent += trial.duration;
                self.left = self.left.map(|(left, _)| (left.saturating_sub(1), now));
            }
            Event::Trial(_, trial) => self.spent += trial.duration,
            Event::Found(found) => self.culprits = self.culprits.max(found.set),
            Event::Preliminary(found) => self.culprits = self.culprits.max(found.set),
            _ => {}
        }
    }

    /// Returns the summary as parts, the most important first.
    pub(super) fn parts(&self, now: Instant) -> Vec<String> {
        let mut parts = Vec::new();
        // The first trials may await judgement.
        let trial = self.begun_last.max(self.answered + 1);
        parts.push(match self.left {
            Some((left, _)) => format!("trial {trial} of about {}", (self.answered + left).max(trial)),
            None if self.is_check => "checking before a culprit is named".to_owned(),
            None => format!("trial {trial}"),
        });
        if let Some((candidates, known)) = self.candidates {
            let all = grouped_plural(known, self.terms.change);
            parts.push(format!("{} of {all} still suspect", grouped(candidates as u64)));
        }
        if self.culprits > 0 {
            parts.push(format!("{} found", grouped_plural(self.culprits, "culprit")));
        }
        parts.push(whole_seconds(now.saturating_duration_since(self.begun)));
        parts.extend(self.time_left(now).map(|left| format!("about {} left", whole_seconds(left))));
        parts
    }

    /// Estimates the time left: that of a mean trial for each one left.
    fn time_left(&self, now: Instant) -> Option<Duration> {
        let (left, since) = self.left?;
        let trial = self.spent.checked_div(u32::try_from(self.answered).ok()?)?;
        let left = trial.checked_mul(u32::try_from(left).ok()?)? / self.jobs;
        let left = left.saturating_sub(now.saturating_duration_since(since));
        Some(left).filter(|left| left.as_secs() > 0)
    }
}

#[cfg(test)]
mod tests {
    use bisect_core::search::{Question, TrialId};

    use super::*;
    use crate::{
        output::event_samples::{run_begins, trial_done},
        record::trial::TrialRecord,
    };

    fn begins(left: Option<usize>, candidates: Option<usize>) -> RunBegins<'static> {
        RunBegins { question: Question::Prefix, selected: Some((600, 1_204)), left, candidates, ..run_begins() }
    }

    fn done(seconds: u64) -> TrialRecord {
        trial_done(Duration::from_secs(seconds))
    }

    #[test]
    fn the_summary_estimates_by_the_mean_of_all_trials() {
        let begun = Instant::now();
        let at = |seconds| begun + Duration::from_secs(seconds);
        let mut progress = SearchProgress::new(begun);
        let shown = |progress: &SearchProgress, seconds| progress.parts(at(seconds)).join(" · ");
        progress.learn(&Event::Run(&begins(None, None)), at(0));
        assert_eq!(shown(&progress, 1), "trial 1 · 1s");
        progress.learn(&Event::Trial(TrialId(0), &done(2)), at(2));
        progress.learn(&Event::Run(&begins(None, None)), at(2));
        progress.learn(&Event::Trial(TrialId(1), &done(4)), at(6));
        progress.learn(&Event::Run(&begins(Some(12), Some(1_204))), at(6));
        let known = "1,204 of 1,204 changes still suspect";
        assert_eq!(shown(&progress, 6), format!("trial 3 of about 14 · {known} · 6s · about 36s left"));
        assert_eq!(shown(&progress, 10), format!("trial 3 of about 14 · {known} · 10s · about 32s left"));
        assert_eq!(shown(&progress, 90), format!("trial 3 of about 14 · {known} · 90s"));
        progress.learn(&Event::Run(&RunBegins { is_repeat: true, ..begins(None, None) }), at(6));
        assert_eq!(shown(&progress, 7), "checking before a culprit is named · 7s");
        progress.learn(&Event::Run(&begins(Some(12), Some(1_204))), at(6));
        progress.jobs = 4;
        assert!(shown(&progress, 6).ends_with("about 9s left"), "{}", shown(&progress, 6));
    }
}
