//! Searches in rounds: all runs that are in flight together take the same time.

use bisect_core::search::{Search, Step, Trial, Verdict};

/// Makes a search to its end. `run` makes a run of a trial and records it. Returns the verdict, and the number of rounds.
pub fn search_in_rounds(search: &mut Search, mut run: impl FnMut(&mut Search, Trial)) -> (Verdict, usize) {
    for rounds in 0.. {
        let mut running = Vec::new();
        let verdict = loop {
            match search.step() {
                Step::Run(trial) => running.push(trial),
                Step::Wait => break None,
                Step::Done(verdict) => break Some(verdict),
            }
        };
        if let Some(verdict) = verdict {
            return (verdict, rounds);
        }
        for trial in running {
            run(search, trial);
        }
    }
    unreachable!("every search ends")
}
