//! The axes that users choose by a command or an option: one line for each.

use super::{command_spec::CommandSpec, commits, count, deps, diff, features, list, option_axis::OptionAxis};

/// The commands of all axes that have one.
pub(crate) const COMMANDS: &[CommandSpec] = &[count::COMMAND, list::COMMAND];

/// The options of `test`, `run`, `build`, `check` and `exec` that choose an axis.
pub(crate) const OPTIONS: &[OptionAxis] = &[commits::OPTION, deps::OPTION, diff::OPTION, features::OPTION];
