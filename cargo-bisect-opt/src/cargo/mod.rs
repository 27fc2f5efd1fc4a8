//! Cargo: builds with the user's arguments and configuration, and the way in which cargo starts the executables.
//!
//! The driver builds once and starts the executables itself. So this room does what `cargo test` and `cargo run` do
//! after their build. It does not support documentation tests: rustdoc compiles and runs them in one step.
//!
//! Executables stay where cargo has put them, and are started directly: the ID of a call stack holds for one
//! executable, tests look for data beside theirs, and cargo's start-up costs more than most tests.

mod arguments;
mod build;
mod build_counts;
mod build_progress;
mod clone_target_dir;
mod config;
mod dependency_updates;
mod driver_tables;
mod executable;
mod feature_options;
mod features;
mod fix_setting;
pub(crate) mod graph;
mod identity;
pub(crate) mod known_options;
mod launch;
pub(crate) mod libtest;
pub(crate) mod line_settings;
mod lock_file;
mod lock_selection;
mod lock_updates;
mod manifest_lines;
mod missing_targets;
pub(crate) mod nextest;
mod nextest_variables;
pub(crate) mod nextest_words;
mod option;
mod outside_paths;
mod package_spec;
mod profile_option;
pub(crate) mod profiles;
mod project;
mod refused_names;
mod registry_versions;
mod resolution;
mod searched_features;
mod slot_dirs;
mod target_lock;
mod term_settings;
pub(crate) mod toggle_choice;
pub(crate) mod toggle_list;
pub(crate) mod toggles;
mod toolchain;
mod update_groups;
mod user_line;
pub(crate) mod variables;
mod workspace;
mod workspace_copies;
mod workspace_snapshot;

use arguments::Arguments;
pub(crate) use arguments::Subcommand;
use build::Build;
pub(crate) use build::{Artifacts, BuildOutput, Built, KEEP_GOING};
pub(crate) use build_counts::BuildCounts;
pub(crate) use cargo_metadata::Edition;
use config::Config;
pub(crate) use dependency_updates::{DependencyUpdates, UpdatesError};
pub(crate) use driver_tables::{DriverTable, driver_tables};
pub(crate) use executable::Executable;
pub(crate) use fix_setting::unknown_fixes;
use identity::BuiltFile;
pub(crate) use launch::Launch;
pub(crate) use lock_selection::LockSelection;
pub(crate) use lock_updates::LockUpdate;
pub(crate) use missing_targets::IfMissing;
pub(crate) use outside_paths::outside_paths;
pub(crate) use package_spec::is_spec_of;
pub(crate) use project::{BuildOverrides, Project, UsedProfile, for_check, in_profile, with_own_target_directories};
pub(crate) use refused_names::has_missing_name;
pub(crate) use registry_versions::KnownVersion;
pub(crate) use searched_features::{SearchedFeatures, features_of};
use slot_dirs::SlotDirs;
pub(crate) use term_settings::TermSettings;
use workspace::Workspace;

use bisect_core::protocol::names;

use crate::{
    process::{SpawnError, machine_fault::MachineFault},
    vcs::query::LOCAL_VARIABLES,
};

/// The variables of the protocol. The driver does not pass its own values on.
const PROTOCOL_VARIABLES: [&str; 6] =
    [names::PATTERN, names::UNTIL, names::STOP, names::REPORT, names::TOGGLES, names::WATCH];

/// Returns whether a variable selects changes or a report file. (`BISECT_UNWINDER` does not: it is a setting.)
fn is_protocol_variable(variable: &std::ffi::OsStr) -> bool {
    PROTOCOL_VARIABLES.iter().any(|name| variable == *name)
        || variable.as_encoded_bytes().starts_with(names::BUILD.as_bytes())
}

/// Removes variables of the driver's own environment from that of a command: those of the protocol, and, for a command
/// in a copy of the user's sources, those with which git would work on the user's repository.
fn remove_variables(command: &mut std::process::Command, is_in_copy: bool) {
    for (variable, _) in std::env::vars_os().filter(|(variable, _)| is_protocol_variable(variable)) {
        command.env_remove(variable);
    }
    for variable in LOCAL_VARIABLES.iter().filter(|_| is_in_copy) {
        command.env_remove(variable);
    }
}

/// A reason why a build or an executable cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CargoError {
    /// The command line is invalid.
    #[error("{0}")]
    Usage(String),
    /// Cargo's configuration cannot be read.
    #[error("cargo's configuration, which builds and runs follow, cannot be used: {0}")]
    Config(#[from] cargo_config2::Error),
    /// Cargo cannot read the workspace.
    #[error("{0}")]
    Workspace(String),
    /// The build failed. The messages are empty if they were shown while it ran.
    #[error("`{command}` failed with {status}{}{messages}", if messages.is_empty() { "" } else { "\n" })]
    Build {
        /// The command, on one line.
        command: String,
        /// The way it ended.
        status: String,
        /// The messages.
        messages: String,
    },
    /// The build succeeded, but there is nothing to run.
    #[error("{0}")]
    Nothing(String),
    /// The toggles that the user asks for cannot be searched.
    #[error(transparent)]
    Toggles(#[from] toggle_choice::ToggleError),
    /// A process cannot be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The user stopped it. Everything that it started has ended.
    #[error("interrupted")]
    Interrupted,
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl CargoError {
    /// Returns the fault of the machine that is the cause, if one is.
    pub(crate) fn machine_fault(&self) -> Option<MachineFault> {
        match self {
            CargoError::Config(error) => MachineFault::behind(error),
            CargoError::Spawn(error) => error.machine_fault(),
            CargoError::Io(error) => MachineFault::of(error),
            _ => None,
        }
    }

    /// Returns whether the command line is wrong.
    pub(crate) fn is_usage(&self) -> bool {
        match self {
            CargoError::Usage(_) => true,
            CargoError::Toggles(error) => error.is_usage(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_protocol_are_not_passed_on() {
        for (variable, expected) in [
            ("BISECT_PATTERN", true),
            ("BISECT_UNTIL", true),
            ("BISECT_STOP", true),
            ("BISECT_REPORT", true),
            ("BISECT_TOGGLES", true),
            ("BISECT_BUILD_deep_1_0_0", true),
            ("BISECT_UNWINDER", false),
            ("BISECT_PATTERNS", false),
            ("CARGO_PKG_NAME", false),
        ] {
            assert_eq!(is_protocol_variable(variable.as_ref()), expected, "{variable}");
        }
    }
}
