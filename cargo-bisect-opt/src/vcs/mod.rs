//! Git: changed lines and their last changes, commits between two revisions, patches, sources, and worktrees.

pub(crate) mod blame;
pub(crate) mod diff;
pub(crate) mod file_at;
pub(crate) mod git;
pub(crate) mod history;
pub(crate) mod ignored_file;
pub(crate) mod patch;
pub(crate) mod query;
pub(crate) mod since;
pub(crate) mod source_files;
mod submodules;
mod worktree_files;
pub(crate) mod worktrees;
