//! Cargo: what it builds with the user's arguments and configuration, and how it would start what it has built.
//!
//! The driver builds once and starts the executables itself, so it does here what `cargo test` and `cargo run` do behind
//! their build. Documentation tests are not among it: rustdoc compiles and runs them in one go.

mod arguments;
mod build;
mod clone_target_dir;
mod config;
mod executable;
pub(crate) mod graph;
mod identity;
pub(crate) mod known_options;
pub(crate) mod libtest;
mod profiles;
mod project;
mod slot_dirs;
mod target_lock;
pub(crate) mod toggles;
pub(crate) mod variables;
mod workspace;

use arguments::Arguments;
pub(crate) use arguments::Subcommand;
use build::Build;
pub(crate) use build::{Artifacts, BuildOutput, Built, KEEP_GOING};
pub(crate) use cargo_metadata::Edition;
use config::Config;
pub(crate) use executable::{Executable, Launch};
use identity::BuiltFile;
pub(crate) use project::{BuildOverrides, Project};
use slot_dirs::SlotDirs;
use workspace::Workspace;
pub(crate) use workspace::is_spec_of;

use crate::process::SpawnError;

/// Variables of the protocol. What the driver was started with is not for what it starts.
const OURS: [&str; 3] = ["BISECT_PATTERN", "BISECT_REPORT", toggles::VARIABLE];

/// Whether a variable says what is to be switched or where reports go. (`BISECT_UNWINDER` does not: it is a setting.)
fn is_ours(variable: &std::ffi::OsStr) -> bool {
    OURS.iter().any(|ours| variable == *ours) || variable.as_encoded_bytes().starts_with(variables::PREFIX.as_bytes())
}

/// Takes what [`is_ours`] out of the environment of a command.
fn scrub(command: &mut std::process::Command) {
    for (variable, _) in std::env::vars_os().filter(|(variable, _)| is_ours(variable)) {
        command.env_remove(variable);
    }
}

/// Whether arguments of cargo's choose the profile. Words behind a program's name are the program's own.
pub(crate) fn chooses_profile(subcommand: Subcommand, words: &[std::ffi::OsString]) -> bool {
    let arguments = Arguments::parse(subcommand, words);
    arguments.release || arguments.profile.is_some()
}

/// Why something cannot be built or started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CargoError {
    /// The command line asks for what does not work.
    #[error("{0}")]
    Usage(String),
    /// Cargo's configuration cannot be read.
    #[error("cargo's configuration cannot be used: {0}")]
    Config(#[from] cargo_config2::Error),
    /// Cargo cannot read the workspace.
    #[error("{0}")]
    Workspace(String),
    /// The build failed. If its messages were not shown while it ran, they are in here.
    #[error("`{command}` failed with {status}{}{messages}", if messages.is_empty() { "" } else { "\n" })]
    Build {
        /// What was run, on one line.
        command: String,
        /// How it ended.
        status: String,
        /// What it said.
        messages: String,
    },
    /// The build went well, but there is nothing to run.
    #[error("{0}")]
    Nothing(String),
    /// The toggles that the user asks for cannot be searched.
    #[error(transparent)]
    Toggles(#[from] toggles::ToggleError),
    /// Something cannot be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The user stopped it; everything it started is gone.
    #[error("interrupted")]
    Interrupted,
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl CargoError {
    /// Whether other words on the command line would help.
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
    fn the_profile_is_chosen_by_options_of_cargos_alone() {
        let chooses =
            |subcommand, line: &str| chooses_profile(subcommand, &line.split(' ').map(Into::into).collect::<Vec<_>>());
        for line in ["--release", "-r", "-qr", "--profile x", "--profile=x"] {
            assert!(chooses(Subcommand::Run, line), "{line}");
        }
        for line in ["prog --release", "--bin release -q", "prog -r --profile x"] {
            assert!(!chooses(Subcommand::Run, line), "{line}");
        }
        assert!(chooses(Subcommand::Test, "sort --release"));
    }

    #[test]
    fn what_one_search_asks_is_not_handed_to_another() {
        for (variable, ours) in [
            ("BISECT_PATTERN", true),
            ("BISECT_REPORT", true),
            ("BISECT_TOGGLES", true),
            ("BISECT_BUILD_deep_1_0_0", true),
            ("BISECT_UNWINDER", false),
            ("BISECT_PATTERNS", false),
            ("CARGO_PKG_NAME", false),
        ] {
            assert_eq!(is_ours(variable.as_ref()), ours, "{variable}");
        }
    }
}
