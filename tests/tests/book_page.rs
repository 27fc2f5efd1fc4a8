//! The page of the book whose searches the reader steps through and makes, in a browser if there is one.

use std::{env, io::Write};

use bisect_tests::{browser::Browser, harness::root};
use serde_json::Value;

/// The right arrow key, as `WebDriver` names it.
const RIGHT: char = '\u{e014}';

#[test]
fn a_reader_steps_through_a_search_and_plants_culprits() {
    let page = root().join("target/book/how-it-works.html");
    if !page.exists() {
        assert!(env::var_os("CI").is_none(), "CI builds the book before the tests");
        // Not `eprintln!`: the harness would capture it.
        writeln!(std::io::stderr(), "*** SKIPPED: `.ci/run book` has not built the book ***").unwrap();
        return;
    }
    let Some(browser) = Browser::start() else { return };
    browser.open(&page);
    let text = |script: &str| browser.script(script).as_str().unwrap_or_default().to_owned();
    let step = || text("return document.querySelector('#stepper p').textContent");

    assert!(step().starts_with("trial 1: every change is enabled → FAIL"), "{}", step());
    browser.press(RIGHT);
    assert!(step().starts_with("trial 2: ") && step().contains(" → pass"), "{}", step());
    let _ = browser.script("document.querySelector('#stepper .stepper-marks').lastChild.click()");
    let culprits = "return [...document.querySelectorAll('#stepper .culprits')].map((change) => change.textContent)";
    assert_eq!(browser.script(culprits), serde_json::json!(["milk", "chili", "lemon"]), "{}", step());

    let planting = text("return document.getElementById('plant').textContent");
    if planting.contains("The engine is not part of this copy of the book") {
        writeln!(std::io::stderr(), "*** SKIPPED: the book has no engine, because there is no std for wasm32 ***")
            .unwrap();
    } else {
        // Change 31 is a culprit from the beginning. Change 5 is made one, and 7 and 9 fail only together.
        let click = |change: usize, times: usize| {
            let button =
                format!("document.querySelectorAll('#plant .stepper-changes button')[{}].click();", change - 1);
            let _ = browser.script(&button.repeat(times));
        };
        for (change, times) in [(5, 1), (7, 2), (9, 2)] {
            click(change, times);
        }
        let _ = browser.script("document.querySelector('#plant > .stepper-bar > button').click()");
        let answer = text("return document.querySelector('#plant > p[aria-live]').textContent");
        let (runs, found) = answer.split_once(" runs found: ").unwrap_or_else(|| panic!("{answer}"));
        assert!(runs.parse::<usize>().unwrap() < 60, "{answer}");
        let mut found: Vec<_> = found.trim_end_matches('.').split("; ").collect();
        found.sort_unstable();
        assert_eq!(found, ["change 31", "change 5", "change 7 with change 9"]);
    }
    assert_eq!(browser.console(), Vec::<Value>::new());
}
