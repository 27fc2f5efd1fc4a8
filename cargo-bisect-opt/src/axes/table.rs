//! The axes that have a command of their own: one line for each.

use super::{command_spec::CommandSpec, count, list};

/// The commands of all axes that have one.
pub(crate) const COMMANDS: &[CommandSpec] = &[count::COMMAND, list::COMMAND];
