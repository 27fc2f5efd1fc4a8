//! Bounded capture of a process's output: its beginning and its end, in the log and in memory.

use std::{
    collections::VecDeque,
    io::{self, Write},
    path::Path,
};

use super::{ReadAlong, own_file};

/// The number of bytes of an output that the log keeps from its beginning, and from its end.
const LOG_END: usize = 1 << 20;

/// A receiver of one process's output.
#[derive(Debug)]
pub(super) struct Capture<'a> {
    log: io::Result<fs_err::File>,
    logged: Ends,
    output: Vec<u8>,
    kept: Ends,
    reader: Option<&'a mut dyn ReadAlong>,
}

impl<'a> Capture<'a> {
    /// Creates a capture that writes to `log` and keeps about `keep` bytes.
    pub(super) fn new(log: &Path, append: bool, keep: usize, reader: Option<&'a mut dyn ReadAlong>) -> Self {
        Self {
            log: if append { own_file::append(log) } else { own_file::create(log) },
            logged: Ends::new(LOG_END, LOG_END),
            output: Vec::new(),
            kept: Ends::new(keep.div_ceil(2), keep / 2),
            reader,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let first = self.logged.push(bytes);
        self.log(|log| log.write_all(first));
        self.output.extend_from_slice(self.kept.push(bytes));
        if let Some(reader) = &mut self.reader {
            reader.read(bytes);
        }
    }

    /// Completes the log and the reports. Returns the kept output, and the reason why the log is incomplete, if it is:
    /// only the log suffers from that.
    pub(super) fn finish(mut self) -> io::Result<(Vec<u8>, Option<io::Error>)> {
        if let Some(reader) = self.reader.take() {
            reader.end();
        }
        let last = std::mem::take(&mut self.logged);
        self.log(|log| last.finish(log));
        self.kept.finish(&mut self.output)?;
        Ok((self.output, self.log.err()))
    }

    fn log(&mut self, write: impl FnOnce(&mut fs_err::File) -> io::Result<()>) {
        if let Ok(log) = &mut self.log
            && let Err(error) = write(log)
        {
            self.log = Err(error);
        }
    }
}

/// A filter that passes on the first bytes of a stream and keeps the last.
#[derive(Debug, Default)]
struct Ends {
    /// The number of further bytes that belong to the beginning.
    first: usize,
    last: VecDeque<u8>,
    last_max: usize,
    left_out: u64,
}

impl Ends {
    fn new(first: usize, last: usize) -> Self {
        Self { first, last: VecDeque::new(), last_max: last, left_out: 0 }
    }

    /// Takes the next bytes, and returns those that belong to the beginning.
    fn push<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let (first, rest) = bytes.split_at(bytes.len().min(self.first));
        self.first -= first.len();
        let kept = &rest[rest.len().saturating_sub(self.last_max)..];
        let pushed_out = (self.last.len() + kept.len()).saturating_sub(self.last_max);
        self.last.drain(..pushed_out);
        self.last.extend(kept);
        self.left_out += (pushed_out + rest.len() - kept.len()) as u64;
        first
    }

    /// Writes the part after the beginning.
    fn finish(self, out: &mut impl Write) -> io::Result<()> {
        if self.left_out > 0 {
            write!(out, "\n[cargo bisect-opt: {} bytes left out here]\n", self.left_out)?;
        }
        let (front, back) = self.last.as_slices();
        out.write_all(front)?;
        out.write_all(back)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(stream: &[u8], read: usize, first: usize, last: usize) -> String {
        let mut ends = Ends::new(first, last);
        let mut out = Vec::new();
        for bytes in stream.chunks(read) {
            out.extend_from_slice(ends.push(bytes));
            assert!(ends.last.len() <= last);
        }
        ends.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_middle_is_left_out_only_if_there_is_one() {
        for read in 1..12 {
            assert_eq!(ends(b"", read, 3, 4), "");
            assert_eq!(ends(b"ab", read, 3, 4), "ab");
            assert_eq!(ends(b"abcdefg", read, 3, 4), "abcdefg");
            let one = "abc\n[cargo bisect-opt: 1 bytes left out here]\nefgh";
            assert_eq!(ends(b"abcdefgh", read, 3, 4), one);
            let five = "abc\n[cargo bisect-opt: 5 bytes left out here]\nijkl";
            assert_eq!(ends(b"abcdefghijkl", read, 3, 4), five);
            assert_eq!(ends(b"abcd", read, 0, 0), "\n[cargo bisect-opt: 4 bytes left out here]\n");
        }
    }
}
