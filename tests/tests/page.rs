//! The page of an answer: of a search, and of `report`, in a browser if there is one.
#![cfg(unix)]

use std::fs;

use bisect_tests::{
    browser::Browser,
    harness::{Finished, Scratch, run},
};
use serde_json::Value;

/// Makes a search among a hundred lines, one of which is a culprit.
fn search(scratch: &Scratch, options: &[&str]) -> Finished {
    let lines: Vec<_> = (1..=100).map(|n| n.to_string()).collect();
    scratch.write("items.txt", &lines.join("\n"));
    let mut command = scratch.driver(["list", "--items", "items.txt"]);
    run(command.args(options).args(["sh", "-c", "! grep -qx 42 \"$1\"", "sh", "LIST"]))
}

fn page(scratch: &Scratch, name: &str) -> String {
    fs::read_to_string(scratch.dir().join(name)).unwrap()
}

#[test]
fn a_search_writes_its_page_and_a_report_writes_the_same_one() {
    let scratch = Scratch::new();
    scratch.write("page.html", "an older page");
    let searched = search(&scratch, &["--html", "page.html", "-j", "2", "--json"]).expect_status(0);
    let text = page(&scratch, "page.html");
    let trials = searched.events_of("trial").iter().filter(|trial| trial["repeat"] != true).count();
    let labels = text.matches("aria-label=\"trial ").count();
    assert_eq!(labels, 2 * trials, "each trial is a row and a bar in time: {searched}");
    for part in ["Culprit 1: ", "of 100 changes", ">culprit 1</text>", ">slot 1</text>", "<mark>42</mark>"] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let reported = run(&mut scratch.driver(["report", "--html", "again.html"])).expect_status(0);
    assert_eq!(reported.stdout, "");
    assert_eq!(page(&scratch, "again.html"), text);
    let shown = run(&mut scratch.driver(["report", "--html", "again.html", "--format", "html"])).expect_status(0);
    assert_eq!(shown.stdout, text);
}

/// The arrow and End keys, as `WebDriver` names them.
const DOWN: char = '\u{e015}';
const END: char = '\u{e010}';

#[test]
fn a_browser_shows_the_details_of_a_trial_below_the_mouse_and_by_keys() {
    let Some(browser) = Browser::start() else { return };
    let scratch = Scratch::new();
    let searched = search(&scratch, &["--html", "page.html", "--json"]).expect_status(0);
    let trials = searched.events_of("trial").iter().filter(|trial| trial["repeat"] != true).count();
    browser.open(&scratch.dir().join("page.html"));
    let text = |script: &str| browser.script(script).as_str().unwrap_or_default().to_owned();
    let details = || text("return document.querySelector('.details').textContent");
    let focused = || text("return document.activeElement.getAttribute('aria-label')");

    assert_eq!(text("return document.documentElement.dataset.ready"), "true");
    assert!(text("return document.body.innerText").contains("Culprit 1: "));
    assert_eq!(browser.script("return document.querySelectorAll('[data-row][tabindex=\"0\"]').length"), 2);
    browser.hover("[data-row]:nth-of-type(3)");
    let third = details();
    assert!(third.starts_with("trial ") && third.contains("\npattern: "), "{third}");

    let _ = browser.script("document.querySelector('[data-row]').focus()");
    assert!(focused().starts_with("trial 1: "), "{}", focused());
    browser.press(DOWN);
    assert!(focused().starts_with("trial 2: "), "{}", focused());
    assert!(details().starts_with("trial 2: "), "{}", details());
    browser.press(END);
    let rows = "[...document.querySelector('[data-chart]').querySelectorAll('[data-row]')]";
    assert_eq!(browser.script(&format!("return {rows}.at(-1) === document.activeElement")), true);
    assert!(browser.script(&format!("return {rows}.length")).as_u64().unwrap() >= trials as u64, "{searched}");
    // Nothing is wider than a narrow window, and nothing was reported as an error.
    assert_eq!(browser.script("return document.documentElement.scrollWidth <= window.innerWidth"), true);
    assert_eq!(browser.console(), Vec::<Value>::new());
    assert!(browser.screenshot().len() > 20_000, "the page is drawn");
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
