//! The executable of this program.

use std::{env, ffi::OsStr, io, path::PathBuf};

/// The end of the path of an executable that was replaced or deleted while it runs, as Linux names it.
const DELETED: &str = " (deleted)";

/// Returns the path of the executable of this program. If it was replaced, for instance by an update, it is that of its
/// replacement.
///
/// # Errors
/// If the system does not tell it.
pub(crate) fn own_executable() -> io::Result<PathBuf> {
    Ok(replaced(env::current_exe()?))
}

fn replaced(path: PathBuf) -> PathBuf {
    let name = path.file_name().and_then(OsStr::to_str).and_then(|name| name.strip_suffix(DELETED));
    let replacement = name.map(|name| path.with_file_name(name)).filter(|replacement| replacement.is_file());
    replacement.unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_executable_is_its_replacement() {
        let dir = tempfile::tempdir().unwrap();
        let [old, new, other] = ["tool (deleted)", "tool", "gone (deleted)"].map(|name| dir.path().join(name));
        fs_err::write(&new, "").unwrap();
        assert_eq!(replaced(old), new);
        assert_eq!(replaced(new.clone()), new);
        assert_eq!(replaced(other.clone()), other, "there is none");
    }
}
