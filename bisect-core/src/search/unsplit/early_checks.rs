//! Checks of a suspect beside its proof, where several trials are in flight.
//!
//! The [groups](crate::search::proposer) may leave one suspect before it is proved. The suspect predicts the outcome of each later
//! run. Its proof is repeated in free slots: a target with random outcomes ends a run as predicted with a probability of
//! 1/2. Cuts that are started after the groups have left one suspect test its predictions as well. If enough of these
//! runs agree, one of them passes and none differs, the culprit is named without further checks.
//!
//! Fewer predicted runs than that replace at most one check.

use alloc::{collections::BTreeMap, vec::Vec};

use super::{Unsplit, checks};
use crate::search::{
    ledger::{Entry, Ledger},
    model::{
        Options,
        rank::Rank,
        rng::SeededRng,
        selection::Selection,
        trial::{Outcome, Question, TrialId},
        verdict::Culprit,
    },
    proposer::parts::switches,
    sequential::Procedure,
    test::Test,
    tuning,
};

/// The repeats of the proof of a suspect.
#[derive(Clone, Debug, Default)]
pub(super) struct EarlyChecks {
    /// The suspect, once its proof is repeated.
    suspect: Option<Rank>,
    /// The trials that repeat the proof.
    repeats: Vec<TrialId>,
    /// For each trial: the sole suspect when its first run was started, if there was one.
    predicting: BTreeMap<TrialId, Rank>,
}

/// The cuts and repeats whose outcomes a suspect predicted.
#[derive(Default)]
pub(super) struct PredictedRuns {
    /// The number of runs that ended as predicted.
    pub(super) agreeing: usize,
    /// The repeats in flight. Cuts in flight are not awaited, because one that hangs must not block the search.
    pub(super) in_flight: Vec<TrialId>,
    /// True if at least one of them is predicted to pass.
    may_pass: bool,
    /// True if one ended differently: there are more culprits, or the target is flaky.
    is_any_contrary: bool,
}

impl PredictedRuns {
    /// Returns true if no more checks are necessary. At least one predicted run must be a pass: a target that has begun to
    /// fail always would confirm any suspect.
    pub(super) fn suffice(&self) -> bool {
        self.may_suffice() && self.agreeing >= tuning::SUFFICIENT_PREDICTED_RUNS
    }

    /// Returns true if they suffice, or will suffice if the repeats in flight end as predicted.
    pub(super) fn may_suffice(&self) -> bool {
        let agreeing = self.agreeing + self.in_flight.len();
        self.may_pass && !self.is_any_contrary && agreeing >= tuning::SUFFICIENT_PREDICTED_RUNS
    }
}

impl EarlyChecks {
    /// Adds repeats of the proof of the only suspect to the wanted trials, if both runs of the proof are wanted and there
    /// are enough free slots. Later calls keep the repeats that have not ended.
    pub(super) fn add(
        &mut self,
        suspect: Rank,
        wanted: &mut Vec<TrialId>,
        ledger: &mut Ledger,
        rng: &mut SeededRng,
        options: &Options,
    ) {
        if !checks::may_check(options) {
            return;
        }
        let in_flight = options.in_flight.get();
        if self.suspect != Some(suspect) {
            let Some(proof) = proof_of(suspect, wanted, ledger) else { return };
            let is_cut = |&&trial: &&TrialId| {
                let entry = &ledger[trial];
                let is_predicted = !entry.is_started() || self.predicting.get(&trial) == Some(&suspect);
                is_predicted && entry.trial.question == Question::Prefix
            };
            let needed = proof_end(suspect, wanted, ledger);
            let cuts = wanted[..needed].iter().filter(is_cut).count();
            let missing = tuning::SUFFICIENT_PREDICTED_RUNS.saturating_sub(cuts);
            if needed + missing > in_flight {
                return;
            }
            let first = usize::from(rng.coin());
            let repeat = |number| ledger.check(ledger[proof[(first + number) % 2]].asked(), None);
            self.repeats = (0..missing).map(repeat).collect();
            self.suspect = Some(suspect);
        }
        // First the proof, then its repeats, then cuts that may be needed later.
        let mut later = wanted.split_off(proof_end(suspect, wanted, ledger));
        later.sort_by_key(|&trial| ledger[trial].in_flight() == 0);
        wanted.extend(self.repeats.iter().filter(|&&trial| ledger[trial].outcomes().is_empty()));
        wanted.extend(later);
        wanted.truncate(in_flight);
        // In a fixed order, the expected outcomes could be in step with a target that ignores the changes.
        wanted[1..].sort_by_cached_key(|&trial| SeededRng::new(options.seed ^ trial.0 as u64).next());
    }

    /// Records the sole suspect, if there is one, when the first run of a trial is started.
    pub(super) fn begin(&mut self, trial: TrialId, sole_suspect: Option<Rank>) {
        match sole_suspect {
            Some(suspect) => self.predicting.insert(trial, suspect),
            None => self.predicting.remove(&trial),
        };
    }

    /// Returns the suspect whose proof is repeated, if the procedure asks for its proof.
    pub(super) fn suspect_in_proof(&self, procedure: &Procedure) -> Option<Rank> {
        let suspect = self.suspect?;
        let asked = procedure.question().ok()?;
        proves(suspect, asked.question, &asked.selection).map(|_| suspect)
    }

    /// Returns the cuts and repeats that were started while this culprit was the only suspect; none for a set of several
    /// changes.
    pub(super) fn predicted_runs(&self, culprit: &Culprit, ledger: &Ledger) -> PredictedRuns {
        let mut runs = PredictedRuns::default();
        let &[change] = &culprit.changes[..] else { return runs };
        for (&trial, _) in self.predicting.iter().filter(|&(_, &suspect)| suspect == change) {
            let entry = &ledger[trial];
            let is_repeat = self.repeats.contains(&trial);
            if entry.trial.question != Question::Prefix && !is_repeat {
                continue;
            }
            let is_switched = switches(culprit.mode, &entry.trial.selection, change);
            let expected = if is_switched { Outcome::Fail } else { Outcome::Pass };
            match entry.outcomes().first() {
                None if is_repeat && entry.is_started() => runs.in_flight.push(trial),
                None | Some(Outcome::Unresolved(_)) => continue,
                Some(&outcome) if outcome == expected => runs.agreeing += 1,
                Some(_) => runs.is_any_contrary = true,
            }
            runs.may_pass |= expected == Outcome::Pass;
        }
        runs
    }
}

/// Returns which run of the proof of this suspect this is: of the suspect alone (0), or of everything else (1).
fn proves(suspect: Rank, question: Question, selection: &Selection) -> Option<usize> {
    match question {
        Question::FoundAlone if selection.forced == [suspect] => Some(0),
        Question::AllButFound if selection.excluded.contains(&suspect) => Some(1),
        _ => None,
    }
}

/// Returns the two wanted runs that prove the suspect: the suspect alone, and everything else.
fn proof_of(suspect: Rank, wanted: &[TrialId], ledger: &Ledger) -> Option<[TrialId; 2]> {
    let find = |part| wanted.iter().copied().find(|&trial| part_of_proof(suspect, &ledger[trial]) == Some(part));
    Some([find(0)?, find(1)?])
}

fn part_of_proof(suspect: Rank, entry: &Entry) -> Option<usize> {
    proves(suspect, entry.trial.question, &entry.trial.selection)
}

/// Returns the number of wanted trials up to the last one of the proof, and at least the one that the procedure waits for.
fn proof_end(suspect: Rank, wanted: &[TrialId], ledger: &Ledger) -> usize {
    let last = wanted.iter().rposition(|&trial| part_of_proof(suspect, &ledger[trial]).is_some());
    last.map_or(1, |last| last + 1).min(wanted.len())
}

/// Returns the only suspect as a culprit while both runs of its proof are wanted or in flight.
pub(in crate::search) fn expected_culprit(unsplit: &Unsplit, test: &Test, ledger: &Ledger) -> Option<Culprit> {
    let suspect = unsplit.sole_suspect.filter(|_| test.noisy.is_none())?;
    let [confirmed_by, _] = proof_of(suspect, unsplit.wanted.as_ref()?, ledger)?;
    Some(Culprit { changes: [suspect].into(), mode: test.procedure.mode(), confirmed_by })
}
