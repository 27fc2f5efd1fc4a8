//! The error for an option of a search where a command is expected.

use std::ffi::OsString;

use clap::error::ErrorKind;

/// Returns an error if the first word is an option of `test`, with or without its dashes. `root` has all commands.
pub(super) fn check(root: &clap::Command, first: Option<&OsString>) -> Result<(), clap::Error> {
    let Some(word) = first.and_then(|word| word.to_str()) else { return Ok(()) };
    let bare = word.strip_prefix("--").unwrap_or(word);
    let name = bare.split('=').next().unwrap_or_default();
    if root.find_subcommand(word).is_some() || root.get_arguments().any(|own| own.get_long() == Some(name)) {
        return Ok(());
    }
    let mut options = root.find_subcommand("test").into_iter().flat_map(clap::Command::get_arguments);
    let Some(option) = options.find(|option| option.get_long() == Some(name)) else { return Ok(()) };
    let needs_value = option.get_action().takes_values()
        && option.get_num_args().is_none_or(|count| count.min_values() > 0)
        && !bare.contains('=');
    let value = option.get_value_names().and_then(<[_]>::first).filter(|_| needs_value);
    let value = value.map(|value| format!("={value}")).unwrap_or_default();
    let text = format!(
        "`--{name}` is an option: write a command before it\nhelp: for example `cargo bisect-opt test --{bare}{value}`; \
         `cargo bisect-opt help` lists all commands"
    );
    Err(root.clone().error(ErrorKind::InvalidSubcommand, text))
}
