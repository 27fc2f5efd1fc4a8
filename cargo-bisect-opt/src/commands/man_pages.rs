//! `man`: the man pages of all commands.

use std::{
    io::{self, Write},
    iter,
};

use clap::Command;
use clap_mangen::{
    Man,
    roff::{Roff, roman},
};

use super::{CommandError, options::ManCommand, pages, reference};
use crate::record::exit_status;

/// Writes the pages.
///
/// # Errors
/// If the directory or a file cannot be written.
pub(super) fn write(command: &ManCommand) -> Result<(), CommandError> {
    fs_err::create_dir_all(&command.directory).map_err(CommandError::Man)?;
    let mut root = reference::all_commands();
    root.build();
    for command_of_page in iter::once(&root).chain(root.get_subcommands()) {
        let page = Man::new(command_of_page.clone())
            .source(concat!("cargo-bisect-opt ", env!("CARGO_PKG_VERSION")))
            .manual("cargo bisect-opt");
        let mut text = Vec::new();
        render(&page, command_of_page, &mut text)
            .and_then(|()| fs_err::write(command.directory.join(page.get_filename()), text))
            .map_err(CommandError::Man)?;
    }
    Ok(())
}

/// Writes a man page. Its last sections are ours: clap would fill the lines of the table of exit statuses.
fn render(page: &Man, command: &Command, out: &mut dyn Write) -> io::Result<()> {
    page.render_title(out)?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    page.render_description_section(out)?;
    page.render_options_section(out)?;
    if command.has_subcommands() {
        page.render_subcommands_section(out)?;
    }
    let mut roff = Roff::default();
    roff.control("SH", ["EXIT STATUS"]);
    for (exit, meaning) in exit_status::TABLE {
        roff.control("TP", []);
        roff.text([roman(exit.code().to_string())]);
        roff.text([roman(meaning.replace('`', ""))]);
    }
    let guide = pages::guide(command.get_name());
    roff.control("SH", ["SEE ALSO"]);
    roff.text([roman(if command.has_subcommands() { guide } else { format!("cargo-bisect-opt(1). {guide}") })]);
    roff.to_writer(out)
}
