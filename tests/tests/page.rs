//! The page of an answer: of a search, and of `report`, in a browser if there is one.
#![cfg(unix)]

use std::{
    fs,
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use bisect_tests::harness::{Finished, Scratch, run};
use serde_json::Value;

/// Makes a search among a hundred lines, one of which is a culprit.
fn search(scratch: &Scratch, options: &[&str]) -> Finished {
    let lines: Vec<_> = (1..=100).map(|n| n.to_string()).collect();
    scratch.write("items.txt", &lines.join("\n"));
    let mut command = scratch.driver(["list", "--items", "items.txt"]);
    run(command.args(options).args(["sh", "-c", "! grep -qx 42 \"$1\"", "sh", "LIST"]))
}

/// Runs a browser without a window on a page; `None` if there is no browser.
fn browse(page: &Path, options: &[&str]) -> Option<String> {
    let profile = page.with_extension("profile");
    let mut command = Command::new("chromium");
    command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]).args(options);
    command.arg(format!("--user-data-dir={}", profile.display())).arg(format!("file://{}", page.display()));
    let output = match command.stderr(Stdio::null()).output() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // The harness of tests captures only what `eprintln!` writes.
            writeln!(std::io::stderr(), "*** SKIPPED: no chromium ***").expect("standard error is there");
            return None;
        }
        output => output.unwrap(),
    };
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

fn page(scratch: &Scratch, name: &str) -> (PathBuf, String) {
    let file = scratch.dir().join(name);
    let text = fs::read_to_string(&file).unwrap();
    (file, text)
}

#[test]
fn a_search_writes_its_page_and_a_report_writes_the_same_one() {
    let scratch = Scratch::new();
    scratch.write("page.html", "an older page");
    let searched = search(&scratch, &["--html", "page.html", "-j", "2", "--json"]).expect_status(0);
    let (file, text) = page(&scratch, "page.html");
    let trials = searched.events_of("trial").iter().filter(|trial| trial["repeat"] != true).count();
    let labels = text.matches("aria-label=\"trial ").count();
    assert_eq!(labels, 2 * trials, "each trial is a row and a bar in time: {searched}");
    for part in ["Culprit 1: ", "of 100 changes", ">culprit 1</text>", ">slot 1</text>", "<mark>42</mark>"] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let reported = run(&mut scratch.driver(["report", "--html", "again.html"])).expect_status(0);
    assert_eq!(reported.stdout, "");
    assert_eq!(page(&scratch, "again.html").1, text);
    let shown = run(&mut scratch.driver(["report", "--html", "again.html", "--format", "html"])).expect_status(0);
    assert_eq!(shown.stdout, text);

    let Some(dom) = browse(&file, &["--dump-dom"]) else { return };
    assert!(dom.contains("<html lang=\"en\" data-ready=\"true\">"), "the script did not run: {dom:.400}");
    assert_eq!(dom.matches("tabindex=\"0\"").count(), 2, "one row of each chart is in the order of the Tab key");
    // The arrow key moves the focus to the second row, and the line below the chart shows its details.
    let press = "const rows = document.querySelectorAll('[data-row]'); rows[0].focus(); \
        rows[0].dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown' })); \
        document.title = String(document.activeElement === rows[1]);";
    scratch.write("pressed.html", &text.replace("</body>", &format!("<script>{press}</script></body>")));
    let pressed = browse(&scratch.dir().join("pressed.html"), &["--dump-dom"]).unwrap();
    assert!(pressed.contains("<title>true</title>"), "{pressed:.600}");
    let details = pressed.split("<p class=\"details\">").nth(1).unwrap();
    assert!(details.starts_with("trial 2: ") && details.contains("\npattern: "), "{details:.200}");

    let picture = scratch.dir().join("page.png");
    browse(&file, &[&format!("--screenshot={}", picture.display()), "--window-size=1280,1600"]).unwrap();
    assert!(fs::metadata(&picture).unwrap().len() > 10_000, "the page is drawn");
}

#[test]
fn a_page_that_cannot_be_written_costs_only_the_page() {
    let scratch = Scratch::new();
    let searched = search(&scratch, &["--html", "missing/page.html"]).expect_status(0);
    for part in ["note: the page cannot be written: ", "missing/page.html", "cargo bisect-opt report --html FILE"] {
        assert!(searched.stderr.contains(part), "{searched}");
    }
    assert!(searched.stdout.contains("culprit 1"), "{searched}");
    let reported = run(&mut scratch.driver(["report", "--html", "missing/page.html"])).expect_status(3);
    reported.expect_message(&["missing/page.html", "--html with another file"]);
}

#[test]
fn a_trace_has_a_slice_for_each_line_of_the_record() {
    let scratch = Scratch::new();
    let _ = search(&scratch, &[]).expect_status(0);
    let trials = scratch.read("bisect.out/trials.jsonl").lines().count();
    let trace = run(&mut scratch.driver(["report", "--format", "trace"])).expect_status(0).stdout;
    let trace: Value = serde_json::from_str(&trace).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let slices = events.iter().filter(|event| event["ph"] == "X" && event["cat"] != "search").count();
    assert_eq!(slices, trials, "{trace}");
}
