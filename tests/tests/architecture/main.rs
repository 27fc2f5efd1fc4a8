//! The architecture, enforced: rooms and arrows, owners, names, sizes, the map, and plain English.
//!
//! The tables are in `house.rs`. Known violations are counted in `not-yet.txt`, which may only shrink:
//! `UPDATE_ARCHITECTURE=1 cargo test -p bisect-tests --test architecture` removes entries that are no longer needed.

mod arrows;
mod exceptions;
mod expectations;
mod facts;
mod files;
mod house;
mod language;
mod map;
mod messages;
#[cfg(test)]
mod messages_tests;
mod modules;
mod owners;
#[cfg(test)]
mod rules_tests;
mod tree;
mod types;

use std::path::Path;
use std::sync::LazyLock;

use exceptions::{Violation, check};
use expectations::Expectations;
use house::HOUSES;
use modules::Crate;
use tree::Tree;

static TREE: LazyLock<Tree> = LazyLock::new(|| Tree::read(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()));
static CRATES: LazyLock<Vec<Crate>> = LazyLock::new(|| Crate::read_all(&TREE, HOUSES));

fn in_crates(rule: impl Fn(&Crate) -> Vec<Violation>) -> Vec<Violation> {
    CRATES.iter().flat_map(rule).collect()
}

#[test]
fn every_crate_is_read() {
    let read: Vec<_> = CRATES.iter().map(|krate| krate.house.name).collect();
    let expected: Vec<_> = HOUSES.iter().map(|house| house.name).collect();
    assert_eq!(read, expected);
}

#[test]
fn every_file_is_in_a_room() {
    check("rooms", &in_crates(arrows::files_without_room));
}

#[test]
fn crates_use_only_crates_that_they_may_know() {
    check("crates", &in_crates(arrows::between_crates));
}

#[test]
fn rooms_import_only_from_rooms_below() {
    check("floors", &in_crates(arrows::upward));
}

#[test]
fn files_do_not_import_in_circles() {
    check("circles", &in_crates(arrows::circles));
}

#[test]
fn crates_are_named_only_by_the_rooms_that_own_them() {
    check("owners", &in_crates(owners::foreign_crates));
}

#[test]
fn processes_are_started_in_one_room() {
    check("processes", &in_crates(owners::foreign_processes));
}

#[test]
fn calls_that_panic_if_the_system_refuses_are_not_made() {
    check("panicking-calls", &in_crates(owners::panicking_calls));
}

#[test]
fn names_of_variables_are_written_once() {
    check("variable-names", &in_crates(owners::variable_names));
}

#[test]
fn type_names_are_unique_in_a_crate() {
    check("type-names", &in_crates(types::names_twice));
}

#[test]
fn methods_of_a_type_stand_in_few_files() {
    check("impl-files", &in_crates(types::scattered));
}

#[test]
fn types_have_few_public_methods() {
    check("methods", &in_crates(types::too_many_methods));
}

#[test]
fn traits_of_axes_and_targets_are_narrow() {
    check("trait-methods", &in_crates(types::wide_traits));
}

#[test]
fn files_are_short() {
    check("lines", &files::too_long(&TREE));
}

#[test]
fn files_begin_with_their_purpose() {
    check("headers", &files::without_header(&TREE));
}

#[test]
fn the_purpose_of_a_file_stands_in_one_line() {
    check("purpose", &language::unclear_purposes(&TREE, HOUSES));
}

#[test]
fn fixtures_are_used() {
    check("fixtures", &files::unused_fixtures(&TREE));
}

#[test]
fn the_map_lists_the_rooms() {
    check("map", &map::differences(&TREE, HOUSES));
}

#[test]
fn the_map_names_types_that_exist() {
    check("map", &map::unknown_types(&TREE, &CRATES));
}

#[test]
fn prose_is_plain() {
    let literals = in_crates(language::in_literals);
    check("words", &[language::in_comments(&TREE), language::in_markdown(&TREE), literals].concat());
}

#[test]
fn markdown_is_wrapped() {
    check("width", &language::too_wide(&TREE));
}

#[test]
fn each_message_is_expected_by_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package is a member");
    let expectations = Expectations::read(root, &TREE, &CRATES);
    let messages: Vec<_> = CRATES.iter().map(|krate| messages::of_crate(&TREE, krate)).collect();
    let unreached: Vec<_> = messages.iter().flat_map(|messages| expectations.unreached(messages)).collect();
    check("messages", &expectations::violations(&TREE, &unreached, include_str!("unreached.txt")));
}
