//! The protocol between searches and targets: patterns in, reports out.
//!
//! Its stable part is also at the root of the crate. [`names`] and [`xxh3`] may change in any version.

mod config;
mod id;
pub mod marker;
mod matcher;
pub mod names;
mod occurrence;
mod pattern;
pub mod xxh3;

pub use config::{Config, ConfigError, ConfigErrorKind, NamedSettings, Setting};
pub use id::{ChangeId, Field, IdHasher};
pub use matcher::Matcher;
pub use occurrence::{Occurrence, OccurrenceError};
pub use pattern::{ParseError, ParseErrorKind, Pattern, Suffix, Term};
