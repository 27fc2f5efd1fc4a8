//! Git: lines changed since a revision, last changes, commits between two revisions, patches, and worktrees.

pub(crate) mod blame;
pub(crate) mod diff;
pub(crate) mod file_at;
pub(crate) mod git;
pub(crate) mod history;
pub(crate) mod ignored_file;
pub(crate) mod patch;
pub(crate) mod query;
pub(crate) mod since;
mod submodules;
pub(crate) mod worktrees;
