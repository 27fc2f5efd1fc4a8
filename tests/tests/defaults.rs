//! Defaults of options: from the environment and from manifests, with and without cargo, and in `--resume` and `replay`.
#![cfg(unix)]

use std::{fs, process::Command};

use bisect_tests::harness::{Finished, Scratch, run};
use serde_json::Value;

/// A manifest of a package with these lines in the table of the driver.
fn manifest(name: &str, defaults: &str) -> String {
    format!(
        "[package]\nname = '{name}'\nversion = '0.1.0'\nedition = '2024'\n[package.metadata.bisect-opt]\n{defaults}\n"
    )
}

/// A package of which a script fails with line 3 or line 7 of a list.
fn package(defaults: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("Cargo.toml", &manifest("shop", defaults));
    fs::create_dir_all(scratch.dir().join("src")).unwrap();
    scratch.write("src/lib.rs", "");
    let lines: Vec<_> = (1..=20).map(|n| n.to_string()).collect();
    scratch.write("items", &(lines.join("\n") + "\n"));
    scratch.write("target.sh", "! grep -qxE '3|7' \"$1\"\n");
    scratch
}

fn list(scratch: &Scratch, options: &[&str]) -> Command {
    let mut command = scratch.driver(["list", "--items", "items"]);
    command.args(options).args(["sh", "target.sh", "LIST"]);
    command
}

fn recorded(scratch: &Scratch, out: &str) -> Value {
    serde_json::from_str(&scratch.read(&format!("{out}/result.json"))).unwrap()
}

fn found(finished: &Finished) -> usize {
    finished.events_of("found").len()
}

#[test]
#[ignore = "slow: CI runs it"]
fn each_source_overrides_the_next_one() {
    let scratch = package("json = true\nmax = 2\nlist = { max = 1 }");
    assert_eq!(found(&run(&mut list(&scratch, &[])).expect_status(5)), 1);
    let mut variable = list(&scratch, &[]);
    assert_eq!(found(&run(variable.env("CARGO_BISECT_OPT_MAX", "7")).expect_status(0)), 2);
    assert_eq!(found(&run(variable.env("CARGO_BISECT_OPT_LIST_MAX", "1")).expect_status(5)), 1);
    let mut option = list(&scratch, &["--max=8"]);
    assert_eq!(found(&run(option.env("CARGO_BISECT_OPT_MAX", "1")).expect_status(0)), 2);
    // `--format` excludes the default of `--json`.
    let brief = run(&mut list(&scratch, &["--format=brief", "-v"])).expect_status(5);
    brief.expect_message(&["defaults: --max=1 by `package.metadata.bisect-opt.list.max` in `Cargo.toml`; \
         not used: `json` (`--format` excludes it)"]);
    assert!(!brief.stdout.starts_with('{'), "{brief}");
    let none = run(&mut list(&scratch, &["--no-defaults"])).expect_status(0);
    none.expect_message(&["found 2 culprits"]);
}

#[test]
fn a_recorded_command_line_needs_no_defaults() {
    let scratch = package("max = 1\nout = 'here'\nhtml = 'page.html'\nseed = 3");
    fs::create_dir(scratch.dir().join("below")).unwrap();
    let mut command = scratch.driver(["list", "--items", "../items", "sh", "../target.sh", "LIST"]);
    let _ = run(command.current_dir(scratch.dir().join("below"))).expect_status(5);
    // Paths in a manifest are relative to it.
    assert!(scratch.read("page.html").contains("<html"), "no page");
    let first = recorded(&scratch, "here");
    let words: Vec<_> = first["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    assert!(words.contains(&"--no-defaults") && words.contains(&"--max=1"), "{words:?}");
    fs::remove_dir_all(scratch.dir().join("here")).unwrap();
    scratch.write("Cargo.toml", &manifest("shop", "max = 2"));
    let mut again = scratch.driver(&words[2..]);
    let again = again.current_dir(scratch.dir().join("below")).env("CARGO_BISECT_OPT_MAX_SET", "9");
    let _ = run(again).expect_status(5);
    let second = recorded(&scratch, "here");
    for part in ["command", "found", "seed"] {
        let texts = [&first, &second].map(|result| result[part].to_string());
        assert_eq!(texts[0], texts[1], "{part}");
    }
}

#[test]
fn what_reads_a_search_finds_its_directory() {
    let scratch = package("out = 'there'\nhtml = 'page.html'\nreport = { format = 'markdown' }");
    let _ = run(&mut list(&scratch, &["-q"])).expect_status(0);
    fs::remove_file(scratch.dir().join("page.html")).unwrap();
    let report = run(&mut scratch.driver(["report"])).expect_status(0);
    assert!(report.stdout.starts_with('#'), "{report}");
    assert!(!scratch.dir().join("page.html").exists(), "`report` has a table of its own");
    let _ = run(&mut scratch.driver(["replay"])).expect_status(1);
    let other = run(&mut scratch.driver(["report", "bisect.out"])).expect_status(2);
    other.expect_message(&["bisect.out"]);
}

#[test]
fn a_changed_default_ends_a_resumed_search() {
    let scratch = package("");
    let mut limited = list(&scratch, &["--max-runs=6"]);
    let _ = run(limited.env("CARGO_BISECT_OPT_COUNT", "2").env("CARGO_BISECT_OPT_VERBOSE", "true")).expect_status(5);
    let mut other = list(&scratch, &["--resume"]);
    let refused = run(other.env("CARGO_BISECT_OPT_COUNT", "3")).expect_status(2);
    refused.expect_message(&["cannot be continued: the default of the option `count` has changed: \
         it was `--count=2`, by the environment variable `CARGO_BISECT_OPT_COUNT`"]);
    let none = run(&mut list(&scratch, &["--resume"])).expect_status(2);
    none.expect_message(&["the default of the option `count` has changed"]);
    // One that does not affect runs may change.
    let mut same = list(&scratch, &["--resume", "--json"]);
    let resumed = run(same.env("CARGO_BISECT_OPT_COUNT", "2").env("CARGO_BISECT_OPT_HTML", "x.html")).expect_status(0);
    assert_eq!(found(&resumed), 2);
    resumed.expect_message(&["the search continues: 6 runs are not repeated"]);
}

#[test]
fn a_search_that_a_default_stopped_continues_with_a_higher_limit() {
    let scratch = package("max-runs = 3");
    let line = "cargo bisect-opt list --resume --max-runs 6 --items items --json sh target.sh LIST";
    for variable in [None, Some(("CARGO_BISECT_OPT_MAX_RUNS", "3"))] {
        let mut command = list(&scratch, &["--json"]);
        let stopped = run(command.envs(variable)).expect_status(5);
        stopped.expect_message(&[&format!("to continue:\n  {line}")]);
        assert!(stopped.stdout.contains(&format!("\"{line}\"")), "{stopped}");
        scratch.write("Cargo.toml", &manifest("shop", ""));
    }
    let resumed = run(&mut list(&scratch, &["--resume", "--max-runs", "90"])).expect_status(0);
    resumed.expect_message(&["the search continues: 3 runs are not repeated"]);
}

#[test]
fn commands_without_cargo_read_the_environment_only() {
    let scratch = package("");
    for manifest in [None, Some("this is = = no manifest")] {
        match manifest {
            None => fs::remove_file(scratch.dir().join("Cargo.toml")).unwrap(),
            Some(text) => scratch.write("Cargo.toml", text),
        }
        let mut command = list(&scratch, &[]);
        command.env("CARGO", "/nonexistent/cargo").env("CARGO_BISECT_OPT_JSON", "true");
        assert_eq!(found(&run(command.env("CARGO_BISECT_OPT_MAX", "1")).expect_status(5)), 1);
    }
    // Where there may be defaults, they are not ignored silently.
    scratch.write("Cargo.toml", "[package.metadata.bisect-opt]\nmax = 1\n");
    let refused = run(&mut list(&scratch, &[])).expect_status(2);
    refused.expect_message(&["the defaults in Cargo.toml cannot be read: ", "`--no-defaults` ignores the defaults"]);
    let _ = run(&mut list(&scratch, &["--no-defaults"])).expect_status(0);
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_selected_package_decides_and_then_the_workspace() {
    let scratch = Scratch::new();
    for (name, defaults) in [("one", "timeout = '1h'\ncheck = { skip-code = 9 }"), ("two", "timeout = 30")] {
        fs::create_dir_all(scratch.dir().join(name).join("src")).unwrap();
        scratch.write(&format!("{name}/Cargo.toml"), &manifest(name, defaults));
        scratch.write(&format!("{name}/src/lib.rs"), "");
    }
    scratch.write(
        "Cargo.toml",
        "[workspace]\nmembers = ['one', 'two']\nresolver = '3'\n\
         [workspace.metadata.bisect-opt]\ntimeout = '2h'\nquiet = false\nverbose = true\n",
    );
    let check = |place: &str, words: &[&str]| {
        let mut command = scratch.driver(["check", "--verdict"]);
        command
            .args(words)
            .current_dir(scratch.dir().join(place))
            .env("CARGO_TARGET_DIR", scratch.dir().join("target"));
        run(&mut command).expect_status(0)
    };
    let (one, two, all) = ("--timeout=1h by `package", "--timeout=30 by `package", "--timeout=2h by `workspace");
    for (place, words, timeout) in [
        ("", &[][..], all),
        ("one", &[], one),
        ("one/src", &[], one),
        ("one", &["-p", "two"], two),
        ("", &["-ptwo@0.1.0"], two),
        ("one", &["--workspace"], all),
        ("", &["-p", "one", "-p", "two"], all),
        ("", &["--manifest-path", "two/Cargo.toml"], two),
        ("one", &["--manifest-path=../two/Cargo.toml"], two),
    ] {
        check(place, words).expect_message(&[timeout, "--verbose by `workspace.metadata.bisect-opt.verbose`"]);
    }
    check("one", &[]).expect_message(&["--skip-code=9 by `package.metadata.bisect-opt.check.skip-code` in `"]);
}

#[test]
fn a_wrong_default_is_named() {
    let scratch = package("jbos = 4");
    let finished = run(&mut list(&scratch, &[])).expect_status(2);
    finished.expect_message(&[
        "error: `package.metadata.bisect-opt.jbos` in `Cargo.toml`: there is no option `jbos`; did you mean `jobs`?",
        "help: `--no-defaults` ignores the defaults of all options",
    ]);
    let verdict = run(&mut scratch.driver(["exec", "--verdict", "true"])).expect_status(128);
    verdict.expect_message(&["there is no option `jbos`"]);
    let version = run(&mut scratch.driver(["--version"])).expect_status(0);
    assert_eq!(version.stderr, "");
    let help = run(&mut scratch.driver(["--help"])).expect_status(0);
    assert!(help.stdout.contains("CARGO_BISECT_OPT_"), "{help}");
}
