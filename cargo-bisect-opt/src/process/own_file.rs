//! Files in directories that targets can write to: nothing that a target puts in their place is used.
//!
//! A symbolic link there would name a file of the user, which would be emptied. Opening a named pipe would wait for
//! another process, and no timeout or signal ends that. So a file is removed and created exclusively, and a file that
//! exists is opened only if it is a regular one.

use std::{
    fs::{FileType, Metadata},
    io,
    path::Path,
};

use fs_err::{File, OpenOptions};

/// The number of attempts to create a file if another process uses its place again and again.
const ATTEMPTS: usize = 16;

/// Creates an empty file. Removes what is in its place, except a directory.
///
/// # Errors
/// If that cannot be removed, or the file cannot be created.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        match fs_err::symlink_metadata(path) {
            // Only an administrator can put a device there.
            Ok(metadata) if is_device(metadata.file_type()) => return OpenOptions::new().write(true).open(path),
            Ok(_) => match fs_err::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        match OpenOptions::new().write(true).create_new(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempts < ATTEMPTS => {}
            created => return created,
        }
    }
}

/// Creates a file with this content, like [`create`].
///
/// # Errors
/// If it cannot be created or written.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    io::Write::write_all(&mut create(path)?, content.as_ref())
}

/// Opens a file to append to it. Creates it if there is none, or if something else is in its place.
///
/// # Errors
/// If it cannot be opened or created.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        match open_regular(OpenOptions::new().append(true), path, true) {
            Ok(Some(file)) => return Ok(file),
            Ok(None) => fs_err::remove_file(path)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        // A file that another process has created meanwhile is not removed: it may be a lock.
        match OpenOptions::new().append(true).create_new(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempts < ATTEMPTS => {}
            created => return created,
        }
    }
}

/// Reads a file to its end.
///
/// # Errors
/// If it cannot be read, or is no regular file.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    io::Read::read_to_end(&mut open(path)?, &mut content)?;
    Ok(content)
}

/// Opens a file to read it.
///
/// # Errors
/// If it cannot be opened, or is no regular file.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    open_regular(OpenOptions::new().read(true), path, false)?.ok_or_else(|| {
        let words = format!("`{}` is not a file any more: the target has put something else there", path.display());
        io::Error::new(io::ErrorKind::InvalidInput, words)
    })
}

/// Opens a regular file or a device; returns `None` if it is something else. Does not wait for another process.
fn open_regular(options: &mut OpenOptions, path: &Path, is_written: bool) -> io::Result<Option<File>> {
    let is_ours = |metadata: Metadata| metadata.is_file() || is_device(metadata.file_type());
    let metadata = if is_written { fs_err::symlink_metadata(path) } else { fs_err::metadata(path) };
    if !is_ours(metadata?) {
        return Ok(None);
    }
    #[cfg(unix)]
    {
        use fs_err::os::unix::fs::OpenOptionsExt;
        // A process may exchange the file after the check.
        options.custom_flags(libc::O_NONBLOCK | if is_written { libc::O_NOFOLLOW } else { 0 });
    }
    let file = options.open(path)?;
    Ok(is_ours(file.metadata()?).then_some(file))
}

#[cfg(unix)]
fn is_device(file: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    file.is_char_device() || file.is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: FileType) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use std::{io::Write, os::unix::fs::symlink, process::Command};

    use super::*;

    fn make_pipe(path: &Path) {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    fn is_plain(path: &Path) -> bool {
        fs_err::symlink_metadata(path).unwrap().is_file()
    }

    #[test]
    fn a_planted_link_is_replaced_and_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (path, precious, none) = (dir.path().join("0003"), dir.path().join("precious"), dir.path().join("none"));
        fs_err::write(&precious, "mine").unwrap();
        for target in [&precious, &none] {
            for make in [create, append] {
                symlink(target, &path).unwrap();
                make(&path).unwrap().write_all(b"ours").unwrap();
                assert!(is_plain(&path));
                assert_eq!(fs_err::read_to_string(&path).unwrap(), "ours");
                fs_err::remove_file(&path).unwrap();
            }
        }
        assert_eq!(fs_err::read_to_string(&precious).unwrap(), "mine");
        assert!(!none.exists(), "nothing is created through a link");
    }

    #[test]
    fn a_named_pipe_is_replaced_and_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("0003");
        for make in [create, append] {
            make_pipe(&path);
            make(&path).unwrap();
            assert!(is_plain(&path));
            fs_err::remove_file(&path).unwrap();
        }
        make_pipe(&path);
        let error = open(&path).unwrap_err().to_string();
        assert!(error.contains("0003") && error.contains("is not a file any more"), "{error}");
    }

    #[test]
    fn a_file_is_emptied_or_appended_to() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        for (text, expected) in [("1", "1"), ("2", "12")] {
            append(&path).unwrap().write_all(text.as_bytes()).unwrap();
            assert_eq!(io::read_to_string(open(&path).unwrap()).unwrap(), expected);
        }
        write(&path, "3").unwrap();
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "3");
        fs_err::create_dir(dir.path().join("directory")).unwrap();
        create(&dir.path().join("directory")).unwrap_err();
        assert!(dir.path().join("directory").is_dir());
    }
}
