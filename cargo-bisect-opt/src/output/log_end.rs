//! The end of a run's log, for people.

use std::{
    io::{Read, Seek, SeekFrom},
    path::Path,
};

use super::terminal;
use crate::process::own_file;

/// The number of bytes at the end that are read.
const TAIL: u64 = 16 << 10;
/// The number of lines that are shown.
const LINES: usize = 20;

/// Returns the last lines of a log, without control characters. `None` if there are none.
pub(crate) fn last_lines(log: &Path) -> Option<Vec<String>> {
    // An unreadable log is left out.
    let mut file = own_file::open(log).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let plain = terminal::without_colors(&text);
    let lines: Vec<_> = plain.trim().lines().map(without_controls).collect();
    let first = lines.len().saturating_sub(LINES);
    (!lines.is_empty()).then(|| lines[first..].to_vec())
}

fn without_controls(line: &str) -> String {
    line.trim_end().replace('\t', "    ").replace(char::is_control, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last_lines_of(text: &[u8]) -> Option<Vec<String>> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs_err::write(file.path(), text).unwrap();
        last_lines(file.path())
    }

    #[test]
    fn the_last_lines_are_shown_as_text() {
        assert_eq!(last_lines_of(b"\x1b[31merror\x1b[0m: no\tsuch flag\x07\n\n").unwrap(), ["error: no    such flag"]);
        let long = "some line\n".repeat(1_000_000) + "the last line\n";
        let lines = last_lines_of(long.as_bytes()).unwrap();
        assert_eq!((lines.len(), lines[LINES - 1].as_str()), (LINES, "the last line"));
        assert_eq!(last_lines_of(b"\n \n"), None);
        assert_eq!(last_lines(Path::new("nowhere")), None);
    }
}
