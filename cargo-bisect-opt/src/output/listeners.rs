//! The listeners of a search. A listener that fails does not affect the others.

use std::{fmt, io, mem, rc::Rc};

use super::{
    events::{Event, Sink},
    recording::Recording,
};
use crate::record::{CommandRecord, culprit::CulpritRecord};

/// A sink and its substitute.
pub(crate) struct Listener<'a> {
    /// The name of the output, for people: `the trace`.
    writes: &'static str,
    sink: Box<dyn Sink + 'a>,
    /// The substitute if the sink fails.
    instead: Option<Box<dyn Sink + 'a>>,
    /// True if the sink gets later events even if it fails.
    is_lasting: bool,
    /// The culprits that the present search may still withdraw; `None` if the sink gets them at once.
    uncertain: Option<Vec<Rc<CulpritRecord>>>,
}

impl<'a> Listener<'a> {
    /// Creates a listener without a substitute.
    pub(crate) fn new(writes: &'static str, sink: impl Sink + 'a) -> Self {
        Self { writes, sink: Box::new(sink), instead: None, is_lasting: false, uncertain: None }
    }

    /// Keeps the sink if it fails. It tries again, and returns an error only where the user is to know.
    #[must_use]
    pub(crate) fn lasting(self) -> Self {
        Self { is_lasting: true, ..self }
    }

    /// Adds a substitute, which gets the event that the sink failed on and all later ones.
    #[must_use]
    pub(crate) fn or(self, instead: impl Sink + 'a) -> Self {
        Self { instead: Some(Box::new(instead)), ..self }
    }

    /// Keeps culprits back until their search has ended, because it may withdraw them until then.
    #[must_use]
    pub(crate) fn with_certain_culprits(self) -> Self {
        Self { uncertain: Some(Vec::new()), ..self }
    }

    /// Passes an event on, with the culprits that it makes certain before it. Returns whether the listener goes on, and
    /// the first error of a sink that failed.
    fn emit(&mut self, event: &Event<'_>, record: &CommandRecord) -> (bool, Option<io::Error>) {
        let mut certain = Vec::new();
        if let Some(uncertain) = &mut self.uncertain {
            match event {
                Event::Found(found) => {
                    uncertain.push(Rc::clone(found));
                    return (true, None);
                }
                Event::Withdrawn(culprits) => uncertain.retain(|found| !culprits.contains(&found.set)),
                Event::Searched(_) | Event::End(_) => certain = mem::take(uncertain),
                _ => {}
            }
        }
        let mut first_error = None;
        for event in certain.iter().map(Event::Found) {
            let (goes_on, error) = self.pass_on(&event, record);
            first_error = first_error.or(error);
            if !goes_on {
                return (false, first_error);
            }
        }
        let (goes_on, error) = self.pass_on(event, record);
        (goes_on, first_error.or(error))
    }

    /// Passes an event on to the sink or, if it fails, to the substitute.
    fn pass_on(&mut self, event: &Event<'_>, record: &CommandRecord) -> (bool, Option<io::Error>) {
        let Err(error) = self.sink.event(event, record) else { return (true, None) };
        if self.is_lasting {
            return (true, Some(error));
        }
        // The reader closed the pipe on purpose.
        let instead = self.instead.take().filter(|_| error.kind() != io::ErrorKind::BrokenPipe);
        let Some(instead) = instead else { return (false, Some(error)) };
        self.sink = instead;
        (self.sink.event(event, record).is_ok(), Some(error))
    }
}

impl fmt::Debug for Listener<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").field("writes", &self.writes).finish_non_exhaustive()
    }
}

/// The listeners that have not failed yet, and the record that they read.
#[derive(Debug)]
pub(crate) struct Listeners<'a> {
    recording: Recording,
    listeners: Vec<Listener<'a>>,
}

impl<'a> Listeners<'a> {
    /// Creates the list. Listeners get each event in this order.
    pub(crate) fn new(recording: Recording, listeners: impl IntoIterator<Item = Listener<'a>>) -> Self {
        Self { recording, listeners: listeners.into_iter().collect() }
    }

    /// Records an event, and passes it to all listeners. A listener that fails is removed, and the others get a note.
    ///
    /// # Errors
    /// If no listener is left: the last error.
    pub(crate) fn emit(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.recording.learn(event);
        let mut errors = Vec::new();
        self.listeners.retain_mut(|listener| {
            let (goes_on, error) = listener.emit(event, self.recording.record());
            errors.extend(error.map(|error| (listener.writes, error)));
            goes_on
        });
        let Some((_, last)) = errors.last() else { return Ok(()) };
        if self.listeners.is_empty() {
            return Err(io::Error::new(last.kind(), last.to_string()));
        }
        for (writes, error) in errors {
            let note = match event {
                Event::End(_) => format!("{writes} cannot be written: {error}"),
                _ => format!("{writes} can no longer be written: {error}; the search continues"),
            };
            self.emit(&Event::OutputLost(&note))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, rc::Rc};

    use super::*;

    type Heard = Rc<RefCell<Vec<String>>>;

    /// A sink that fails after some events.
    struct Ear {
        heard: Heard,
        room: usize,
        error: io::ErrorKind,
    }

    impl Sink for Ear {
        fn event(&mut self, event: &Event<'_>, _: &CommandRecord) -> io::Result<()> {
            self.room = self.room.checked_sub(1).ok_or(self.error)?;
            let (Event::Note(text) | Event::OutputLost(text)) = event else { return Ok(()) };
            self.heard.borrow_mut().push((*text).to_owned());
            Ok(())
        }
    }

    fn ear(room: usize, error: io::ErrorKind) -> (Ear, Heard) {
        let heard = Heard::default();
        (Ear { heard: heard.clone(), room, error }, heard)
    }

    fn listeners<const N: usize>(listeners: [Listener<'static>; N]) -> Listeners<'static> {
        Listeners::new(Recording::default(), listeners)
    }

    const FULL: io::ErrorKind = io::ErrorKind::StorageFull;

    #[test]
    fn the_others_learn_of_one_that_fails_and_go_on() {
        let ((log, logged), (screen, shown)) = (ear(1, FULL), ear(9, FULL));
        let mut all = listeners([Listener::new("the log", log), Listener::new("the screen", screen)]);
        for text in ["1", "2", "3"] {
            all.emit(&Event::Note(text)).unwrap();
        }
        assert_eq!(*logged.borrow(), ["1"]);
        let shown = shown.borrow();
        let [first, second, lost, third] = shown.as_slice() else { panic!("{shown:?}") };
        assert_eq!([first, second, third], ["1", "2", "3"]);
        assert!(lost.starts_with("the log can no longer be written: no storage space"), "{lost}");
        assert!(lost.ends_with("; the search continues"), "{lost}");
    }

    #[test]
    fn it_ends_when_nobody_listens() {
        let ((one, _), (other, heard)) = (ear(1, FULL), ear(2, io::ErrorKind::BrokenPipe));
        let mut all = listeners([Listener::new("one", one), Listener::new("the other", other)]);
        all.emit(&Event::Note("1")).unwrap();
        let error = all.emit(&Event::Note("2")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(*heard.borrow(), ["1", "2"], "that the one was lost is the third event");
    }

    #[test]
    fn a_substitute_gets_what_could_not_be_written_unless_a_reader_has_gone() {
        for (error, expected) in [(FULL, &["1", "2"][..]), (io::ErrorKind::BrokenPipe, &[])] {
            let ((file, _), (screen, shown), (record, recorded)) = (ear(0, error), ear(9, FULL), ear(9, FULL));
            let file = Listener::new("the file", file).or(screen);
            let mut all = listeners([file, Listener::new("the record", record)]);
            all.emit(&Event::Note("1")).unwrap();
            all.emit(&Event::Note("2")).unwrap();
            let is_note = |text: &String| text.len() == 1;
            let shown: Vec<_> = shown.borrow().iter().filter(|text| is_note(text)).cloned().collect();
            assert_eq!(shown, expected, "{error:?}");
            assert_eq!(recorded.borrow().iter().filter(|text| !is_note(text)).count(), 1);
        }
    }
}
