//! `completions`: scripts for shells, for `cargo-bisect-opt` and `cargo bisect-opt`.

use std::io;

use clap_complete::Shell;

use super::{CommandError, options::CompletionsCommand, reference};

/// The part of the script that completes `cargo bisect-opt`. Zsh needs none: cargo's own completion calls the function
/// `_cargo-NAME` of a subcommand.
const OF_CARGO: [(Shell, &str); 2] =
    [(Shell::Bash, include_str!("completions/cargo.bash")), (Shell::Fish, include_str!("completions/cargo.fish"))];

/// Prints the script.
///
/// # Errors
/// If standard output cannot be written.
pub(super) fn print(command: &CompletionsCommand) -> Result<(), CommandError> {
    reference::write(&mut io::stdout().lock(), &script(command.shell))
}

fn script(shell: Shell) -> Vec<u8> {
    // For bash, clap completes no option of a subcommand if the program's name has a hyphen; `cargo.bash` starts the
    // function for the right programs.
    let name = if shell == Shell::Bash { "cargo_bisect_opt" } else { "cargo-bisect-opt" };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut reference::all_commands(), name, &mut script);
    if let Some((_, more)) = OF_CARGO.iter().find(|(of, _)| *of == shell) {
        script.extend_from_slice(more.as_bytes());
    }
    script
}
