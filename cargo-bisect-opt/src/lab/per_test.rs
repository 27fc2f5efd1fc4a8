//! Whether the search goes on for each failing test.

use std::{io, num::NonZeroUsize};

use bisect_core::search::Noise;

use super::{session::Session, target::Target};
use crate::output::events::Event;

impl<T: Target> Session<'_, '_, '_, '_, T> {
    /// Goes on for each test that fails, if that is how the target is searched, and if some of them fail once more: of a
    /// target that fails now and then in one test or another, all failures are one.
    pub(super) fn split(&mut self) -> io::Result<bool> {
        let Some(tests) = self.target.tests() else { return Ok(false) };
        let Some(count) = NonZeroUsize::new(tests.len()) else { return Ok(false) };
        let mut unsteady = Vec::new();
        if count.get() > 1 && self.lab.options.noise != Noise::Refused {
            let [first, second, ..] = self.failed_at_end.as_slice() else {
                self.search.recheck_failing_end();
                return Ok(false);
            };
            unsteady.extend((0..count.get()).filter(|&i| first.contains(&tests[i]) != second.contains(&tests[i])));
            if unsteady.len() == count.get() {
                self.search.switch_to_noisy(0);
                return Ok(false);
            }
        }
        if count.get() > 1 {
            let note = format!(
                "{count} tests fail: each is searched on its own, in a process of its own (--per-test=never takes them for \
                 one failure)"
            );
            self.lab.emit(&Event::Note(&note))?;
        }
        self.search.split(count);
        self.tests = Some(tests);
        self.noisy_stats.forget();
        for test in unsteady {
            self.search.switch_to_noisy(test);
        }
        Ok(true)
    }
}
