//! Styles of text on a terminal.

use anstyle::{AnsiColor, Style};

/// Headings, and code of the user.
pub(super) const BOLD: Style = Style::new().bold();
/// Less important text.
pub(super) const DIM: Style = Style::new().dimmed();
/// A run that passes.
pub(super) const GOOD: Style = AnsiColor::Green.on_default().bold();
/// A run that fails, a culprit, or an error.
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();
/// A line that a patch adds.
pub(super) const ADDED: Style = AnsiColor::Green.on_default();
/// A line that a patch removes.
pub(super) const REMOVED: Style = AnsiColor::Red.on_default();
/// An unresolved run, or a note.
pub(super) const ODD: Style = AnsiColor::Yellow.on_default().bold();
