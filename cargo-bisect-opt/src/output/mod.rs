//! Events of a search, and their listeners: the trace, the results, JSON and the run directory.
//!
//! Only this room knows terminals.

mod at_end;
mod change;
pub(crate) mod closing;
pub(crate) mod conclusion;
pub(crate) mod conclusion_kind;
#[cfg(test)]
mod event_samples;
pub(crate) mod events;
pub(crate) mod exit_status;
pub(crate) mod formats;
pub(crate) mod formatted;
pub(crate) mod groups;
mod headline;
pub(crate) mod json;
pub(crate) mod json_lines;
mod last_change;
pub(crate) mod listeners;
pub(crate) mod live;
mod live_screen;
pub(crate) mod log_end;
mod mode_name;
pub(crate) mod moments;
pub(crate) mod next_steps;
pub(crate) mod noise;
mod page;
pub(crate) mod page_file;
pub(crate) mod pasted;
mod progress;
pub(crate) mod record;
pub(crate) mod recorded;
mod recording;
pub(crate) mod results;
pub(crate) mod run_dir;
mod run_dir_lock;
pub(crate) mod snippets;
mod source_place;
mod stack;
mod style;
pub(crate) mod terminal;
pub(crate) mod terms;
pub(crate) mod toggle_list;
pub(crate) mod trace;
pub(crate) mod trial_context;
pub(crate) mod verdict_status;
