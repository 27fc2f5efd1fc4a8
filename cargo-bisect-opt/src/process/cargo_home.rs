//! The directory with cargo's own files.

use std::path::PathBuf;

/// Returns the value of `CARGO_HOME`, or the default if it is empty or not set; none if the user has no home directory.
pub(crate) fn cargo_home() -> Option<PathBuf> {
    let default = || std::env::home_dir().map(|home| home.join(".cargo"));
    std::env::var_os("CARGO_HOME").filter(|home| !home.is_empty()).map(PathBuf::from).or_else(default)
}
