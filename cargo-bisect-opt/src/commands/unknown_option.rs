//! The hint for an option that neither the driver nor the tool that it calls has.

use crate::units::{nearest, suggestion};

/// Returns the text `, did you mean ...?` with the option of `command`, or of the `others`, that is most like this one;
/// nothing if none is.
pub(super) fn hint(command: &clap::Command, option: &str, others: impl Iterator<Item = String>) -> String {
    let ours = command.get_arguments().filter_map(|arg| Some(format!("--{}", arg.get_long()?)));
    let meant = option.strip_prefix("--").and_then(|_| nearest(option, ours.chain(others)));
    suggestion(meant.as_deref())
}
