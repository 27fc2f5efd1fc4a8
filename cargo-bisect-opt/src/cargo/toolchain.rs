//! The toolchain of rustup, if the user has chosen it for one command: `cargo +nightly bisect-opt test`.

use std::{env, ffi::OsStr, path::Path, process::Command, sync::OnceLock};

use crate::process;

/// The variable with which rustup tells the processes that it starts which toolchain was chosen.
pub(super) const TOOLCHAIN: &str = "RUSTUP_TOOLCHAIN";

/// The toolchain to name in command lines for a user. It is looked up for the first line.
#[derive(Clone, Debug, Default)]
pub(super) struct Toolchain(OnceLock<Option<String>>);

impl Toolchain {
    /// Returns the assignment `RUSTUP_TOOLCHAIN=name` that a command line in this directory needs, because rustup would
    /// choose another toolchain there without it.
    pub(super) fn assignment(&self, directory: &Path) -> Option<&str> {
        let look_up = || {
            let chosen = env::var_os(TOOLCHAIN)?;
            let mut rustup = Command::new("rustup");
            rustup.args(["show", "active-toolchain"]).current_dir(directory).env_remove(TOOLCHAIN);
            let shown = process::output_of(rustup).ok().filter(|output| output.status.success())?;
            needed(&chosen, &String::from_utf8_lossy(&shown.stdout))
        };
        self.0.get_or_init(look_up).as_deref()
    }
}

/// Returns the assignment of the chosen toolchain, unless it is the one that rustup shows: `name (active, default)`.
fn needed(chosen: &OsStr, shown: &str) -> Option<String> {
    let usual = shown.split_whitespace().next()?;
    (chosen != usual).then(|| format!("{TOOLCHAIN}={}", chosen.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_toolchain_than_the_usual_one_is_set() {
        for (chosen, shown, expected) in [
            ("stable-x86_64-unknown-linux-gnu", "stable-x86_64-unknown-linux-gnu (active, default)\n", None),
            ("1.88-x86_64", "stable-x86_64 (default)\n", Some("RUSTUP_TOOLCHAIN=1.88-x86_64")),
            ("1.88-x86_64", "1.88-x86_64\nactive because: overridden by 'rust-toolchain.toml'\n", None),
            ("/a b/toolchain", "stable-x86_64 (default)\n", Some("RUSTUP_TOOLCHAIN=/a b/toolchain")),
            ("stable", "", None),
        ] {
            assert_eq!(needed(chosen.as_ref(), shown).as_deref(), expected, "{chosen}: {shown}");
        }
    }
}
