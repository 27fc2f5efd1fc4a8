//! The record of a search in memory, as its events build it up.

use std::path::Path;

use super::{
    events::{Answer, End, Event, Found, SearchedChanges, Smallest, Start, TrialDone, in_milliseconds},
    recorded::{
        CulpritPositions, Provenance, RecordedAnswer, RecordedEnd, RecordedFact, RecordedLog, RecordedResult,
        RecordedRun, RecordedSearch, RecordedSmallest, RecordedTrial, culprit::RecordedCulprit,
    },
};
use crate::record::{exit_status::Exit, snippets::Own};

/// A record in the making.
#[derive(Debug)]
pub(crate) struct Recording {
    run: RecordedRun,
    /// True if trials are kept, too.
    keeps_trials: bool,
}

impl Recording {
    /// Creates the record of a command that has not searched yet.
    pub(crate) fn new(provenance: Provenance) -> Self {
        let result = RecordedResult { provenance, ..RecordedResult::default() };
        Self { run: RecordedRun { result, ..RecordedRun::default() }, keeps_trials: false }
    }

    /// Keeps trials, too.
    pub(crate) fn with_trials(self) -> Self {
        Self { keeps_trials: true, ..self }
    }

    /// Returns everything that was recorded so far.
    pub(crate) fn run(&self) -> &RecordedRun {
        &self.run
    }

    /// Learns from an event. Returns true if the result on the disk is to be renewed.
    pub(crate) fn learn(&mut self, event: &Event<'_>) -> bool {
        let result = &mut self.run.result;
        match event {
            Event::Start(start) => {
                if start.rustc.is_some() {
                    result.provenance.rustc.clone_from(&start.rustc);
                }
                let search = RecordedSearch::from(*start);
                result.searches.push(search.clone());
                result.start = Some(search);
                result.smallest = None;
                true
            }
            Event::Trial(trial) => {
                if self.keeps_trials {
                    self.run.trials.push(RecordedTrial::from(*trial));
                }
                false
            }
            Event::Smallest(smallest) => {
                result.smallest = Some(RecordedSmallest::from(*smallest));
                true
            }
            Event::Found(found) => {
                self.found(found);
                true
            }
            Event::Withdrawn(culprits) => {
                result.found.retain(|found| !culprits.contains(&found.set));
                true
            }
            Event::Preliminary(_) => {
                result.smallest = None;
                false
            }
            Event::Searched(searched) => {
                self.searched(searched);
                false
            }
            Event::Note(note) => {
                result.notes.push((*note).to_owned());
                false
            }
            Event::OutputLost(what) => {
                result.lost.push((*what).to_owned());
                false
            }
            Event::End(end) => {
                if !matches!(end.status, Exit::Interrupted | Exit::Limit) {
                    result.smallest = None;
                }
                result.end = Some(RecordedEnd::from(*end));
                true
            }
            Event::List(culprits) => {
                result.listed = culprits.iter().map(|found| found.set).collect();
                false
            }
            Event::Run(_) | Event::Groups(_) | Event::Answer(_) => false,
        }
    }

    fn found(&mut self, found: &Found) {
        let result = &mut self.run.result;
        let root = Path::new(&result.provenance.root);
        result.found.push(RecordedCulprit::new(result.searches.len(), found, Some(&Own::new(root))));
        result.smallest = None;
    }

    fn searched(&mut self, SearchedChanges { changes, culprits }: &SearchedChanges) {
        let Some(search) = self.run.result.searches.last_mut() else { return };
        search.changes = Some(*changes);
        let positions = culprits.iter();
        search.culprits =
            positions.map(|(set, positions)| CulpritPositions { set: *set, positions: positions.clone() }).collect();
    }
}

impl From<&Start> for RecordedSearch {
    fn from(start: &Start) -> Self {
        Self {
            search: start.search,
            axis: start.axis.axis.to_owned(),
            noun: start.axis.change.to_owned(),
            subject: start.subject.clone(),
            target: start.target.clone(),
            jobs: start.jobs,
            seed: start.seed.of_search(),
            order: start.order_name().to_owned(),
            within: start.within,
            changes: None,
            culprits: Vec::new(),
        }
    }
}

impl From<&TrialDone> for RecordedTrial {
    fn from(trial: &TrialDone) -> Self {
        Self {
            n: trial.n,
            repeat: trial.is_repeat,
            pattern: trial.pattern.clone(),
            matches: trial.matches,
            outcome: trial.outcome.to_owned(),
            reason: trial.reason.clone(),
            runs: trial.runs,
            ms: in_milliseconds(trial.duration),
            context: trial.context.clone(),
        }
    }
}

impl From<&Smallest> for RecordedSmallest {
    fn from(smallest: &Smallest) -> Self {
        Self {
            mode: smallest.mode,
            changes: smallest.changes,
            of: smallest.of,
            tests: smallest.tests.clone(),
            reproduce: smallest.reproduce.clone(),
        }
    }
}

impl From<&End> for RecordedEnd {
    fn from(end: &End) -> Self {
        Self {
            status: end.status.code(),
            sets: end.sets,
            trials: end.trials,
            runs: end.runs,
            pasted: end.pasted,
            ms: in_milliseconds(end.duration),
            noise: end.noise.clone(),
            answers: end.answers.iter().map(RecordedAnswer::from).collect(),
            conclusion: end.kind.map(|kind| kind.name().to_owned()),
            message: end.words.clone(),
            log: end
                .log
                .as_ref()
                .map(|log| RecordedLog { path: log.path.to_string_lossy().into_owned(), lines: log.lines.clone() }),
            next: end.next.clone(),
        }
    }
}

impl From<&Answer> for RecordedAnswer {
    fn from(Answer { set, facts, advice }: &Answer) -> Self {
        let facts = facts.iter().map(|fact| RecordedFact { of: fact.of.to_owned(), text: fact.text.clone() });
        Self { set: *set, facts: facts.collect(), advice: advice.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::formats::FORMATS;

    #[test]
    fn no_format_has_a_culprit_that_was_withdrawn() {
        let found = Found { set: 1, confirmed: true, reproduce: "./accuses".to_owned(), ..Found::default() };
        let mut recording = Recording::new(Provenance::default());
        recording.learn(&Event::Found(&found));
        let accuses = |recording: &Recording| {
            FORMATS.iter().filter(|format| (format.render)(recording.run()).contains("./accuses")).count()
        };
        assert!(accuses(&recording) > 5);
        assert!(recording.learn(&Event::Withdrawn(&[1])), "the result on the disk is renewed");
        assert_eq!(accuses(&recording), 0);
    }
}
