//! The axes that have a command of their own: one line for each.

use super::{command_spec::CommandSpec, list};

/// All of them.
pub(crate) const COMMANDS: &[CommandSpec] = &[list::COMMAND];
