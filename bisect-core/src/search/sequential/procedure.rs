//! The state machine of the sequential search: the next question, and the effect of its answer. It makes no trials.
//!
//! The state is small and cheap to clone, so a caller can try both outcomes of a trial to see the question that
//! follows.

mod answer;
mod branches;
mod for_suite;
mod found_sets;
pub(in crate::search) mod lookahead;
mod many;
mod minimize;
mod state;
mod sweep;

use alloc::{sync::Arc, vec::Vec};

use super::bracket::{Bracket, BracketStep};
use crate::search::ledger::Asked;
use crate::search::model::{
    Options,
    likely_groups::LikelyGroups,
    mode::Mode,
    noise::Noise,
    rank::Rank,
    ranked,
    selection::{Prefix, Selection},
    trial::{Outcome, Question, TrialId},
    verdict::{Culprit, Incomplete, Inconsistency, Unusable, Verdict},
};
use crate::search::tuning;
pub(in crate::search) use answer::Answer;
use branches::Branches;
use found_sets::FoundSets;
use minimize::{Doubts, part, parts};
use state::{AfterConfirm, State, inconsistent, unusable};

/// The state of the sequential search: the culprits found, and the next question.
#[derive(Clone, Debug)]
pub(in crate::search) struct Procedure {
    options: Options,
    state: State,
    mode: Mode,
    /// The changes reported in the calibration or, for one of several tests, in its first run alone; in order.
    known: Arc<[Rank]>,
    /// True if `known` is only made up, to guess later questions.
    is_made_up: bool,
    /// The groups of changes that are likelier than others.
    likely_groups: LikelyGroups,
    found: FoundSets,
    branches: Branches,
    /// The reasons why the present set may contain changes that it does not need.
    doubts: Doubts,
    incomplete: Option<Incomplete>,
    /// True if the present set needs many changes.
    is_dense: bool,
    /// The sweep for single changes, while it lasts.
    sweep: Option<sweep::Sweep>,
    /// The trial of the latest answer that was not assumed.
    latest: TrialId,
}

impl Procedure {
    pub(in crate::search) fn new(options: Options) -> Self {
        Self {
            options,
            state: State::AllOn,
            mode: Mode::Enable,
            known: Arc::new([]),
            is_made_up: false,
            likely_groups: LikelyGroups::none(),
            found: FoundSets::default(),
            branches: Branches::default(),
            doubts: Doubts::default(),
            incomplete: None,
            is_dense: false,
            sweep: None,
            latest: TrialId(0),
        }
    }

    /// Returns the culprits that are proved.
    pub(in crate::search) fn found(&self) -> &[Culprit] {
        self.found.proved()
    }

    /// Favours these groups from now on.
    pub(in crate::search) fn favour(&mut self, likely_groups: LikelyGroups) {
        self.likely_groups = likely_groups;
        match &mut self.state {
            State::Narrow { bracket, .. } | State::FoundAlone { rest: bracket, .. } => {
                *bracket = bracket.clone().with_likely_groups(self.likely_groups.clone());
            }
            _ => {}
        }
    }

    /// Returns the direction of the search.
    pub(in crate::search) fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the question whose answer is needed, or the verdict.
    pub(in crate::search) fn question(&self) -> Result<Asked, &Verdict> {
        let inverted = self.mode == Mode::Disable;
        let (question, selection) = match &self.state {
            State::AllOn => (Question::AllOn, Selection::all()),
            State::AllOff { .. } => (Question::AllOff, Selection { inverted: true, ..Selection::all() }),
            State::FirstSolo => self.mode.failing_end(),
            State::Narrow { forced, bracket } => match bracket.narrowing() {
                BracketStep::Ask(cut) => (Question::Prefix, self.select(Prefix::Below(cut), forced)),
                settled => unreachable!("a settled bracket is left at once: {settled:?}"),
            },
            State::FoundAlone { forced, .. } => (Question::FoundAlone, self.select(Prefix::NONE, forced)),
            State::Minimize { culprit, part: index } => {
                (Question::FoundAlone, self.select(Prefix::NONE, &part(culprit, *index)))
            }
            State::AllButFound { culprit } => {
                let mut selection = self.select(Prefix::All, &[]);
                selection.excluded.extend(&culprit.changes);
                (Question::AllButFound, selection)
            }
            State::Sweep => many::question(self),
            State::Branch => (Question::AllButFound, self.select(Prefix::All, &[])),
            State::Baseline { .. } => (Question::Baseline, Selection { inverted: !inverted, ..Selection::all() }),
            State::Done(verdict) => return Err(verdict),
        };
        Ok(Asked { question, selection, stage: self.stage() })
    }

    /// Returns the number of culprits found plus branches begun; in a sweep, that number at its start.
    fn stage(&self) -> usize {
        self.sweep.as_ref().map_or_else(|| self.found.len() + self.branches.begun(), |sweep| sweep.stage)
    }

    /// Returns the selection of a prefix and the forced changes, without the excluded ones, in the mode's direction.
    fn select(&self, prefix: Prefix, forced: &[Rank]) -> Selection {
        Selection {
            prefix,
            gaps: Vec::new(),
            forced: forced.to_vec(),
            excluded: self.excluded(),
            inverted: self.mode == Mode::Disable,
        }
    }

    /// Takes the answer to [`question`](Self::question).
    pub(in crate::search) fn answer(&mut self, answer: &Answer<'_>) {
        let state = core::mem::replace(&mut self.state, State::AllOn);
        self.note(answer);
        self.state = match state {
            State::AllOn => self.after_all_on(answer),
            State::AllOff { all, reported } => self.after_all_off(all, reported, answer),
            State::FirstSolo => self.after_first_solo(answer),
            State::Narrow { forced, bracket } => match bracket.narrowing() {
                BracketStep::Ask(cut) => self.after_prefix(forced, bracket, cut, answer),
                settled => unreachable!("only an open bracket asks: {settled:?}"),
            },
            State::FoundAlone { forced, rest } => self.after_found_alone(forced, rest, answer),
            State::Minimize { culprit, part } => minimize::answer(self, culprit, part, answer),
            State::AllButFound { culprit } => self.after_all_but_found(culprit, answer),
            State::Baseline { culprit, then } => self.after_baseline(culprit, then, answer),
            State::Sweep => many::answer(self, answer),
            State::Branch => match answer.outcome {
                Outcome::Fail => self.narrow_all(self.latest, lookahead::reported_of_rest(self, answer, &[])),
                Outcome::Pass => self.next_branch(),
                Outcome::Unresolved(reason) => {
                    self.incomplete = Some(Incomplete::Unresolved(reason));
                    self.next_branch()
                }
            },
            done @ State::Done(_) => done,
        };
    }

    fn note(&mut self, answer: &Answer<'_>) {
        self.latest = answer.trial.unwrap_or(self.latest);
        match answer.outcome {
            Outcome::Pass => self.found.prove(),
            Outcome::Fail => {}
            Outcome::Unresolved(_) => self.doubts.had_unresolved = true,
        }
    }

    /// Returns the procedure as it would be after this answer.
    pub(in crate::search) fn after(&self, answer: &Answer<'_>) -> Self {
        let mut after = self.clone();
        after.answer(answer);
        after
    }

    fn after_all_on(&mut self, answer: &Answer<'_>) -> State {
        match answer.outcome {
            Outcome::Unresolved(reason) => unusable(Unusable::Unresolved(Question::AllOn, reason)),
            all => {
                self.is_made_up = answer.reported.is_none();
                let reported = answer.reported.cloned().unwrap_or_else(|| lookahead::made_up(&self.options));
                State::AllOff { all, reported }
            }
        }
    }

    fn after_all_off(&mut self, all: Outcome, of_all: Arc<[Rank]>, answer: &Answer<'_>) -> State {
        let of_none = answer.reported.unwrap_or(&of_all);
        let mut known = of_all.to_vec();
        ranked::merge(&mut known, of_none);
        self.known = known.into();
        let failing = match (all, answer.outcome) {
            (_, Outcome::Unresolved(reason)) => return unusable(Unusable::Unresolved(Question::AllOff, reason)),
            (Outcome::Fail, Outcome::Pass) => {
                self.mode = Mode::Enable;
                of_all
            }
            (Outcome::Pass, Outcome::Fail) => {
                self.mode = Mode::Disable;
                of_none.clone()
            }
            (same, _) => return State::Done(Verdict::NoDifference(same)),
        };
        if self.options.direction.is_some_and(|asked| asked != self.mode) {
            return unusable(Unusable::Reversed(self.mode));
        }
        if self.known.is_empty() {
            return unusable(Unusable::NoReports);
        }
        self.narrow_all(self.latest, failing)
    }

    fn after_first_solo(&mut self, answer: &Answer<'_>) -> State {
        if let (Outcome::Fail | Outcome::Pass, Some(reported)) = (answer.outcome, answer.reported) {
            self.known = reported.clone();
        }
        match answer.outcome {
            Outcome::Fail if self.known.is_empty() => unusable(Unusable::NoReports),
            Outcome::Fail => self.narrow_all(self.latest, self.known.clone()),
            Outcome::Pass => State::Done(Verdict::NoDifference(Outcome::Pass)),
            Outcome::Unresolved(reason) => unusable(Unusable::Unresolved(self.mode.failing_end().0, reason)),
        }
    }

    fn after_prefix(&mut self, forced: Vec<Rank>, mut bracket: Bracket, cut: Rank, answer: &Answer<'_>) -> State {
        if answer.outcome == Outcome::Pass && bracket.is_high(cut) {
            return inconsistent(Inconsistency::NotConfirmed(self.latest, forced));
        }
        if answer.outcome == Outcome::Pass && forced.is_empty() {
            self.found.prefix_passed(cut);
        }
        self.doubts.revealed.extend(bracket.record(cut, answer.outcome, answer.reported));
        self.narrow(forced, bracket, self.latest)
    }

    /// Continues with a bracket; `failed` is the trial that last changed it.
    fn narrow(&mut self, mut forced: Vec<Rank>, bracket: Bracket, failed: TrialId) -> State {
        if bracket.empty_groups().is_some() {
            return many::narrow(self, forced, bracket, failed);
        }
        match bracket.narrowing() {
            BracketStep::Ask(_) => State::Narrow { forced, bracket },
            BracketStep::Unexplained => inconsistent(Inconsistency::Unexplained(failed)),
            BracketStep::Needed(change) => {
                let rest = bracket.below(change);
                forced.push(change);
                // Every set consists of reported changes. This stops a target that invents changes in every run.
                let named = forced.len() + self.found.changes().count();
                if named > 2 * self.known.len() + tuning::MAX_INVENTED {
                    return inconsistent(Inconsistency::Endless);
                }
                // Most culprits are one change, so the first one is always run alone.
                if forced.len() > 1 && many::needs_many(self, &forced, &rest) {
                    return many::narrow(self, forced, rest, failed);
                }
                State::FoundAlone { forced, rest }
            }
        }
    }

    fn after_found_alone(&mut self, forced: Vec<Rank>, rest: Bracket, answer: &Answer<'_>) -> State {
        match answer.outcome {
            Outcome::Fail => self.after_failing_alone(forced, rest, 0, answer),
            // No other change can be needed, so this is the set that failed in an earlier trial.
            Outcome::Pass if rest.candidates().is_empty() => {
                inconsistent(Inconsistency::NotConfirmed(self.latest, forced))
            }
            Outcome::Unresolved(reason) if rest.candidates().is_empty() => {
                self.incomplete = Some(Incomplete::Unresolved(reason));
                self.next_branch()
            }
            Outcome::Pass | Outcome::Unresolved(_) => {
                if self.options.max_set_size.is_some_and(|max| forced.len() >= max.get()) {
                    return self.work_around(&forced);
                }
                if forced.len() == 1 && many::needs_many(self, &forced, &rest) {
                    return many::narrow(self, forced, rest, self.latest);
                }
                self.narrow(forced, rest, self.latest)
            }
        }
    }

    /// Continues after a run in which exactly these changes were switched and that failed. The first `tried` parts of
    /// the set are known not to fail.
    fn after_failing_alone(
        &mut self,
        mut changes: Vec<Rank>,
        rest: Bracket,
        tried: usize,
        answer: &Answer<'_>,
    ) -> State {
        // A change that this run did not report cannot be needed. A correct, monotone target reports all changes of the
        // set.
        let before = changes.len();
        changes.retain(|id| answer.reported.is_none_or(|reported| reported.contains(id)));
        if changes.is_empty() {
            return inconsistent(Inconsistency::Unexplained(self.latest));
        }
        if changes.len() < before {
            return State::FoundAlone { forced: changes, rest };
        }
        let culprit = Culprit { changes, mode: self.mode, confirmed_by: self.latest };
        if self.doubts.concern(&culprit) && tried < parts(&culprit) {
            return State::Minimize { culprit, part: tried };
        }
        self.confirm(culprit)
    }

    /// Returns the question that is still open about a set that fails alone.
    fn confirm(&self, culprit: Culprit) -> State {
        if self.options.max_sets.is_some_and(|max| self.found.len() + 1 >= max.get()) {
            return State::Baseline { culprit, then: AfterConfirm::Stop };
        }
        State::AllButFound { culprit }
    }

    fn work_around(&mut self, forced: &[Rank]) -> State {
        self.incomplete = Some(Incomplete::MaxSetSize);
        self.branches.avoid(forced);
        self.next_branch()
    }

    fn next_branch(&mut self) -> State {
        if let Some(culprit) = self.found.take_unproved() {
            return State::Baseline { culprit, then: AfterConfirm::NextBranch };
        }
        if !self.branches.begin_next() {
            return State::Done(self.incomplete.map_or(Verdict::Complete, Verdict::Incomplete));
        }
        self.found.begin_branch();
        State::Branch
    }

    fn after_all_but_found(&mut self, culprit: Culprit, answer: &Answer<'_>) -> State {
        match answer.outcome {
            // The target passes without the set and with everything else, which is the best confirmation.
            Outcome::Pass => {
                self.found.add_proved(culprit);
                self.next_branch()
            }
            Outcome::Fail => {
                let reported = lookahead::reported_of_rest(self, answer, &culprit.changes);
                if self.options.noise == Noise::Refused && self.found.is_proved() {
                    // A prefix that passes will prove the culprit too.
                    self.found.add(culprit);
                    return many::search_rest(self, self.latest, reported);
                }
                State::Baseline { culprit, then: AfterConfirm::Search(self.latest, reported) }
            }
            Outcome::Unresolved(reason) => {
                self.incomplete = Some(Incomplete::Unresolved(reason));
                State::Baseline { culprit, then: AfterConfirm::NextBranch }
            }
        }
    }

    /// Starts a new set: everything but the excluded changes failed and reported these. Passed prefixes are not rerun.
    fn narrow_all(&mut self, failed: TrialId, reported: Arc<[Rank]>) -> State {
        let bracket =
            Bracket::new(Prefix::All, reported, self.likely_groups.clone()).above(self.found.longest_passed());
        self.doubts = Doubts::default();
        self.is_dense = false;
        self.narrow(Vec::new(), bracket, failed)
    }

    fn after_baseline(&mut self, culprit: Culprit, then: AfterConfirm, answer: &Answer<'_>) -> State {
        match answer.outcome {
            Outcome::Pass => {
                self.found.add_proved(culprit);
                match then {
                    AfterConfirm::Stop => State::Done(Verdict::Incomplete(Incomplete::MaxSets)),
                    AfterConfirm::Search(failed, reported) => many::search_rest(self, failed, reported),
                    AfterConfirm::Sweep => many::sweep_on(self),
                    AfterConfirm::NextBranch => self.next_branch(),
                }
            }
            Outcome::Fail | Outcome::Unresolved(_) => {
                inconsistent(Inconsistency::BaseFails(self.latest, culprit.changes))
            }
        }
    }

    /// Returns the changes that every selection leaves out: found already, or avoided.
    pub(in crate::search) fn excluded(&self) -> Vec<Rank> {
        self.found.changes().chain(self.branches.avoided().iter().copied()).collect()
    }
}
