//! A test that contradicts itself among others that do not: it goes on under noise, and they as ever.
//!
//! What its runs have shown is kept from the start, as far as a search under noise may come to be, and is where that
//! begins. From then on the test asks questions of its own. A run that one such test asks for is made for all of them that
//! it tells something: those that share a culprit share its search.

use alloc::{boxed::Box, vec::Vec};

use super::test::{Check, Test};
use crate::search::{
    model::{
        Options,
        noise::Noise,
        ranked,
        selection::Selection,
        trial::{Observation, Outcome, Trial, TrialId},
        verdict::{Inconsistency, Verdict},
    },
    noisy::{Ask, NoisySearch, Run, Toss},
};

/// What there is to doubt about a test.
#[derive(Clone, Debug)]
pub(super) enum Doubt {
    /// Nothing yet; its runs so far.
    No(Vec<Run>),
    /// It has contradicted itself, or is expected to: a search under noise, and how many runs were made for it.
    Yes(Box<NoisySearch>, usize),
}

impl Default for Doubt {
    fn default() -> Self {
        Doubt::No(Vec::new())
    }
}

impl Doubt {
    /// The search under noise, if it has come to that.
    pub(super) fn search(&self) -> Option<&NoisySearch> {
        match self {
            Doubt::No(_) => None,
            Doubt::Yes(search, _) => Some(search),
        }
    }

    pub(super) fn search_mut(&mut self) -> Option<&mut NoisySearch> {
        match self {
            Doubt::No(_) => None,
            Doubt::Yes(search, _) => Some(search),
        }
    }

    /// How many runs were made for the search under noise, as long as it goes on.
    pub(super) fn turns(&self) -> Option<usize> {
        match self {
            Doubt::Yes(search, turns) if search.verdict().is_none() => Some(*turns),
            Doubt::No(_) | Doubt::Yes(..) => None,
        }
    }
}

impl Test {
    /// From now on its runs, those so far as well, are only evidence; an answer must be as likely as this.
    pub(super) fn go_on_under_noise(&mut self, confidence: f64, options: &Options) {
        let Doubt::No(runs) = &mut self.doubt else { return };
        let runs = core::mem::take(runs);
        // Before it was on its own, it is only known what all tests come by.
        let is_new = self.procedure.is_apart();
        let mut known = if is_new { Vec::new() } else { self.procedure.known().to_vec() };
        let mut late: Vec<_> = self.late.iter().copied().collect();
        ranked::sort(options.order, &mut late);
        ranked::merge(options.order, &mut known, &late);
        // Its trials are numbered by the suite.
        let search = NoisySearch::new(confidence, options).after(options, known, runs, 0);
        self.doubt = Doubt::Yes(Box::new(search), 0);
    }

    /// Takes what one run of a trial showed, as evidence.
    pub(super) fn weigh(&mut self, trial: &Trial, observation: &Observation, options: &Options) {
        if options.noise == Noise::Refused {
            return;
        }
        let selection = self.view(&trial.selection, observation);
        match &mut self.doubt {
            Doubt::No(runs) => runs.extend(Run::new(trial.id, &selection, observation)),
            Doubt::Yes(search, _) if search.has_begun(trial.id) => {
                search.record(trial.id, observation.clone(), options);
            }
            Doubt::Yes(search, _) => search.take(trial.id, &selection, observation.clone(), options),
        }
    }

    /// A selection without the changes that it names for the sake of other tests.
    fn view(&self, selection: &Selection, observation: &Observation) -> Selection {
        let mut own = selection.clone();
        own.forced.retain(|id| observation.reported.contains(id));
        let known = self.doubt.search().map_or(&[][..], NoisySearch::known);
        let matters = |id| self.comes_by(id) || ranked::contains(own.order, known, id);
        own.excluded.retain(|&id| matters(id) || observation.reported.contains(&id));
        own
    }

    /// Whether it has contradicted itself, as far as it believes its runs.
    pub(super) fn is_contradictory(&self) -> bool {
        let is_noise = |how: &Inconsistency| *how != Inconsistency::Endless;
        self.doubt.search().is_none() && matches!(self.verdict(), Some(Verdict::Inconsistent(how)) if is_noise(how))
    }

    /// Whether it ended otherwise than a reliable test would, in a run that was made to see that.
    pub(super) fn is_surprised_by(&mut self, trial: &Trial, outcome: Outcome) -> bool {
        let is_due =
            |check: &Check| check.question == trial.question && self.is_as_good(&trial.selection, &check.selection);
        if self.checks.first().is_some_and(is_due) {
            let expected = self.checks.remove(0).expected;
            return !matches!(outcome, Outcome::Unresolved(_)) && outcome != expected;
        }
        let question = trial.question;
        let before = match self.verdict() {
            Some(Verdict::NoDifference(before)) => *before,
            _ if question == self.procedure.failing_end().0 => Outcome::Fail,
            _ => Outcome::Pass,
        };
        !matches!(outcome, Outcome::Unresolved(_)) && outcome != before
    }

    /// Whether a run tells the search under noise anything, as long as it goes on.
    pub(super) fn is_evidence(&self, selection: &Selection) -> bool {
        self.doubt.search().is_some_and(|search| search.verdict().is_none() && search.is_evidence(selection))
    }

    /// A run of this trial is started, whoever asked for it.
    pub(super) fn begin(&mut self, trial: &Trial, toss: Option<&Toss>) {
        if let Some(search) = self.doubt.search_mut() {
            search.begin(trial.clone(), toss);
        }
    }

    /// The question of the search under noise that is most worth a run.
    pub(super) fn asks_for_evidence(&mut self, options: &Options) -> Option<Ask> {
        let Doubt::Yes(search, turns) = &mut self.doubt else { return None };
        let asked = search.next(options);
        *turns += usize::from(asked.is_some());
        asked
    }

    /// About how many runs the search under noise takes until it names something.
    pub(super) fn runs_left(&self) -> usize {
        self.doubt.search().and_then(NoisySearch::runs_left).unwrap_or(0)
    }

    pub(super) fn cancel(&mut self, id: TrialId) {
        if let Some(search) = self.doubt.search_mut().filter(|search| search.has_begun(id)) {
            search.cancel(id);
        }
    }
}
