//! The list of toggles on standard output.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use super::{json_lines, terminal};
use crate::cargo::toggles::{Toggle, ToggleTable};

/// Shows the toggles of a workspace: as a table, or as one line of JSON each. A note goes to standard error.
///
/// # Errors
/// If they cannot be written.
pub(crate) fn show(toggles: &BTreeSet<Toggle>, note: Option<&str>, json: bool) -> io::Result<()> {
    if let Some(note) = note {
        terminal::show_lines(&format!("note: {note}\n"));
    }
    let mut out = terminal::stdout();
    if !json {
        return write!(out, "{}", ToggleTable(toggles));
    }
    for toggle in toggles {
        json_lines::add(&mut out, toggle)?;
    }
    Ok(())
}
