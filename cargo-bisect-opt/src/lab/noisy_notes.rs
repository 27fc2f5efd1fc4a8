//! Notes about a noisy target while it is searched.

use std::{collections::hash_map::Entry, io, time::Duration};

use bisect_core::search::Noise;

use super::{session::Session, target::Target};
use crate::{
    output::events::Event,
    record::noise::{self, NoiseEstimate},
};

/// The number of runs before the first note. The next one comes whenever it has doubled.
const FIRST_NOTE: usize = 8;

/// The largest number of noisy tests with notes of their own.
const MAX_TESTS: usize = 3;

/// Returns the estimate for what is searched under noise.
pub(super) fn estimate<T: Target>(session: &Session<'_, '_, '_, '_, T>) -> Option<NoiseEstimate> {
    let mut each = (0..session.search.progress().tests()).filter_map(|test| estimate_of(session, test));
    let first = each.next()?;
    Some(first.with_others(each.collect()))
}

/// Returns the estimate for one test, or for the whole target, if it is noisy.
pub(super) fn estimate_of<T: Target>(session: &Session<'_, '_, '_, '_, T>, test: usize) -> Option<NoiseEstimate> {
    let estimate = session.search.test(test).estimate()?;
    let shown = NoiseEstimate::new(session.target.axis().numbering(), &estimate, |id| session.texts.of(id))
        .per_execution(session.lab.repetition);
    Some(match &session.tests {
        Some(tests) => shown.with_test(tests[test].clone()),
        None => shown,
    })
}

/// Emits estimates at intervals, and gives the search the costs of runs.
pub(super) fn emit_noise<T: Target>(session: &mut Session<'_, '_, '_, '_, T>) -> io::Result<()> {
    let is_open = |&test: &usize| session.search.test(test).is_noisy() && session.search.test(test).verdict().is_none();
    let noisy: Vec<_> = (0..session.search.progress().tests()).filter(is_open).collect();
    if noisy.is_empty() || session.search.verdict().is_some() {
        return Ok(());
    }
    let (failing, passing) = (session.noisy_stats.failing.mean(), session.noisy_stats.passing.mean());
    if let (Some(failing), Some(passing), false) = (failing, passing, session.lab.is_repeated) {
        session.search.set_costs(failing.as_secs_f64(), passing.as_secs_f64());
    }
    let mean = [failing, passing].into_iter().flatten().sum::<Duration>() / 2;
    noisy.iter().try_for_each(|&test| emit_noise_of(session, test, noisy.len() <= MAX_TESTS, mean))
}

fn emit_noise_of<T: Target>(
    session: &mut Session<'_, '_, '_, '_, T>,
    test: usize,
    in_full: bool,
    mean: Duration,
) -> io::Result<()> {
    let name = session.tests.as_ref().map(|tests| &tests[test]);
    let (runs, confidence) = (session.search.progress().runs(), session.lab.options.noise);
    if let (Entry::Vacant(due), Noise::Suspected(_)) = (session.noisy_stats.next_note_at.entry(test), confidence) {
        due.insert(0);
        let what = name.map_or("the target", String::as_str);
        let note = format!("{what} contradicts itself: from here on, every run so far and to come is only evidence");
        session.lab.emit(&Event::Note(&note))?;
    }
    let next_note = session.noisy_stats.next_note_at.entry(test).or_default();
    if runs < (*next_note).max(FIRST_NOTE) || !in_full {
        return Ok(());
    }
    let Some(estimate) = session.search.test(test).estimate() else { return Ok(()) };
    *next_note = 2 * runs;
    let shown = NoiseEstimate::new(session.target.axis().numbering(), &estimate, |_| None)
        .per_execution(session.lab.repetition);
    let of = name.map(|name| format!("{name}: ")).unwrap_or_default();
    let note = format!("{of}{}; {}", shown.rates(), noise::remaining(estimate.runs_left, mean));
    session.lab.emit(&Event::Note(&note))
}
