//! The open files of a process that goes back in time.
//!
//! A process and its copies share the positions in their files. A copy that goes on from an earlier moment has to read
//! again what the process has read since then, and must not write again what the process has written.

use std::{ffi::c_int, fs};

/// The positions in the open files.
#[derive(Clone, Debug)]
pub(crate) struct OpenFiles(Vec<OpenFile>);

#[derive(Clone, Copy, Debug)]
struct OpenFile {
    number: c_int,
    position: libc::off_t,
    is_written: bool,
}

impl OpenFiles {
    /// Remembers the positions in all regular files beyond the standard streams, except in the file with one
    /// descriptor.
    pub(crate) fn remember(except: Option<c_int>) -> Self {
        let Ok(entries) = fs::read_dir("/proc/self/fd") else { return Self(Vec::new()) };
        let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<c_int>().ok());
        let files =
            numbers.filter(|&number| number > libc::STDERR_FILENO && Some(number) != except).filter_map(OpenFile::of);
        Self(files.collect())
    }

    /// Goes back to the remembered positions, and discards from now on what is written to standard output, to standard
    /// error and to files that are open for writing only.
    pub(crate) fn go_back(&self) {
        // SAFETY: a C string.
        let nowhere = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
        for number in [libc::STDOUT_FILENO, libc::STDERR_FILENO] {
            redirect(nowhere, number);
        }
        for file in self.0.iter().filter(|file| file.number != nowhere) {
            if file.is_written {
                redirect(nowhere, file.number);
            } else {
                // SAFETY: it has no preconditions. The program, which shared the position, has ended.
                unsafe { libc::lseek(file.number, file.position, libc::SEEK_SET) };
            }
        }
        // SAFETY: a file of ours, which nothing else uses.
        unsafe { libc::close(nowhere) };
    }
}

impl OpenFile {
    fn of(number: c_int) -> Option<Self> {
        let mut about = std::mem::MaybeUninit::<libc::stat>::zeroed();
        // SAFETY: the information about the file is written to. A descriptor without a file is an error.
        let (mode, flags, position) = unsafe {
            if libc::fstat(number, about.as_mut_ptr()) != 0 {
                return None;
            }
            let mode = about.assume_init().st_mode & libc::S_IFMT;
            (mode, libc::fcntl(number, libc::F_GETFL), libc::lseek(number, 0, libc::SEEK_CUR))
        };
        let is_written = flags >= 0 && flags & libc::O_ACCMODE == libc::O_WRONLY;
        (mode == libc::S_IFREG && flags >= 0 && position >= 0).then_some(Self { number, position, is_written })
    }
}

/// Redirects a descriptor to the file `nowhere`, and keeps the flags of the descriptor.
fn redirect(nowhere: c_int, number: c_int) {
    // SAFETY: these have no preconditions. A closed descriptor stays closed.
    unsafe {
        let flags = libc::fcntl(number, libc::F_GETFD);
        if flags >= 0 && nowhere >= 0 {
            libc::dup2(nowhere, number);
            libc::fcntl(number, libc::F_SETFD, flags);
        }
    }
}
