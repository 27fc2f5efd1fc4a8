//! Ctrl-C, SIGTERM and SIGHUP as a flag, which loops check and which wakes waiting threads.

mod last_end;
#[cfg(unix)]
mod signals;

use std::{
    fmt, io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
};

/// A flag that the user wants to stop. All clones share it.
///
/// The first Ctrl-C asks for an orderly end; the second one asks to end at once, and ends the process in any case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<InterruptState>);

#[derive(Default)]
struct InterruptState {
    count: AtomicU8,
    wakers: Mutex<Wakers>,
}

#[derive(Default)]
struct Wakers {
    next: u64,
    list: Vec<(u64, Box<dyn Fn() + Send>)>,
}

impl Interrupt {
    /// Installs signal handlers, and returns the flag that they raise. After the second request, the process ends with
    /// this status even if its threads hang.
    ///
    /// # Errors
    /// If handlers cannot be installed.
    pub(crate) fn install(status: u8) -> io::Result<Self> {
        let interrupt = Self::default();
        let flag = interrupt.clone();
        let request = move || {
            // A waker that hangs must not be in the way.
            if flag.requested() {
                last_end::end_soon(status);
            }
            flag.raise();
        };
        #[cfg(unix)]
        signals::handle(request)?;
        #[cfg(windows)]
        ctrlc::set_handler(request).map_err(io::Error::other)?;
        Ok(interrupt)
    }

    /// Counts another request to stop.
    pub(crate) fn raise(&self) {
        // Saturates: the counter must not overflow while a key is held down.
        let more = |count: u8| count.checked_add(1);
        let _ = self.0.count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more);
        self.wakers().list.iter().for_each(|(_, wake)| wake());
    }

    /// Returns whether the user wants to stop.
    #[must_use]
    pub(crate) fn requested(&self) -> bool {
        self.0.count.load(Ordering::SeqCst) > 0
    }

    /// Returns whether the user has asked more than once: then everything must end at once.
    #[must_use]
    #[cfg_attr(all(windows, not(test)), expect(dead_code, reason = "there is no grace period there"))]
    pub(crate) fn is_urgent(&self) -> bool {
        self.0.count.load(Ordering::SeqCst) > 1
    }

    /// Has another thread call `wake` at every request, until the result is dropped. A thread must register before it
    /// checks the flag and waits; else it could miss a request.
    pub(crate) fn on_request(&self, wake: impl Fn() + Send + 'static) -> Registration<'_> {
        let mut wakers = self.wakers();
        let key = wakers.next;
        wakers.next += 1;
        wakers.list.push((key, Box::new(wake)));
        Registration { interrupt: self, key }
    }

    fn wakers(&self) -> std::sync::MutexGuard<'_, Wakers> {
        // The list stays consistent if a waker panics.
        self.0.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for InterruptState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InterruptState").field("count", &self.count).finish_non_exhaustive()
    }
}

/// The registration of a waker, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Registration<'a> {
    interrupt: &'a Interrupt,
    key: u64,
}

impl Drop for Registration<'_> {
    fn drop(&mut self) {
        self.interrupt.wakers().list.retain(|(key, _)| *key != self.key);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn the_second_request_makes_it_urgent_for_good() {
        let interrupt = Interrupt::default();
        let clone = interrupt.clone();
        assert!(!interrupt.requested());
        clone.raise();
        assert!(interrupt.requested() && !interrupt.is_urgent());
        for _ in 0..600 {
            clone.raise();
            assert!(interrupt.requested() && interrupt.is_urgent());
        }
    }

    #[test]
    fn wakers_are_called_until_they_are_dropped() {
        let interrupt = Interrupt::default();
        let (first, woken) = mpsc::channel();
        let second = first.clone();
        let registration = interrupt.on_request(move || first.send("first").unwrap());
        let _other = interrupt.on_request(move || second.send("second").unwrap());
        interrupt.raise();
        drop(registration);
        interrupt.raise();
        assert_eq!(woken.try_iter().collect::<Vec<_>>(), ["first", "second", "second"]);
    }
}
