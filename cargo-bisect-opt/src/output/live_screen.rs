//! The bottom of a terminal, where live lines are drawn: all that one change of the screen needs is one write.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use console::Term;
use indicatif::TermLike;

/// The columns at the end of a live line that stay empty. The terminal shows `^C` there, and a cursor behind the last
/// column would be on the next line for some terminals.
const MARGIN: u16 = 3;

/// A terminal on standard error. Clones share it.
///
/// `indicatif` fills each line with spaces, up to the border where terminals begin another line. Then `^C` would be on a
/// line that it does not know of, and after a resize all lines would be at wrong places. So lines end with line breaks
/// here.
#[derive(Clone, Debug, Default)]
pub(super) struct LiveScreen(Arc<Mutex<PendingDraw>>);

/// A change of the screen that is not written yet.
#[derive(Debug, Default)]
struct PendingDraw {
    text: String,
    /// True if more belongs to it.
    is_held: bool,
    /// The kind of the next text from `indicatif`, which alternates.
    is_filler_next: bool,
    /// True if the cursor is at the end of a live line.
    is_after_line: bool,
    /// The error of a write.
    error: Option<io::Error>,
    /// The maximum width of a line; `None`: that of the terminal.
    max_width: Option<u16>,
}

impl LiveScreen {
    /// Returns the terminal, with lines of at most this width.
    pub(super) fn with_max_width(max_width: Option<u16>) -> Self {
        Self(Arc::new(Mutex::new(PendingDraw { max_width, ..PendingDraw::default() })))
    }

    fn frame(&self) -> MutexGuard<'_, PendingDraw> {
        // A frame is a text, valid whatever its owner did.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps changes back until [`release`](Self::release), so that they are written at once.
    pub(super) fn hold(&self) {
        self.frame().is_held = true;
    }

    /// Adds whole lines, where no live lines are drawn at the moment.
    pub(super) fn push(&self, lines: &str) {
        self.frame().text.push_str(lines);
    }

    /// Writes all that was kept back.
    ///
    /// # Errors
    /// If it, or anything since the last call, cannot be written.
    pub(super) fn release(&self) -> io::Result<()> {
        self.frame().is_held = false;
        self.flush()?;
        self.frame().error.take().map_or(Ok(()), Err)
    }

    fn sequence(&self, count: usize, end: char) {
        let mut frame = self.frame();
        (frame.is_filler_next, frame.is_after_line) = (false, false);
        if count > 0 {
            // A string takes any text.
            let _ = write!(frame.text, "\x1b[{count}{end}");
        }
    }
}

impl TermLike for LiveScreen {
    fn width(&self) -> u16 {
        let width = Term::stderr().size().1.saturating_sub(MARGIN).max(1);
        self.frame().max_width.map_or(width, |max_width| width.min(max_width))
    }

    fn height(&self) -> u16 {
        Term::stderr().size().0
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.sequence(n, 'A');
        Ok(())
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.sequence(n, 'B');
        Ok(())
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.sequence(n, 'C');
        Ok(())
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.sequence(n, 'D');
        Ok(())
    }

    fn write_line(&self, line: &str) -> io::Result<()> {
        self.push(&format!("{line}\n"));
        Ok(())
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        let mut frame = self.frame();
        if mem::replace(&mut frame.is_filler_next, true) {
            frame.is_filler_next = false;
            return Ok(());
        }
        let break_before = if mem::replace(&mut frame.is_after_line, true) { "\n" } else { "" };
        frame.text += break_before;
        frame.text += text;
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        self.sequence(0, 'K');
        self.push("\r\x1b[2K");
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        let mut frame = self.frame();
        if frame.is_held || frame.text.is_empty() {
            return Ok(());
        }
        let text = mem::take(&mut frame.text);
        let mut stderr = io::stderr().lock();
        if let Err(error) = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush()) {
            frame.error = Some(error);
        }
        Ok(())
    }
}
