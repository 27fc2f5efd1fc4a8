//! What a decision costs: beside a bare atomic load and a branch, and beside the standard library's backtrace.
//!
//! ```text
//! cargo bench -p bisect-rt
//! RUSTFLAGS='-Cforce-frame-pointers=yes --cfg bisect_frame_pointers' cargo bench -p bisect-rt
//! ```
//! A process is bisected or not, so the program starts itself again: with a pattern, and once more with the unwinder.
#![allow(missing_docs)]

use std::{
    env,
    hint::black_box,
    process::Command,
    sync::atomic::{AtomicU8, Ordering::Relaxed},
};

use bisect_rt::bisect_point;
use divan::Bencher;

/// So many decisions a sample iteration, to make the loop around them cheap.
const N: usize = 1_000;

/// Selects nothing and enables everything: each decision is made, and none is reported.
const ALL_ON: &str = "!-y";

fn main() {
    if env::var_os("BISECT_PATTERN").is_some() {
        return divan::main();
    }
    println!("nobody bisects");
    divan::main();
    if env::args().any(|arg| arg == "--test" || arg == "--list") {
        return;
    }
    println!("\neverything is asked for");
    again(&[("BISECT_PATTERN", ALL_ON)], None);
    if cfg!(bisect_frame_pointers) {
        println!("\neverything is asked for, by the unwinder");
        again(&[("BISECT_PATTERN", ALL_ON), ("BISECT_UNWINDER", "1")], Some("stack"));
    }
}

fn again(variables: &[(&str, &str)], filter: Option<&str>) {
    let this = env::current_exe().expect("the program knows its own path");
    let arguments = env::args_os().skip(1);
    let status = Command::new(this).args(arguments).args(filter).envs(variables.iter().copied()).status();
    assert!(status.is_ok_and(|status| status.success()), "the benches run with {variables:?}");
}

static BARE: AtomicU8 = AtomicU8::new(0);

fn decisions(bencher: Bencher, decide: impl Fn() -> u64 + Sync) {
    bencher.counter(N).bench(|| (0..N).map(|_| black_box(decide())).sum::<u64>());
}

#[divan::bench]
fn a_bare_load_and_branch(bencher: Bencher) {
    decisions(bencher, || if BARE.load(Relaxed) == 0 { 1 } else { black_box(2) });
}

#[divan::bench]
fn site(bencher: Bencher) {
    decisions(bencher, || if bisect_point!("bench-site") { 1 } else { black_box(2) });
}

#[divan::bench]
fn keyed_site(bencher: Bencher) {
    decisions(bencher, || u64::from(bisect_point!("bench-keyed", key = &7_u32)));
}

#[track_caller]
#[inline(never)]
fn called() -> bool {
    bisect_point!("bench-caller", by = "caller")
}

#[divan::bench]
fn caller(bencher: Bencher) {
    decisions(bencher, || u64::from(called()));
}

/// Calls `f` below so many frames more.
#[inline(never)]
fn below(frames: u32, f: &dyn Fn()) {
    if frames == 0 {
        f();
    } else {
        below(black_box(frames - 1), f);
    }
    black_box(());
}

macro_rules! stack {
    ($name:ident, $depth:literal) => {
        #[divan::bench]
        fn $name(bencher: Bencher) {
            #[inline(never)]
            fn toggled() -> bool {
                bisect_point!("bench-stack", by = "stack", depth = $depth)
            }
            bencher.counter(N).bench(|| {
                below($depth, &|| {
                    for _ in 0..N {
                        black_box(toggled());
                    }
                });
            });
        }
    };
}
stack!(stack_8, 8);
stack!(stack_16, 16);
stack!(stack_32, 32);

#[divan::bench]
fn std_backtrace(bencher: Bencher) {
    bencher.counter(10_usize).bench(|| {
        below(16, &|| {
            for _ in 0..10 {
                let _ = black_box(std::backtrace::Backtrace::force_capture());
            }
        });
    });
}
