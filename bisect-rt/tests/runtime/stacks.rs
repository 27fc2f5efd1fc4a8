//! Stacks: the same from run to run, distinguished from each other, and readable.

use std::{collections::BTreeSet, io::Write};

use crate::fixture::{Flavour, Program, Run, all_different, ids, probe, texts};

/// The ways to capture a stack.
const CAPTURES: [(Flavour, &str); 3] =
    [(Flavour::Plain, "0"), (Flavour::FramePointers, "0"), (Flavour::FramePointers, "1")];

fn stacks((flavour, unwinder): (Flavour, &str), pattern: &str) -> Run {
    probe(flavour, &["stacks"]).env("BISECT_UNWINDER", unwinder).pattern(pattern).run()
}

#[test]
fn ids_are_the_same_in_twenty_runs() {
    for capture in CAPTURES {
        let first = stacks(capture, "y").reports;
        for _ in 1..20 {
            assert_eq!(stacks(capture, "y").reports, first, "{capture:?}");
        }
    }
    let addresses: BTreeSet<_> = (0..20).map(|_| probe(Flavour::Plain, &["where"]).run().stdout).collect();
    if addresses.len() == 1 {
        // Not `eprintln!`: the harness would capture it.
        writeln!(std::io::stderr(), "SKIPPED in part: programs are loaded at the same address every time here")
            .expect("standard error is there");
    }
}

#[test]
fn stacks_are_told_apart() {
    for capture in CAPTURES {
        let reports = stacks(capture, "y").reports;
        // The stacks are: left, right, two calls on different lines, 30 and 31 levels (whose innermost 16 frames are
        // the same), 2 levels, and that of a thread, which another thread has too.
        assert_eq!(all_different(ids(&reports)).len(), 7, "{capture:?}: {reports}");
    }
}

#[test]
fn both_captures_see_the_same_functions() {
    let frames =
        |capture| -> Vec<_> { texts(&stacks(capture, "vy").reports).into_iter().map(|(_, text)| text).collect() };
    assert_eq!(frames(CAPTURES[1]), frames(CAPTURES[2]));
}

#[test]
fn each_stack_is_decided_on() {
    for capture in CAPTURES {
        let all = ids(&stacks(capture, "y").reports);
        let run = stacks(capture, &format!("-x{:016x}", all[1]));
        let off: Vec<_> = run.decisions().into_iter().filter(|line| line.ends_with(": off")).collect();
        assert_eq!(off, ["right: off"], "{capture:?}");
        assert_eq!(ids(&run.reports).len(), 6, "{capture:?}");
    }
}

#[test]
fn a_stack_for_people() {
    for capture in CAPTURES {
        let run = stacks(capture, "vy");
        let texts = texts(&run.reports);
        let first: Vec<_> =
            texts.iter().take_while(|(id, _)| *id == texts[0].0).map(|(_, text)| text.as_str()).collect();
        assert_eq!(
            first,
            [
                "probe/src/stacks.rs:9:5 stack",
                "  probe::stacks::toggled at probe/src/stacks.rs:9:5",
                "  probe::stacks::left at probe/src/stacks.rs:14:15",
                "  probe::stacks::all at probe/src/stacks.rs:34:26",
                "  probe::run at probe/src/main.rs:35:21",
                "  probe::main at probe/src/main.rs:18:9",
            ],
            "{capture:?}"
        );
        let (id, _) = texts.last().unwrap();
        let last: Vec<_> = texts.iter().filter(|(other, _)| other == id).map(|(_, text)| text.as_str()).collect();
        assert_eq!(
            last,
            [
                "probe/src/stacks.rs:9:5 stack",
                "  probe::stacks::toggled at probe/src/stacks.rs:9:5",
                "  probe::stacks::left at probe/src/stacks.rs:14:15",
            ],
            "of a thread, {capture:?}"
        );
    }
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "slow: CI runs it"]
fn toggles_in_a_dynamic_library() {
    let host = Flavour::Dynamic.program("host", "host");
    let libraries = crate::fixture::libraries(&host);
    let host = || Program::new(&host).env("LD_LIBRARY_PATH", &libraries);

    let run = host().env("BISECT_TOGGLES", "1").run();
    assert_eq!(
        run.decisions(),
        [
            "inside\tstack\tplugin/src/lib.rs:8:5\ton",
            "site-inside\tsite\tplugin/src/lib.rs:12:5\ton",
            "site-outside\tsite\thost/src/main.rs:22:34\ton",
        ],
        "of all modules"
    );

    let first = host().pattern("y").run();
    assert_eq!(all_different(ids(&first.reports)).len(), 4);
    for _ in 1..20 {
        assert_eq!(host().pattern("y").run().reports, first.reports);
    }
    let run = host().pattern("vy").run();
    let texts = texts(&run.reports);
    let lines: Vec<_> = texts.iter().take(4).map(|(_, text)| text.as_str()).collect();
    assert_eq!(
        lines,
        [
            "plugin/src/lib.rs:8:5 inside",
            "  plugin::inside at plugin/src/lib.rs:8:5",
            "  host::one at host/src/main.rs:10:15",
            "  host::main at host/src/main.rs:19:25",
        ]
    );
    let run = host().pattern("inside=off").run();
    assert_eq!(run.decisions(), ["one: false", "two: false", "site inside: true", "site outside: true"]);
}
