//! Events of a search, and their listeners: the trace, the results, JSON, the run directory, the page and the formats.
//!
//! Only this room knows terminals.

pub(crate) mod closing;
pub(crate) mod conclusion;
#[cfg(test)]
mod event_samples;
pub(crate) mod events;
pub(crate) mod formats;
pub(crate) mod formatted;
pub(crate) mod groups;
pub(crate) mod json;
pub(crate) mod json_lines;
mod last_change;
pub(crate) mod listeners;
pub(crate) mod live;
mod live_screen;
pub(crate) mod log_end;
pub(crate) mod next_steps;
mod page;
pub(crate) mod page_file;
mod progress;
pub(crate) mod recording;
pub(crate) mod results;
pub(crate) mod run_dir;
pub(crate) mod run_dir_files;
mod run_dir_lock;
mod source_lines;
mod stack;
mod style;
pub(crate) mod terminal;
pub(crate) mod terms;
pub(crate) mod toggle_list;
pub(crate) mod trace;
pub(crate) mod verdict_status;
