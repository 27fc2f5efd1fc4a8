//! Pipes for messages of a fixed size between processes of ours, with descriptors that programs seldom use.

use std::{
    ffi::{c_int, c_short},
    io,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

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
pub(crate) struct Reader {
    descriptor: c_int,
    /// True once no process can write a message any more, and all were read.
    has_ended: AtomicBool,
}

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
        let reader = Reader { descriptor: reader, has_ended: AtomicBool::new(false) };
        Ok(Self { reader, writer: Writer(writer) })
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
            let read = unsafe { libc::read(self.descriptor, words.as_mut_ptr().cast(), size) };
            match usize::try_from(read) {
                Ok(0) => {
                    self.has_ended.store(true, Relaxed);
                    return None;
                }
                // A message is written at once, and so it is read.
                Ok(read) => return (read == size).then_some(words),
                Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
    }

    /// Returns a message, if one is there.
    pub(crate) fn read_if_there(&self) -> Option<[u64; WORDS]> {
        // At the end, a read is what shows that no message follows.
        if poll([self.descriptor, NO_FILE], 0) == 0 { None } else { self.read() }
    }

    /// Waits until there is a message, or until the other file can be read. Once a read has shown that no process can
    /// write a message any more, waits for the other file only.
    pub(crate) fn wait_for_message_or(&self, other: c_int) {
        let messages = if self.has_ended.load(Relaxed) { NO_FILE } else { self.descriptor };
        poll([messages, other], NO_LIMIT);
    }

    /// Closes this end.
    pub(crate) fn close(self) {
        // SAFETY: a file of ours, which nothing else uses.
        unsafe { libc::close(self.descriptor) };
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

/// A descriptor that `poll` skips.
const NO_FILE: c_int = -1;

/// A time for `poll`: without a limit.
const NO_LIMIT: c_int = -1;

/// Waits for an event of one of these files, or for this number of milliseconds. Returns the events of the first file;
/// they are 0 if a signal ended the wait.
fn poll(files: [c_int; 2], milliseconds: c_int) -> c_short {
    let mut polled = files.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    // SAFETY: the number is that of the entries.
    unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, milliseconds) };
    polled[0].revents
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn an_end_without_writers_is_no_event() {
        let (ended, other) = (Pipe::new().unwrap(), Pipe::new().unwrap());
        ended.writer.write([1, 2, 3]);
        ended.writer.close();
        let reader = ended.reader;
        reader.wait_for_message_or(other.reader.descriptor);
        assert_eq!(reader.read_if_there(), Some([1, 2, 3]));
        assert_eq!(reader.read_if_there(), None);
        thread::scope(|scope| {
            scope.spawn(|| {
                // Let the other thread begin to wait, if it waits.
                (0..1000).for_each(|_| thread::yield_now());
                other.writer.write([4, 5, 6]);
            });
            reader.wait_for_message_or(other.reader.descriptor);
            assert_eq!(other.reader.read_if_there(), Some([4, 5, 6]), "no event was taken for one");
        });
        assert_eq!(reader.read_if_there(), None);
    }
}
