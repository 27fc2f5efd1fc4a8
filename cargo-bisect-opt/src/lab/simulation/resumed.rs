//! Tests of interrupted searches, which continue from their states.

use super::{Simulated, golden, simulate, simulate_in};
use crate::output::run_dir::RunDir;

/// The events that make up the answer, without their times.
fn answer(searched: &Simulated) -> Vec<String> {
    let is_of_answer = |line: &&str| line.contains("\"event\":\"found\"") || line.contains("\"event\":\"end\"");
    searched.events.lines().filter(is_of_answer).map(str::to_owned).collect()
}

/// Continues a search from this journal, in a copy of its directory.
fn simulate_from(earlier: &Simulated, settings: &str, journal: &str) -> Simulated {
    let copy = tempfile::tempdir().unwrap();
    drop(RunDir::create(copy.path()).unwrap());
    for log in fs_err::read_dir(earlier.directory.path().join("runs")).unwrap() {
        let log = log.unwrap();
        fs_err::copy(log.path(), copy.path().join("runs").join(log.file_name())).unwrap();
    }
    fs_err::write(copy.path().join("journal.jsonl"), journal).unwrap();
    simulate_in(copy, settings)
}

/// Returns the number of runs that ended.
fn runs(journal: &str) -> usize {
    journal.lines().filter(|line| line.contains("\"shown\":")).count()
}

/// Continues a search from its states, about `states` of them if it has more. With one run at a time everything is the
/// same, and no run is repeated.
fn check(name: &str, states: usize) {
    let settings = golden::settings(name);
    let is_parallel = settings.lines().any(|line| line.starts_with("jobs"));
    let whole = simulate(&settings);
    let lines = whole.journal.lines().count();
    for cut in (0..=lines).step_by(1 + lines / states) {
        let journal: String = whole.journal.split_inclusive('\n').take(cut).collect();
        let resumed = simulate_from(&whole, &settings, &journal);
        assert!(!resumed.screen.contains("the search asks for another run"), "{name} after {cut}:\n{}", resumed.screen);
        if is_parallel {
            // The runs that were in flight may end in another order.
            let found = |searched| answer(searched).into_iter().filter(|line| line.contains("found")).count();
            assert_eq!(found(&resumed), found(&whole), "{name} after {cut}");
            assert_eq!(resumed.status, whole.status, "{name} after {cut}");
            continue;
        }
        assert_eq!(resumed.screen, whole.screen, "{name} after {cut}");
        assert_eq!(answer(&resumed), answer(&whole), "{name} after {cut}");
        assert_eq!(resumed.sent.len() + runs(&journal), whole.sent.len(), "{name} after {cut}");
        assert_eq!(runs(&resumed.journal), runs(&whole.journal), "{name} after {cut}");
    }
}

/// Defines two tests for each recorded search that can be continued.
macro_rules! continued {
    (continued: $($name:ident),*; others: $($other:ident),*;) => {
        mod each_recorded_search_can_be_continued {
            $(#[test] fn $name() { super::check(stringify!($name), 5); })*

            mod from_many_states {
                $(#[test] #[ignore = "slow: CI runs it"] fn $name() { super::super::check(stringify!($name), 30); })*
            }
        }
    };
}

golden::searches!(continued);

#[test]
fn the_time_before_the_interruption_counts() {
    let settings = golden::settings("plain");
    let whole = simulate(&settings);
    let an_hour_later = |(n, line): (usize, &str)| {
        let mut entry: serde_json::Value = serde_json::from_str(line).unwrap();
        entry["at_ms"] = (3_600_000 + n).into();
        entry.to_string() + "\n"
    };
    let journal: String = whole.journal.lines().enumerate().take(3).map(an_hour_later).collect();
    let resumed = simulate_from(&whole, &settings, &journal);
    let read = |file| fs_err::read_to_string(resumed.directory.path().join(file)).unwrap();
    let trials = read("trials.jsonl");
    let trials = trials.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let times: Vec<_> = trials.map(|trial| trial["start_ms"].as_u64().unwrap()).collect();
    assert!(times[0] < 3_600_000 && times[1..].iter().all(|&ms| ms >= 3_600_000), "{times:?}");
    assert!(times.is_sorted(), "{times:?}");
    let result: serde_json::Value = serde_json::from_str(&read("result.json")).unwrap();
    assert!(result["end"]["ms"].as_u64().unwrap() >= 3_600_002, "{result}");
}

#[test]
fn a_journal_of_another_search_is_discarded_from_the_first_difference_on() {
    let settings = golden::settings("plain");
    let whole = simulate(&settings);
    // The third run is another one.
    let other: String = whole
        .journal
        .lines()
        .enumerate()
        .map(|(i, line)| if i == 2 { line.replacen("\"choice\":\"", "\"choice\":\"y+", 1) } else { line.to_owned() } + "\n")
        .collect();
    let resumed = simulate_from(&whole, &settings, &other);
    assert!(
        resumed.screen.contains("the search asks for another run 3 than before it was interrupted"),
        "{}",
        resumed.screen
    );
    assert_eq!(answer(&resumed), answer(&whole));
    assert_eq!(resumed.sent.len(), whole.sent.len() - 2);
    assert_eq!(runs(&resumed.journal), runs(&whole.journal));
}

#[test]
fn a_line_that_is_not_complete_is_a_run_that_is_made_again() {
    let settings = golden::settings("plain");
    let whole = simulate(&settings);
    let end = whole.journal.match_indices('\n').nth(3).unwrap().0;
    for cut in [end, end - 1, end - 40] {
        let resumed = simulate_from(&whole, &settings, &whole.journal[..cut]);
        assert_eq!(resumed.screen, whole.screen);
        assert_eq!(resumed.sent.len(), whole.sent.len() - 3);
    }
}
