//! The JSON schema of `--json` and of the run directory: real outputs fit it, and have no field that it does not list.

use std::{fs, path::Path, sync::OnceLock};

use bisect_tests::{
    foreign,
    harness::{Fixture, Scratch, root, run},
};
use jsonschema::Validator;
use serde_json::{Value, json};

/// The parts of the schema that outputs are checked against.
struct Schema {
    line: Validator,
    trial: Validator,
    result: Validator,
}

fn schema() -> &'static Schema {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let text = fs::read_to_string(root().join("cargo-bisect-opt/schema/v1.json")).unwrap();
        let mut schema: Value = serde_json::from_str(&text).unwrap();
        forbid_others(&mut schema);
        let part = |name: &str| {
            let part = json!({ "$ref": format!("#/$defs/{name}"), "$defs": schema["$defs"] });
            jsonschema::validator_for(&part).unwrap()
        };
        Schema { line: jsonschema::validator_for(&schema).unwrap(), trial: part("trial"), result: part("result") }
    })
}

/// Makes each object with listed fields refuse other fields.
fn forbid_others(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.values_mut().for_each(forbid_others);
            if object.get("properties").is_some_and(Value::is_object) && object.contains_key("type") {
                object.insert("additionalProperties".to_owned(), false.into());
            }
        }
        Value::Array(values) => values.iter_mut().for_each(forbid_others),
        _ => {}
    }
}

#[track_caller]
fn check(validator: &Validator, text: &str) {
    let value: Value = serde_json::from_str(text).unwrap();
    // Of alternatives, the error of each is deeper.
    let errors: Vec<_> =
        validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{text}");
}

/// Checks the lines of `--json`, and the files of the run directory.
#[track_caller]
fn check_all(stdout: &str, run_dir: &Path) {
    let schema = schema();
    stdout.lines().for_each(|line| check(&schema.line, line));
    let trials = fs::read_to_string(run_dir.join("trials.jsonl")).unwrap();
    trials.lines().for_each(|line| check(&schema.trial, line));
    check(&schema.result, &fs::read_to_string(run_dir.join("result.json")).unwrap());
}

#[test]
fn a_search_for_call_stacks_fits_the_schema() {
    let fixture = Fixture::new("stacks");
    let finished = run(&mut fixture.driver(["test", "--json", "--toggle", "ranking", "-p", "app"])).expect_status(0);
    assert_eq!(finished.events_of("found")[0]["changes"][0]["kind"], "stack");
    check_all(&finished.stdout, &fixture.dir().join("bisect.out"));
}

#[test]
fn searches_of_commands_fit_the_schema() {
    let scratch = Scratch::new();
    for (options, program, status) in [
        (&[][..], &["--fails-when=3&7|12", "--skips-when=20&!21"][..], 0),
        (&["-j2", "--max-runs=3"], &["--fails-when=12"], 5),
        (&["--confidence=0.9"], &["--fails-when=12"], 0),
        (&[], &["--fails-when=12", "--mode=alternates"], 4),
        (&[], &["--fails-when=!12|12"], 1),
    ] {
        let mut command = scratch.driver(["exec", "--json"]);
        command.args(options).arg("FOREIGN_CHANGES=PATTERN").arg(foreign::executable()).args(program);
        let finished = run(&mut command).expect_status(status);
        check_all(&finished.stdout, &scratch.dir().join("bisect.out"));
    }
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "slow: CI runs it"]
fn moments_patches_and_decisions_fit_the_schema() {
    let moments = Fixture::new("moments");
    let words = ["watch", "--json", "step", "run", "--", "70g40b"];
    let finished = run(&mut moments.driver(words)).expect_status(0);
    assert!(finished.events_of("found")[0]["moment"].is_object(), "{finished}");
    check_all(&finished.stdout, &moments.dir().join("bisect.out"));

    let place = crate::diff::Place::new();
    place.repository.write("f", "1\n2\n3\n4\n5\n");
    place.repository.commit("old");
    place.repository.write("f", "fine\n2\nbad\n4\nfine\n");
    let finished = place.search(&["exec", "--diff", "--", "sh", "-c", "! grep -q bad f"]).expect_status(0);
    assert!(finished.events_of("found")[0]["patches"].is_object(), "{finished}");
    check_all(&finished.stdout, &place.dir().join("../out"));

    let scratch = Scratch::new();
    let mut command = scratch.driver(["exec", "--json", "--when", "FOREIGN_CHANGES=PATTERN"]);
    let finished = run(command.arg(foreign::executable()).arg("--fails-when=12"));
    check_all(&finished.stdout, &scratch.dir().join("bisect.out"));
}

#[test]
fn recorded_outputs_fit_the_schema() {
    let testdata = root().join("cargo-bisect-opt/testdata");
    let (mut lines, mut results) = (0, 0);
    let searches = fs::read_dir(testdata.join("searches")).unwrap().map(|entry| entry.unwrap().path());
    for path in searches.filter(|path| path.extension().is_some_and(|extension| extension == "txt")) {
        let text = fs::read_to_string(path).unwrap();
        let (_, events) = text.split_once("---- events\n").unwrap();
        for line in events.lines() {
            check(&schema().line, line);
            lines += 1;
        }
    }
    for entry in fs::read_dir(testdata.join("reports")).unwrap() {
        check(&schema().result, &fs::read_to_string(entry.unwrap().path().join("result.json")).unwrap());
        results += 1;
    }
    assert!(lines > 100 && results > 3, "{lines} lines, {results} results");
}

#[test]
fn what_does_not_fit_is_refused() {
    let schema = schema();
    let fits = |validator: &Validator, value: &Value| validator.is_valid(value);
    let start = json!({ "v": 1, "event": "start", "search": 1, "axis": "x", "target": "y", "jobs": 1, "seed": 1 });
    assert!(fits(&schema.line, &start));
    for (field, value) in [("v", json!(2)), ("event", json!("begin")), ("jobs", json!(-1)), ("other", json!(1))] {
        let mut changed = start.clone();
        changed[field] = value;
        assert!(!fits(&schema.line, &changed), "{changed}");
    }
    assert!(!fits(&schema.result, &start) && !fits(&schema.trial, &start));
}
