//! The hint for an option that neither the driver nor the tool that it calls has.

use crate::{
    cargo::Subcommand,
    units::{nearest, suggestion},
};

/// The options of the standard test harness that users expect cargo to accept, too.
const OF_LIBTEST: [&str; 11] = [
    "--exact",
    "--ignored",
    "--include-ignored",
    "--list",
    "--no-capture",
    "--nocapture",
    "--report-time",
    "--show-output",
    "--shuffle",
    "--skip",
    "--test-threads",
];

/// Returns an explanation of an option that neither `command` nor `cargo test` (or another subcommand) has, for the end
/// of a message. `cargos` are the options of the subcommand.
pub(super) fn advice(
    command: &clap::Command,
    subcommand: Subcommand,
    option: &str,
    cargos: impl Iterator<Item = String>,
) -> String {
    // `toggles` runs no tests.
    if subcommand == Subcommand::Test && command.get_name() != "toggles" && OF_LIBTEST.contains(&option) {
        return format!("\nhelp: it is an option of the test harness: write it after `--`, as in `-- {option}`");
    }
    let meant = hint(command, option, cargos);
    format!(
        "{meant}\nhelp: `--cargo-arg={option}` hands it to cargo all the same; what follows `--` is for the tests or the \
         program"
    )
}

/// Returns the text `, did you mean ...?` with the option of `command`, or of the `others`, that is most like this one;
/// nothing if none is.
pub(super) fn hint(command: &clap::Command, option: &str, others: impl Iterator<Item = String>) -> String {
    let ours = command.get_arguments().filter_map(|arg| Some(format!("--{}", arg.get_long()?)));
    let meant = option.strip_prefix("--").and_then(|_| nearest(option, ours.chain(others)));
    suggestion(meant.as_deref())
}
