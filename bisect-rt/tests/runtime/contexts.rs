//! Stack decisions under restrictions: a decision neither locks nor allocates, and needs little stack.

use crate::fixture::{Flavour, Program, Run, ids, texts};

const FLAVOURS: [Flavour; 2] = [Flavour::Plain, Flavour::FramePointers];

fn contexts(flavour: Flavour, arguments: &[&str], pattern: &str) -> Run {
    Program::new(&flavour.program("probe", "contexts")).args(arguments).pattern(pattern).run()
}

#[test]
#[cfg(target_env = "gnu")]
fn a_thread_that_holds_the_lock_of_the_loader_stops_no_decision() {
    for flavour in FLAVOURS {
        let run = contexts(flavour, &["while-loading"], "y");
        assert_eq!((run.stdout.as_str(), ids(&run.reports).len()), ("decided: true\n", 1), "{flavour:?}");
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_toggle_in_an_allocator_ends() {
    for flavour in FLAVOURS {
        for name in ["allocator", "exported"] {
            let path = flavour.program("probe", name);
            for pattern in ["y", "vy"] {
                let run = Program::new(&path).pattern(pattern).run();
                assert_eq!(run.stdout, "allocated: 100\n", "{flavour:?} {name} {pattern}");
                assert!(!run.reports.is_empty(), "{flavour:?} {name} {pattern}");
            }
        }
    }
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_small_stack_is_enough_for_a_report_with_names() {
    for flavour in FLAVOURS {
        for kilobytes in ["16", "32", "64"] {
            let run = contexts(flavour, &["small", kilobytes], "y");
            assert_eq!(run.stdout, "decided: true\n", "{flavour:?}");
            let run = contexts(flavour, &["small", kilobytes], "vy");
            assert_eq!(run.stdout, "decided: true\n", "{flavour:?}");
            let frame = &texts(&run.reports)[1].1;
            assert!(frame.starts_with("  contexts::linux::toggled at "), "{flavour:?}: {frame}");
        }
    }
}

#[test]
fn a_stack_has_one_id_wherever_it_lies() {
    for flavour in FLAVOURS {
        let reports = |place| contexts(flavour, &["handler", place], "y").reports;
        assert_eq!(reports("above"), reports("below"), "{flavour:?}");
        let text = contexts(flavour, &["handler", "above"], "vy").reports;
        assert!(
            text.contains("contexts::linux::handler::outer"),
            "beyond the handler's own stack, {flavour:?}: {text}"
        );
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn data_in_the_frame_pointer_does_not_fill_the_memory() {
    let run = contexts(Flavour::FramePointers, &["junk", "300000"], "y");
    assert_eq!(ids(&run.reports).len(), 1);
    let kilobytes: usize = run.stdout.trim().parse().unwrap();
    assert!(kilobytes < 4096, "grown by {kilobytes} KiB");
}
