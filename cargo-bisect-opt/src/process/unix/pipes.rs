//! Several pipes, read to their ends by one thread.

use std::{
    fs::File,
    io::{self, Read},
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::{Errno, ioctl_fionbio},
};

/// Reads pipes to their ends. Returns what each of them contained.
///
/// # Errors
/// If one cannot be read.
pub(crate) fn read_all(pipes: Vec<OwnedFd>) -> io::Result<Vec<Vec<u8>>> {
    let mut contents = vec![Vec::new(); pipes.len()];
    let mut open: Vec<_> = pipes.into_iter().map(File::from).enumerate().collect();
    for (_, pipe) in &open {
        ioctl_fionbio(pipe, true)?;
    }
    while !open.is_empty() {
        let mut fds: Vec<_> =
            open.iter().map(|(_, pipe)| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)).collect();
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut failed = None;
        // All are read: one that has nothing says so at once.
        open.retain_mut(|(at, pipe)| match pipe.read_to_end(&mut contents[*at]) {
            Ok(_) => false,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => true,
            Err(error) => {
                failed = Some(error);
                false
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
    }
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_an_error() {
        let directory = File::open("/").unwrap();
        let (reader, _writer) = io::pipe().unwrap();
        // A directory is always ready, and cannot be read.
        assert!(read_all(vec![reader.into(), directory.into()]).is_err());
    }
}
