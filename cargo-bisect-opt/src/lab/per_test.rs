//! The switch to a search for each failing test.

use std::{io, num::NonZeroUsize};

use bisect_core::search::Noise;

use super::{session::Session, target::Target};
use crate::output::events::Event;

/// Continues the search for each failing test, if the target is searched so and some of the tests fail once more. If
/// another test fails each time, all failures count as one.
pub(super) fn split<T: Target>(session: &mut Session<'_, '_, '_, '_, T>) -> io::Result<bool> {
    let Some(tests) = session.target.tests() else { return Ok(false) };
    let Some(count) = NonZeroUsize::new(tests.len()) else { return Ok(false) };
    let mut unsteady = Vec::new();
    if count.get() > 1 && session.lab.options.noise != Noise::Refused {
        let [first, second, ..] = session.failed_at_end.as_slice() else {
            session.search.recheck_failing_end();
            return Ok(false);
        };
        unsteady.extend((0..count.get()).filter(|&i| first.contains(&tests[i]) != second.contains(&tests[i])));
        if unsteady.len() == count.get() {
            session.search.switch_to_noisy(0);
            return Ok(false);
        }
    }
    if count.get() > 1 {
        let note = format!(
            "{count} tests fail: each is searched on its own, in a process of its own (--per-test=never takes them for \
             one failure)"
        );
        session.lab.emit(&Event::Note(&note))?;
    }
    session.search.split(count);
    session.tests = Some(tests);
    session.noisy_stats.reset();
    for test in unsteady {
        session.search.switch_to_noisy(test);
    }
    Ok(true)
}
