//! The protocol and the search engine of bisect-opt, without I/O, clock, environment or a custom allocator.
//!
//! The runtime, the driver, the simulator and the tests depend on this crate.
//!
//! *The protocol* is that of Go's `golang.org/x/tools/cmd/bisect`. A target receives a [`Pattern`], a short text that
//! selects changes by the low bits of their 64-bit [`ChangeId`]s. It asks a [`Matcher`] two questions about each
//! change: *should it be enabled*, and *should it be reported*. A report is a line that carries a [`marker`].
//!
//! *The search* ([`search::Search`]) names the smallest sets of changes that make the target fail. It is a state
//! machine: it returns the trials to run and takes their outcomes.
//!
//! *The search for a moment* ([`moments::MomentSearch`]) names the moment at which a watched condition breaks. The
//! runtime and the driver share it.
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
