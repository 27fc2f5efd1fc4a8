//! Decisions do not allocate, unless their reports are for people: a toggle may be in an allocator or in a signal
//! handler.

use crate::fixture::{Flavour, Program, all_different, ids};

#[test]
#[ignore = "slow: CI runs it"]
fn stacks_are_decided_on_without_allocating() {
    for flavour in [Flavour::Plain, Flavour::FramePointers] {
        let path = flavour.program("probe", "counting");
        for unwinder in ["0", "1"] {
            let run = Program::new(&path).env("BISECT_UNWINDER", unwinder).pattern("y").run();
            assert_eq!(run.decisions(), ["new: 0", "seen: 0"], "{flavour:?}, unwinder: {unwinder}");
            assert_eq!(all_different(ids(&run.reports)).len(), 1 << 13, "{flavour:?}, unwinder: {unwinder}");
        }
    }
}

#[test]
fn settings_are_counted_without_allocating() {
    let path = Flavour::Plain.program("probe", "counting");
    let run = Program::new(&path).pattern("counted=off").run();
    assert_eq!((run.decisions(), run.reports.as_str()), (vec!["new: 0", "seen: 0"], ""));
}

#[test]
fn what_allocates_is_counted() {
    let path = Flavour::Plain.program("probe", "counting");
    let run = Program::new(&path).pattern("v10101010").run();
    let [new, seen] = run.decisions()[..] else { panic!("{run:?}") };
    assert_ne!(new, "new: 0", "stacks for people");
    assert_eq!(seen, "seen: 0");
}
