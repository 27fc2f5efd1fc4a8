//! Directories outside of a workspace to which its manifests lead.

use std::path::PathBuf;

use super::Project;

/// Returns the directories outside of the workspace of a project that its manifests name: members, dependencies, and
/// patches.
pub(crate) fn outside_paths(project: &Project) -> Vec<PathBuf> {
    project.workspace.outside_paths()
}
