//! Reports of the changes that the pattern selected: one per change, written before the compiler acts on it.
//!
//! Without `v` a report is a marker. With `v` it has the place and the gate, then the function, then details, which
//! only the gates of editions have:
//! ```text
//! src/lib.rs:12:5 drops [bisect-match 0x…]
//!   ledger::take at src/lib.rs:12:5 [bisect-match 0x…]
//!     expression="if let" start=12:5 end=12:83       kind, start, end (after the last character)
//!     dropped earlier: MutexGuard<'_, Vec<u32>> (src/lib.rs:12:22)
//!                                                    or `dropped later`; any number
//!     gone earlier: Vec<u32> (src/lib.rs:12:22)      or `gone later`; up to three, if nothing is `dropped`
//!     captured as well: 'a, '_                       or `captured no more`, of an `impl Trait`
//!     Drop: src/queue.rs:30:1                        destructors of this crate; any number
//!     to keep it: match … { … }                      the smallest edit that keeps the present meaning
//!     to mend it: before the `if`: …                 the smallest edit that gives it the other edition's meaning
//!     expanded from take! at src/main.rs:40:5        up to three calls; then `and from N more calls`
//! ```
//! `never-type` is one change per crate, at the first place where it matters:
//! ```text
//!     crate: what never returns is `()` in edition 2021, `!` in edition 2024
//!     decides: src/lib.rs:12:5                       a place where it matters; any number
//!     to keep it: write the types there
//!     to mend it: write the types there
//! ```

use std::{
    collections::HashSet,
    ffi::OsStr,
    fs::{File, OpenOptions},
    io::{self, Write as _},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use bisect_core::{ChangeId, marker};

/// The reports of this process: their destination, and the changes that were reported.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    reported: Mutex<HashSet<ChangeId>>,
    file: Option<File>,
    /// True once a line on standard error has said that reports are lost.
    is_losing: AtomicBool,
}

impl Reports {
    /// Returns reports that are appended to this file, or without a file go to standard error. Appending makes each
    /// `write` a whole report, even if other compilers write to the same file.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub(crate) fn to(path: Option<&OsStr>) -> io::Result<Self> {
        let file = path.map(|path| OpenOptions::new().append(true).open(path)).transpose()?;
        Ok(Self { file, ..Self::default() })
    }

    /// Reports a change, if it was not reported before. `lines` are the text of a verbose report; without them the
    /// report is the marker.
    pub(crate) fn once(&self, id: ChangeId, lines: Option<impl FnOnce() -> Vec<String>>) {
        // The lock is held until the report is written: a thread that reaches the same change waits, and does not act
        // on it before. A compiler thread that panics leaves a valid set of IDs.
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if !reported.insert(id) {
            return;
        }
        let marker = marker::format(id);
        let marker = str::from_utf8(&marker).expect("a marker is ASCII");
        let text = match lines {
            Some(lines) => lines().iter().flat_map(|line| [line, " ", marker, "\n"]).collect(),
            None => format!("{marker}\n"),
        };
        self.write(&text);
    }

    /// Writes text to the destination of reports. If this fails, the compiler goes on without it, but the driver must
    /// know that: then an unreported change may be the cause of a failure.
    pub(crate) fn write(&self, text: &str) {
        match self.file.as_ref() {
            Some(mut file) => {
                if let Err(error) = file.write_all(text.as_bytes())
                    && !self.is_losing.swap(true, Ordering::Relaxed)
                {
                    // Not `eprintln!`, which panics if standard error cannot be written either.
                    let _ = writeln!(io::stderr(), "bisect-rustc: BISECT_REPORT: {}: reports are lost", error.kind());
                }
            }
            // If this fails, there is no other place for a message.
            None => drop(io::stderr().lock().write_all(text.as_bytes())),
        }
    }
}
