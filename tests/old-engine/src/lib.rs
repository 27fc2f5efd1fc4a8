//! The old search engine, which had no ledger, and a search that runs it in lockstep with the present one.
//!
//! [`before`] is a copy of the old engine. [`search`] has the interface of `bisect_core::search`, so tests of the
//! present engine compare both engines if this crate takes the place of `bisect_core`. The crate can be deleted once
//! nobody doubts that both engines are the same.

extern crate alloc;

pub mod before;
pub mod search;

pub use bisect_core::{ChangeId, Field};
use bisect_core::{Pattern, Suffix};
