//! Events of a search, and who listens to them: the console, JSON, the run directory.
//!
//! Only this room knows terminals.

mod change;
pub(crate) mod conclusion;
pub(crate) mod console;
pub(crate) mod events;
pub(crate) mod exit_status;
pub(crate) mod groups;
pub(crate) mod json;
pub(crate) mod listeners;
pub(crate) mod log_end;
pub(crate) mod noise;
pub(crate) mod record;
pub(crate) mod run_dir;
pub(crate) mod snippets;
pub(crate) mod terminal;
