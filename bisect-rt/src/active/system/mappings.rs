//! The memory mappings of this process, as the kernel lists them.
//!
//! They are read by system calls alone, without locks and allocations. So this works in a signal handler, in the child
//! of a `fork`, and inside an allocator.

use std::{
    ffi::{CStr, c_int},
    ops::{ControlFlow, Range},
};

use crate::active::system::errno;

const LIST: &CStr = c"/proc/self/maps";

/// The number of bytes that are read at once. It bounds the length of a path, and is small because the stack may be
/// small.
const BUFFER: usize = 1024;

/// A mapping.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mapping<'a> {
    pub(crate) range: Range<u64>,
    pub(crate) is_readable: bool,
    pub(crate) is_executable: bool,
    /// The offset in the file at which the mapping begins.
    pub(crate) offset: u64,
    /// The inode number of the file; 0 if there is none.
    pub(crate) inode: u64,
    /// The path of the file, or a name in brackets; empty if there is none, or if the path is too long.
    pub(crate) path: &'a [u8],
}

/// Calls `each` for one mapping after the other, by rising addresses, until `each` breaks. If the kernel does not list
/// mappings, `each` is never called. `each` must not panic.
pub(crate) fn for_each(mut each: impl FnMut(&Mapping<'_>) -> ControlFlow<()>) {
    let _errno = errno::Kept::new();
    let Some(list) = List::open() else { return };
    let mut buffer = [0; BUFFER];
    let mut lines = Lines { len: 0, is_cut: false };
    while let Some(read) = list.read(&mut buffer[lines.len..]) {
        if lines.add(&mut buffer, read, &mut each).is_break() {
            return;
        }
    }
}

/// A splitter of the read bytes into lines.
struct Lines {
    /// The number of bytes of an unfinished line, at the start of the buffer.
    len: usize,
    /// True if the start of this line filled the buffer and was already passed on.
    is_cut: bool,
}

impl Lines {
    /// Passes on the lines that are complete after `read` more bytes in the buffer.
    fn add(
        &mut self,
        buffer: &mut [u8; BUFFER],
        read: usize,
        each: &mut impl FnMut(&Mapping<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let end = self.len + read;
        let mut start = 0;
        while let Some(len) = buffer[start..end].iter().position(|&byte| byte == b'\n') {
            if !self.is_cut
                && let Some(mapping) = parse(&buffer[start..start + len], true)
            {
                each(&mapping)?;
            }
            self.is_cut = false;
            start += len + 1;
        }
        if start == 0 && end == buffer.len() {
            if !self.is_cut
                && let Some(mapping) = parse(buffer, false)
            {
                each(&mapping)?;
            }
            self.is_cut = true;
            start = end;
        }
        buffer.copy_within(start..end, 0);
        self.len = end - start;
        ControlFlow::Continue(())
    }
}

/// Parses `start-end permissions offset device inode path`, numbers but the inode's in hexadecimal.
fn parse(line: &[u8], is_whole: bool) -> Option<Mapping<'_>> {
    let (start, rest) = number(line, 16)?;
    let (end, rest) = number(rest.strip_prefix(b"-")?, 16)?;
    let [b' ', read, _, execute, _, b' ', rest @ ..] = rest else { return None };
    let (offset, rest) = number(rest, 16)?;
    let (_, rest) = number(rest.strip_prefix(b" ")?, 16)?;
    let (_, rest) = number(rest.strip_prefix(b":")?, 16)?;
    let (inode, rest) = number(rest.strip_prefix(b" ")?, 10)?;
    Some(Mapping {
        range: start..end,
        is_readable: *read == b'r',
        is_executable: *execute == b'x',
        offset,
        inode,
        path: if is_whole { rest.trim_ascii_start() } else { b"" },
    })
}

fn number(text: &[u8], radix: u32) -> Option<(u64, &[u8])> {
    let (mut value, mut rest) = (0_u64, text);
    while let [first, tail @ ..] = rest
        && let Some(digit) = char::from(*first).to_digit(radix)
    {
        value = value.checked_mul(radix.into())?.checked_add(digit.into())?;
        rest = tail;
    }
    (rest.len() < text.len()).then_some((value, rest))
}

/// The open list of mappings.
struct List(c_int);

impl List {
    fn open() -> Option<Self> {
        // SAFETY: a C string.
        let file = unsafe { libc::open(LIST.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
        (file >= 0).then_some(Self(file))
    }

    /// Returns the number of bytes that were read; `None` at the end, and after an error.
    fn read(&self, buffer: &mut [u8]) -> Option<usize> {
        loop {
            // SAFETY: the length is that of the buffer.
            let read = unsafe { libc::read(self.0, buffer.as_mut_ptr().cast(), buffer.len()) };
            if read < 0 && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted {
                continue;
            }
            return usize::try_from(read).ok().filter(|&read| read > 0);
        }
    }
}

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: opened by us, and not shared.
        unsafe { libc::close(self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_taken_apart() {
        let line = b"7f05c8a00000-7f05c8a26000 r-xp 00001000 fe:01 1234                       /usr/lib/my lib.so";
        let mapping = parse(line, true).unwrap();
        assert_eq!(mapping.range, 0x7f05_c8a0_0000..0x7f05_c8a2_6000);
        assert!(mapping.is_readable && mapping.is_executable);
        assert_eq!((mapping.offset, mapping.inode, mapping.path), (0x1000, 1234, b"/usr/lib/my lib.so".as_slice()));
        let anonymous = parse(b"10-20 ---p 00000000 00:00 0 ", true).unwrap();
        assert!(!anonymous.is_readable && !anonymous.is_executable && anonymous.path.is_empty());
        for line in
            [b"".as_slice(), b"x-y r--p 0 0:0 0", b"10-20", b"10-20 r--p 0 0:0", b"11111111111111111-2 r--p 0 0:0 0"]
        {
            assert_eq!(parse(line, true), None, "{}", line.escape_ascii());
        }
    }

    #[test]
    fn lines_are_found_however_they_are_read() {
        let long = format!("30-40 r-xp 00000000 00:00 7 /{}\n", "x".repeat(2 * BUFFER));
        let text = format!("10-20 r--p 00000000 00:00 5 /a\n{long}50-60 rw-p 00000000 00:00 0 [stack]\n");
        // Miri is slow.
        let steps: &[usize] = if cfg!(miri) { &[100, BUFFER] } else { &[1, 7, 100, BUFFER] };
        for &step in steps {
            let (mut buffer, mut lines, mut found) = ([0; BUFFER], Lines { len: 0, is_cut: false }, Vec::new());
            let mut rest = text.as_bytes();
            while !rest.is_empty() {
                let read = step.min(rest.len()).min(BUFFER - lines.len);
                buffer[lines.len..lines.len + read].copy_from_slice(&rest[..read]);
                rest = &rest[read..];
                let flow = lines.add(&mut buffer, read, &mut |mapping| {
                    found.push((mapping.range.start, mapping.inode, mapping.path.to_vec()));
                    ControlFlow::Continue(())
                });
                assert!(flow.is_continue());
            }
            let expected = [(0x10, 5, b"/a".to_vec()), (0x30, 7, vec![]), (0x50, 0, b"[stack]".to_vec())];
            assert_eq!(found, expected, "{step} bytes at a time");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "there is no such list")]
    fn this_process_has_code_and_a_stack() {
        let local = 0_u8;
        let (code, stack) = (parse as fn(_, _) -> _ as usize as u64, &raw const local as u64);
        let mut found = Vec::new();
        for_each(|mapping| {
            for address in [code, stack] {
                if mapping.range.contains(&address) {
                    found.push((address, mapping.is_executable, mapping.is_readable));
                }
            }
            ControlFlow::Continue(())
        });
        found.sort_unstable();
        let mut expected = [(code, true, true), (stack, false, true)];
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}
