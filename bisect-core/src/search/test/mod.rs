//! One test: the prover of its culprits, and a guess that runs ahead of the proof.
//!
//! Each run is believed at first. The [`Procedure`] receives only results of its own questions, or of runs that
//! [are as good](Test::is_as_good), so its result does not depend on other tests. A pooled run, which also serves tests
//! with other candidates, is *not* as good: it switches changes outside this test's candidates. It advances a copy of the
//! bracket, the guess. When the guess is down to one change, one run of that change alone confirms it in most cases. In
//! the other cases the test searches by exact prefixes.
//!
//! A test that contradicts itself switches to a noisy search, which begins with the test's runs in the ledger. See
//! [`noisy_test`].

mod guess;
mod noisy_test;

use alloc::{boxed::Box, collections::BTreeSet, sync::Arc, vec::Vec};

use guess::{Guess, Remaining};
pub(in crate::search) use noisy_test::reported;

use super::{
    ledger::Ledger,
    model::{
        rank::Rank,
        ranked,
        selection::{Prefix, Selection},
        trial::{Observation, Outcome, Question, TrialId},
        verdict::{Culprit, Unusable, Verdict},
    },
    noisy::{NoisySearch, NoisyState},
    sequential::{Answer, Bracket, Procedure},
    tuning,
};

/// The search for one test's culprits.
#[derive(Clone, Debug)]
pub(in crate::search) struct Test {
    pub(in crate::search) procedure: Procedure,
    /// The search for which runs are only evidence, once the test has contradicted itself or was expected to.
    pub(in crate::search) noisy: Option<Box<NoisySearch>>,
    guess: Guess,
    /// The identity of the narrowing to which the guess belongs.
    narrowing: Option<(usize, usize)>,
    /// The result of a change that was run alone before the procedure asked for it.
    alone: Option<AnswerAlone>,
    /// Runs to make before the answer that names a culprit is taken.
    pub(in crate::search) checks: Vec<TestCheck>,
    /// Number of culprits for which these checks were made.
    pub(in crate::search) checked_culprits: usize,
    /// The number of changes needed together at which the failing end is checked again.
    pub(in crate::search) recheck_at: usize,
    /// A verdict that overrides the procedure.
    pub(in crate::search) stopped: Option<Verdict>,
    /// The largest number of changes that a run reported.
    most_reported: usize,
    /// Changes that later runs reported, but that this test's first run did not reach.
    pub(in crate::search) late: BTreeSet<Rank>,
}

/// A run that checks if a test is reliable.
#[derive(Clone, Debug)]
pub(in crate::search) struct TestCheck {
    pub(in crate::search) question: Question,
    pub(in crate::search) selection: Selection,
    /// The outcome of the run if the test is reliable.
    pub(in crate::search) expected: Outcome,
}

#[derive(Clone, Debug)]
struct AnswerAlone {
    selection: Selection,
    trial: Option<TrialId>,
    outcome: Outcome,
    reported: Option<Arc<[Rank]>>,
}

/// The search for a change by prefixes: any cut between the candidates is a good question.
#[derive(Debug)]
pub(in crate::search) struct PrefixQuestion<'a> {
    pub(in crate::search) candidates: &'a [Rank],
    /// The candidates that explain the runs of groups too; empty if no group is of use.
    pub(in crate::search) suspects: &'a [Rank],
    /// The end of the prefix that contains all candidates.
    pub(in crate::search) high: Prefix,
    pub(in crate::search) forced: &'a [Rank],
    pub(in crate::search) excluded: Vec<Rank>,
    /// The candidate to try first.
    pub(in crate::search) hint: Option<Rank>,
    /// True if only the procedure's own prefixes are of use.
    pub(in crate::search) is_exact: bool,
}

impl PrefixQuestion<'_> {
    /// Returns true if the answer to a question about a prefix or a group is useful.
    fn learns_from(&self, selection: &Selection) -> bool {
        let tells = || self.fits(selection) && selection.tells_apart(self.suspects);
        self.cut_by(selection).is_some() || tells()
    }

    /// Returns the cut that a selection makes between the candidates, if its answer is useful.
    pub(in crate::search) fn cut_by(&self, selection: &Selection) -> Option<Rank> {
        let cut = selection.cut_among(self.candidates)?;
        (self.fits(selection) && (!self.is_exact || self.is_its_own(selection))).then_some(cut)
    }

    /// Returns true if a selection has the forced changes and none of the excluded ones.
    fn fits(&self, selection: &Selection) -> bool {
        self.forced.iter().all(|&id| selection.contains(id)) && !self.excluded.iter().any(|&id| selection.contains(id))
    }

    /// Returns true if a selection is a prefix as the procedure would ask for it, whatever its end.
    fn is_its_own(&self, selection: &Selection) -> bool {
        // An avoided change may have been found as well, and is then excluded twice.
        let same = |a: &[Rank], b: &[Rank]| a.iter().all(|id| b.contains(id)) && b.iter().all(|id| a.contains(id));
        selection.gaps.is_empty() && same(&selection.forced, self.forced) && same(&selection.excluded, &self.excluded)
    }
}

impl Test {
    pub(in crate::search) fn new(procedure: Procedure) -> Self {
        Self {
            procedure,
            noisy: None,
            guess: Guess::Nothing,
            narrowing: None,
            alone: None,
            checks: Vec::new(),
            checked_culprits: 0,
            recheck_at: tuning::LARGE_SET,
            stopped: None,
            most_reported: 0,
            late: BTreeSet::new(),
        }
    }

    pub(in crate::search) fn found(&self) -> &[Culprit] {
        self.noisy().map_or_else(|| self.procedure.found(), NoisyState::found)
    }

    pub(in crate::search) fn verdict(&self) -> Option<&Verdict> {
        match self.noisy() {
            Some(noisy) => noisy.verdict(),
            None => self.stopped.as_ref().or(self.procedure.question().err()),
        }
    }

    /// Returns the verdict, unless a check is still due. After a split, none is.
    pub(in crate::search) fn settled(&self, ledger: &Ledger) -> Option<&Verdict> {
        let is_checked = || self.is_over() || ledger.checks_due().next().is_none();
        self.verdict().filter(|_| is_checked())
    }

    /// Returns the state of the noisy search, if the test has contradicted itself or was expected to.
    pub(in crate::search) fn noisy(&self) -> Option<&NoisyState> {
        self.noisy.as_deref().map(NoisySearch::state)
    }

    /// Ends the search with a verdict, unless it has ended.
    pub(in crate::search) fn stop(&mut self, verdict: Verdict) {
        if self.verdict().is_none() {
            self.stopped = Some(verdict);
        }
    }

    /// Returns true if the procedure's questions are no longer asked.
    fn is_over(&self) -> bool {
        self.stopped.is_some() || self.noisy().is_some()
    }

    /// Returns the question that names its changes, if this test waits for one: no cut can answer it.
    pub(in crate::search) fn asks(&self) -> Option<(Question, Selection)> {
        if self.is_over() || self.open().is_some() {
            return None;
        }
        if let (Guess::Alone(change), Some(_)) = (&self.guess, self.procedure.narrowing()) {
            return Some((Question::FoundAlone, normal(self.procedure.alone(*change))));
        }
        let asked = self.procedure.question().ok()?;
        Some((asked.question, normal(asked.selection)))
    }

    /// While the present question is if a set fails alone, returns the question that follows if the set does.
    pub(in crate::search) fn asks_next(&self) -> Option<(Question, Selection)> {
        self.asks()?;
        let asked = match self.guess {
            Guess::Alone(change) if self.procedure.narrowing().is_some() => {
                let mut after = self.procedure.clone();
                after.fails_alone(change, &Answer::assumed(Outcome::Fail));
                after.question().ok()?
            }
            _ => self.procedure.next_if_alone()?,
        };
        Some((asked.question, normal(asked.selection)))
    }

    /// Returns the search by prefixes, if this test waits for one.
    pub(in crate::search) fn narrowing(&self) -> Option<PrefixQuestion<'_>> {
        let bracket = self.open()?;
        let (forced, _) = self.procedure.narrowing()?;
        let (hint, is_exact) = match self.guess {
            Guess::Over(hint) => (hint, true),
            // A counter takes other steps than a pooled selection names.
            _ => (None, self.procedure.is_of_counter()),
        };
        let suspects = match &self.guess {
            Guess::Among(candidates) => &candidates.suspects[..],
            _ if is_exact => &[],
            _ => bracket.candidates(),
        };
        let (candidates, high) = (bracket.candidates(), bracket.high());
        let excluded = self.procedure.excluded();
        Some(PrefixQuestion { candidates, suspects, high, forced, excluded, hint, is_exact })
    }

    /// Returns true if the answer to a question about a prefix or a group is useful to this test.
    pub(in crate::search) fn learns_from(&self, selection: &Selection) -> bool {
        self.narrowing().is_some_and(|question| question.learns_from(selection))
    }

    /// Returns true if the answer to a question is useful now.
    pub(in crate::search) fn awaits(&self, question: Question, selection: &Selection) -> bool {
        self.asks().is_some_and(|asked| asked.0 == question && self.is_as_good(selection, &asked.1))
            || question == Question::Prefix && self.learns_from(selection)
    }

    /// Returns true if a run with this selection has the same result for this test as a run with `own`. It may name
    /// other changes too, as long as this test ignores them.
    pub(in crate::search) fn is_as_good(&self, selection: &Selection, own: &Selection) -> bool {
        let has = |all: &[Rank], some: &[Rank]| some.iter().all(|id| all.contains(id));
        selection.prefix == own.prefix
            && selection.gaps == own.gaps
            && has(&selection.forced, &own.forced)
            && has(&selection.excluded, &own.excluded)
            && self.ignores(selection, own)
    }

    /// Returns true if this test never reached any of the changes that a selection names besides those of `own`.
    ///
    /// For forced changes this is certain once the run is over: a test reports each forced change that it reaches.
    /// Excluded changes are never reported, so for them it is an assumption: the test might reach such a change only
    /// while some of its own changes are left out.
    pub(in crate::search) fn ignores(&self, selection: &Selection, own: &Selection) -> bool {
        let is_ignored =
            |all: &[Rank], own: &[Rank]| all.iter().filter(|id| !own.contains(id)).all(|&id| !self.reaches(id));
        is_ignored(&selection.forced, &own.forced) && is_ignored(&selection.excluded, &own.excluded)
    }

    pub(in crate::search) fn reaches(&self, id: Rank) -> bool {
        ranked::contains(self.procedure.known(), id) || self.late.contains(&id)
    }

    /// Takes the answer to a question that this test [awaits](Self::awaits).
    pub(in crate::search) fn answer(&mut self, selection: &Selection, answer: &Answer<'_>) {
        if self.learns_from(selection) {
            self.after_prefix(selection, answer);
        } else {
            self.after_own(answer);
        }
        self.drop_stale_guess();
    }

    /// Records the changes that this test reaches. Ends its search if the run reported changes that its selection does
    /// not contain.
    pub(in crate::search) fn note(&mut self, trial: TrialId, selection: &Selection, observation: &Observation) {
        let reported = &observation.reported;
        let known = self.procedure.known();
        self.late.extend(reported.iter().filter(|&&id| !ranked::contains(known, id)));
        let changes: Vec<_> =
            reported.iter().copied().filter(|&id| !selection.contains(id)).take(tuning::MAX_UNASKED_LISTED).collect();
        // No run reported more, so the target leaves nothing out.
        let ignores_pattern = self.most_reported > 0 && reported.len() >= self.most_reported;
        self.most_reported = self.most_reported.max(reported.len());
        if !changes.is_empty() {
            self.stop(Verdict::Unusable(Unusable::Unasked { trial, changes, ignores_pattern }));
        }
    }

    /// Returns the culprit that this answer would name.
    pub(in crate::search) fn would_name(&self, selection: &Selection, answer: &Answer<'_>) -> Option<Culprit> {
        let is_guess = matches!(self.guess, Guess::Alone(_)) && self.procedure.narrowing().is_some();
        if is_guess || self.learns_from(selection) {
            return None;
        }
        self.procedure.after(answer).found().get(self.procedure.found().len()).cloned()
    }

    /// Returns the bracket that runs of prefixes narrow.
    fn open(&self) -> Option<&Bracket> {
        let (_, exact) = self.procedure.narrowing().filter(|(_, bracket)| bracket.is_open())?;
        match &self.guess {
            _ if self.is_over() => None,
            Guess::Alone(_) => None,
            Guess::Among(candidates) => Some(&candidates.bracket),
            Guess::Nothing | Guess::Over(_) => Some(exact),
        }
    }

    fn after_prefix(&mut self, selection: &Selection, answer: &Answer<'_>) {
        let Some(question) = self.narrowing() else { return };
        let (cut, is_exact) = (question.cut_by(selection), question.is_its_own(selection));
        let Some((_, bracket)) = self.procedure.narrowing() else { return };
        let candidates = match &self.guess {
            Guess::Among(candidates) => Some(candidates.clone()),
            Guess::Nothing if !is_exact => Some(Remaining::of(bracket)),
            _ => None,
        };
        if let Some(mut candidates) = candidates {
            candidates.observe(selection, cut, answer);
            self.guess = candidates.guess(self.procedure.may_guess());
        }
        if let Some(cut) = cut.filter(|&cut| is_exact && bracket.is_cut_by(cut)) {
            self.procedure.answer_cut(cut, answer);
        }
    }

    fn after_own(&mut self, answer: &Answer<'_>) {
        match self.guess {
            Guess::Alone(change) if self.procedure.narrowing().is_some() => match answer.outcome {
                Outcome::Fail if answer.reported.is_some_and(|reported| reported.contains(&change)) => {
                    self.procedure.fails_alone(change, answer);
                }
                // It fails without the change, so no guess is valid.
                Outcome::Fail => self.guess = Guess::Over(None),
                outcome @ (Outcome::Pass | Outcome::Unresolved(_)) => {
                    self.guess = Guess::Over(Some(change));
                    let reported = answer.reported.cloned();
                    let selection = normal(self.procedure.alone(change));
                    self.alone = Some(AnswerAlone { selection, trial: answer.trial, outcome, reported });
                }
            },
            _ => self.procedure.answer(answer),
        }
    }

    /// Drops a guess whose narrowing is over, and passes on an early answer if the procedure now asks for it.
    fn drop_stale_guess(&mut self) {
        if let Some(alone) = &self.alone
            && self.procedure.narrowing().is_none()
        {
            let is_asked = |asked| normal(asked) == alone.selection;
            if self.procedure.question().is_ok_and(|it| it.question == Question::FoundAlone && is_asked(it.selection)) {
                let AnswerAlone { trial, outcome, ref reported, .. } = *alone;
                self.procedure.answer(&Answer { trial, outcome, reported: reported.as_ref() });
            }
            self.alone = None;
        }
        let narrowing = self.procedure.narrowing_id();
        if narrowing.is_some() && narrowing != self.narrowing {
            self.narrowing = narrowing;
            self.guess = Guess::Nothing;
        }
    }
}

impl Selection {
    /// Returns the cut if this selection selects exactly the candidates below it; `None` otherwise.
    ///
    /// Changes that other tests force may be selected all the same: they rarely matter to this test, and the result is
    /// only a guess. Remaining that other tests exclude must not be missing: those changes break other tests, and may
    /// break this one.
    fn cut_among(&self, candidates: &[Rank]) -> Option<Rank> {
        let (first, last) = (*candidates.first()?, *candidates.last()?);
        let mut intervals = self.intervals().skip_while(|&(_, end)| end <= u128::from(first.0));
        let (start, end) = intervals.next()?;
        let cut = u64::try_from(end).ok().map(Rank).filter(|&cut| start <= first && cut <= last)?;
        if intervals.next().is_some_and(|(start, _)| start <= last) {
            return None;
        }
        let is_missing = |&id: &Rank| id < cut && ranked::contains(candidates, id);
        (!self.excluded.iter().any(is_missing)).then_some(cut)
    }
}

/// Returns the same selection in a normal form, which does not depend on the order in which the changes were found.
fn normal(mut selection: Selection) -> Selection {
    selection.forced.sort_unstable_by_key(|change| change.id());
    selection.excluded.sort_unstable_by_key(|change| change.id());
    if selection.prefix == Prefix::NONE {
        // Exclusions only matter for changes that are named.
        let forced = core::mem::take(&mut selection.forced);
        selection.excluded.retain(|id| forced.contains(id));
        selection.forced = forced;
    }
    selection
}
