//! The protocol and the search engine of bisect-opt, without I/O, clock, environment or a custom allocator.
//!
//! A compiler, or any other program, that depends on this crate alone can be searched by `cargo bisect-opt` and by Go's
//! `bisect`: they name the rewrite, the pass or the decision of yours that makes a target fail. Programs that are
//! annotated with `bisect-rt` need nothing from here.
//!
//! *The protocol* is that of Go's `golang.org/x/tools/cmd/bisect`. A target receives a [`Pattern`], a short text that
//! selects changes by the low bits of their 64-bit [`ChangeId`]s. It asks a [`Matcher`] two questions about each
//! change: *should it be enabled*, and *should it be reported*. A report is a line that carries a [`marker`].
//!
//! ```
//! use bisect_core::{ChangeId, Matcher, Pattern};
//!
//! let pattern: Pattern = "+01-x3d".parse().unwrap();
//! let matcher = Matcher::new(&pattern).expect("only the empty pattern has no matcher");
//! assert!(matcher.should_enable(ChangeId(0b1001)));
//! assert!(!matcher.should_enable(ChangeId(0x3d)));
//! assert!(!matcher.should_report(ChangeId(0b1000)));
//! ```
//!
//! # Adopt the protocol
//! An optimizer applies a rule at many places. Each application is a change. The whole adoption is a gate that each
//! application passes:
//!
//! ```
//! use std::{collections::HashSet, io::Write, sync::Mutex};
//!
//! use bisect_core::{ChangeId, Field, Matcher, ParseError, Pattern, marker};
//!
//! /// The decisions of this process.
//! struct Gate<W> {
//!     /// `None` if there is no search.
//!     matcher: Option<Matcher>,
//!     /// The changes that were reported, and the file for reports.
//!     reports: Mutex<(HashSet<ChangeId>, W)>,
//! }
//!
//! impl<W: Write> Gate<W> {
//!     fn new(pattern: &str, file: W) -> Result<Self, ParseError> {
//!         let pattern: Pattern = pattern.parse()?;
//!         Ok(Self { matcher: Matcher::new(&pattern), reports: Mutex::new((HashSet::new(), file)) })
//!     }
//!
//!     /// Returns true if the rule may be applied here. Reports the change first, if the pattern selects it.
//!     fn is_enabled(&self, rule: &str, file: &str, line: u32, column: u32) -> bool {
//!         let Some(matcher) = &self.matcher else { return true };
//!         let fields = [Field::Str(rule), Field::Str(file), Field::U64(line.into()), Field::U64(column.into())];
//!         let id = ChangeId::of(&fields);
//!         if matcher.should_report(id) {
//!             let (known, reports) = &mut *self.reports.lock().expect("no thread panics in here");
//!             if known.insert(id) {
//!                 let marker = marker::format(id);
//!                 let marker = str::from_utf8(&marker).expect("a marker is ASCII");
//!                 let text = if matcher.verbose() {
//!                     format!("{file}:{line}:{column} {rule} {marker}\n")
//!                 } else {
//!                     format!("{marker}\n")
//!                 };
//!                 // A search without this report would be wrong: end the process rather than go on.
//!                 reports.write_all(text.as_bytes()).expect("reports can be written");
//!             }
//!         }
//!         matcher.should_enable(id)
//!     }
//! }
//!
//! // In a compiler, the pattern is an option or a variable of your choice, and the file is the one that the variable
//! // `BISECT_REPORT` names, or standard error:
//! //     OpenOptions::new().append(true).open(path)
//! let gate = Gate::new("v!y", Vec::new())?;
//! assert!(!gate.is_enabled("shift-for-divide", "mixer.calc", 21, 41));
//! assert!(!gate.is_enabled("shift-for-divide", "mixer.calc", 21, 41));
//! let (_, report) = gate.reports.into_inner().unwrap();
//! let expected = "mixer.calc:21:41 shift-for-divide [bisect-match 0x4f45505c74869944]\n";
//! assert_eq!(String::from_utf8(report).unwrap(), expected, "once");
//!
//! let users = Gate::new("", Vec::new())?;
//! assert!(users.is_enabled("shift-for-divide", "mixer.calc", 21, 41), "the default without a search");
//!
//! let error = Gate::new("x3+z", Vec::new()).err().expect("it is malformed");
//! assert_eq!(error.to_string(), "unexpected 'z' at byte 3");
//! # Ok::<(), ParseError>(())
//! ```
//!
//! `cargo bisect-opt exec MY_PATTERN=PATTERN COMMAND` then names the application. `examples/peephole` in the repository is
//! an optimizer with this gate, and the search of a wrong rule.
//!
//! The search relies on these rules:
//!
//! - *Read the pattern once.* A malformed one ends the program before its work, with the error on standard error. The
//!   empty pattern means that nobody searches: everything is at its default, and nothing is hashed or reported.
//! - *An ID is the same in every run*, whatever else is enabled, in any thread and in any directory. Names and positions
//!   in the input are good fields. Counters and addresses are not: they depend on the changes before.
//! - *Every selected change is reported*, enabled or not, each at least once a process, before the decision has an effect:
//!   a crash must not lose the report. A program that cannot report ends with status 125, which is no outcome.
//! - *A report is one `write`* to a file opened for appending, so that threads and processes do not mix their lines. The
//!   file exists already.
//! - *Without `v`, a report is the marker alone* on its line. With `v`, text precedes the marker on each line. The driver
//!   shows source lines for `file:line:column name`; further lines that begin with four spaces are details, and lines of
//!   two spaces and `function at file:line:column` are a call stack. Go's tool shows the text as it is.
//!
//! # What is stable
//! | part | promise |
//! |---|---|
//! | texts: patterns, markers, the value of `BISECT_PATTERN`; the ID of given fields | they do not change, because users write patterns down, and other tools and other versions read and write them |
//! | the items at the root of this crate | an incompatible change is a new minor version before 1.0, and a new major version after |
//! | [`protocol::names`], [`protocol::xxh3`], [`moments`] | they are shared by the driver and the runtime of one version, and may change in any version |
//! | `search` | it is the driver's, and may change in any version |
//!
//! # Features
//! `search`, which is on by default, is the search engine. Targets leave it out with `default-features = false`. The
//! protocol needs `alloc` and one crate, `xxhash-rust`, which has no dependencies. It needs no standard library.
//!
//! *The search* (`search::Search`) names the smallest sets of changes that make the target fail. It is a state
//! machine: it returns the trials to run and takes their outcomes.
//!
//! *The search for a moment* ([`moments::MomentSearch`]) names the moment at which a watched condition breaks. The
//! runtime and the driver share it.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod moments;
pub mod protocol;
#[cfg(feature = "search")]
pub mod search;

pub use protocol::{
    ChangeId, Config, ConfigError, ConfigErrorKind, Field, IdHasher, Matcher, NamedSettings, Occurrence,
    OccurrenceError, ParseError, ParseErrorKind, Pattern, Setting, Suffix, Term, marker,
};
