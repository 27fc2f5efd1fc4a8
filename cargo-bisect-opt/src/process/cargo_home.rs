//! The directory with cargo's own files.

use std::path::PathBuf;

/// Returns the value of `CARGO_HOME`, or the default; none if the user has no home directory.
pub(crate) fn cargo_home() -> Option<PathBuf> {
    let default = || std::env::home_dir().map(|home| home.join(".cargo"));
    std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(default)
}
