//! Tests of the pages: their size, their options, and the pages of the guide.

use std::{collections::BTreeSet, path::Path};

use super::*;
use crate::commands::command_line;

/// Columns of a screen.
const COLUMNS: usize = 100;

/// Returns the page of each command.
fn pages(detail: Detail) -> Vec<(String, String)> {
    let mut root = on_screen(command_line::command().term_width(COLUMNS), detail);
    root.build();
    let mut pages = vec![(root.get_name().to_owned(), root.render_help().to_string())];
    for command in root.get_subcommands_mut() {
        let page = if detail == Detail::Full { command.render_long_help() } else { command.render_help() };
        pages.push((command.get_name().to_owned(), page.to_string()));
    }
    assert!(pages.len() > 10, "{pages:?}");
    pages
}

/// Returns every option of every command, by its longest name.
fn options() -> BTreeSet<(String, String)> {
    let root = command_line::command();
    let of = |command: &Command| {
        let names = command.get_arguments().filter(|arg| !arg.is_positional()).map(|arg| {
            arg.get_long().map_or_else(|| arg.get_short().expect("an option has a name").to_string(), str::to_owned)
        });
        let command = command.get_name().to_owned();
        names.map(|name| (command.clone(), name)).collect::<Vec<_>>()
    };
    root.get_subcommands().flat_map(of).collect()
}

#[test]
fn each_page_fits_a_screen() {
    for (detail, lines) in [(Detail::Brief, 40), (Detail::Screen, 56)] {
        for (name, page) in pages(detail) {
            let count = page.lines().count();
            assert!(count <= lines, "{name}: {count} lines, {lines} at most:\n{page}");
            let widest = page.lines().map(|line| line.chars().count()).max().unwrap_or_default();
            assert!(widest <= COLUMNS, "{name}: {widest} columns:\n{page}");
        }
    }
}

#[test]
fn an_option_takes_one_line() {
    for (name, page) in pages(Detail::Screen) {
        let Some((_, options)) = page.split_once("Usage:") else { panic!("{name}: {page}") };
        let wrapped = options.lines().filter(|line| line.starts_with(&" ".repeat(10))).count();
        assert_eq!(wrapped, 0, "{name}: a description needs a second line:\n{page}");
    }
}

#[test]
fn each_page_names_where_the_rest_is() {
    for detail in [Detail::Brief, Detail::Screen, Detail::Full] {
        for (name, page) in pages(detail) {
            let last = page.trim_end().lines().last().unwrap_or_default();
            assert_eq!(last, guide(&name), "{name}");
            if detail < Detail::Full && name != "cargo-bisect-opt" {
                assert!(page.contains(&format!("`cargo bisect-opt help {name}`")), "{name}:\n{page}");
            }
        }
    }
}

#[test]
fn each_command_has_its_page_in_the_guide() {
    let commands: BTreeSet<_> = pages(Detail::Screen).into_iter().map(|(name, _)| name).collect();
    let named: BTreeSet<_> = GUIDE.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(commands, named);
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src");
    for (name, page) in GUIDE.iter().filter(|_| book.is_dir()) {
        assert!(book.join(page).is_file(), "{name}: {page} does not exist in the book");
    }
}

#[test]
fn each_option_answers_a_question() {
    let root = command_line::command();
    let without: Vec<_> = root
        .get_subcommands()
        .flat_map(Command::get_arguments)
        .filter(|arg| !arg.is_positional() && place(arg).is_none())
        .map(|arg| arg.get_id().to_string())
        .collect();
    assert_eq!(without, Vec::<String>::new(), "these options have no heading: add them to a question");
    let names: BTreeSet<_> = options().into_iter().map(|(_, name)| name).chain(["help".to_owned()]).collect();
    let stale = super::options().map(|(_, name, _)| name).filter(|name| !names.contains(*name));
    assert_eq!(stale.collect::<Vec<_>>(), [""; 0], "no command has these options");
}

#[test]
fn the_reference_has_every_option_and_the_screen_most() {
    let (full, screen) = (pages(Detail::Full), pages(Detail::Screen));
    let page_of = |pages: &[(String, String)], name: &str| {
        pages.iter().find(|(command, _)| command == name).map(|(_, page)| page.clone()).unwrap()
    };
    let mut left_out = BTreeSet::new();
    for (command, option) in options() {
        let is_refused = REFUSED.contains(&(command.as_str(), option.as_str()));
        let option = if option.len() == 1 { format!("-{option}") } else { format!("--{option}") };
        let has = |page: &str| page.lines().any(|line| line.trim_start().split([' ', '[']).any(|word| word == option));
        assert_eq!(has(&page_of(&full, &command)), !is_refused, "{command} {option}");
        if !is_refused && !has(&page_of(&screen, &command)) {
            left_out.insert(option);
        }
    }
    let expected = [
        "--all-tests",
        "--bad",
        "--bisect-rustc",
        "--cargo-arg",
        "--good",
        "--level",
        "--message-format",
        "--no-defaults",
        "--rustflags",
    ];
    assert_eq!(left_out.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}
