//! Deletion of directories that other programs have filled.

use std::{io, path::Path};

/// The number of attempts to delete a directory while another process writes to it.
const MAX_ATTEMPTS: usize = 3;

/// Deletes a directory with its contents, also where permissions of its directories are missing. Follows no link. A
/// missing directory is no error.
///
/// # Errors
/// If a file cannot be deleted: it belongs to another user, or the file system refuses.
pub(crate) fn remove_tree(path: &Path) -> io::Result<()> {
    let mut result = Ok(());
    for _ in 0..MAX_ATTEMPTS {
        result = match fs_err::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                open_up(path);
                fs_err::remove_dir_all(path)
            }
            result => result,
        };
        match &result {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            // Another process still writes into it.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            _ => return result,
        }
    }
    result
}

/// Deletes a file, a link, or a directory with its contents. A missing one is no error.
///
/// # Errors
/// If a file cannot be deleted.
pub(crate) fn remove_entry(path: &Path) -> io::Result<()> {
    match fs_err::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => remove_tree(path),
        Ok(_) => fs_err::remove_file(path),
        Err(_) => Ok(()),
    }
}

/// Adds the owner's permissions to every directory, from the top down. Where that fails, the deletion reports it.
#[cfg(unix)]
fn open_up(path: &Path) {
    use std::os::unix::fs::PermissionsExt;

    const ALL: u32 = 0o700;
    let mut left = vec![path.to_owned()];
    while let Some(path) = left.pop() {
        // For a link, this is its own metadata.
        let Ok(metadata) = path.symlink_metadata() else { continue };
        if !metadata.is_dir() {
            continue;
        }
        let mode = metadata.permissions().mode();
        if mode & ALL != ALL {
            let _ = std::fs::set_permissions(&path, PermissionsExt::from_mode(mode | ALL));
        }
        left.extend(path.read_dir().into_iter().flatten().flatten().map(|entry| entry.path()));
    }
}

/// Does nothing: elsewhere, permissions of a directory do not protect files in it.
#[cfg(not(unix))]
fn open_up(_path: &Path) {}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_missing_directory_is_no_error() {
        let dir = tempfile::tempdir().unwrap();
        remove_tree(&dir.path().join("missing")).unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        remove_tree(&file).unwrap_err();
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let kept = dir.path().join("kept");
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "mine").unwrap();
        let tree = dir.path().join("tree");
        fs::create_dir_all(tree.join("inner")).unwrap();
        symlink(&kept, tree.join("inner/link")).unwrap();
        symlink(kept.join("file"), tree.join("link")).unwrap();
        symlink("nowhere", tree.join("broken")).unwrap();
        remove_tree(&tree).unwrap();
        assert!(!tree.exists());
        symlink(&kept, &tree).unwrap();
        remove_tree(&tree).unwrap();
        assert!(!tree.is_symlink());
        assert_eq!(fs::read(kept.join("file")).unwrap(), b"mine");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn no_permissions_are_in_the_way() {
        use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
        let without_roots_powers = || {
            // Permissions do not bind root, but capabilities are those of a thread.
            let mut sets = capabilities(None).unwrap();
            sets.effective.remove(CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH | CapabilitySet::FOWNER);
            set_capabilities(None, sets).unwrap();
            closed_directories_are_deleted();
        };
        std::thread::spawn(without_roots_powers).join().unwrap();
    }

    #[cfg(target_os = "linux")]
    fn closed_directories_are_deleted() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let (tree, kept) = (dir.path().join("tree"), dir.path().join("kept"));
        fs::create_dir(&kept).unwrap();
        // From the bottom up: a closed directory cannot be entered.
        let modes = [("a/b/c", 0o444), ("a/b", 0o000), ("a", 0o555), ("d", 0o111), ("e", 0o333), ("", 0o500)];
        for (name, mode) in modes {
            let path = tree.join(name);
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join("file"), "").unwrap();
            fs::set_permissions(path.join("file"), PermissionsExt::from_mode(0o000)).unwrap();
            symlink(&kept, path.join("link")).unwrap();
            fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        }
        fs::set_permissions(&kept, PermissionsExt::from_mode(0o500)).unwrap();
        let error = fs::remove_dir_all(&tree).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "without this error the test shows nothing");

        remove_tree(&tree).unwrap();
        assert!(!tree.exists());
        assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o500, "the target of a link did not change");
    }
}
