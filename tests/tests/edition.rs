//! "It works in edition 2021 and fails in 2024", and the reverse: each case of the fixture `editions`, down to the
//! expression, the line that reproduces it, and the crates that are compiled for it.
#![cfg(unix)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use bisect_tests::{
    counting::{Compiled, Counting},
    edition_cases::{Case, Expression, cases},
    harness::{Finished, Fixture, RustcDriver, Scratch, expect, run, rustc_driver},
};
use serde_json::Value;

/// The crates of the fixture, by the edition that they are written in.
const MEMBERS: [(&str, &[&str]); 2] =
    [("2021", &["desk", "hotel", "journal", "rooms"]), ("2024", &["cellar", "kitchen"])];

/// Returns a search with a compiler that notes its compilations, both as `bisect-rustc` and as any other.
fn search(fixture: &Fixture, compiler: &RustcDriver, counting: &Counting, arguments: &[String]) -> Command {
    let mut command = fixture.driver(arguments);
    command.env("RUSTC", &compiler.rustc).arg("--json");
    command.arg("--bisect-rustc").arg(counting.compiler(&compiler.driver));
    // The user's own wrapper compiles the crates that the driver does not.
    counting.set(&mut command);
    command
}

/// Checks the answer, and returns a summary.
fn check(case: &Case, finished: &Finished, compiled: &Compiled) -> Result<String, String> {
    expect(finished.status == Some(0), || "another status".to_owned())?;
    let (ends, found) = (finished.events_of("end"), finished.events_of("found"));
    let is_last = ends.len() == 1 && finished.events().last() == ends.first();
    expect(is_last, || "one end, and nothing behind it".to_owned())?;
    expect((&ends[0]["status"], &ends[0]["sets"]) == (&0.into(), &1.into()), || format!("{}", ends[0]))?;
    let [found] = &found[..] else { return Err(format!("{} culprits", found.len())) };
    expect(found["confirmed"] == true && found["mode"] == "enable", || format!("{found}"))?;
    expect(found["tests"] == Value::from(vec![case.test.clone()]), || format!("another test: {}", found["tests"]))?;
    let changes = found["changes"].as_array().map(Vec::as_slice).unwrap_or_default();
    expect(changes.iter().all(|change| change["kind"] == "expression"), || format!("another kind: {changes:?}"))?;
    let named: BTreeSet<_> = changes.iter().map(expression).collect();
    let expected: BTreeSet<_> = case.expressions.iter().cloned().collect();
    expect(named == expected, || format!("{named:#?}, not {expected:#?}"))?;
    let line = found["reproduce"].as_str().unwrap_or_default();
    let told: Vec<_> = line.match_indices("BISECT_RUSTC_").map(|(at, name)| &line[at + name.len()..]).collect();
    let package = case.package();
    let is_short = told.len() == 1 && told[0].starts_with(&format!("{package}_0_1_0="));
    expect(is_short, || format!("not only {package} is told something by {line}"))?;

    // The number of compilations of the library that contains the culprits is counted, from the first build to the
    // last.
    let changes = finished.events_of("trial")[0]["matches"].as_u64().and_then(|count| usize::try_from(count).ok());
    let changes = changes.unwrap_or_default();
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    // The bound is the number of bits that identify the culprits among all sets of their size, and a few more. Both lines
    // for pasting compile it once.
    let factors = (0..expected.len()).map(|i| (number(changes) - number(i)) / number(i + 1));
    let at_most = factors.product::<f64>().log2() + 6.0 + 2.0;
    let builds = compiled.target.get(package).copied().unwrap_or_default();
    let is_quick = builds > 1 && number(builds) <= at_most;
    expect(is_quick, || format!("more than {at_most} builds of {package} for {changes} expressions: {compiled:?}"))?;
    Ok(format!("{changes} expressions, {} trials, {builds} builds of {package}", ends[0]["trials"]))
}

fn expression(change: &Value) -> Expression {
    let number = |key: &str| change[key].as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or_default();
    let text = |key: &str| change[key].as_str().unwrap_or_default().to_owned();
    Expression { file: text("file"), line: number("line"), column: number("column"), form: text("name") }
}

/// Returns the command that runs a line as a user would paste it.
fn paste(fixture: &Fixture, line: &str, compiler: &RustcDriver) -> Command {
    let mut shell = fixture.shell(line, Path::new("/"));
    shell.env("RUSTC", &compiler.rustc);
    shell
}

/// Searches a case to its end.
fn search_case(test: &str) {
    let Some(compiler) = rustc_driver() else { return };
    let fixture = Fixture::new("editions");
    let case = cases(fixture.dir()).into_iter().find(|case| case.test == test).expect("the table has the case");
    let (scratch, counting) = (Scratch::new(), Counting::new());
    let mut command = search(&fixture, &compiler, &counting, &case.arguments());
    let finished = run(command.arg("--out").arg(scratch.dir().join("out")));
    let answer = check(&case, &finished, &counting.take()).and_then(|answer| {
        let line = finished.events_of("found")[0]["reproduce"].as_str().unwrap_or_default().to_owned();
        let paste = |line: &str| run(paste(&fixture, line, &compiler).envs([counting.notes()]));
        let line = if case.timeout.is_some() {
            // A test that does not end has no end here either. The limit does not include the build.
            let built = paste(&line.replacen(" -- ", " --no-run -- ", 1));
            expect(built.status == Some(0), || format!("does not build: {line}\n{built}"))?;
            format!("timeout 5 sh -c {}", quoted(&line))
        } else {
            line
        };
        let pasted = paste(&line);
        let is_started = pasted.stdout.contains("running 1 test\n");
        expect(is_started && pasted.status != Some(0), || format!("does not reproduce it: {line}\n{pasted}"))?;
        Ok(answer)
    });
    println!("{}", answer.unwrap_or_else(|why| panic!("{why}\n{finished}")));
}

/// Defines a test for each case, so that a failing one hides no other.
macro_rules! tests_of_cases {
    ($($name:ident)*) => {
        mod is_explained_by_its_expressions {
            $(#[test]
            fn $name() {
                super::search_case(stringify!($name));
            })*
        }
    };
}

// Searches that differ for the driver: a macro, two expressions of one culprit, another gate, a crate of edition 2024
// and a time limit, a chain that edition 2021 does not have. The tests below search cases with a tail and with macros
// of another crate, and compare all cases with what `bisect-rustc` reports and with the tests' results.
tests_of_cases! {
    a_patient_guest_waits_for_a_room
    somebody_comes_when_it_rings
    the_shelf_is_filled_when_all_is_listed
    there_is_always_soup
    a_bottle_that_goes_with_a_dish_is_promised
}

#[test]
fn what_macros_write_in_other_crates_is_known_when_nothing_there_is_compiled_again() {
    let Some(compiler) = rustc_driver() else { return };
    let fixture = Fixture::new("editions");
    let target = Scratch::new();
    let cases: Vec<_> = cases(fixture.dir()).into_iter().filter(|case| case.package() == "journal").collect();
    let [in_a_library, in_tests] = &cases[..] else { panic!("{cases:?}") };
    // The second search uses the target directory of the first one, so its first build already exists.
    for case in [in_a_library, in_tests] {
        let (scratch, counting) = (Scratch::new(), Counting::new());
        let mut command = search(&fixture, &compiler, &counting, &case.arguments());
        command.arg("--out").arg(scratch.dir().join("out")).env("CARGO_TARGET_DIR", target.dir());
        let finished = run(&mut command);
        check(case, &finished, &counting.take()).unwrap_or_else(|why| panic!("{}: {why}\n{finished}", case.test));
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Runs the tests of the fixture with these variables for its crates, and returns true for those that pass. One test
/// never ends, so it is skipped.
fn results(fixture: &Fixture, compiler: &Path, variables: &BTreeMap<String, String>) -> BTreeMap<String, bool> {
    results_and_reports(fixture, compiler, variables).0
}

/// Returns the text on standard error as well, which contains the reports.
fn results_and_reports(
    fixture: &Fixture,
    compiler: &Path,
    variables: &BTreeMap<String, String>,
) -> (BTreeMap<String, bool>, String) {
    let mut command = fixture.cargo(["test", "--no-fail-fast", "--package=hotel", "--tests", "--"]);
    command.args(["--skip", "there_is_always_soup"]).env("RUSTC", compiler).envs(variables);
    // Cargo takes two compilers with the same version for one compiler.
    let target_dir = fixture.target_dir_for(&compiler.file_name().expect("it is a file").to_string_lossy());
    let finished = run(command.env("CARGO_TARGET_DIR", target_dir));
    let results = finished.test_results();
    assert!(!results.is_empty(), "{finished}");
    assert!(!finished.stderr.contains("warning:"), "{finished}");
    (results, finished.stderr)
}

/// Returns true if one of the reports names this expression.
fn is_reported(reports: &str, Expression { file, line, column, form }: &Expression) -> bool {
    let place = format!("{file}:{line}:{column} ");
    let mut lines = reports.lines().skip_while(|line| !line.starts_with(&place)).skip(1);
    // All kinds of syntax have a space in their names, so they are quoted.
    lines.by_ref().take_while(|line| line.starts_with(' ')).any(|line| line.contains(&format!("expression={form:?} ")))
}

/// Changes the edition of crates.
fn rewrite(fixture: &Fixture, members: &[&str], from: &str, to: &str) {
    for member in members {
        let path = format!("{member}/Cargo.toml");
        let manifest = fs::read_to_string(fixture.dir().join(&path)).expect("a member has a manifest");
        let [from, to] = [from, to].map(|edition| format!("edition = \"{edition}\""));
        assert!(manifest.contains(&from), "{path} has no {from}");
        fixture.write(&path, &manifest.replace(&from, &to));
    }
}

#[test]
fn with_every_change_a_crate_does_what_it_does_in_the_other_edition() {
    let Some(RustcDriver { driver, rustc }) = rustc_driver() else { return };
    let fixture = Fixture::new("editions");
    let cases = cases(fixture.dir());
    let as_written = results(&fixture, &rustc, &BTreeMap::new());
    assert!(as_written.len() >= cases.len() && as_written.values().all(|&passes| passes), "{as_written:?}");
    for (own, members) in MEMBERS {
        // The cellar contains code that edition 2021 does not accept.
        let members: Vec<_> = members.iter().copied().filter(|&member| member != "cellar").collect();
        let other = if own == "2021" { "2024" } else { "2021" };
        let told = |state: &str| {
            let value = ["drops", "into-iter", "never-type"].map(|gate| format!("{gate}={state}")).join(";");
            let variable = |member| (format!("BISECT_RUSTC_{member}_0_1_0"), value.clone());
            members.iter().map(variable).collect::<BTreeMap<_, _>>()
        };
        assert_eq!(results(&fixture, &driver, &told("off")), as_written, "no change, {own}");
        let (with_every_change, reports) = results_and_reports(&fixture, &driver, &told("vy"));
        rewrite(&fixture, &members, own, other);
        assert_eq!(with_every_change, results(&fixture, &rustc, &BTreeMap::new()), "as edition {other}");
        rewrite(&fixture, &members, other, own);
        // The results and the reports must also agree with the table.
        for case in cases.iter().filter(|case| members.contains(&case.package())) {
            let missing: Vec<_> = case.expressions.iter().filter(|it| !is_reported(&reports, it)).collect();
            assert!(missing.is_empty(), "{}: {missing:?} is not in {reports}", case.test);
        }
        let is_broken = |test: &String| {
            let is_meant = |case: &&Case| case.edition == other && case.test == *test;
            cases.iter().find(is_meant).is_some_and(|case| case.package() != "cellar")
        };
        for (test, passes) in with_every_change {
            assert_eq!(passes, !is_broken(&test), "{test} in edition {other}");
        }
    }
}

#[test]
fn only_what_was_decided_otherwise_is_compiled_again_and_what_depends_on_it() {
    let Some(bisect_rustc) = rustc_driver() else { return };
    let fixture = Fixture::new("editions");
    let (scratch, counting) = (Scratch::new(), Counting::new());
    let case = cases(fixture.dir()).into_iter().find(|case| case.package() == "rooms").expect("one is in there");
    let mut command = search(&fixture, &bisect_rustc, &counting, &case.arguments());
    let finished = run(command.arg("--out").arg(scratch.dir().join("out"))).expect_status(0);
    let first = counting.take();
    check(&case, &finished, &first).unwrap_or_else(|why| panic!("{why}\n{finished}"));
    let runs = finished.events_of("end")[0]["runs"].as_u64().and_then(|runs| usize::try_from(runs).ok()).unwrap();
    // The search soon knows if a change is in the journal, and then the journal no longer varies.
    assert!(
        first.target["journal"] < first.target["rooms"] && first.target["rooms"] <= runs,
        "{first:?} in {runs} runs"
    );
    let line = finished.events_of("found")[0]["reproduce"].as_str().unwrap().to_owned();
    let compiled = |line: &str| {
        let pasted = run(&mut paste(&fixture, line, &bisect_rustc));
        assert!(pasted.stdout.contains("running 1 test\n"), "{pasted}");
        let compiled = |line: &str| line.trim().strip_prefix("Compiling ")?.split(' ').next().map(str::to_owned);
        pasted.stderr.lines().filter_map(compiled).collect::<BTreeSet<_>>()
    };
    let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>();
    let _ = compiled(&line);
    assert_eq!(compiled(&line), set(&[]), "nothing is decided otherwise");
    // All others depend on the journal; only the hotel depends on the desk.
    let driver = counting.compiler(&bisect_rustc.driver);
    for (package, expected) in [
        ("journal", &["cellar", "desk", "hotel", "journal", "kitchen", "rooms"][..]),
        ("desk", &["desk", "hotel"]),
        ("hotel", &["hotel"]),
    ] {
        let told = |pattern: &str| {
            let driver =
                format!("export BISECT_CODEGEN_{package}_0_1_0='{{\"bisect_rustc\":\"{}\"}}'", driver.display());
            format!("{driver} BISECT_RUSTC_{package}_0_1_0='drops={pattern}'; {line}")
        };
        for (line, what) in [(told("y"), "all"), (told("n"), "nothing"), (line.clone(), "not by the driver")] {
            assert_eq!(compiled(&line), set(expected), "{package}, {what}: {line}");
        }
    }
}
