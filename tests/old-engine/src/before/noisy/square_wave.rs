//! Outcomes that follow a clock, or the ID of a process: a square wave that ignores the changes of the run.
//!
//! A run takes about as much time as any other, so the outcomes of a target that fails in every other second are a wave
//! with a fixed number of runs in each half. That number need not be whole, so no cycle explains them. Of *n* outcomes,
//! about *n*³ sequences follow a wave, and 2^*n* do not.

use super::Run;
use crate::before::tuning;

/// The parts of a run in which the length and the phase of a wave are measured.
const UNITS: usize = 16;

/// Predicts the next outcome, by a clear majority of the waves that explain all outcomes so far: true for a failure.
/// `None` if no wave explains them, or if there is no such majority.
pub(in crate::before) fn predicted(runs: &[Run]) -> Option<bool> {
    let mut number = [0_usize; 2];
    for half in (UNITS..=tuning::MAX_HALF_WAVE * UNITS).step_by(2) {
        for phase in 0..2 * half {
            let fails = |run: usize| (run * UNITS + phase) / half % 2 == 1;
            if runs.iter().enumerate().all(|(index, run)| run.failed == fails(index)) {
                number[usize::from(fails(runs.len()))] += 1;
            }
        }
    }
    let [passes, failures] = number;
    let is_clear = passes.max(failures) >= tuning::CLEAR_MAJORITY_OF_WAVES * passes.min(failures).max(1);
    is_clear.then_some(failures > passes)
}
