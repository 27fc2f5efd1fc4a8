//! Tables of failures that count as the same or not, with the output of Rust 1.95.

use std::{collections::BTreeMap, os::unix::process::ExitStatusExt, process::ExitStatus, time::Duration};

use super::*;
use crate::cargo::libtest;

/// Tests that fail in all sorts of ways by the number 3, and by the number 7.
const WITH_3: &str = include_str!("cause_tests/with_3.txt");
const WITH_7: &str = include_str!("cause_tests/with_7.txt");

fn causes(output: &str) -> BTreeMap<String, Cause> {
    let tests = libtest::failed_tests(output.as_bytes()).unwrap();
    let name = |name: &str| name.strip_prefix("tests::").unwrap().to_owned();
    tests.iter().map(|test| (name(&test.name), Cause::of_test(&test.printed))).collect()
}

#[test]
fn causes_of_tests_do_not_depend_on_values() {
    let (with_3, with_7) = (causes(WITH_3), causes(WITH_7));
    for (test, words, is_like) in [
        ("a_thread_fails", "panic at src/lib.rs:56:18", true),
        ("compares_numbers", "panic at src/lib.rs:11:9", true),
        // Another line of the same test.
        ("compares_elsewhere", "panic at src/lib.rs:18:9", false),
        // A function that panics for others: `the sky is 3 feet high`, `no bread in …`.
        ("complains", "panic at src/lib.rs:22:9", false),
        ("returns_an_error", "an error that was returned", true),
        ("should_panic", "a panic that should have been", true),
        ("should_panic_otherwise", "panic at src/lib.rs:43:9", true),
        // Caught and uncaught panics look alike.
        ("tries_first_then_fails", "panic at src/lib.rs:48:49", true),
        // It printed the heading of another test.
        ("prints_what_looks_like_it", "unknown cause", true),
    ] {
        let (cause, other) = (&with_3[test], &with_7[test]);
        assert_eq!(cause.to_string(), words, "{test}");
        assert_eq!((cause.is_like(other), other.is_like(cause)), (is_like, is_like), "{test}");
        assert!(cause.is_like(cause));
    }
    let alike = |a: &str, b: &str| with_3[a].is_like(&with_3[b]);
    assert!(!alike("compares_numbers", "compares_elsewhere"));
    assert!(!alike("compares_numbers", "returns_an_error"));
    assert!(!alike("should_panic", "returns_an_error"));
    assert!(alike("prints_what_looks_like_it", "compares_numbers"), "an unknown cause may be any");
}

/// Creates the cause of a test that panicked at a location with this message.
fn panic_at(place: &str, message: &str) -> Cause {
    Cause::of_test(&format!("\nthread 't' (7) panicked at {place}:\n{message}\nnote: more\n"))
}

/// Returns the cause of a test executable that printed this and aborted.
fn aborted(output: &str) -> Cause {
    let ending = Ending::Exited(ExitStatus::from_raw(6));
    Cause::of_harness(&Finished {
        ending,
        output: output.as_bytes().to_vec(),
        duration: Duration::ZERO,
        lost_log: None,
    })
}

#[test]
fn a_process_that_a_panic_aborts_shows_its_message() {
    let misaligned = "misaligned pointer dereference: address must be a multiple of 0x4 but is 0x7ff327612513";
    let unwinding = "panic in a function that cannot unwind";
    let end = "thread caused non-unwinding panic. aborting.\n";
    let panic = |place: &str, message: &str| format!("\nthread 't' (7) panicked at {place}:\n{message}\nnote: more\n");
    let own = panic("pages/src/lib.rs:4:14", misaligned);
    for (output, how, message) in [
        (own.clone() + end, "panic at pages/src/lib.rs:4:14, signal 6", Some(misaligned)),
        // Another test panicked before.
        (panic("src/lib.rs:1:1", "no") + &own + end, "panic at pages/src/lib.rs:4:14, signal 6", Some(misaligned)),
        (
            panic("src/lib.rs:1:1", "no") + &panic("core/src/panicking.rs:2:5", unwinding) + end,
            "panic at src/lib.rs:1:1, signal 6",
            Some("no"),
        ),
        // The harness kept the first panic.
        (
            panic("core/src/panicking.rs:2:5", unwinding) + end,
            "panic at core/src/panicking.rs:2:5, signal 6",
            Some(unwinding),
        ),
        (
            "\nthread 'deep' (9) has overflowed its stack\nfatal runtime error: stack overflow, aborting\n".to_owned(),
            "stack overflow, signal 6",
            Some("thread 'deep' has overflowed its stack"),
        ),
        // The panic of another thread is none of its causes.
        (
            panic("src/lib.rs:1:1", "no").replace("'t'", "'u'") + &panic("core/src/panicking.rs:2:5", unwinding) + end,
            "panic at core/src/panicking.rs:2:5, signal 6",
            Some(unwinding),
        ),
        // No panic aborted the process.
        (panic("src/lib.rs:1:1", "no"), "signal 6", None),
        (end.to_owned(), "signal 6", None),
    ] {
        let cause = aborted(&output);
        assert_eq!((cause.to_string().as_str(), cause.message()), (how, message), "{output}");
        assert!(cause.is_like(&aborted("")), "{output}");
    }
}

#[test]
fn messages_say_more_than_locations() {
    for (message, expected) in [
        ("assertion `left == right` failed", None),
        ("assertion `left != right` failed", None),
        ("", None),
        ("assertion `left == right` failed: too few", Some("too few")),
        ("attempt to add with overflow", Some("attempt to add with overflow")),
    ] {
        let cause = panic_at("src/lib.rs:1:1", message);
        assert_eq!((cause.message(), cause.place()), (expected, Some("src/lib.rs:1:1")), "{message}");
    }
    assert_eq!((Cause::TIMEOUT.message(), Cause::TIMEOUT.place()), (None, None));
}

#[test]
fn messages_of_one_place() {
    for (a, b, is_like) in [
        ("left: 3", "left: 4", true),
        ("Anna lost", "Berta lost", true),
        ("cannot open /tmp/a", "cannot open /tmp/b", true),
        ("no such file: /tmp/.tmpX7", "no such directory: /tmp/.tmpY8", true),
        ("called `Result::unwrap()` on an `Err` value: A", "called `Result::unwrap()` on an `Err` value: B(1)", true),
        ("0x7f00", "0x8f00", true),
        ("", "anything", true),
        ("7", "anything", true),
        ("no such file", "permission denied", false),
        ("first 1", "second 2", false),
    ] {
        assert_eq!(panic_at("src/lib.rs:1:1", a).is_like(&panic_at("src/lib.rs:1:1", b)), is_like, "{a:?} {b:?}");
    }
}

#[test]
fn places_are_the_same_in_another_directory() {
    let cause = |place| panic_at(place, "bad");
    assert!(cause("/tmp/a/out/gen.rs:7:5").is_like(&cause("/tmp/b/out/gen.rs:7:5")));
    assert!(cause(r"C:\a\gen.rs:7:5").is_like(&cause(r"D:\gen.rs:7:5")));
    for other in ["/tmp/a/out/gen.rs:7:6", "/tmp/a/out/gen.rs:8:5", "/tmp/a/out/other.rs:7:5"] {
        assert!(!cause("/tmp/a/out/gen.rs:7:5").is_like(&cause(other)), "{other}");
    }
}

#[test]
fn causes_of_programs() {
    let exited = |status: i32, output: &str| {
        let ending = Ending::Exited(ExitStatus::from_raw(status));
        Finished { ending, output: output.as_bytes().to_vec(), duration: Duration::ZERO, lost_log: None }
    };
    let timeout = Finished { ending: Ending::TimedOut, ..exited(0, "") };
    let panic =
        |line: u32| exited(101 << 8, &format!("x\r\nthread 'main' (1) panicked at src/main.rs:{line}:1:\r\nno\r\n"));
    let aborting = |line: u32| exited(6, &format!("thread 'main' (1) panicked at src/main.rs:{line}:1:\nno\n"));
    let unbuilt = |code: &str, line: u32| {
        let text = format!("error[{code}]: bad\n --> src/lib.rs:{line}:1\n\nerror: could not compile `a` (lib)\n");
        exited(101 << 8, &text)
    };
    let (status, segv, abort) = (exited(3 << 8, "bad"), exited(11, ""), exited(6, ""));
    for (a, b, program, harness) in [
        (&status, &exited(3 << 8, "worse"), true, true),
        (&status, &exited(4 << 8, "bad"), false, true),
        (&segv, &segv, true, true),
        (&segv, &abort, true, true),
        (&segv, &exited(139 << 8, ""), true, true),
        (&segv, &panic(3), false, true),
        (&aborting(3), &aborting(3), true, true),
        (&aborting(3), &aborting(4), false, true),
        (&aborting(3), &panic(3), false, true),
        (&segv, &timeout, false, false),
        (&timeout, &timeout, true, true),
        (&status, &timeout, false, true),
        (&panic(3), &panic(3), true, true),
        (&panic(3), &panic(4), false, true),
        (&panic(3), &exited(101 << 8, ""), true, true),
        (&exited(1 << 8, "Error: no bread\n"), &exited(1 << 8, "Error: no milk\n"), true, true),
        (&exited(1 << 8, "Error: no bread\n"), &exited(1 << 8, "Error: late again\n"), false, true),
        (&exited(1 << 8, "Error: no bread\n"), &exited(1 << 8, ""), true, true),
        // A failed build is another failure, also with the same status.
        (&panic(3), &unbuilt("E0425", 1), false, true),
        (&exited(101 << 8, ""), &unbuilt("E0425", 1), false, true),
        (&unbuilt("E0425", 1), &unbuilt("E0425", 1), true, true),
        (&unbuilt("E0425", 1), &unbuilt("E0308", 1), false, true),
    ] {
        for (is_like, of) in [(program, Cause::of_program as fn(&_) -> Cause), (harness, Cause::of_harness)] {
            let (a, b) = (of(a), of(b));
            assert_eq!((a.is_like(&b), b.is_like(&a)), (is_like, is_like), "{a:?} {b:?}");
        }
    }
    let words = [&status, &segv, &timeout, &panic(3)].map(|finished| Cause::of_program(finished).to_string());
    assert_eq!(words, ["exit status 3", "signal 11", "timeout", "panic at src/main.rs:3:1"]);
}
