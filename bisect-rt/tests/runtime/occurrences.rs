//! Single decisions: counted, reversed after a number of them, and stopped at.

use crate::fixture::{Flavour, ids, probe};

#[test]
fn decisions_after_a_number_are_the_other_way_round() {
    for flavour in [Flavour::Plain, Flavour::FramePointers] {
        for command in ["site", "gate", "keyed", "called", "stacks"] {
            let all = probe(flavour, &[command]).pattern("y").run();
            let (id, each) = (ids(&all.reports)[0], all.decisions().len());
            for (until, reversed) in [(0, [1, 1, 1]), (1, [0, 1, 1]), (2, [0, 0, 1]), (3, [0, 0, 0])] {
                let occurrence = format!("x{id:016x}:{until}");
                let run = probe(flavour, &[command; 3]).pattern("y").env("BISECT_UNTIL", &occurrence).run();
                let off = |decisions: &[&str]| decisions.iter().filter(|line| line.ends_with(": off")).count();
                let count: Vec<_> = run.decisions().chunks(each).map(off).collect();
                assert_eq!(count, reversed, "{command}, {occurrence}: {}", run.stdout);
                let reports: String =
                    run.reports.lines().filter(|line| line.starts_with('[')).collect::<Vec<_>>().join("\n");
                assert_eq!(ids(&reports), ids(&all.reports), "each is reported once, {command}");
            }
        }
    }
}

#[test]
fn the_last_decision_names_its_thread() {
    let notes = |command: &str, until: &str| {
        let run = probe(Flavour::Plain, &[command]).pattern("-y").env("BISECT_UNTIL", until).run();
        run.reports.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(notes("keyed", "y:3"), ["bisect-rt: decision 3 of thread main"]);
    assert_eq!(notes("keyed", "y:5"), [""; 0]);
    assert_eq!(notes("threads", "y:1500").len(), 8, "each thread counts its own");
    assert_eq!(notes("keyed", "y:1:main"), ["bisect-rt: decision 2 of thread main"]);
}

#[test]
fn changes_of_one_selection_are_counted_together() {
    let run = probe(Flavour::Plain, &["keyed", "keyed"]).pattern("n").env("BISECT_UNTIL", "y:5").run();
    let off = run.decisions().iter().map(|line| line.ends_with(": off")).collect::<Vec<_>>();
    assert_eq!(off, [true, true, true, true, true, false, false, false], "{}", run.stdout);
}

#[test]
fn without_a_pattern_nothing_is_counted() {
    let run = probe(Flavour::Plain, &["site", "site"]).env("BISECT_UNTIL", "y:0").run();
    assert_eq!(run.decisions(), ["site: on", "site: on"]);
}

#[cfg(unix)]
#[test]
fn a_decision_stops_the_process() {
    use std::os::unix::process::ExitStatusExt as _;

    let program = probe(Flavour::Plain, &["keyed", "site", "site"]).pattern("y");
    let run = program.env("BISECT_STOP", "y:6").end();
    assert_eq!(run.status.signal(), Some(libc::SIGTRAP), "no debugger is there");
    assert_eq!(run.decisions().len(), 5, "before the sixth: {}", run.stdout);
    assert_eq!(ids(&run.reports).len(), 5);
}

#[test]
fn a_malformed_value_ends_the_process() {
    for value in ["y", "z:1", ":1"] {
        let run = probe(Flavour::Plain, &["site"]).pattern("y").env("BISECT_STOP", value).end();
        assert_eq!(run.status.code(), Some(2), "{value}");
        assert!(
            run.stderr.contains("bisect-rt: BISECT_STOP=")
                && run.stderr.ends_with("; set it to PATTERN:N, or unset it\n"),
            "{}",
            run.stderr
        );
    }
}
