//! The engine for a page of the book: a planted target, and the search that finds what was planted.
//!
//! All functions take and return numbers, so the page needs no glue. There is one search at a time.

mod target;

use std::sync::Mutex;

use target::Target;

/// The search of the page.
static TARGET: Mutex<Option<Target>> = Mutex::new(None);

fn with<T: Default>(action: impl FnOnce(&mut Target) -> T) -> T {
    // A panic ends WebAssembly, so no lock is poisoned there.
    let mut target = TARGET.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    target.as_mut().map(action).unwrap_or_default()
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Begins a search in this many changes. The target fails in `percent` of 100 runs in which a culprit is enabled.
#[unsafe(no_mangle)]
pub extern "C" fn start(changes: u32, percent: u32, seed: u32) {
    let target = Target::new(changes as usize, percent, seed.into());
    *TARGET.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(target);
}

/// Adds a change to a planted culprit, before the first step.
#[unsafe(no_mangle)]
pub extern "C" fn plant(culprit: u32, change: u32) {
    with(|target| target.plant(culprit as usize, change as usize));
}

/// Makes the next run. Returns 0 if the search has ended instead.
#[unsafe(no_mangle)]
pub extern "C" fn step() -> u32 {
    with(|target| u32::from(target.step()))
}

/// Returns 1 if the last run failed.
#[unsafe(no_mangle)]
pub extern "C" fn failed() -> u32 {
    with(|target| u32::from(target.failed()))
}

/// Returns the question of the last run, in the order of `Question`.
#[unsafe(no_mangle)]
pub extern "C" fn question() -> u32 {
    with(|target| number(target.question()))
}

/// Returns 1 if the last run repeated an earlier trial, as a check.
#[unsafe(no_mangle)]
pub extern "C" fn repeats() -> u32 {
    with(|target| u32::from(target.repeats()))
}

/// Returns 1 if a change was enabled in the last run.
#[unsafe(no_mangle)]
pub extern "C" fn enabled(change: u32) -> u32 {
    with(|target| u32::from(target.enabled(change as usize)))
}

/// Returns 1 if runs are only evidence by now.
#[unsafe(no_mangle)]
pub extern "C" fn noisy() -> u32 {
    with(|target| u32::from(target.is_noisy()))
}

/// Returns the probability, in percent, that a change is the one searched for, in a noisy search.
#[unsafe(no_mangle)]
pub extern "C" fn likelihood(change: u32) -> f64 {
    with(|target| target.likelihood(change as usize))
}

/// Returns the number of the culprit, from 1, that a change is part of, or 0.
#[unsafe(no_mangle)]
pub extern "C" fn culprit(change: u32) -> u32 {
    with(|target| number(target.culprit(change as usize)))
}

/// Returns 1 if the search ended with all culprits, 2 if it ended otherwise, 0 if it has not ended.
#[unsafe(no_mangle)]
pub extern "C" fn verdict() -> u32 {
    with(|target| target.verdict())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_finds_what_it_planted() {
        start(24, 100, 1);
        plant(0, 17);
        plant(1, 10);
        plant(1, 19);
        let mut runs = 0;
        while step() == 1 {
            runs += 1;
        }
        assert_eq!(verdict(), 1);
        assert!(runs < 40, "{runs} runs");
        let found: Vec<_> = (0..24).map(|change| culprit(change)).collect();
        assert_eq!(found.iter().filter(|&&number| number > 0).count(), 3, "{found:?}");
        assert!(found[10] == found[19] && found[17] != found[10], "{found:?}");
        assert_eq!(noisy(), 0);
    }
}
