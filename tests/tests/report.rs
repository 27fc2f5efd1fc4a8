//! `cargo bisect-opt report`: the answer of an earlier search, in each format, also on another machine.

use std::{fs, path::Path};

use bisect_tests::{
    foreign,
    harness::{Finished, Fixture, Scratch, line_of, run},
};
use cargo_metadata::{Message, diagnostic::DiagnosticLevel};
use serde_json::Value;

const FORMATS: [&str; 7] = ["text", "json", "markdown", "brief", "diagnostics", "sarif", "github"];

/// Shows the answer in a run directory, which is in another directory than the search was.
fn report(scratch: &Scratch, options: &[&str]) -> Finished {
    run(scratch.driver(["report", "copied"]).args(options))
}

/// Copies the files of a run directory that a report needs.
fn copy(run_dir: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for name in ["bisect-opt.json", "trials.jsonl", "result.json"] {
        fs::copy(run_dir.join(name), to.join(name)).unwrap();
    }
}

fn search(scratch: &Scratch, options: &[&str]) -> Finished {
    let mut command = scratch.driver(["exec"]);
    command.args(options).arg("FOREIGN_CHANGES=PATTERN").arg(foreign::executable());
    run(command.args(["--fails-when=3&7|12"]))
}

#[test]
fn a_copied_run_directory_is_shown_in_all_formats_without_the_sources() {
    let scratch = Scratch::new();
    let (searched, line, file) = {
        let fixture = Fixture::new("stacks");
        let searched = run(&mut fixture.driver(["test", "--toggle", "ranking", "-p", "app"])).expect_status(0);
        copy(&fixture.dir().join("bisect.out"), &scratch.dir().join("copied"));
        let line = line_of(fixture.dir(), "pages/src/lib.rs", "// the span");
        (searched, line, "pages/src/lib.rs")
    };
    let shown = FORMATS.map(|format| report(&scratch, &["--format", format]).expect_status(0).stdout);
    let [text, json, markdown, brief, diagnostics, sarif, github] = shown;

    let conclusion = text.strip_prefix(&searched.stdout).unwrap_or_else(|| panic!("{text}\n{searched}"));
    assert!(conclusion.starts_with("found 1 culprit; ") && conclusion.lines().count() == 1, "{conclusion}");
    assert_eq!(report(&scratch, &[]).stdout, text, "text is the default");
    assert_eq!(json, scratch.read("copied/result.json"));

    for part in ["### Culprit 1", "rank(&mut players);", "<details>", "**Fails** with", "**Passes** with", "- seed: "] {
        assert!(markdown.contains(part), "{part:?} is not in {markdown}");
    }
    assert!(
        brief.starts_with("status: found\n") && brief.contains("\nnext: cargo bisect-opt replay --set 1\n"),
        "{brief}"
    );
    assert!(brief.contains(&format!("  at {file}:")) && brief.chars().count() <= 2400, "{brief}");
    assert!(github.starts_with(&format!("::error file={file},line=")) && github.lines().count() == 1, "{github}");

    let messages: Vec<_> = Message::parse_stream(diagnostics.as_bytes()).map(Result::unwrap).collect();
    let [Message::CompilerMessage(message), Message::BuildFinished(end)] = messages.as_slice() else {
        panic!("{diagnostics}");
    };
    let diagnostic = &message.message;
    assert!(!end.success && matches!(diagnostic.level, DiagnosticLevel::Error), "{diagnostics}");
    assert!(diagnostic.spans[0].text[0].text.contains("rank(&mut players);"), "{diagnostics}");
    let lines = diagnostic.children.iter().flat_map(|child| &child.spans).map(|span| span.line_start);
    assert!(lines.into_iter().any(|called| called == line), "the call in line {line}: {diagnostics}");

    let sarif: Value = serde_json::from_str(&sarif).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!((&sarif["version"], &place["artifactLocation"]["uri"]), (&"2.1.0".into(), &file.into()));
    let flow = result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap();
    let innermost = &flow[flow.len() - 1]["location"]["logicalLocations"][0]["fullyQualifiedName"];
    assert_eq!(innermost, "ranking::rank", "the outermost call comes first");
    assert_eq!(sarif["runs"][0]["tool"]["driver"]["rules"][0]["id"], result["ruleId"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_search_prints_its_answer_in_the_format_that_is_asked_for() {
    let scratch = Scratch::new();
    for (options, format) in [
        (&["--format=brief"][..], "brief"),
        (&["--format", "markdown", "-q"], "markdown"),
        (&["--message-format=json"], "diagnostics"),
        (&["--message-format", "short"], "text"),
        (&["--format=json"], "json"),
    ] {
        let searched = search(&scratch, options).expect_status(0);
        copy(&scratch.dir().join("bisect.out"), &scratch.dir().join("copied"));
        let reported = report(&scratch, &["--format", format]).expect_status(0).stdout;
        if format == "text" {
            assert!(reported.starts_with(&searched.stdout), "{searched}\n{reported}");
        } else {
            assert_eq!(searched.stdout, reported, "{options:?}");
        }
    }
    for (options, facts) in [
        (&["--format=brief", "--json"][..], &["--format", "--json", "cannot be used"][..]),
        (&["--message-format=json", "--json"], &["--message-format", "--json"]),
        (&["--format=pdf"], &["pdf", "possible values", "markdown"]),
        (&["--message-format=xml"], &["xml", "json, human or short"]),
    ] {
        search(&scratch, options).expect_status(2).expect_message(facts);
    }
}

#[test]
fn an_unfinished_search_is_shown_as_far_as_it_went() {
    let scratch = Scratch::new();
    let _ = search(&scratch, &["--max-runs=6"]).expect_status(5);
    copy(&scratch.dir().join("bisect.out"), &scratch.dir().join("copied"));
    // A killed search leaves no end.
    let mut result: Value = serde_json::from_str(&scratch.read("copied/result.json")).unwrap();
    let smallest = result["smallest"]["reproduce"].as_str().unwrap().to_owned();
    result.as_object_mut().unwrap().remove("end");
    scratch.write("copied/result.json", &result.to_string());
    for (format, facts) in [
        ("text", &["unfinished", "smallest failing set", &smallest][..]),
        ("markdown", &["unfinished", "smallest failing set", &smallest]),
        ("brief", &["status: unfinished", "smallest failing set", "\nnext: ", &smallest]),
        ("github", &["::warning ", "unfinished"]),
        ("diagnostics", &["smallest failing set"]),
        ("sarif", &["smallest failing set", "\"executionSuccessful\": false"]),
    ] {
        let shown = report(&scratch, &["--format", format]).expect_status(0).stdout;
        for fact in facts {
            assert!(shown.contains(fact), "{format}: {fact:?} is not in {shown}");
        }
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn where_there_is_no_answer_the_next_step_is_named() {
    let scratch = Scratch::new();
    report(&scratch, &[]).expect_status(2).expect_message(&["`copied` is not the directory of a search", "--out"]);
    let _ = search(&scratch, &["--max-runs=2"]).expect_status(5);
    copy(&scratch.dir().join("bisect.out"), &scratch.dir().join("copied"));
    for (file, text) in [("result.json", "{}"), ("trials.jsonl", "{}\n")] {
        let before = scratch.read(&format!("copied/{file}"));
        scratch.write(&format!("copied/{file}"), text);
        report(&scratch, &[]).expect_status(2).expect_message(&["damaged", "search again"]);
        scratch.write(&format!("copied/{file}"), &before);
    }
    // The disk was full in the middle of a line.
    let trials = scratch.read("copied/trials.jsonl");
    scratch.write("copied/trials.jsonl", &(trials + "{\"v\":1,"));
    let _ = report(&scratch, &[]).expect_status(0);
    fs::remove_file(scratch.dir().join("copied/result.json")).unwrap();
    report(&scratch, &[]).expect_status(2).expect_message(&["has no answer", "search again"]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn the_next_commands_of_an_end_work() {
    let scratch = Scratch::new();
    let finished = search(&scratch, &["--json"]).expect_status(0);
    let next: Vec<_> = finished.events_of("end")[0]["next"].as_array().unwrap().clone();
    let ours: Vec<_> = next.iter().filter_map(|line| line.as_str()?.strip_prefix("cargo bisect-opt ")).collect();
    assert_eq!(ours, ["replay --set 1", "replay --set 2", "report --html bisect.html"], "{finished}");
    for line in ours {
        let status = i32::from(line.starts_with("replay"));
        let _ = run(&mut scratch.driver(line.split(' '))).expect_status(status);
    }
}
