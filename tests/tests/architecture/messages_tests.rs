//! Tests of the rule that a test expects each message, on small repositories.

use std::path::Path;

use crate::expectations::{Expectations, violations};
use crate::house::House;
use crate::messages;
use crate::modules::Crate;
use crate::tree::Tree;

const HOUSE: &[House] = &[House { name: "small", src: "small/src/", may_use: &[], rooms: &[] }];

/// Code with messages of all kinds, and with texts that are none.
const CODE: &str = r#"
#[derive(thiserror::Error)]
enum Error {
    #[error("the file {0} cannot be opened here; name another one")]
    Open(String),
}
fn f(n: usize) {
    note(&format!("only {n} of the runs were of any use"));
    assert!(n > 0, "a text of an assertion is no message");
    n.checked_sub(1).expect("a text for a defect is no message");
    let _ = Option { help: "A text of help is on the page", name: "short" };
    let _ = "four words are few";
}
fn headline() -> &'static str { "a function may have this name, too" }
"#;

fn unreached(code: &str, tests: &str, list: &str) -> Vec<String> {
    let tree = Tree::from_texts(&[("small/src/lib.rs", code), ("tests/tests/one.rs", tests)]);
    let crates = Crate::read_all(&tree, HOUSE);
    let messages = messages::of_crate(&tree, &crates[0]);
    let expectations = Expectations::of_code(&tree, &crates);
    let found = expectations.unreached(&messages);
    violations(&tree, &found, list).into_iter().map(|violation| violation.message).collect()
}

#[test]
fn texts_of_errors_and_notes_are_messages() {
    let tree = Tree::from_texts(&[("small/src/lib.rs", CODE)]);
    let found = messages::of_crate(&tree, &Crate::read_all(&tree, HOUSE)[0]);
    let texts: Vec<_> = found.iter().map(|message| (message.line, message.text.as_str())).collect();
    let expected = [
        (4, "the file {0} cannot be opened here; name another one"),
        (8, "only {n} of the runs were of any use"),
        (14, "a function may have this name, too"),
    ];
    assert_eq!(texts, expected);
}

#[test]
fn words_that_no_other_message_has_are_enough() {
    let code = "fn f() { g(\"the small file cannot be opened\"); g(\"the large file cannot be opened\"); }";
    for (test, expected) in [
        ("contains(\"large file cannot\")", &["small"][..]),
        ("contains(\"cannot be opened\")", &["small", "large"]),
        ("contains(\"of a large file\")", &["small", "large"]),
        ("contains(\"small file\")", &["small", "large"]),
        ("contains(\"the small file\"); contains(\"the large file\")", &[]),
    ] {
        let problems = unreached(code, &format!("fn t() {{ {test}; }}"), "");
        let named = problems.iter().map(|problem| if problem.contains("the small file") { "small" } else { "large" });
        assert_eq!(named.collect::<Vec<_>>(), expected, "{test}: {problems:?}");
    }
}

#[test]
fn tests_within_the_crate_count_and_its_other_texts_do_not() {
    let message = "fn f() { g(\"the file cannot be opened now\"); }";
    let test = "#[cfg(test)] mod tests { #[test] fn t() { assert!(x.contains(\"cannot be opened\")); } }";
    assert_eq!(unreached(&format!("{message} {test}"), "", ""), Vec::<String>::new());
    assert_eq!(unreached(&format!("{message} fn h() {{ x.expect(\"cannot be opened\"); }}"), "", "").len(), 1);
}

#[test]
fn the_list_has_a_reason_for_each_entry_and_nothing_else() {
    let code = "fn f() { g(\"the file cannot be opened now\"); }";
    let test = "#[test] fn opens() {}";
    for (reason, problem) in [
        ("cannot: no system does that", None),
        ("not yet: a file that is in use", Some("\"not yet: a file that is in use\" is no reason")),
        ("by tests/tests/one.rs::opens", None),
        ("by tests/tests/one.rs::closes", Some("there is no test tests/tests/one.rs::closes")),
        ("by tests/tests/two.rs", Some("there is no test tests/tests/two.rs")),
        ("later", Some("\"later\" is no reason")),
    ] {
        let list = format!("# A comment.\nsmall/src/lib.rs | the file cannot | {reason}\n");
        let problems = unreached(code, test, &list);
        let is_right = |problem: &str| problems.len() == 1 && problems[0].starts_with(problem);
        assert!(problem.map_or(problems.is_empty(), is_right), "{reason}: {problems:?}");
    }
    let stale = unreached("", test, "small/src/lib.rs | the file cannot | cannot: it is gone\n");
    assert!(stale.len() == 1 && stale[0].contains("delete this line"), "{stale:?}");
}

#[test]
fn recorded_files_are_expectations() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package is a member");
    let mut expectations = Expectations::default();
    expectations.add_files(&root.join("bisect-rt/tests/ui")).unwrap();
    let code = "fn f() { g(\"variadic arguments cannot be passed on, and a gate has no use for them\"); }";
    let tree = Tree::from_texts(&[("small/src/lib.rs", code)]);
    let messages = messages::of_crate(&tree, &Crate::read_all(&tree, HOUSE)[0]);
    assert!(expectations.unreached(&messages).is_empty());
}
