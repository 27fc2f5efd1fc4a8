//! The page (`--html`) of a long search in a browser: its size, and the time until it has been loaded.
//!
//! A real search among 100,000 lines, most of whose trials are those of 78 culprits. Ends with status 1 if the page
//! exceeds its bounds.

use std::{env, fs, process::ExitCode};

use bisect_tests::{
    browser::Browser,
    harness::{Scratch, run},
};

const LINES: usize = 100_000;
const CULPRITS: usize = 77;
/// The number of times that the page is opened; the median counts.
const OPENED: usize = 5;
const MOST_MS: f64 = 2000.0;
const MOST_BYTES: u64 = 3_000_000;

fn main() -> ExitCode {
    if !env::args().any(|argument| argument == "--bench") {
        println!("measured by `cargo bench` only");
        return ExitCode::SUCCESS;
    }
    let Some(browser) = Browser::start() else { return ExitCode::SUCCESS };
    let scratch = Scratch::new();
    let line = |n: usize| if n % (LINES / CULPRITS) == 7 { format!("bad {n}\n") } else { format!("{n}\n") };
    scratch.write("items", &(1..=LINES).map(line).collect::<String>());
    let words = ["list", "--html", "page.html", "--quiet", "--json", "--items", "items"];
    let finished = run(scratch.driver(words).args(["sh", "-c", "! grep -q bad \"$1\"", "sh", "LIST"]));
    let trials = &finished.events_of("end")[0]["trials"];

    let page = scratch.dir().join("page.html");
    let bytes = fs::metadata(&page).expect("the search writes its page").len();
    // From the start of the navigation until everything is loaded, laid out and painted.
    let painted = "return new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))";
    let mut times: Vec<_> = (0..OPENED)
        .map(|_| {
            browser.open(&page);
            browser.script(painted).as_f64().expect("a time")
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let median = times[OPENED / 2];
    println!("Decides how much of a search the page draws.\n");
    println!("{trials} trials of {LINES} changes: {bytes} bytes, opened in {median:.0} ms (median of {times:.0?})");
    println!("Bounds: {MOST_BYTES} bytes, {MOST_MS:.0} ms.");
    if bytes <= MOST_BYTES && median <= MOST_MS { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
