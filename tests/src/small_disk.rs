//! A small file system for one command: it is mounted in a private namespace, and disappears with the command.

use std::{
    path::Path,
    process::{Command, Stdio},
};

/// Returns `command` with an empty file system of `size` (`24k`) at `dir`, which must exist. Prints a notice and
/// returns `None` if nothing can be mounted, which takes root.
#[must_use]
pub fn on_small_disk(command: &Command, dir: &Path, size: &str) -> Option<Command> {
    let can_mount = Command::new("unshare").args(["--mount", "true"]).stderr(Stdio::null()).status();
    if !can_mount.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: to mount a file system takes root");
        return None;
    }
    let mut wrapped = Command::new("unshare");
    let script = r#"mount -t tmpfs -o "size=$1" none "$2" && shift 2 && exec "$@""#;
    wrapped.args(["--mount", "sh", "-c", script, "sh", size]).arg(dir).arg(command.get_program());
    wrapped.args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        wrapped.current_dir(directory);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => wrapped.env(name, value),
            None => wrapped.env_remove(name),
        };
    }
    Some(wrapped)
}
