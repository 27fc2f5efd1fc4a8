//! `help`: the reference of a command, with each option in full.

use std::io::{self, Write};

use clap::builder::StyledStr;

use super::{
    CommandError, command_line,
    options::HelpCommand,
    pages::{self, Detail},
};
use crate::output::terminal;

/// Prints the reference of the command.
///
/// # Errors
/// If there is no such command, or standard output cannot be written.
pub(super) fn print(command: &HelpCommand) -> Result<(), CommandError> {
    let text = text(command)?;
    write(&mut terminal::stdout(), text.ansi().to_string().as_bytes())
}

/// Writes a text about this program. A reader who has seen enough is no error.
pub(super) fn write(out: &mut dyn Write, text: &[u8]) -> Result<(), CommandError> {
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(CommandError::Output),
    }
}

/// Returns the parser, with all options in full.
pub(super) fn all_commands() -> clap::Command {
    pages::on_screen(command_line::command(), Detail::Full)
}

fn text(command: &HelpCommand) -> Result<StyledStr, CommandError> {
    let mut root = all_commands();
    root.build();
    let Some(name) = &command.command else { return Ok(root.render_long_help()) };
    let command = root.find_subcommand_mut(name).ok_or_else(|| CommandError::NoCommand(name.clone()))?;
    Ok(command.render_long_help())
}
