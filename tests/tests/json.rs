//! The interface of scripts: the lines of `--json`, and the files of the run directory.

use std::fs;

use bisect_tests::{
    foreign,
    harness::{Finished, Scratch, run},
};
use serde_json::Value;

/// The type of a field.
#[derive(Clone, Copy, Debug)]
enum Is {
    Number,
    Text,
    Bool,
    /// A number, or nothing.
    MaybeNumber,
    MaybeText,
    Texts,
    Objects(&'static [(&'static str, Is)]),
}

const START: &[(&str, Is)] = &[("axis", Is::Text), ("target", Is::Text), ("jobs", Is::Number), ("seed", Is::Number)];
const TRIAL: &[(&str, Is)] = &[
    ("n", Is::Number),
    ("pattern", Is::Text),
    ("matches", Is::Number),
    ("outcome", Is::Text),
    ("reason", Is::Text),
    ("runs", Is::Number),
    ("ms", Is::Number),
];
const FOUND: &[(&str, Is)] = &[
    ("set", Is::Number),
    ("mode", Is::Text),
    ("confirmed", Is::Bool),
    ("changes", Is::Objects(CHANGE)),
    ("tests", Is::Texts),
    ("reproduce", Is::Text),
    ("passes", Is::Text),
];
const CHANGE: &[(&str, Is)] = &[
    ("id", Is::Text),
    ("kind", Is::Text),
    ("name", Is::Text),
    ("text", Is::Texts),
    ("file", Is::MaybeText),
    ("line", Is::MaybeNumber),
    ("column", Is::MaybeNumber),
    ("frames", Is::Objects(FRAME)),
];
const FRAME: &[(&str, Is)] = &[("function", Is::Text), ("file", Is::MaybeText), ("line", Is::MaybeNumber)];
const END: &[(&str, Is)] =
    &[("status", Is::Number), ("sets", Is::Number), ("trials", Is::Number), ("runs", Is::Number), ("ms", Is::Number)];

#[track_caller]
fn check(object: &Value, fields: &[(&str, Is)]) {
    for (name, is) in fields {
        let value = object.get(name).unwrap_or_else(|| panic!("no {name} in {object}"));
        let fits = match is {
            Is::Number => value.is_u64(),
            Is::Text => value.is_string(),
            Is::Bool => value.is_boolean(),
            Is::MaybeNumber => value.is_u64() || value.is_null(),
            Is::MaybeText => value.is_string() || value.is_null(),
            Is::Texts => value.as_array().is_some_and(|texts| texts.iter().all(Value::is_string)),
            Is::Objects(fields) => {
                value.as_array().into_iter().flatten().for_each(|object| check(object, fields));
                value.is_array()
            }
        };
        assert!(fits, "{name} of {object} is not {is:?}");
    }
}

fn search(scratch: &Scratch, options: &[&str], program: &[&str]) -> Finished {
    let mut command = scratch.driver(["exec", "--json"]);
    command.args(options).arg("FOREIGN_CHANGES=PATTERN").arg(foreign::executable()).args(program);
    run(&mut command)
}

#[test]
#[ignore = "slow: CI runs it"]
fn every_event_has_the_documented_fields() {
    let scratch = Scratch::new();
    let finished = search(&scratch, &[], &["--fails-when=3&7|12", "--skips-when=20&!21"]).expect_status(0);
    let events = finished.events();
    for event in &events {
        assert_eq!(event["v"], 1, "{event}");
        match event["event"].as_str() {
            Some("start") => check(event, START),
            Some("trial") => check(event, TRIAL),
            Some("found") => check(event, FOUND),
            Some("end") => check(event, END),
            _ => panic!("no such event is documented: {event}"),
        }
    }
    let kinds: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], kinds[kinds.len() - 1]), ("start", "end"));
    assert_eq!(kinds.iter().filter(|kind| ["start", "end"].contains(kind)).count(), 2);

    let trials = finished.events_of("trial");
    assert_eq!(
        (&trials[0]["pattern"], &trials[0]["matches"], &trials[0]["outcome"]),
        (&"y".into(), &64.into(), &"fail".into())
    );
    assert_eq!((&trials[1]["pattern"], &trials[1]["outcome"]), (&"n".into(), &"pass".into()));
    for (i, trial) in trials.iter().enumerate() {
        assert_eq!(trial["n"], i + 1);
        let outcome = trial["outcome"].as_str().unwrap();
        assert!(["pass", "fail", "unresolved"].contains(&outcome), "{trial}");
        assert_eq!(trial["reason"] == "", outcome == "pass", "{trial}");
    }
    let found = finished.events_of("found");
    assert_eq!(found.len(), 2);
    for (i, found) in found.iter().enumerate() {
        assert_eq!((&found["set"], &found["confirmed"]), (&(i + 1).into(), &true.into()));
        for change in found["changes"].as_array().unwrap() {
            let digits = change["id"].as_str().unwrap().strip_prefix("0x").unwrap();
            assert!(digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()), "{change}");
            assert_eq!(change["file"], "mill.txt");
            assert!(["site", "caller", "stack"].contains(&change["kind"].as_str().unwrap()), "{change}");
        }
    }
    let end = &finished.events_of("end")[0];
    assert_eq!((&end["status"], &end["sets"]), (&0.into(), &2.into()));
    assert_eq!(end["trials"], trials.len());
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_end_carries_the_exit_status() {
    let scratch = Scratch::new();
    for (program, status) in [
        (&["--fails-when=12"][..], 0),
        (&[], 1),
        (&["--fails-when=12", "--mode=silent"], 3),
        (&["--fails-when=12", "--mode=alternates"], 4),
    ] {
        let finished = search(&scratch, &[], program).expect_status(status);
        assert_eq!(finished.events_of("end")[0]["status"], status);
    }
    let finished = search(&scratch, &["--max-runs=3"], &["--fails-when=12"]).expect_status(5);
    assert_eq!(finished.events_of("end")[0]["status"], 5);
    let result: Value = serde_json::from_str(&scratch.read("bisect.out/result.json")).unwrap();
    assert!(result["smallest"]["changes"].is_u64(), "{result}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_run_directory_keeps_logs_trials_and_the_result() {
    let scratch = Scratch::new();
    let finished = search(&scratch, &["--out", "kept"], &["--fails-when=12"]).expect_status(0);
    assert!(!scratch.dir().join("bisect.out").exists());
    let logs = fs::read_dir(scratch.dir().join("kept/runs")).unwrap().count();
    let end = &finished.events_of("end")[0];
    assert_eq!(end["runs"], logs);
    let first = scratch.read("kept/runs/0001.log");
    assert!(first.contains("the failure") && first.contains("[bisect-match 0x"), "{first}");
    let trials: Vec<Value> =
        scratch.read("kept/trials.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (repeats, trials): (Vec<_>, Vec<_>) = trials.into_iter().partition(|trial| trial["repeat"] == true);
    assert_eq!(trials.len(), finished.events_of("trial").len());
    assert!(!repeats.is_empty() && repeats.iter().all(|trial| trial["n"] == 0), "{repeats:?}");
    let result: Value = serde_json::from_str(&scratch.read("kept/result.json")).unwrap();
    let text = result.to_string();
    let id = finished.events_of("found")[0]["changes"][0]["id"].to_string();
    assert!(text.contains(&id), "{id} is not in {text}");
    assert_eq!(result["smallest"], Value::Null, "the answer is complete");

    // The next search removes the old files.
    let _ = search(&scratch, &["--out", "kept"], &[]).expect_status(1);
    assert_eq!(fs::read_dir(scratch.dir().join("kept/runs")).unwrap().count(), 4);
    assert!(!scratch.read("kept/result.json").contains(&id));
}

#[test]
fn a_folder_that_is_not_ours_is_left_alone() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.dir().join("bisect.out")).unwrap();
    scratch.write("bisect.out/thesis.tex", "years of work");
    let finished = search(&scratch, &[], &["--fails-when=12"]);
    assert!(![Some(0), Some(1)].contains(&finished.status), "{finished}");
    finished.expect_message(&["bisect.out", "--out"]);
    assert_eq!(scratch.read("bisect.out/thesis.tex"), "years of work");
    assert_eq!(fs::read_dir(scratch.dir().join("bisect.out")).unwrap().count(), 1);
}
