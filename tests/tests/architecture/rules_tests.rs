//! Each rule on a small repository that breaks it, and on one that does not.

use crate::exceptions::Violation;
use crate::house::House;
use crate::modules::Crate;
use crate::tree::Tree;
use crate::{arrows, files, language, map, owners, types};

const TOY: &[House] = &[House { name: "toy", src: "toy/src/", may_use: &[], rooms: &["attic", "hall", "cellar"] }];
const DRIVER: &[House] =
    &[House { name: "cargo_bisect_opt", src: "driver/src/", may_use: &["bisect_core"], rooms: &["output", "process"] }];

/// Applies a rule to a crate of these files, and returns the violations as `file:line`.
fn broken(houses: &[House], rule: fn(&Crate) -> Vec<Violation>, texts: &[(&str, &str)]) -> Vec<String> {
    let tree = Tree::from_texts(texts);
    let crates = Crate::read_all(&tree, houses);
    let mut lines = at(crates.iter().flat_map(rule).collect());
    lines.dedup();
    lines
}

fn at(violations: Vec<Violation>) -> Vec<String> {
    violations.into_iter().map(|Violation { file, line, .. }| format!("{file}:{line}")).collect()
}

const ROOMS: &str = "mod attic; mod hall; mod cellar;";

#[test]
fn an_import_from_a_room_above_is_found_however_it_is_written() {
    let ways = [
        "use crate::attic::Chest;",
        "use super::attic::{Chest as Box};",
        "fn f() -> usize { crate::attic::count() }",
        "fn f() { println!(\"{}\", crate::attic::count()) }",
        "#[derive(crate::attic::Chest)] struct S;",
        "use super::*; fn f() -> attic::Chest { loop {} }",
        "fn f() { use crate::attic; attic::count(); }",
        "mod inner { use super::super::attic::Chest; }",
    ];
    let attic = ("toy/src/attic.rs", "pub struct Chest; pub fn count() -> usize { 0 }");
    for way in ways {
        let texts = [("toy/src/lib.rs", ROOMS), attic, ("toy/src/hall/mod.rs", way), ("toy/src/cellar.rs", "")];
        assert_eq!(broken(TOY, arrows::upward, &texts), ["toy/src/hall/mod.rs:1"], "{way}");
        let texts = [("toy/src/lib.rs", ROOMS), attic, ("toy/src/hall.rs", ""), ("toy/src/cellar.rs", way)];
        assert_eq!(broken(TOY, arrows::upward, &texts), ["toy/src/cellar.rs:1"], "{way}");
    }
}

#[test]
fn imports_from_below_and_from_tests_are_allowed() {
    let attic = "use crate::cellar::Wine; pub(in crate::attic) struct Chest;";
    let cellar = "pub struct Wine; #[cfg(test)] mod tests { use crate::attic::Chest; }";
    let texts = [
        ("toy/src/lib.rs", ROOMS),
        ("toy/src/attic.rs", attic),
        ("toy/src/hall.rs", "#[cfg(test)] mod hall_tests;"),
        ("toy/src/cellar.rs", cellar),
    ];
    assert!(broken(TOY, arrows::upward, &texts).is_empty());
}

#[test]
fn a_re_export_leads_to_the_file_that_defines_the_name() {
    let hall = [("toy/src/hall.rs", "pub use crate::attic::Chest;"), ("toy/src/cellar.rs", "use crate::hall::Chest;")];
    let texts = [&[("toy/src/lib.rs", ROOMS), ("toy/src/attic.rs", "pub struct Chest;")], &hall[..]].concat();
    assert_eq!(broken(TOY, arrows::upward, &texts), ["toy/src/hall.rs:1", "toy/src/cellar.rs:1"]);
}

#[test]
fn files_of_no_room_are_found() {
    let texts = [("toy/src/lib.rs", "mod hall; mod shed;"), ("toy/src/hall.rs", ""), ("toy/src/shed.rs", "")];
    assert_eq!(broken(TOY, arrows::files_without_room, &texts), ["toy/src/shed.rs:1"]);
}

#[test]
fn files_that_import_each_other_are_a_circle() {
    let texts = [
        ("toy/src/lib.rs", "mod hall;"),
        ("toy/src/hall/mod.rs", "mod a; mod b; mod c; pub use a::A; pub use c::C;"),
        ("toy/src/hall/a.rs", "use super::b::B; pub struct A;"),
        ("toy/src/hall/b.rs", "use super::C; pub struct B;"),
        ("toy/src/hall/c.rs", "use super::A; pub struct C;"),
    ];
    assert_eq!(
        broken(TOY, arrows::circles, &texts),
        ["toy/src/hall/a.rs:1", "toy/src/hall/b.rs:1", "toy/src/hall/c.rs:1"]
    );
}

#[test]
fn a_parent_and_its_children_are_no_circle() {
    let texts = [
        ("toy/src/lib.rs", "mod hall;"),
        ("toy/src/hall.rs", "mod a; mod b; pub use b::B; use a::A; pub struct Hall(A);"),
        ("toy/src/hall/a.rs", "use super::{Hall, B}; pub struct A;"),
        ("toy/src/hall/b.rs", "use crate::hall::Hall; pub struct B;"),
    ];
    assert!(broken(TOY, arrows::circles, &texts).is_empty());
}

#[test]
fn other_crates_of_the_repository_are_known_only_as_the_table_says() {
    let texts = [("toy/src/lib.rs", "use bisect_core::Id;\nfn f() { bisect_rt::g() }")];
    assert_eq!(broken(TOY, arrows::between_crates, &texts), ["toy/src/lib.rs:1", "toy/src/lib.rs:2"]);
    assert!(broken(DRIVER, arrows::between_crates, &[("driver/src/lib.rs", "use bisect_core::Id;")]).is_empty());
}

#[test]
fn crates_have_owners() {
    let text = "use std::io::IsTerminal;\n\nfn f() { anstream::println!(\"{}\", 1) }";
    let files = [("driver/src/main.rs", "mod output; mod process;"), ("driver/src/process.rs", text)];
    let texts = [&files[..], &[("driver/src/output.rs", text)]].concat();
    assert_eq!(broken(DRIVER, owners::foreign_crates, &texts), ["driver/src/process.rs:1", "driver/src/process.rs:3"]);
}

#[test]
fn only_one_room_starts_processes() {
    let text = "use std::process::Command;\nfn f(c: &mut Command) { c.spawn(); }\nfn g() { thread::spawn(|| 1); }";
    let files = [("driver/src/main.rs", "mod output; mod process;"), ("driver/src/process.rs", text)];
    let texts = [&files[..], &[("driver/src/output.rs", text)]].concat();
    assert_eq!(broken(DRIVER, owners::foreign_processes, &texts), ["driver/src/output.rs:2"]);
}

#[test]
fn calls_that_panic_if_the_system_refuses_are_found() {
    let text = "use std::{env, process::Command, thread};\nfn a() { thread::spawn(|| 1); }\nfn b(scope: &S) { scope.spawn(|| 1); }\n\
                fn c() { self.scope.spawn(|| 1); }\nfn d() { std::env::vars(); env::args(); }\nfn e(c: &mut Command) { c.output(); }\n\
                fn f() { thread::Builder::new().spawn(|| 1); builder.spawn_scoped(scope, || 1); env::vars_os(); }\n\
                #[cfg(test)]\nmod tests { fn g() { thread::spawn(|| 1); } }";
    let lines = [2, 5, 3, 4, 6].map(|line| format!("driver/src/main.rs:{line}"));
    assert_eq!(broken(DRIVER, owners::panicking_calls, &[("driver/src/main.rs", text)]), lines);
}

#[test]
fn names_of_variables_are_found_in_code_attributes_and_macros() {
    let text = "const A: &str = \"BISECT_A\";\n#[arg(env = \"BISECT_B\")]\nstruct S;\nfn f() { env!(\"BISECT_C\"); }\n\
                /// \"BISECT_D\"\nfn g() { println!(\"BISECT_E is not set\") }";
    let expected = ["toy/src/lib.rs:1", "toy/src/lib.rs:2", "toy/src/lib.rs:4"];
    assert_eq!(broken(TOY, owners::variable_names, &[("toy/src/lib.rs", text)]), expected);
}

#[test]
fn a_type_name_stands_for_one_type() {
    let text =
        "struct A;\nmod b { enum A {} }\n#[cfg(unix)] struct C;\n#[cfg(windows)] struct C;\n#[cfg(test)] struct A;";
    assert_eq!(broken(TOY, types::names_twice, &[("toy/src/lib.rs", text)]), ["toy/src/lib.rs:1"]);
}

#[test]
fn the_methods_of_a_type_stand_in_two_files_at_most() {
    let child = "use super::S; impl S { fn f() {} }";
    let files = [("toy/src/lib.rs", "mod a; mod b; struct S; impl S {}"), ("toy/src/a.rs", child)];
    let with = |b| [&files[..], &[("toy/src/b.rs", b)]].concat();
    assert_eq!(broken(TOY, types::scattered, &with(child)), ["toy/src/a.rs:1"]);
    assert!(broken(TOY, types::scattered, &with("use super::S; impl Clone for S {}")).is_empty());
}

#[test]
fn an_axis_has_sixteen_methods_at_most() {
    let methods = |count| (0..count).map(|n| format!("fn f{n}(&self);\n")).collect::<Vec<_>>().concat();
    let text = |name: &str, count| format!("trait {name} {{\n{}}}", methods(count));
    let lines = |text: &str| broken(TOY, types::wide_traits, &[("toy/src/lib.rs", text)]);
    assert_eq!(lines(&text("Axis", 17)), ["toy/src/lib.rs:18"]);
    assert_eq!(lines(&text("Target", 11)), ["toy/src/lib.rs:12"]);
    for fits in [text("Axis", 16), text("Target", 10), text("Other", 30)] {
        assert!(lines(&fits).is_empty());
    }
}

#[test]
fn twenty_public_methods_are_enough() {
    let methods = |count| (0..count).map(|n| format!("pub fn f{n}() {{}}\n")).collect::<Vec<_>>().concat();
    let text = |count| format!("struct S;\nimpl S {{\n{}fn private() {{}}\n}}", methods(count));
    assert_eq!(broken(TOY, types::too_many_methods, &[("toy/src/lib.rs", &text(21))]).len(), 1);
    assert!(broken(TOY, types::too_many_methods, &[("toy/src/lib.rs", &text(20))]).is_empty());
}

#[test]
fn files_have_at_most_600_lines_and_begin_with_their_purpose() {
    let text = format!("//! Purpose.\n{}", "\n".repeat(599));
    let tree =
        Tree::from_texts(&[("a.rs", &text), ("b.rs", &format!("{text}\n")), ("tests/fixtures/f/src/lib.rs", "")]);
    assert_eq!(at(files::too_long(&tree)), ["b.rs:601"]);
    let tree = Tree::from_texts(&[("a.rs", "//! Purpose."), ("b.rs", "use std::fmt;")]);
    assert_eq!(at(files::without_header(&tree)), ["b.rs:1"]);
}

#[test]
fn fixtures_that_no_test_names_are_found() {
    let fixtures = [("tests/fixtures/used/Cargo.toml", ""), ("tests/fixtures/dead/Cargo.toml", "")];
    let tree = Tree::from_texts(&[&fixtures[..], &[("tests/tests/a.rs", "Fixture::new(\"used\") // dead")]].concat());
    assert_eq!(at(files::unused_fixtures(&tree)), ["tests/fixtures/dead/:1"]);
}

#[test]
fn the_map_and_the_tree_agree() {
    let list = "```\ntoy/src/ - the toy\n  attic/ - gone\n  hall/  - where one arrives\n  hall/  - again\n```\n";
    let page = format!("{list}`hall/`, `hall/door.rs`, `door.rs`\n`or.rs`, `window.rs`, `x.rs y`\n");
    let rooms = [("toy/src/hall/door.rs", ""), ("toy/src/cellar/mod.rs", ""), ("toy/src/shed.rs", "")];
    let tree = Tree::from_texts(&[&[("ARCHITECTURE.md", &*page)], &rooms[..]].concat());
    let found = map::differences(&tree, TOY).into_iter().map(|violation| (violation.line, violation.message));
    let expected = [
        (3, "lists toy/src/attic/, which is not in the tree"),
        (5, "lists toy/src/hall/ twice"),
        (1, "lacks a line `toy/src/cellar/ - purpose`"),
        (8, "names `or.rs`, which is not in the tree"),
        (8, "names `window.rs`, which is not in the tree"),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected.map(|(line, message)| (line, message.to_owned())));
}

#[test]
fn paths_of_any_kind_and_types_on_the_map_exist() {
    let list = "```\ntoy/src/ - the `Toy`\n```\n";
    let page = format!(
        "{list}`toy/Cargo.toml`, `lost/run`, `schema.json`\n`Chest::lid`, `Chest::key`, `Chest`, `a Trunk`\n\
         `BISECT_PATTERN`, `chest`, `Lid::Oak`\n"
    );
    let toy = "mod inner { pub struct Chest; impl Chest { fn lid(&self) {} } } enum Lid { Oak }";
    let texts = [("ARCHITECTURE.md", &*page), ("toy/src/lib.rs", toy), ("toy/Cargo.toml", "")];
    let tree = Tree::from_texts(&texts);
    let crates = Crate::read_all(&tree, TOY);
    let paths = map::differences(&tree, TOY).into_iter().chain(map::unknown_types(&tree, &crates));
    let found: Vec<_> = paths.map(|violation| (violation.line, violation.message)).collect();
    let expected = [
        (4, "names `lost/run`, which is not in the tree"),
        (4, "names `schema.json`, which is not in the tree"),
        (2, "names the type `Toy`, which no crate has"),
        (5, "names `key`, which `Chest` has not"),
        (5, "names the type `Trunk`, which no crate has"),
    ];
    assert_eq!(found, expected.map(|(line, message)| (line, message.to_owned())));
}

#[test]
fn banned_phrases_are_found_in_comments_messages_and_markdown() {
    // Split, so that this file itself follows the rule.
    let (so, many) = ("so", "many");
    let rust = format!("//! Purpose.\n\n/// {} is done.\n/// What is meant.\nfn f() {{}} // {so} {many}\n", "What");
    let tree = Tree::from_texts(&[
        ("toy/src/lib.rs", &rust),
        ("a.md", &format!("`{so} {many}`\n{so} {many}\n```\n{so} {many}\n```\n")),
    ]);
    assert_eq!(at(language::in_comments(&tree)), ["toy/src/lib.rs:3"]);
    assert_eq!(at(language::in_markdown(&tree)), ["a.md:2"]);
    let literal = format!("/// Says it.\nfn f() {{ println!(\"{so} {many} runs\") }}");
    assert_eq!(broken(TOY, language::in_literals, &[("toy/src/lib.rs", &literal)]), ["toy/src/lib.rs:2"]);
}

#[test]
fn purposes_stand_alone_in_the_first_line_of_documentation() {
    let whole = [
        "//! The hall.",
        "//! The hall, in order:\n//! doors and windows",
        "//! Is it open?\n//!\n//! What then?",
        "#![no_std]\n//! The hall.",
        "use std::fmt;",
        "mod inner {\n    //! Cut in the\n    //! middle.\n}",
    ];
    for text in whole {
        let tree = Tree::from_texts(&[("toy/src/hall.rs", text)]);
        assert!(language::unclear_purposes(&tree, TOY).is_empty(), "{text}");
    }
    let wide = format!("//! {}.", "wide ".repeat(24));
    let unclear = [
        ("//! The hall, in which\n//! one arrives.", 1),
        ("#![no_std]\n//! The hall. It has\n//! a door.", 2),
        ("//! What one sees.", 1),
        ("//! Everything that is seen.", 1),
        (&wide, 1),
    ];
    for (text, line) in unclear {
        let texts = [("toy/src/hall.rs", text), ("toy/tests/hall.rs", text)];
        let found = language::unclear_purposes(&Tree::from_texts(&texts), TOY);
        assert_eq!(at(found), [format!("toy/src/hall.rs:{line}")], "{text}");
    }
}

#[test]
fn markdown_is_wrapped_but_for_tables_links_and_code() {
    let wide = "wide ".repeat(30);
    let code = format!("```\n{wide}\n```\n<!-- sh\n{wide}\n-->\n");
    let text = format!("{wide}\n| {wide} |\n[link]({wide})\n{code}{}\n", "ä".repeat(100));
    assert_eq!(at(language::too_wide(&Tree::from_texts(&[("a.md", &text)]))), ["a.md:1"]);
}
