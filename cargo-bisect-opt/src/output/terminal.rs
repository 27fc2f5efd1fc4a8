//! Terminals: they get text and colours only.
//!
//! Targets print and report arbitrary bytes, and parts of them are shown. These must not move the cursor, set the
//! title, or hide anything.

use std::{
    fmt::Display,
    io::{self, IsTerminal, Write},
};

use super::style::BAD;
use crate::{hidden, stderr};

/// A writer that passes text and colours on, and shows other control characters as visible signs. It has no buffer, but
/// keeps an incomplete sequence back.
#[derive(Debug)]
pub(crate) struct Terminal<W: Write> {
    inner: W,
    /// The beginning of a sequence.
    pending: Vec<u8>,
}

/// No colour needs more bytes.
const LONGEST: usize = 24;
const ESCAPE: u8 = 0x1b;
/// The first bytes of hidden characters, which have at most three bytes.
const LEADS: [u8; 3] = [0xc2, 0xd8, 0xe2];

/// Returns standard output as a terminal.
pub(crate) fn stdout() -> Terminal<impl Write> {
    Terminal::new(anstream::stdout().lock())
}

/// Returns standard error as a terminal.
pub(crate) fn stderr() -> Terminal<impl Write> {
    Terminal::new(anstream::stderr().lock())
}

/// Shows why the command failed.
pub(crate) fn show_error(error: &impl Display) {
    // Standard error is the last place to report an error.
    let _ = writeln!(stderr(), "{BAD}error{BAD:#}: {error}");
}

/// Shows whole lines of a tool on standard error, with their colours, above live lines.
pub(crate) fn show_lines(text: &str) {
    // As for an error, there is no other place to report it.
    let _ = text_for_stderr(|out| out.write_all(text.as_bytes())).and_then(|text| stderr::write_lines(&text));
}

/// Shows whole lines if live lines are shown, and nothing otherwise.
pub(crate) fn show_lines_if_live(text: &str) {
    if stderr::has_live_lines() {
        show_lines(text);
    }
}

/// Returns what a function writes as the text that a terminal on standard error gets.
///
/// # Errors
/// If the function returns one.
pub(super) fn text_for_stderr(write: impl FnOnce(&mut Terminal<&mut Vec<u8>>) -> io::Result<()>) -> io::Result<String> {
    let mut bytes = Vec::new();
    write(&mut Terminal::new(&mut bytes))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(if has_colors() { text } else { without_colors(&text) })
}

/// Returns true if standard error gets colours.
fn has_colors() -> bool {
    anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never
}

/// Returns true if standard error is a terminal.
pub(super) fn is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Turns colours on or off for the whole process; `None` leaves the decision to the terminal.
pub(crate) fn set_colors(are_on: Option<bool>) {
    match are_on {
        None => anstream::ColorChoice::Auto,
        Some(true) => anstream::ColorChoice::Always,
        Some(false) => anstream::ColorChoice::Never,
    }
    .write_global();
}

/// Returns text without colours and other sequences for terminals.
pub(crate) fn without_colors(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

impl<W: Write> Terminal<W> {
    /// Creates a terminal that writes to `inner`.
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, pending: Vec::new() }
    }

    fn push(&mut self, byte: u8, out: &mut Vec<u8>) {
        if let Some(lead) = self.pending.first().filter(|first| LEADS.contains(first)) {
            let length = if *lead == 0xe2 { 3 } else { 2 };
            if (0x80..=0xbf).contains(&byte) {
                self.pending.push(byte);
                if self.pending.len() == length {
                    let character = std::str::from_utf8(&self.pending).ok().and_then(|text| text.chars().next());
                    match character.filter(|&c| hidden::is_hidden(c)) {
                        Some(c) => out.extend_from_slice(hidden::shown(c).as_bytes()),
                        None => out.extend_from_slice(&self.pending),
                    }
                    self.pending.clear();
                }
                return;
            }
            self.show_pending(out);
        }
        if self.pending.is_empty() {
            match byte {
                _ if byte == ESCAPE || LEADS.contains(&byte) => self.pending.push(byte),
                b'\n' | b'\t' => out.push(byte),
                0x7f => out.extend_from_slice("\u{2421}".as_bytes()),
                0..0x20 => out.extend_from_slice(picture(byte).as_bytes()),
                _ => out.push(byte),
            }
            return;
        }
        let is_inside = match self.pending.len() {
            1 => byte == b'[',
            _ => byte.is_ascii_digit() || byte == b';' || byte == b'm',
        };
        if !is_inside || self.pending.len() == LONGEST {
            self.show_pending(out);
            self.push(byte, out);
            return;
        }
        self.pending.push(byte);
        if byte == b'm' {
            if is_colour(&self.pending[2..self.pending.len() - 1]) {
                out.append(&mut self.pending);
            } else {
                self.show_pending(out);
            }
        }
    }

    /// Shows a sequence that is no colour: the escape character as a sign, the rest as it is.
    fn show_pending(&mut self, out: &mut Vec<u8>) {
        let sign = if self.pending.first() == Some(&ESCAPE) { picture(ESCAPE) } else { String::new() };
        out.extend_from_slice(sign.as_bytes());
        let rest = self.pending.drain(..).skip(usize::from(!sign.is_empty()));
        out.extend(rest);
    }
}

/// Returns the sign for a control character.
fn picture(byte: u8) -> String {
    char::from_u32(0x2400 + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER).into()
}

/// Returns true if these parameters only set the foreground or the weight: others can hide text.
fn is_colour(parameters: &[u8]) -> bool {
    let mut numbers = parameters.split(|&byte| byte == b';').map(|digits| {
        let text = std::str::from_utf8(digits).unwrap_or_default();
        if text.is_empty() { Some(0) } else { text.parse::<u8>().ok() }
    });
    while let Some(number) = numbers.next() {
        match number {
            Some(0..=4 | 22..=24 | 31..=37 | 39 | 90..=97) => {}
            // One of 256 colours.
            Some(38) if numbers.next() == Some(Some(5)) && numbers.next().flatten().is_some() => {}
            _ => return false,
        }
    }
    true
}

impl<W: Write> Write for Terminal<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut out = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            self.push(byte, &mut out);
        }
        self.inner.write_all(&out)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W: Write> Drop for Terminal<W> {
    fn drop(&mut self) {
        let mut out = Vec::new();
        self.show_pending(&mut out);
        // The writes before or after this one report the error.
        let _ = self.inner.write_all(&out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However it is cut into writes.
    fn shown(text: &str) -> String {
        let written = |size| {
            let mut out = Vec::new();
            let mut terminal = Terminal::new(&mut out);
            text.as_bytes().chunks(size).for_each(|bytes| terminal.write_all(bytes).unwrap());
            drop(terminal);
            String::from_utf8(out).unwrap()
        };
        let whole = written(1000);
        for size in 1..5 {
            assert_eq!(written(size), whole, "{text:?} in writes of {size}");
        }
        whole
    }

    #[test]
    fn text_and_colours_are_as_they_are() {
        for text in [
            "plain\n\ttext",
            "ö€😀é\u{a0}ئ…\u{2070}",
            "\x1b[1m\x1b[31mred\x1b[0m",
            "\x1b[38;5;12mblue\x1b[m",
            "\x1b[1;33mx\x1b[39m",
        ] {
            assert_eq!(shown(text), text);
        }
    }

    #[test]
    fn what_a_terminal_would_act_on_is_a_sign() {
        for (text, expected) in [
            ("\x1b]0;title\x07x", "␛]0;title␇x"),
            ("a\x1b[2Jb", "a␛[2Jb"),
            ("\x1b[8mhidden", "␛[8mhidden"),
            ("\x1b[30;40mhidden", "␛[30;40mhidden"),
            ("\x1b[38;2;0;0;0mhidden", "␛[38;2;0;0;0mhidden"),
            ("\x1b\x1b[31mred", "␛\x1b[31mred"),
            ("over\rwritten\x08", "over␍written␈"),
            ("\u{9b}2J\u{85}", "\\u{9b}2J\\u{85}"),
            ("a\u{202e}b\u{2066}\u{200f}\u{61c}", "a\\u{202e}b\\u{2066}\\u{200f}\\u{61c}"),
            ("cut\x1b[3", "cut␛[3"),
            ("\x1b[1111111111111111111111111111m", "␛[1111111111111111111111111111m"),
            ("\x7f\0", "␡␀"),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }
}
