//! Checks of a suspect beside its proof, where several trials are in flight.
//!
//! [Group tests](group_tests) may leave a single suspect before anything is proved. From then on it predicts the outcome
//! of each run. A run that ends as predicted counts as a check: a target with random outcomes passes it with a
//! probability of 1/2. These runs are the cuts that are asked early, and repeated runs in slots that are still free. If
//! enough of them agree, the culprit is named without further runs.

use alloc::vec::Vec;

use super::{Sequential, Trials, checks, group_tests, progress::Progress};
use crate::search::{
    model::{
        Options,
        rank::Rank,
        rng::SeededRng,
        trial::{Outcome, Question, TrialId},
        verdict::Culprit,
    },
    tuning,
};

/// The repeated runs that check a suspect.
#[derive(Clone, Debug, Default)]
pub(super) struct EarlyChecks {
    suspect: Option<Rank>,
    trials: Vec<usize>,
}

/// The runs whose outcomes a suspect predicted.
#[derive(Default)]
pub(super) struct PredictedRuns {
    /// The number of those that ended as predicted.
    pub(super) agreeing: usize,
    /// The trials that have not ended.
    pub(super) open: Vec<usize>,
    /// True if one is predicted to pass.
    may_pass: bool,
    /// True if one ended differently: there are more culprits, or the target is flaky.
    is_any_contrary: bool,
}

impl PredictedRuns {
    /// Returns true if no more checks are necessary, provided that all open runs end as predicted. One of them must pass: a
    /// target that has begun to fail always would confirm any suspect.
    pub(super) fn may_suffice(&self) -> bool {
        self.may_pass && !self.is_any_contrary && self.agreeing + self.open.len() >= tuning::SUFFICIENT_PREDICTED_RUNS
    }
}

impl EarlyChecks {
    /// Adds checks of the only suspect to the wanted trials if it is about to be run alone and slots are free.
    pub(super) fn add(
        &mut self,
        suspect: Rank,
        wanted: &mut Vec<usize>,
        trials: &mut Trials,
        rng: &mut SeededRng,
        options: &Options,
    ) {
        if !checks::may_check(options) {
            return;
        }
        let in_flight = options.in_flight.get();
        if self.suspect != Some(suspect) {
            let Some(proof) = proof_of(suspect, wanted, trials) else { return };
            let cuts = wanted.iter().filter(|&&trial| trials[trial].asked.question == Question::Prefix).count();
            let missing = tuning::SUFFICIENT_PREDICTED_RUNS.saturating_sub(cuts);
            let first = usize::from(rng.coin());
            let repeat = |number| trials.check_early(trials[proof[(first + number) % 2]].asked.clone());
            self.trials = (0..missing.min(in_flight - wanted.len())).map(repeat).collect();
            self.suspect = Some(suspect);
        }
        let open: Vec<_> = self.trials.iter().copied().filter(|&trial| trials[trial].outcomes.is_empty()).collect();
        wanted.truncate(in_flight - open.len());
        wanted.extend(open);
    }

    /// Returns the runs that were started when this culprit, a single change, was already the only suspect.
    pub(super) fn predicted_runs(&self, culprit: &Culprit, trials: &Trials) -> PredictedRuns {
        let mut runs = PredictedRuns::default();
        let &[change] = &culprit.changes[..] else { return runs };
        for progress in trials.iter().filter(|progress| progress.sole_suspect == Some(change)) {
            let trial = progress.trial.id.0;
            if progress.asked.question != Question::Prefix && !self.trials.contains(&trial) {
                continue;
            }
            let is_switched = group_tests::switches(culprit.mode, &progress.asked.selection, change);
            let predicted = if is_switched { Outcome::Fail } else { Outcome::Pass };
            match progress.outcomes.first() {
                None if progress.started > 0 => runs.open.push(trial),
                None | Some(Outcome::Unresolved(_)) => continue,
                Some(&outcome) if outcome == predicted => runs.agreeing += 1,
                Some(_) => runs.is_any_contrary = true,
            }
            runs.may_pass |= predicted == Outcome::Pass;
        }
        runs
    }
}

/// Returns the wanted trials that prove the suspect: of the suspect alone, and of everything else.
fn proof_of(suspect: Rank, wanted: &[usize], trials: &Trials) -> Option<[usize; 2]> {
    let find = |question: Question, is_right: &dyn Fn(&Progress) -> bool| {
        let is_it = |&&trial: &&usize| trials[trial].asked.question == question && is_right(&trials[trial]);
        wanted.iter().find(is_it).copied()
    };
    let alone = find(Question::FoundAlone, &|progress| progress.asked.selection.forced == [suspect])?;
    let others = find(Question::AllButFound, &|progress| progress.asked.selection.excluded.contains(&suspect))?;
    Some([alone, others])
}

/// Returns the culprit that will be named if the runs in flight end as expected: the only suspect, while it is run alone.
pub(in crate::search) fn expected_culprit(search: &Sequential) -> Option<Culprit> {
    let suspect = search.sole_suspect?;
    let [alone, _] = proof_of(suspect, search.wanted.as_ref()?, &search.trials)?;
    Some(Culprit { changes: [suspect].into(), mode: search.procedure.mode(), confirmed_by: TrialId(alone) })
}
