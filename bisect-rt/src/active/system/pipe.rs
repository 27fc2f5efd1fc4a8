//! Pipes for messages of a fixed size between processes of ours, with descriptors that programs seldom use.

use std::{ffi::c_int, io, mem::MaybeUninit};

/// The lowest descriptor for our ends: programs may expect that theirs begin after the standard streams.
const LOWEST: c_int = 512;

/// The size of a message, in words of 64 bits.
pub(crate) const WORDS: usize = 3;

/// Both ends of a pipe, which programs that are started do not inherit.
#[derive(Debug)]
pub(crate) struct Pipe {
    pub(crate) reader: Reader,
    pub(crate) writer: Writer,
}

/// The end to read from.
#[derive(Debug)]
pub(crate) struct Reader(c_int);

/// The end to write to.
#[derive(Debug)]
pub(crate) struct Writer(c_int);

impl Pipe {
    /// Makes a pipe.
    pub(crate) fn new() -> io::Result<Self> {
        let mut ends = [0; 2];
        // SAFETY: there is room for two descriptors.
        if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let [reader, writer] = ends.map(moved_up);
        Ok(Self { reader: Reader(reader), writer: Writer(writer) })
    }
}

/// Moves a file to a high descriptor, if the limit of the process allows it.
pub(crate) fn moved_up(file: c_int) -> c_int {
    // SAFETY: a file of ours.
    let moved = unsafe { libc::fcntl(file, libc::F_DUPFD_CLOEXEC, LOWEST) };
    if moved < 0 {
        return file;
    }
    // SAFETY: a file of ours, which nothing else uses.
    unsafe { libc::close(file) };
    moved
}

impl Reader {
    /// Waits for a message. Returns `None` if no process can write one any more.
    pub(crate) fn read(&self) -> Option<[u64; WORDS]> {
        let mut words = [0_u64; WORDS];
        let size = size_of_val(&words);
        loop {
            // SAFETY: the size is that of the buffer, and any bytes are valid for it.
            let read = unsafe { libc::read(self.0, words.as_mut_ptr().cast(), size) };
            match usize::try_from(read) {
                // A message is written at once, and so it is read.
                Ok(read) => return (read == size).then_some(words),
                Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
    }

    /// Returns a message, if one is there.
    pub(crate) fn read_if_there(&self) -> Option<[u64; WORDS]> {
        if !is_readable(&[self.0], Some(0)) {
            return None;
        }
        self.read()
    }

    /// Returns the descriptor of the file.
    pub(crate) fn number(&self) -> c_int {
        self.0
    }

    /// Closes this end.
    pub(crate) fn close(self) {
        // SAFETY: a file of ours, which nothing else uses.
        unsafe { libc::close(self.0) };
    }
}

impl Writer {
    /// Writes a message. If no process reads it, nothing happens.
    pub(crate) fn write(&self, words: [u64; WORDS]) {
        loop {
            // SAFETY: the size is that of the buffer.
            let written = unsafe { libc::write(self.0, words.as_ptr().cast(), size_of_val(&words)) };
            if written >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return;
            }
        }
    }

    /// Closes this end.
    pub(crate) fn close(self) {
        // SAFETY: a file of ours, which nothing else uses.
        unsafe { libc::close(self.0) };
    }
}

/// Waits until one of these files can be read, or for this number of milliseconds; `None`: without a limit.
pub(crate) fn is_readable(files: &[c_int], milliseconds: Option<c_int>) -> bool {
    let mut polled = [MaybeUninit::<libc::pollfd>::uninit(); 2];
    let count = files.len().min(polled.len());
    for (polled, &fd) in polled.iter_mut().zip(files) {
        polled.write(libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    }
    // SAFETY: the first `count` entries are initialized.
    let ready = unsafe { libc::poll(polled.as_mut_ptr().cast(), count as libc::nfds_t, milliseconds.unwrap_or(-1)) };
    // SAFETY: as above.
    let readable = |polled: &MaybeUninit<libc::pollfd>| unsafe { polled.assume_init() }.revents & libc::POLLIN != 0;
    ready > 0 && polled[..count].iter().any(readable)
}
