//! Tests of defaults: their sources, precedence, types, and the options that exclude them.

use serde_json::json;

use super::*;
use crate::{cargo::DriverTable, commands::command_line};

fn tables(package: serde_json::Value, workspace: serde_json::Value) -> Vec<DriverTable> {
    let table = |of: &str, directory: &str, content| DriverTable {
        manifest: format!("/ws/{directory}Cargo.toml").into(),
        name: format!("{of}.metadata.bisect-opt"),
        content,
    };
    vec![table("package", "one/", package), table("workspace", "", workspace)]
}

/// Returns the command line with its defaults, or the error.
fn line_of(
    words: &str,
    variables: &[(&str, &str)],
    tables: impl Fn() -> Vec<DriverTable> + 'static,
) -> Result<String, String> {
    let variables = variables.iter().map(|(name, value)| (format!("CARGO_BISECT_OPT_{name}").into(), value.into()));
    let from = DefaultSources { variables: variables.collect(), tables: Box::new(move |_| Ok(tables())) };
    let words: Vec<OsString> = format!("cargo-bisect-opt {words}").split_whitespace().map(Into::into).collect();
    let applied = apply(&command_line::command(), &words, None, &from).map_err(|error| message(&error))?;
    let used = applied.used.iter().flat_map(|used| &used.words);
    let left_out = applied.left_out.iter().map(|left_out| format!("[{}: {}]", left_out.key, left_out.reason));
    let parts: Vec<_> = used.map(|word| word.to_string_lossy().into_owned()).chain(left_out).collect();
    Ok(parts.join(" "))
}

fn none() -> Vec<DriverTable> {
    Vec::new()
}

#[test]
fn every_option_has_a_key_and_a_variable_of_its_own() {
    let driver = command_line::command();
    let mut names = std::collections::BTreeMap::new();
    for command in driver.get_subcommands() {
        for option in command.get_arguments().filter(|option| !option.is_positional()) {
            let key = option::key(option);
            assert_eq!(option::by_key(command, &key).map(clap::Arg::get_id), Some(option.get_id()), "{key}");
            for (name, of) in [(key.clone(), ""), (format!("{}-{key}", command.get_name()), command.get_name())] {
                let other = names.insert(name.clone(), (of.to_owned(), key.clone()));
                assert!(other.is_none_or(|other| other == (of.to_owned(), key.clone())), "{name}");
            }
        }
    }
    assert!(names.contains_key("jobs") && names.contains_key("count-max-count"), "{names:?}");
}

#[test]
fn the_first_source_that_has_an_option_decides() {
    let tables = || {
        tables(
            json!({"jobs": 3, "test": {"max": 3}, "max": 4, "toggle": ["a", "b"]}),
            json!({"jobs": 5, "test": {"jobs": 6, "max-set": 6}, "max-runs": 5, "when": true}),
        )
    };
    for (words, variables, expected) in [
        ("test", &[][..], "--max=3 -j3 --toggle=a --toggle=b --max-set=6 --max-runs=5 --when"),
        ("run", &[], "-j3 --max=4 --toggle=a --toggle=b --max-runs=5 --when"),
        (
            "test",
            &[("JOBS", "8"), ("TEST_JOBS", "9")],
            "-j9 --max=3 --toggle=a --toggle=b --max-set=6 --max-runs=5 --when",
        ),
        ("test -j2 --max 1 --toggle c --max-set 1 --max-runs 1 --when", &[], ""),
        // `false` leaves the option as it is without any default.
        ("test", &[("WHEN", "false"), ("TOGGLE", ""), ("MAX", "1")], "--max=1 -j3 --max-set=6 --max-runs=5"),
        ("exec true", &[], "-j3 --max=4 --max-runs=5 --when"),
        ("test --no-defaults", &[("JOBS", "8")], ""),
        ("test", &[("NO_DEFAULTS", "true")], ""),
    ] {
        assert_eq!(line_of(words, variables, tables), Ok(expected.to_owned()), "{words} {variables:?}");
    }
}

#[test]
fn values_are_written_as_the_types_of_toml() {
    let tables = || {
        tables(
            json!({"confidence": 0.999, "timeout": 60, "since": true, "same-failure": false, "cargo-arg": ["--a=b c", 1],
                   "per-test": "never", "html": "page.html", "out": "/abs", "color": "never"}),
            json!({}),
        )
    };
    let sorted = |text: String| {
        let mut words: Vec<_> = text.split(" --").map(|word| word.trim_start_matches('-').to_owned()).collect();
        words.sort();
        words
    };
    assert_eq!(
        sorted(line_of("test", &[("GOOD", "'a b' c"), ("SINCE", "main")], tables).unwrap()),
        [
            "cargo-arg=--a=b c",
            "cargo-arg=1",
            "color=never [good: `--codegen` is missing]",
            "confidence=0.999",
            "html=/ws/one/page.html",
            "out=/abs",
            "per-test=never",
            "same-failure=no",
            "since=main",
            "timeout=60",
        ]
        .map(str::to_owned)
    );
}

#[test]
fn a_default_that_the_line_excludes_is_left_out() {
    let tables = || {
        tables(
            json!({"toggle": "a", "good": "opt-level=1", "json": true, "all-tests": true}),
            json!({"format": "brief", "test": {"per-test": "always"}}),
        )
    };
    for (words, variables, expected) in [
        (
            "test",
            &[][..],
            "--toggle=a --json --all-tests [per-test: `--all-tests` excludes it] [format: `--json` excludes it] \
             [good: `--codegen` is missing]",
        ),
        (
            "test --commits v1..",
            &[("JSON", "false"), ("ALL_TESTS", "")],
            "--per-test=always --format=brief [toggle: `--commits` excludes it] \
             [good: `--codegen` is missing]",
        ),
        (
            "run --codegen --format text",
            &[],
            "--good=opt-level=1 [toggle: `--codegen` excludes it] [json: `--format` excludes it]",
        ),
        (
            "test -q",
            &[
                ("VERBOSE", "true"),
                ("JSON", "false"),
                ("FORMAT", ""),
                ("TOGGLE", ""),
                ("GOOD", ""),
                ("ALL_TESTS", ""),
                ("PER_TEST", ""),
            ],
            "[verbose: `--quiet` excludes it]",
        ),
    ] {
        let line = line_of(words, variables, tables);
        let sorted = |text: &str| {
            let mut parts: Vec<_> = text.split(" [").map(str::to_owned).collect();
            parts[1..].sort();
            parts
        };
        assert_eq!(line.as_deref().map(sorted), Ok(sorted(expected)), "{words}");
    }
}

#[test]
fn a_required_option_may_have_a_default() {
    let tables = || tables(json!({"list": {"items": "all.txt"}, "jobs": 2}), json!({}));
    assert_eq!(line_of("list ./run LIST", &[], tables).unwrap(), "--items=all.txt -j2");
    // The parser reports the options that are still missing.
    assert!(line_of("list", &[], tables).is_ok());
    assert_eq!(line_of("list", &[], none).unwrap(), "");
}

#[test]
fn commands_that_read_an_earlier_search_have_tables_of_their_own() {
    let tables =
        || tables(json!({"html": "x", "out": "there", "report": {"format": "brief"}}), json!({"color": "never"}));
    assert_eq!(
        line_of("report", &[("REPORT_COLOR", "always")], tables).unwrap(),
        "--color=always --format=brief /ws/one/there"
    );
    assert_eq!(line_of("replay here", &[], tables).unwrap(), "");
    assert_eq!(line_of("toggles", &[], tables).unwrap(), "");
}

#[test]
fn mistakes_are_named_with_their_place() {
    let package = "`package.metadata.bisect-opt";
    for (table, expected) in [
        (
            json!({"jbos": 1}),
            format!("{package}.jbos` in `/ws/one/Cargo.toml`: there is no option `jbos`; did you mean `jobs`?"),
        ),
        (
            json!({"tset": {"max": 1}}),
            format!("{package}.tset` in `/ws/one/Cargo.toml`: there is no option `tset`; did you mean `test`?"),
        ),
        (
            json!({"test": {"itmes": 1}}),
            format!("{package}.test.itmes` in `/ws/one/Cargo.toml`: there is no option `itmes`"),
        ),
        (
            json!({"list": {"itmes": 1}}),
            format!("{package}.list.itmes` in `/ws/one/Cargo.toml`: there is no option `itmes`; did you mean `items`?"),
        ),
        (
            json!({"target-dir": "x"}),
            format!(
                "{package}.target-dir` in `/ws/one/Cargo.toml`: there is no option `target-dir`; it is an option of cargo: write `cargo-arg = [\"--target-dir=VALUE\"]`"
            ),
        ),
        (
            json!({"resume": true}),
            format!(
                "{package}.resume` in `/ws/one/Cargo.toml`: this option cannot have a default, because it continues one search"
            ),
        ),
        (
            json!({"commits": "v1.."}),
            format!(
                "{package}.commits` in `/ws/one/Cargo.toml`: this option cannot have a default, because what is searched is said on the command line"
            ),
        ),
        (
            json!({"test": {"victim": true}}),
            format!(
                "{package}.test.victim` in `/ws/one/Cargo.toml`: this option cannot have a default, because what is searched is said on the command line"
            ),
        ),
        (json!({"jobs": [1]}), format!("{package}.jobs` in `/ws/one/Cargo.toml`: the value must be a number")),
        (json!({"jobs": true}), format!("{package}.jobs` in `/ws/one/Cargo.toml`: the value must be a number")),
        (json!({"when": 1}), format!("{package}.when` in `/ws/one/Cargo.toml`: the value must be `true` or `false`")),
        (
            json!({"toggle": [[1]]}),
            format!("{package}.toggle` in `/ws/one/Cargo.toml`: the value must be an array of strings"),
        ),
        (
            json!({"per-test": false}),
            format!(
                "{package}.per-test` in `/ws/one/Cargo.toml`: the value must be `auto`, `always` or `never`, or `true`"
            ),
        ),
        (
            json!({"timeout": "soon"}),
            format!(
                "{package}.timeout` in `/ws/one/Cargo.toml`: invalid value 'soon' for '--timeout <D>': it is no duration (expected number at 0): write `90s`, `1500ms` or `2m 30s`; the value must be a string"
            ),
        ),
        (
            json!({"confidence": 2}),
            format!(
                "{package}.confidence` in `/ws/one/Cargo.toml`: invalid value '2' for '--confidence <P>': a confidence is a number from 0.5 to 1, and less than 1, such as 0.99; the value must be a number"
            ),
        ),
        (
            json!({"repeat": 2, "any-pass": 3}),
            format!("{package}.any-pass` in `/ws/one/Cargo.toml` excludes `repeat`: remove one of them"),
        ),
        (json!(["jobs"]), format!("{package}` in `/ws/one/Cargo.toml`: the value must be a table")),
    ] {
        assert_eq!(line_of("test", &[], move || tables(table.clone(), json!({}))), Err(expected));
    }
    for (variable, expected) in [
        (
            ("JOBBS", "1"),
            "the environment variable `CARGO_BISECT_OPT_JOBBS`: there is no option `jobbs`; did you mean `CARGO_BISECT_OPT_JOBS`?",
        ),
        (("WHEN", "yes"), "the environment variable `CARGO_BISECT_OPT_WHEN`: the value must be `true` or `false`"),
        (
            ("NO_DEFAULTS", "1"),
            "the environment variable `CARGO_BISECT_OPT_NO_DEFAULTS`: the value must be `true` or `false`",
        ),
        (("TOGGLE", "'"), "the environment variable `CARGO_BISECT_OPT_TOGGLE`: the value must be an array of strings"),
        (
            ("JOBS", "x"),
            "the environment variable `CARGO_BISECT_OPT_JOBS`: invalid value 'x' for '-j <N>': invalid digit found in string; the value must be a number",
        ),
        (
            ("EDITION", "2024"),
            "the environment variable `CARGO_BISECT_OPT_EDITION`: this option cannot have a default, because what is searched is said on the command line",
        ),
    ] {
        assert_eq!(line_of("test", &[variable], none), Err(expected.to_owned()));
    }
}

#[test]
fn a_whole_command_line_needs_no_defaults() {
    let used = UsedDefault { key: "since".into(), words: vec!["--since".into()], origin: "X".into() };
    let left_out = LeftOutDefault { key: "toggle".into(), reason: "`--commits` excludes it".into() };
    let defaults = AppliedDefaults { used: vec![used], left_out: vec![left_out] };
    let words = ["exec", "./run", "A"].map(OsString::from).to_vec();
    assert_eq!(defaults.whole_line(words.clone()), ["exec", "--since", "--no-defaults", "./run", "A"]);
    assert_eq!(AppliedDefaults::default().whole_line(words.clone()), words);
    let description = defaults.description().unwrap();
    assert_eq!(description, "defaults: --since by X; not used: `toggle` (`--commits` excludes it)");
    assert_eq!(AppliedDefaults::default().description(), None);
    assert_eq!(defaults.texts(|_| true)["since"], "`--since`, by X");
}
