//! The live lines of a search on a terminal: runs in flight and a summary below the trace.
#![cfg(target_os = "linux")]

use std::{fs, process::Command};

use bisect_tests::{foreign, harness::Scratch, screen::OnScreen};

/// Returns a search whose run with this number, and later ones, wait until the file `go` exists.
fn search_from(waiting: usize, scratch: &Scratch, options: &[&str]) -> Command {
    let wait = format!("[ $(wc -l < runs) -ge {waiting} ] && ! [ -e go ]");
    scratch.write("target.sh", &format!("echo >> runs; while {wait}; do sleep 0.01; done; exec \"$@\""));
    let mut command = scratch.driver(["exec"]);
    command.args(options).args(["FOREIGN_CHANGES=PATTERN", "sh", "target.sh"]).arg(foreign::executable());
    command.arg("--fails-when=3&7|12");
    command
}

fn search(scratch: &Scratch, options: &[&str]) -> Command {
    search_from(3, scratch, options)
}

/// Returns the numbers at the beginning of lines: those of trials, and of live lines.
fn numbers(text: &str) -> Vec<usize> {
    let number = |line: &str| Some(line.split_once("  with ")?.0.trim()).filter(|n| n.len() <= 4)?.parse().ok();
    text.lines().filter_map(number).collect()
}

/// Checks a screen after the end of a search: each trial has one line, and no live line is left.
#[track_caller]
fn expect_clean(screen: &OnScreen) {
    let text = screen.text();
    let expected: Vec<_> = (1..=numbers(&text).len()).collect();
    assert!(expected.len() > 5, "{text}");
    assert_eq!(numbers(&text), expected, "{text}");
    for live in ["running sh", "still suspect", " · "] {
        assert!(!text.contains(live), "{live:?} is left\n{text}");
    }
    assert!(screen.has_free_cursor(), "{text}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_run_in_flight_and_a_summary_are_shown_below_the_trace() {
    let scratch = Scratch::new();
    let mut screen = OnScreen::start(&search(&scratch, &[]), 100, 100);
    let text = screen.wait_for("live lines", |text| text.contains("still suspect") && text.contains("running sh, "));
    let lines: Vec<_> = text.trim_end().lines().collect();
    let [.., run, summary] = &lines[..] else { panic!("{text}") };
    assert!(run.starts_with("   3  with ") && run.contains("running sh, "), "{text}");
    assert!(summary.starts_with("      trial 3 of about ") && summary.contains(" changes still suspect · "), "{text}");
    assert_eq!(numbers(&text), [1, 2, 3], "{text}");
    scratch.write("go", "");
    assert_eq!(screen.finish().code(), Some(0));
    expect_clean(&screen);
    let text = screen.text();
    for part in ["culprit 1", "culprit 2", "found 2 culprits"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn parallel_runs_have_a_line_each() {
    let scratch = Scratch::new();
    let mut screen = OnScreen::start(&search_from(1, &scratch, &["-j3"]), 100, 100);
    let text = screen.wait_for("live lines", |text| text.contains(" [3]  "));
    let slots: Vec<_> = text.lines().filter(|line| line.contains("running sh, ")).map(|line| &line[..6]).collect();
    assert_eq!(slots, [" [1]  ", " [2]  ", " [3]  "], "{text}");
    scratch.write("go", "");
    assert_eq!(screen.finish().code(), Some(0));
    expect_clean(&screen);
}

#[test]
#[ignore = "slow: CI runs it"]
fn runs_that_do_not_fit_are_counted() {
    let scratch = Scratch::new();
    let mut screen = OnScreen::start(&search_from(1, &scratch, &["-j5"]), 5, 100);
    let text = screen.wait_for("live lines", |text| text.contains(" more runs"));
    let lines: Vec<_> = text.trim_end().lines().rev().take(4).collect();
    assert!(lines[0].starts_with("      trial 1 · ") && lines[1].trim() == "… and 3 more runs", "{text}");
    assert!(lines[2].starts_with(" [2]  ") && lines[3].starts_with(" [1]  "), "{text}");
    scratch.write("go", "");
    assert_eq!(screen.finish().code(), Some(0));
    assert!(screen.has_free_cursor() && !screen.text().contains(" more runs"), "{}", screen.text());
}

#[test]
#[ignore = "slow: CI runs it"]
fn live_lines_are_cut_on_a_narrow_terminal() {
    let scratch = Scratch::new();
    let mut screen = OnScreen::start(&search(&scratch, &[]), 200, 40);
    let text = screen.wait_for("live lines", |text| text.contains("trial 3 of about"));
    let lines: Vec<_> = text.trim_end().lines().collect();
    let [.., run, summary] = &lines[..] else { panic!("{text}") };
    assert!(run.starts_with("   3  with ") && run.ends_with('…'), "{text}");
    assert!(summary.starts_with("      trial 3 of about "), "{text}");
    assert!([run, summary].iter().all(|line| line.chars().count() < 40), "{text}");
    scratch.write("go", "");
    assert_eq!(screen.finish().code(), Some(0));
    assert!(screen.has_free_cursor() && !screen.text().contains("trial 3 of"), "{}", screen.text());
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_resize_changes_the_live_lines_only() {
    let scratch = Scratch::new();
    let mut screen = OnScreen::start(&search(&scratch, &[]), 100, 100);
    screen.wait_for("live lines", |text| text.contains("still suspect"));
    screen.resize(100, 50);
    screen.wait_for("shorter live lines", |text| !text.contains("still suspect") && text.contains("trial 3 of about"));
    screen.resize(100, 90);
    screen.wait_for("longer live lines", |text| text.contains("still suspect") && text.contains("running sh, "));
    scratch.write("go", "");
    assert_eq!(screen.finish().code(), Some(0));
    assert!(!screen.text().contains("trial 3 of"), "{}", screen.text());
    expect_clean(&screen);
}

#[test]
fn ctrl_c_removes_the_live_lines() {
    let scratch = Scratch::new();
    let mut screen = OnScreen::start(&search(&scratch, &[]), 100, 100);
    screen.wait_for("live lines", |text| text.contains("still suspect") && text.contains("running sh, "));
    screen.press("\x03");
    assert_eq!(screen.finish().code(), Some(130));
    let text = screen.text();
    assert_eq!(numbers(&text), [1, 2], "{text}");
    for live in ["running sh", "still suspect", " · ", "^C"] {
        assert!(!text.contains(live), "{live:?} is left\n{text}");
    }
    assert!(text.contains("interrupted; ") && screen.has_free_cursor(), "{text}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn all_lines_are_plain_where_live_lines_are_not_wanted() {
    for (options, variable) in [
        (&["--color=never"][..], ("X", "")),
        (&[], ("TERM", "dumb")),
        (&[], ("CI", "true")),
        (&[], ("CARGO_TERM_PROGRESS_WHEN", "never")),
        (&["-q"], ("X", "")),
        (&[], ("CARGO_TERM_QUIET", "true")),
    ] {
        let scratch = Scratch::new();
        scratch.write("go", "");
        let mut search = search(&scratch, options);
        search.env(variable.0, variable.1);
        let mut screen = OnScreen::start(&search, 100, 100);
        assert_eq!(screen.finish().code(), Some(0));
        let written = screen.written();
        // Nothing moves the cursor.
        assert!(!written.contains("\x1b[2K") && !written.contains("A\r"), "{options:?} {variable:?}\n{written:?}");
        assert_eq!(
            written.contains("   1  with every change"),
            !options.contains(&"-q") && variable.0 != "CARGO_TERM_QUIET"
        );
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn cargo_s_configuration_of_the_terminal_is_read() {
    for (setting, has_live_lines, has_trace) in [
        ("quiet = true", false, false),
        ("progress.when = 'never'", false, true),
        ("color = 'never'", false, true),
        ("progress.when = 'always'", true, true),
    ] {
        let scratch = Scratch::new();
        scratch.write("go", "");
        fs::create_dir(scratch.dir().join(".cargo")).unwrap();
        scratch.write(".cargo/config.toml", &format!("[term]\n{setting}\n"));
        let mut search = search(&scratch, &[]);
        let mut screen = OnScreen::start(search.env("CI", if has_live_lines { "true" } else { "" }), 100, 100);
        assert_eq!(screen.finish().code(), Some(0));
        let written = screen.written();
        assert_eq!(written.contains("\x1b[2K") || written.contains("A\r"), has_live_lines, "{setting}\n{written:?}");
        assert_eq!(written.contains("   1  with every change"), has_trace, "{setting}\n{written:?}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn live_lines_have_the_width_of_cargo_s_progress() {
    let scratch = Scratch::new();
    let mut search = search(&scratch, &[]);
    search.env("CARGO_TERM_PROGRESS_WIDTH", "30");
    let mut screen = OnScreen::start(&search, 100, 100);
    let text = screen.wait_for("live lines", |text| text.contains("trial 3 of about"));
    let lines: Vec<_> = text.trim_end().lines().collect();
    let [.., run, summary] = &lines[..] else { panic!("{text}") };
    assert!(run.starts_with("   3  with ") && run.ends_with('…'), "{text}");
    assert!([run, summary].iter().all(|line| line.chars().count() <= 30), "{text}");
    scratch.write("go", "");
    assert_eq!(screen.finish().code(), Some(0));
}

#[test]
#[ignore = "slow: CI runs it"]
fn cargo_s_setting_of_progress_is_stronger_than_a_recorded_screen() {
    let scratch = Scratch::new();
    let mut search = search(&scratch, &[]);
    search.env("CI", "true").env("CARGO_TERM_PROGRESS_WHEN", "always").env("NO_COLOR", "1");
    let mut screen = OnScreen::start(&search, 100, 100);
    screen.wait_for("live lines", |text| text.contains("still suspect") && text.contains("running sh, "));
    scratch.write("go", "");
    assert_eq!(screen.finish().code(), Some(0));
    expect_clean(&screen);
    assert!(!screen.written().contains("\x1b[1m"), "{:?}", screen.written());
}

#[test]
#[ignore = "slow: CI runs it"]
fn events_on_the_same_terminal_are_whole_lines() {
    let scratch = Scratch::new();
    let mut screen = OnScreen::start(&search(&scratch, &["--json"]), 200, 1000);
    screen.wait_for("live lines", |text| text.contains("still suspect"));
    scratch.write("go", "");
    assert_eq!(screen.finish().code(), Some(0));
    let text = screen.text();
    let events = text.lines().filter(|line| line.starts_with("{\"v\":1,")).count();
    assert!(events > 10 && !text.contains("still suspect"), "{text}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn live_lines_are_hidden_while_the_search_is_stopped() {
    let scratch = Scratch::new();
    let mut screen = OnScreen::start(&search(&scratch, &[]), 100, 100);
    let is_live = |text: &str| text.contains("still suspect") && text.contains("running sh, ");
    screen.wait_for("live lines", is_live);
    screen.signal("TSTP");
    let text = screen.wait_for("no live lines", |text| !text.contains("still suspect"));
    assert!(!text.contains("running sh") && screen.has_free_cursor(), "{text}");
    screen.signal("CONT");
    screen.wait_for("live lines", is_live);
    scratch.write("go", "");
    assert_eq!(screen.finish().code(), Some(0));
    expect_clean(&screen);
}
