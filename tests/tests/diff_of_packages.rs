//! `--diff` with patches of manifests, build scripts, new packages, renamed files and large hunks.
#![cfg(unix)]

use std::fs;

use bisect_tests::harness::{Running, wait_until};

use crate::{
    diff::{Place, names},
    resume::runs,
};

const MANIFEST: &str = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
const TESTS: &str =
    "\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn sums() {\n        assert_eq!(super::total(), 30);\n    }\n}\n";

/// Returns a package whose library has this code before its test.
fn package(code: &str) -> Place {
    let place = Place::new();
    place.repository.write("Cargo.toml", &format!("{MANIFEST}\n[workspace]\n"));
    place.repository.write("src/lib.rs", &(code.to_owned() + TESTS));
    // Each run would make a lock file.
    place.repository.write(".gitignore", "Cargo.lock\n");
    place.repository.commit("old");
    place
}

fn library(place: &Place, code: &str) {
    place.repository.write("src/lib.rs", &(code.to_owned() + TESTS));
}

const OLD: &str = "pub fn total() -> u32 {\n    price() + tax()\n}\n\nfn price() -> u32 {\n    25\n}\n\nfn tax() -> u32 {\n    5\n}\n";

#[test]
#[ignore = "slow: CI runs it"]
fn a_renamed_file_with_edits_has_one_bad_edit() {
    let place =
        package(&OLD.replace("pub fn total", "mod words;\n\npub fn total").replace("    5\n", "    words::five()\n"));
    let module = |five: u8, six: u8| {
        let filler = (0..20).fold(String::new(), |all, n| format!("{all}pub fn filler{n}() {{}}\n\n"));
        format!("pub fn five() -> u32 {{\n    {five}\n}}\n\n{filler}pub fn six() -> u32 {{\n    {six}\n}}\n")
    };
    place.repository.write("src/words.rs", &module(5, 6));
    place.repository.commit("old");
    place.repository.git(&["mv", "src/words.rs", "src/numbers.rs"]);
    place.repository.write("src/numbers.rs", &module(7, 8));
    library(
        &place,
        &OLD.replace("pub fn total", "mod numbers;\n\npub fn total").replace("    5\n", "    numbers::five()\n"),
    );
    let finished = place.search(&["test", "--diff"]).expect_status(0);
    assert_eq!(names(&finished), [["fn five@src/numbers.rs:2"]], "{finished}");
    let unresolved = finished.events_of("trial").iter().filter(|trial| trial["outcome"] == "unresolved").count();
    assert_eq!(unresolved, 0, "{finished}");
    assert!(!place.patch(1).contains("rename"), "{}", place.patch(1));
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_new_package_comes_with_its_manifest_and_the_line_that_names_it() {
    let place = package(OLD);
    place
        .repository
        .write("Cargo.toml", &format!("{MANIFEST}\n[dependencies]\nrates = {{ path = \"rates\" }}\n\n[workspace]\n"));
    place.repository.write("rates/Cargo.toml", &MANIFEST.replace("shop", "rates"));
    place.repository.write("rates/src/lib.rs", "pub fn vat() -> u32 {\n    6\n}\n");
    place.repository.write("README", "new\n");
    library(&place, &OLD.replace("    5\n", "    rates::vat()\n").replace("    25\n", "    20 + 5\n"));
    let finished = place.search(&["test", "--diff"]).expect_status(0);
    let found = names(&finished);
    assert!(found.len() == 1 && found[0].contains(&"fn tax@src/lib.rs:10".to_owned()), "{finished}");
    let patch = place.patch(1);
    for (text, is_there) in [
        ("rates::vat()", true),
        ("rates/Cargo.toml", true),
        ("rates/src/lib.rs", true),
        ("20 + 5", false),
        ("README", false),
    ] {
        assert_eq!(patch.contains(text), is_there, "{text}: {patch}");
    }
}

#[test]
fn hunks_that_need_the_culprit_are_left_out_of_the_line_that_passes() {
    let place = package(OLD);
    let manifest = format!("{MANIFEST}\n[workspace]\n\n[features]\nwide = []\ndefault = []\n");
    place.repository.write("Cargo.toml", &manifest);
    library(
        &place,
        &format!(
            "pub fn label() -> u8 {{\n    1\n}}\n\n{}",
            OLD.replace("    5\n", "    if cfg!(feature = \"wide\") { 6 } else { 5 }\n")
        ),
    );
    place.repository.commit("older");
    place.repository.write("Cargo.toml", &manifest.replace("default = []", "default = [\"wide\"]"));
    let code = fs::read_to_string(place.dir().join("src/lib.rs")).unwrap();
    // It compiles only with the feature.
    let needs = "#[cfg(not(feature = \"wide\"))]\ncompile_error!(\"it needs `wide`\");\n\n";
    place.repository.write("src/lib.rs", &format!("{needs}{code}"));
    let finished = place.search_and_paste(&["test", "--diff"]).expect_status(0);
    let [culprit] = &names(&finished)[..] else { panic!("{finished}") };
    assert!(culprit[0].contains("Cargo.toml"), "{finished}");
    let others = place.scratch.dir().join("out/inputs/culprit-1-others.patch");
    let left = fs::read_to_string(others).unwrap();
    assert_eq!(left, "", "the run of everything else left out the hunk that needs the culprit");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_new_build_script_comes_with_the_code_that_needs_it() {
    let place = package(OLD);
    place.repository.write("build.rs", "fn main() {\n    println!(\"cargo:rustc-env=RATE=6\");\n}\n");
    place.repository.write("README", "new\n");
    let rate = "    env!(\"RATE\").parse().unwrap()\n";
    library(&place, &OLD.replace("    5\n", rate).replace("    25\n", "    20 + 5\n"));
    let finished = place.search(&["test", "--diff"]).expect_status(0);
    let found = names(&finished);
    assert!(found.len() == 1 && found[0].contains(&"fn tax@src/lib.rs:10".to_owned()), "{finished}");
    let patch = place.patch(1);
    assert!(patch.contains("build.rs") && !patch.contains("20 + 5") && !patch.contains("README"), "{patch}");
}

/// Each half of the rewrite fails alone, and both together pass.
#[test]
#[ignore = "slow: CI runs it"]
fn halves_of_a_rewritten_function_are_not_blamed() {
    let code = |net: u32, more: u32, tax: u32| {
        format!(
            "pub fn total() -> u32 {{\n    price() + tax()\n}}\n\n\
             fn price() -> u32 {{\n    let net = {net};\n    let unit = 1;\n    net * unit + {more}\n}}\n\n\
             fn tax() -> u32 {{\n    {tax}\n}}\n"
        )
    };
    let place = package(&code(20, 5, 5));
    library(&place, &code(10, 15, 6));
    let finished = place.search(&["test", "--diff"]).expect_status(0);
    assert_eq!(names(&finished), [["fn tax@src/lib.rs:12"]], "{finished}");
    place.repository.git(&["apply", "../out/culprit-1-undo.patch"]);
    assert_eq!(fs::read_to_string(place.dir().join("src/lib.rs")).unwrap(), code(10, 15, 5) + TESTS);
}

/// The halves are in two functions, so they are culprits. But undoing the last culprit alone repairs the new version.
#[test]
#[ignore = "slow: CI runs it"]
fn the_decisive_one_of_several_culprits_is_named() {
    let code = |net: u32, more: u32, tax: u32| {
        let function = |name: &str, value: u32| format!("fn {name}() -> u32 {{\n    {value}\n}}\n\n");
        let total = "pub fn total() -> u32 {\n    net() + more() + tax()\n}\n\n";
        [total.to_owned(), function("net", net), function("more", more), function("tax", tax)].concat()
    };
    let place = package(&code(20, 5, 5));
    library(&place, &code(10, 15, 6));
    let finished = place.search(&["test", "--diff"]).expect_status(0);
    let all = [["fn net@src/lib.rs:6"], ["fn more@src/lib.rs:10"], ["fn tax@src/lib.rs:14"]];
    assert_eq!(names(&finished), all, "{finished}");
    let end = finished.events_of("end").remove(0);
    finished.expect_message(&["with everything except culprit 2", "with everything except culprit 3"]);
    let words = "the new version passes if only culprit 3 is undone, so culprits 1 and 2 make the target fail only in \
                 mixtures of both versions";
    assert!(end["message"].as_str().unwrap().ends_with(words), "{end}");
    // Two bugs: undoing one of them is not enough.
    library(&place, &code(21, 6, 5));
    let finished = place.search(&["test", "--diff"]).expect_status(0);
    assert_eq!(names(&finished), all[..2], "{finished}");
    let end = finished.events_of("end").remove(0);
    assert_eq!(end["message"], "found 2 culprits; with everything else the target passes");
    assert_eq!(end["runs"].as_u64(), Some(runs(&place.scratch.dir().join("out")).iter().sum::<usize>() as u64));
}

#[test]
#[ignore = "slow: CI runs it"]
fn within_a_large_hunk_the_bad_line_is_found() {
    // The sum of the lines is 30.
    let code = |line: &dyn Fn(u32) -> String| {
        let lines: String = (0..20).map(line).collect();
        format!("pub fn total() -> u32 {{\n    let mut sum = 10;\n{lines}    sum\n}}\n")
    };
    let place = package(&code(&|n| format!("    sum += 1 + {n} - {n};\n")));
    library(&place, &code(&|n| format!("    sum += 2 + {n} - {};\n", if n == 13 { n } else { n + 1 })));
    place.repository.write("README", "new\n");
    let finished = place.search(&["test", "--diff"]).expect_status(0);
    assert_eq!(names(&finished), [["fn total@src/lib.rs:3"], ["fn total@src/lib.rs:16"]], "{finished}");
    let found = finished.events_of("found");
    assert_eq!((&found[0]["within"], &found[1]["within"]), (&serde_json::Value::Null, &1.into()), "{finished}");
    finished.expect_message(&["in 2 files, between HEAD", "in 1 file, between the working files without the culprit"]);
    let patch = place.patch(2);
    assert!(patch.contains("-    sum += 1 + 13 - 13;\n+    sum += 2 + 13 - 13;\n"), "{patch}");
    assert_eq!(patch.matches("\n+    ").count(), 1, "{patch}");
    assert!(patch.starts_with("Apply this patch to the working files without the culprit: "), "{patch}");
    let reproduce = found[1]["reproduce"].as_str().unwrap().to_owned();
    assert_eq!(place.shell(&reproduce).status, Some(101), "{reproduce}");
    // It undoes the bad line only.
    place.repository.git(&["apply", "../out/culprit-2-undo.patch"]);
    let undone = fs::read_to_string(place.dir().join("src/lib.rs")).unwrap();
    assert_eq!(undone.matches("sum += 1 +").count(), 1, "{undone}");
    assert!(undone.contains("    sum += 1 + 13 - 13;\n"), "{undone}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_large_hunk_whose_lines_only_compile_together_is_not_searched_again() {
    let code = |name: &str, first: u32| {
        let lines = (0..12).fold(String::new(), |all, n| format!("{all}    let {name}{} = {name}{n} + 1;\n", n + 1));
        format!("pub fn total() -> u32 {{\n    let {name}0 = {first};\n{lines}    {name}12\n}}\n")
    };
    let place = package(&code("old", 18));
    library(&place, &code("new", 19));
    place.repository.write("README", "new\n");
    let finished = place.search(&["test", "--diff"]).expect_status(0);
    assert_eq!(names(&finished), [["fn total@src/lib.rs:2"]], "{finished}");
    assert_eq!(finished.stderr.matches("bisecting ").count(), 1, "{finished}");
    finished.expect_message(&[
        "checking which of the 14 hunks of the culprit need each other to compile",
        "the culprit is not searched further: more than half of its lines only compile together",
    ]);
}

/// The old function fails without its `return`, too: so the search must not divide it from the lines that replace it.
#[test]
#[ignore = "slow: CI runs it"]
fn within_a_rewritten_function_no_removed_line_is_to_blame() {
    let code = |step: u32, body: &str| {
        let others = (0..12).fold(String::new(), |all, n| format!("{all}        let _a{n} = {step} + {n} - {n};\n"));
        let end = "    }\n    0\n}\n\npub fn tax() -> u32 {\n    5\n}\n";
        format!("pub fn total() -> u32 {{\n    if tax() == 5 {{\n{others}{body}{end}")
    };
    let old = [
        "        let price = match tax() {",
        "            5 => 30,",
        "            _ => panic!(\"no such tax\"),",
        "        };",
        "        return price;\n",
    ];
    let new = [
        "        return match &[tax(), 1] {",
        "            [5, 1] => 20 + 9,",
        "            _ => panic!(\"no such tax!\"),",
        "        }\n",
    ];
    let place = package(&code(1, &old.join("\n")));
    library(&place, &code(2, &new.join("\n")));
    place.repository.write("README", "new\n");
    let finished = place.search(&["test", "--diff"]).expect_status(0);
    assert_eq!(names(&finished), [["fn total@src/lib.rs:3"], ["fn total@src/lib.rs:15"]], "{finished}");
    let patch = place.patch(2);
    assert!(
        patch.contains("-        return price;\n") && patch.contains("+            [5, 1] => 20 + 9,\n"),
        "{patch}"
    );
    assert!(!patch.contains("+        let _a"), "{patch}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn an_interrupt_while_hunks_are_checked_leaves_nothing() {
    let place = package(OLD);
    let started = place.scratch.dir().join("started");
    // The build script blocks in the first check, which has another target directory than the two runs before it.
    let script = format!(
        "fn main() {{\n    let out = std::env::var(\"OUT_DIR\").unwrap();\n    let directory = out.split(\"/debug/\").next().unwrap();\n    \
         let known = {started:?}.to_owned() + \".first\";\n    match std::fs::read_to_string(&known) {{\n        \
         Err(_) => std::fs::write(known, directory).unwrap(),\n        Ok(first) if first == directory => {{}}\n        \
         Ok(_) => {{\n            std::fs::write({started:?}, \"\").unwrap();\n            loop {{\n                std::thread::park();\n            }}\n        }}\n    }}\n}}\n"
    );
    place.repository.write("build.rs", &script);
    place.repository.commit("old");
    library(&place, &OLD.replace("    5\n", "    6\n").replace("    25\n", "    20 + 5\n"));
    let before = place.repository.state();
    let mut command = place.command(&["test", "--diff"]);
    let running = Running::start(std::os::unix::process::CommandExt::process_group(&mut command, 0));
    wait_until("the first check starts", || started.exists());
    running.signal("INT");
    let finished = running.finish().expect_status(130);
    // The first run is only judged after the checks.
    assert!(finished.events_of("trial").is_empty(), "{finished}");
    assert_eq!(place.repository.state(), before);
    assert_eq!(place.leftovers(), 0);
}

/// A test target that a patch adds is not there without its hunk, so nothing fails then.
#[test]
#[ignore = "slow: CI runs it"]
fn a_test_target_that_the_patch_adds() {
    let place = package(OLD);
    let tests = "#[test]\nfn totals() {\n    assert_eq!(shop::total(), 30);\n}\n";
    place.repository.write("tests/totals.rs", tests);
    place.repository.write("README", "new\n");
    library(&place, &OLD.replace("    25\n", "    20 + 5\n").replace("    5\n", "    6\n"));
    for words in [&["--test", "totals"][..], &["totals"]] {
        let finished = place.search(&[&["test", "--diff", "HEAD"], words].concat()).expect_status(0);
        assert_eq!(
            names(&finished),
            [["fn tax@src/lib.rs:10", "new file tests/totals.rs@tests/totals.rs"]],
            "{finished}"
        );
        let trials = finished.events_of("trial");
        assert!(trials.iter().all(|trial| trial["outcome"] != "unresolved"), "{finished}");
    }
    // With all hunks, a name that is not there is a mistake.
    for (words, error) in [
        (["--test", "sums"], "no test target named `sums`"),
        (["--bin", "sums"], "no bin target named `sums`"),
        (["-p", "shpo"], "package ID specification `shpo` did not match any packages"),
    ] {
        let finished = place.search(&[&["test", "--diff"][..], &words].concat()).expect_status(3);
        finished.expect_message(&[
            "correct the name of the package or the target: with every change enabled, cargo does not find it: ",
            error,
        ]);
        assert!(!finished.stderr.contains("search with `build`"), "{finished}");
    }
    // `cargo check` of a target that is not there has no error, either.
    place.repository.write("tests/totals.rs", &tests.replace("30", "shop::TOTAL"));
    let finished = place.search(&["check", "--diff", "--test", "totals"]).expect_status(0);
    assert_eq!(names(&finished), [["new file tests/totals.rs@tests/totals.rs"]], "{finished}");
}

/// A package that a patch adds is not there without it.
#[test]
#[ignore = "slow: CI runs it"]
fn a_test_of_a_package_that_the_patch_adds() {
    let place = package(OLD);
    place.repository.write("Cargo.toml", &format!("{MANIFEST}\n[workspace]\nmembers = [\"rates\"]\n"));
    place.repository.write("rates/Cargo.toml", &MANIFEST.replace("shop", "rates"));
    place.repository.write("README", "new\n");
    place
        .repository
        .write("rates/src/lib.rs", &format!("pub fn vat() -> u32 {{\n    6\n}}\n{TESTS}").replace("total", "vat"));
    let finished = place.search(&["test", "--diff", "-p", "rates"]).expect_status(0);
    // The files of the package make no difference without the line that names it.
    assert_eq!(names(&finished), [["@Cargo.toml:7"]], "{finished}");
    assert!(place.patch(1).contains("+    6\n"), "{finished}");
    let trials = finished.events_of("trial");
    assert!(trials.iter().all(|trial| trial["outcome"] != "unresolved"), "{finished}");
}

/// The manifest names a package beside the repository, so a relative path must lead there from a worktree, too.
#[test]
#[ignore = "slow: CI runs it"]
fn a_dependency_outside_of_the_repository_is_found() {
    let place = Place::new();
    let package = |name: &str, more: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{more}")
    };
    fs::create_dir_all(place.scratch.dir().join("beside/low/src")).unwrap();
    place.scratch.write("beside/low/Cargo.toml", &package("low", "[workspace]\n"));
    place.scratch.write("beside/low/src/lib.rs", "pub fn seven() -> u32 {\n    7\n}\n");
    let manifest = package("shop", "[workspace]\n[dependencies]\nlow = { path = \"../beside/low\" }\n");
    let library = |price: &str, tax: u8| {
        format!(
            "pub fn price() -> u32 {{\n    {price}\n}}\n\npub fn tax() -> u32 {{\n    {tax}\n}}\n\n\
             #[test]\nfn costs() {{\n    assert_eq!(price(), 7);\n}}\n"
        )
    };
    place.repository.write("Cargo.toml", &manifest);
    place.repository.write("src/lib.rs", &library("low::seven()", 1));
    let good = place.repository.commit("old");
    place.repository.write("src/lib.rs", &library("low::seven() + 1", 2));
    let finished = place.search(&["test", "--diff"]).expect_status(0);
    let found = &finished.events_of("found")[0];
    assert_eq!(found["changes"][0]["name"], "fn price", "{finished}");
    place.paste(found["reproduce"].as_str().unwrap(), 101);
    assert_eq!(place.leftovers(), 0, "{finished}");
    place.repository.commit("new");
    let finished = place.search(&["test", "--commits", &format!("{good}..")]).expect_status(0);
    assert_eq!(finished.events_of("found").len(), 1, "{finished}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_test_of_the_same_name_that_always_fails_is_not_run_again() {
    let place = Place::new();
    place.repository.write("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\nresolver = \"2\"\n");
    let member = |name: &str, code: &str| {
        place.repository.write(&format!("{name}/Cargo.toml"), &MANIFEST.replace("shop", name));
        place.repository.write(&format!("{name}/src/lib.rs"), code);
    };
    let one = |value: u8| {
        format!("pub fn one() -> u8 {{\n    {value}\n}}\n\n#[test]\nfn t() {{\n    assert_eq!(one(), 1);\n}}\n")
    };
    member("a", "#[test]\nfn t() {\n    panic!();\n}\n");
    member("b", &one(1));
    place.repository.write(".gitignore", "Cargo.lock\n");
    place.repository.commit("old");
    member("b", &one(2));
    let finished = place.search(&["test", "--diff"]).expect_status(0);
    assert_eq!(names(&finished), [["fn one@b/src/lib.rs:2"]], "{finished}");
    for (line, status) in [("reproduce", 101), ("passes", 0)] {
        place.paste(finished.events_of("found")[0][line].as_str().unwrap(), status);
    }
}
