//! Names of packages and targets on the command line for which cargo refuses the whole command.

use super::Project;

/// Returns true if the user names a package or a target that the sources do not have. Patterns and names of dependencies
/// are not examined.
pub(crate) fn has_missing_name(project: &Project) -> bool {
    let options = &project.arguments.options;
    project.workspace.present_options(options, &project.arguments).options != *options
}
