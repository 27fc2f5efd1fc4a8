//! Arguments of `--edition`, messages if a search is not possible, and builds that another edition refuses.
#![cfg(unix)]

use std::{collections::BTreeSet, process::Command};

use bisect_tests::{
    counting::Counting,
    edition_cases::{Case, cases},
    harness::{Finished, Fixture, RustcDriver, Scratch, line_of, run, rustc_driver},
};
use serde_json::Value;

/// Returns a search that writes no files into the folder.
fn search(fixture: &Fixture, scratch: &Scratch, arguments: &[&str]) -> Command {
    let mut command = fixture.driver(arguments);
    command.arg("--out").arg(scratch.dir().join("out"));
    command
}

/// Returns a search with `bisect-rustc`.
fn search_with(driver: &RustcDriver, fixture: &Fixture, scratch: &Scratch, arguments: &[&str]) -> Command {
    let mut command = search(fixture, scratch, arguments);
    command.env("RUSTC", &driver.rustc).arg("--bisect-rustc").arg(&driver.driver);
    command
}

/// Returns the places of the changes in each culprit: file, line and column.
fn places(finished: &Finished) -> BTreeSet<Vec<String>> {
    let place = |change: &Value| {
        assert_eq!(change["kind"], "expression", "{change}");
        format!("{}:{}:{}", change["file"].as_str().unwrap(), change["line"], change["column"])
    };
    let places = |found: Value| found["changes"].as_array().unwrap().iter().map(place).collect();
    finished.events_of("found").into_iter().map(places).collect()
}

#[test]
fn a_command_line_that_makes_no_sense_is_refused_before_anything_is_compiled() {
    let fixture = Fixture::new("loans");
    let scratch = Scratch::new();
    for (arguments, facts) in [
        (&["test", "--edition", "2018"][..], &["2018", "2021 or 2024"][..]),
        (&["test", "--edition", "next"], &["next", "2021 or 2024"]),
        (&["test", "--edition"], &["--edition"]),
        (&["test", "--edition=2024", "--codegen"], &["--edition", "--codegen"]),
        (&["test", "--edition=2024", "--toggle=x"], &["--edition", "--toggle"]),
        (&["build", "--edition=2024", "--rustflags=-Zx=PATTERN"], &["--edition", "--rustflags"]),
        (&["test", "--edition=2024", "--edition=2021"], &["--edition"]),
        (&["test", "--edition=2024", "--bisect-rustc=no/such/file"], &["no/such/file", "bisect-rustc"]),
        (&["test", "--edition=2024", "--bisect-rustc=/bin/true"], &["/bin/true", "bisect-rustc"]),
        // The package is already of that edition. This is reported even without a compiler for the search.
        (&["test", "--edition=2024", "-p", "returns"], &["no package", "edition 2021", "returns is of 2024"]),
        (&["check", "--edition=2021", "-ploans"], &["no package", "edition 2024", "loans is of 2021"]),
        (&["exec", "--edition=2024", "true"], &["--edition"]),
    ] {
        let finished = run(&mut search(&fixture, &scratch, arguments));
        assert_eq!(finished.status, Some(2), "{arguments:?}\n{finished}");
        finished.expect_message(facts);
        assert!(!finished.stderr.contains("Compiling") && finished.stdout.is_empty(), "{arguments:?}\n{finished}");
    }
}

#[test]
fn a_named_package_outside_of_the_workspace_is_not_asked_for_again() {
    let fixture = Fixture::new("loans");
    let package = "[package]\nname = \"words\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    fixture.write("elsewhere/words/Cargo.toml", package);
    fixture.write("elsewhere/words/src/lib.rs", "");
    let manifest = std::fs::read_to_string(fixture.dir().join("loans/Cargo.toml")).unwrap();
    fixture.write("loans/Cargo.toml", &format!("{manifest}[dependencies]\nwords.path = \"../elsewhere/words\"\n"));
    std::fs::remove_dir_all(fixture.dir().join("returns")).unwrap();
    fixture.write("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"loans\"]\nexclude = [\"elsewhere\"]\n[workspace.package]\nversion = \"0.1.0\"\npublish = false\n");
    let scratch = Scratch::new();
    for name in ["words", "words@0.1.0"] {
        let finished = run(&mut search(&fixture, &scratch, &["check", "--edition=2021", "-p", name]));
        finished.expect_status(2).expect_message(&["words 0.1.0 is not in the workspace", "`[patch]`"]);
    }
}

#[test]
fn without_a_compiler_that_can_do_it_one_line_says_how_to_get_it() {
    let fixture = Fixture::new("loans");
    let scratch = Scratch::new();
    for command in ["test", "build", "check"] {
        let finished = run(&mut search(&fixture, &scratch, &[command, "--edition", "2024", "--json"])).expect_status(3);
        finished.expect_message(&[
            "bisect-rustc",
            "rustup toolchain install 1.96.0 -c rustc-dev",
            "cargo +1.96.0 install",
        ]);
        assert_eq!(finished.stderr.trim_end().lines().count(), 1, "{finished}");
        assert!(finished.stdout.is_empty(), "{finished}");
    }
}

#[test]
fn a_build_that_the_other_edition_refuses_is_explained_by_its_expressions() {
    let Some(driver) = rustc_driver() else { return };
    let fixture = Fixture::new("loans");
    let at = |file: &str, mark: &str, column: usize| {
        vec![format!("{file}:{}:{column}", line_of(fixture.dir(), file, mark) + 1)]
    };
    let (loans, returns) = ("loans/src/lib.rs", "returns/src/lib.rs");
    // Each is refused alone.
    let expected_2024 = [
        at(loans, "// case: refused in 2024", 23),
        at(loans, "// case: refused in 2024, and nothing is dropped", 23),
        at(loans, "// case: refused in 2024, a type", 29),
    ];
    let expected_2021 =
        [at(returns, "// case: refused in 2021", 5), at(returns, "// case: refused in 2021, a type", 36)];
    for (edition, expected) in [("2024", &expected_2024[..]), ("2021", &expected_2021[..])] {
        for command in ["build", "check"] {
            let scratch = Scratch::new();
            let words = [command, "--edition", edition, "--json"];
            let finished = run(&mut search_with(&driver, &fixture, &scratch, &words)).expect_status(0);
            assert_eq!(places(&finished), expected.iter().cloned().collect(), "{words:?}\n{finished}");
            for found in finished.events_of("found") {
                let mut shell = fixture.shell(found["reproduce"].as_str().unwrap(), scratch.dir());
                shell.env("RUSTC", &driver.rustc);
                let refused = run(shell.env("CARGO_TARGET_DIR", scratch.dir().join("target")));
                let change = &found["changes"][0];
                assert_eq!(refused.status, Some(101), "{found}\n{refused}");
                // If a type is refused, the error may be at a use of the type.
                let file = change["file"].as_str().unwrap();
                let place =
                    if change["name"] == "impl Trait" { file.into() } else { format!("{file}:{}:", change["line"]) };
                refused.expect_message(&["error[E0", &place]);
            }
        }
    }
}

#[test]
fn expressions_that_the_other_edition_refuses_do_not_hide_the_one_that_breaks_a_user_of_the_crate() {
    let Some(driver) = rustc_driver() else { return };
    let fixture = Fixture::new("loans");
    let append = |file: &str, text: &str| {
        let before = std::fs::read_to_string(fixture.dir().join(file)).unwrap();
        fixture.write(file, &format!("{before}{text}"));
    };
    let returns = "returns/src/lib.rs";
    append(
        returns,
        "\npub struct Words<'a>(pub &'a str);\n\nimpl<'a> Words<'a> {\n    // case: refused in another crate\n    pub fn \
         long(&self) -> impl Iterator<Item = &'a str> {\n        let text = self.0;\n        text.split(' ')\n    }\n}\n",
    );
    append("loans/Cargo.toml", "\n[dependencies]\nreturns = { path = \"../returns\" }\n");
    append(
        "loans/src/lib.rs",
        "\npub fn words(text: &str) -> usize {\n    let words = returns::Words(text).long();\n    words.count()\n}\n",
    );
    let line = line_of(fixture.dir(), returns, "// case: refused in another crate") + 1;
    for repaired in [&[][..], &["--repaired"]] {
        let scratch = Scratch::new();
        let words = [&["check", "--edition", "2021", "--json"], repaired].concat();
        let finished = run(&mut search_with(&driver, &fixture, &scratch, &words)).expect_status(0);
        assert_eq!(places(&finished), BTreeSet::from([vec![format!("{returns}:{line}:27")]]), "{finished}");
        finished.expect_message(&["the search goes on for what repairs E0716", "stay as in edition 2024"]);
        let found = &finished.events_of("found")[0];
        assert_eq!(found["mode"], "disable", "{finished}");
        let text = found["changes"][0]["text"].to_string();
        assert!(text.contains("to mend it: `+ use<'a>` in its bounds"), "{finished}");
        for (line, status) in [("reproduce", 101), ("passes", 0)] {
            let mut shell = fixture.shell(found[line].as_str().unwrap(), scratch.dir());
            let pasted = run(shell.env("RUSTC", &driver.rustc)).expect_status(status);
            assert_eq!(pasted.stderr.contains("error[E0716]"), status == 101, "{pasted}");
        }
    }
}

#[test]
fn tests_that_the_other_edition_does_not_compile_are_refused_with_advice() {
    let Some(driver) = rustc_driver() else { return };
    let fixture = Fixture::new("loans");
    let scratch = Scratch::new();
    let words = ["test", "--edition", "2024", "--json"];
    let finished = run(&mut search_with(&driver, &fixture, &scratch, &words)).expect_status(3);
    finished.expect_message(&["does not compile", "cargo bisect-opt build --edition 2024"]);
    let ends = finished.events_of("end");
    assert_eq!((&ends[0]["status"], &ends[0]["sets"]), (&3.into(), &0.into()), "{finished}");

    // Code that does not compile in any edition is not the other edition's fault.
    fixture.write("loans/tests/broken.rs", "use nothing::is_there;\n");
    let finished = run(&mut search_with(&driver, &fixture, &scratch, &words)).expect_status(3);
    finished.expect_message(&["does not compile as it is either", "error[E0432] at loans/tests/broken.rs:1:5"]);
    assert!(!finished.stderr.contains("cargo bisect-opt build"), "{finished}");

    // The changes matter only to the borrow checker, so tests cannot fail.
    drop(fixture);
    let fixture = Fixture::new("loans");
    let words = ["test", "--edition", "2021", "--json"];
    let finished = run(&mut search_with(&driver, &fixture, &scratch, &words)).expect_status(1);
    finished.expect_message(&["as in edition 2021 it still passes. What else the editions differ in"]);
    finished.expect_message(&["4 candidate expressions for edition 2021", "2 matter only to the borrow checker"]);
}

/// Searches a case of the fixture `editions` in two packages, with two builds at once.
#[test]
fn packages_wrappers_and_jobs_are_the_users() {
    let Some(driver) = rustc_driver() else { return };
    let fixture = Fixture::new("editions");
    let (scratch, counting) = (Scratch::new(), Counting::new());
    // One expression needs fewer builds than two.
    let is_short = |case: &Case| case.package() == "desk" && case.expressions.len() == 1;
    let case = cases(fixture.dir()).into_iter().find(is_short).expect("one is there");
    let words =
        ["test", "--edition=2024", "-photel", "-p", "desk", "-j2", "--test", &case.target, &case.test, "--json"];
    let mut command = search_with(&driver, &fixture, &scratch, &words);
    command.env("CARGO_TARGET_DIR", scratch.dir().join("target"));
    let finished = run(counting.set(&mut command)).expect_status(0);
    assert_eq!(finished.events_of("start")[0]["jobs"], 2);
    let expected = case.expressions.iter().map(|it| format!("{}:{}:{}", it.file, it.line, it.column)).collect();
    assert_eq!(places(&finished), BTreeSet::from([expected]), "{finished}");
    // The user's wrapper compiles the packages that are not searched; the driver compiles the others.
    let compiled: Vec<_> = counting.take().target.into_keys().collect();
    assert_eq!(compiled, ["cellar", "journal", "kitchen", "rooms"], "{finished}");
    finished.expect_message(&["with every expression"]);
    for other in ["journal", "rooms"] {
        assert!(!finished.stderr.contains(&format!("{other} is of")), "{other} was not asked for: {finished}");
    }
}
