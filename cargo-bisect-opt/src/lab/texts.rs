//! Text about changes, for people, from runs whose outcomes do not count.
//!
//! A run that asks for text is another experiment: naming the frames of a stack takes time, locks and memory inside the
//! target. So the runs of a search ask for markers only. Once a culprit is found, one more run of exactly its changes asks
//! what they are.

use std::{
    collections::{BTreeSet, HashMap, VecDeque, hash_map::Entry},
    io,
};

use bisect_core::{
    ChangeId,
    search::{Question, Selection, Trial, TrialId, Verdict},
};

use super::{
    session::Session,
    target::{Runner, Target},
};
use crate::{
    output::events::Event,
    report::{content::Report, scan::Reports},
    run::spec::{Choice, RunSpec},
};

/// The trial of all runs that ask for text. No search has as many trials.
const TRIAL: TrialId = TrialId(usize::MAX);

/// A flaky target does not reach its changes in every run: after this many runs a change stays without text.
const TRIES: usize = 3;

/// The text of more changes is not asked for only to name suspects.
const MANY_SUSPECTS: usize = 10_000;

/// What is known about changes, and what is asked for.
#[derive(Debug, Default)]
pub(super) struct Texts {
    known: HashMap<ChangeId, Report>,
    /// To be started, in this order.
    wanted: VecDeque<Wanted>,
    is_in_flight: bool,
    /// The runs that were made for each set of changes.
    tries: HashMap<BTreeSet<ChangeId>, usize>,
    of_all: OfAll,
}

/// The text of all changes.
#[derive(Debug, Default, PartialEq, Eq)]
enum OfAll {
    /// No run was asked for it.
    #[default]
    Unknown,
    /// A run is asked for it, and the search goes on meanwhile.
    Asked,
    /// A run is asked for it, and the search waits.
    Awaited,
    /// The changes on touched lines are favoured by it.
    Used,
}

/// A run to make.
#[derive(Debug)]
struct Wanted {
    selection: Selection,
    tests: Vec<usize>,
}

impl Texts {
    /// Returns what was reported about a change, if that has text.
    pub(super) fn of(&self, id: ChangeId) -> Option<&Report> {
        self.known.get(&id)
    }

    /// Whether a run is still to be made, or to be waited for.
    pub(super) fn is_pending(&self) -> bool {
        self.is_in_flight || !self.wanted.is_empty()
    }

    pub(super) fn learn(&mut self, reports: &Reports) {
        for &id in reports.ids() {
            if let Entry::Vacant(unknown) = self.known.entry(id) {
                let report = reports.get(id);
                if report.has_text() {
                    unknown.insert(report);
                }
            }
        }
    }
}

impl<T: Target> Session<'_, '_, '_, '_, T> {
    /// Asks for the text about the culprits that have been found and that nothing is known about.
    pub(super) fn want_texts(&mut self) {
        let is_at_limit = self.lab.options.max_runs.is_some_and(|max| self.search.runs() >= max);
        if !self.target.needs_text_run() || is_at_limit {
            return;
        }
        self.want_texts_of_all();
        let mut wanted = Vec::new();
        for shared in self.search.culprits() {
            let changes: BTreeSet<_> = shared.culprit.ids(self.target.order()).collect();
            let is_known = changes.iter().all(|&id| self.texts.of(id).is_some());
            let tries = self.texts.tries.get(&changes).copied().unwrap_or_default();
            if !is_known && tries < TRIES && !self.texts.is_pending() {
                let tests = shared.tests.iter().copied().take(1).collect();
                wanted.push((changes, Wanted { selection: self.search.alone(shared.culprit), tests }));
            }
        }
        for (changes, wanted) in wanted {
            *self.texts.tries.entry(changes).or_default() += 1;
            self.texts.wanted.push_back(wanted);
        }
    }

    /// Asks for the text about all changes, where it matters which lines they are on, or to name suspects.
    fn want_texts_of_all(&mut self) {
        let is_noisy = (0..self.search.tests()).any(|test| self.search.test(test).is_noisy());
        let is_urgent = self.awaits_places() && self.tests.is_none();
        let verdict = self.search.verdict();
        // In the middle of a search, a run beside it would hide that each depends on the one before. At a limit, no run is
        // left to ask.
        let is_time = verdict.is_some() || self.lab.options.max_runs.is_some();
        let names_suspects = is_noisy && is_time && self.search.changes() < MANY_SUSPECTS;
        let is_unusable = matches!(verdict, Some(Verdict::NoDifference(_) | Verdict::Unusable(_)));
        if self.knows_ends() && !is_unusable && self.texts.of_all == OfAll::Unknown && (is_urgent || names_suspects) {
            self.texts.of_all = if is_urgent { OfAll::Awaited } else { OfAll::Asked };
            let inverted = self.looks_again == Some(Question::AllOff);
            let selection = Selection { inverted, ..Selection::all() };
            let tests = if self.tests.is_some() { (0..self.search.tests()).collect() } else { vec![0] };
            self.texts.wanted.push_back(Wanted { selection, tests });
        }
    }

    /// Whether a culprit can be shown: what its changes are is known, or will not be known.
    pub(super) fn has_text(&self, changes: &BTreeSet<ChangeId>) -> bool {
        let is_known = changes.iter().all(|&id| self.texts.of(id).is_some());
        is_known || !self.target.needs_text_run() || self.texts.tries.get(changes) >= Some(&TRIES)
    }

    /// Starts the run that is wanted first, if there is one. Says whether the search has to wait for it.
    pub(super) fn start_text_run(&mut self) -> bool {
        if !self.texts.is_in_flight
            && let Some(slot) = self.workers.free_slot()
            && let Some(Wanted { selection, tests }) = self.texts.wanted.pop_front()
        {
            self.texts.is_in_flight = true;
            self.search.count_run();
            let number = self.lab.totals.runs + self.search.runs();
            let choice = Choice::of(self.target.order(), &selection).with_text();
            let of_tests = self.tests.as_ref().map(|_| tests.clone());
            let trial = Trial { id: TRIAL, question: Question::FoundAlone, selection, tests };
            let spec = RunSpec { tests: of_tests, ..self.lab.spec(number, trial, choice, slot) };
            self.workers.start(spec, self.target.brief());
        }
        self.texts.of_all == OfAll::Awaited
    }

    /// Takes what such a run showed; says whether it was one.
    pub(super) fn take_text(&mut self, trial: &Trial, shown: &<T::Runner as Runner>::Shown) -> bool {
        if trial.id != TRIAL {
            return false;
        }
        self.texts.is_in_flight = false;
        for reports in self.target.reports(shown) {
            self.texts.learn(reports);
        }
        true
    }

    /// Whether it is still to be learned which changes are on lines that were touched.
    pub(super) fn awaits_places(&self) -> bool {
        self.lab.since.is_some()
            && self.target.needs_text_run()
            && self.texts.of_all != OfAll::Used
            && !self.search.is_noisy()
    }

    /// Has the search prefer the changes on lines that were touched, once it is known where changes are. Says whether it
    /// was waiting for that.
    pub(super) fn favour_touched(&mut self) -> io::Result<bool> {
        if self.texts.of_all != OfAll::Awaited || self.texts.is_pending() {
            return Ok(false);
        }
        self.texts.of_all = OfAll::Used;
        let Some(since) = &self.lab.since else { return Ok(false) };
        let order = self.target.order();
        let touched = since.touched(self.texts.known.values());
        let commit = &since.commit()[..12];
        let note = match touched.len() {
            0 => format!("no change is on a line that changed since {commit}"),
            count => format!("of the changes, {count} are on lines that changed since {commit}: these are tried first"),
        };
        self.search.favour(touched.into_iter().map(|id| order.rank(id)));
        self.lab.emit(&Event::Note(&note))?;
        Ok(true)
    }
}
