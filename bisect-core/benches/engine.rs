//! The engine's cost of a trial, without the target's time: time, and peak memory.
//!
//! ```text
//! cargo bench -p bisect-core --bench engine
//! ```
//! The search is for a pair, and one more change that breaks the target alone.
#![allow(missing_docs)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    env,
    hint::black_box,
    num::NonZeroUsize,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::{Duration, Instant},
};

use bisect_core::{
    ChangeId, Field,
    search::{Observation, Options, Outcome, Rank, Search, Selection, Step, Verdict},
};

/// Number of allocated bytes, and its maximum.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does all the work; the counters do not touch its results.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: the caller guarantees the same conditions.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: likewise; `alloc` got the pointer from the same allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    // As part of `cargo test --all-targets`, few changes suffice to show that it works.
    let is_bench = env::args().any(|arg| arg == "--bench");
    let counts: &[u64] = if is_bench { &[1_000, 100_000, 1_000_000] } else { &[1_000] };
    println!("Decides how many candidates groups may have: the engine's time for a trial, and its memory.\n");
    println!("{:>10}{:>11}{:>8}{:>12}{:>12}{:>10}", "changes", "in flight", "trials", "mean ms", "worst ms", "peak kB");
    for &changes in counts {
        for in_flight in [1, 4, 16, 64] {
            Row::measure(changes, in_flight).print();
        }
    }
}

struct Row {
    changes: u64,
    in_flight: usize,
    trials: usize,
    total: Duration,
    /// The longest time that one outcome kept the engine busy.
    worst: Duration,
    /// The maximum of allocated bytes, including the reports that the target passed in.
    bytes: usize,
}

impl Row {
    fn measure(changes: u64, in_flight: usize) -> Self {
        let ids: Vec<_> = (0..changes).map(|i| Rank::of(ChangeId::of(&[Field::U64(i)]))).collect();
        let before = NOW.load(Relaxed);
        PEAK.store(before, Relaxed);
        let in_flight = NonZeroUsize::new(in_flight).expect("some are in flight");
        let mut search = Search::new(Options { in_flight, ..Options::default() });
        let (mut total, mut worst) = (Duration::ZERO, Duration::ZERO);
        let mut running = Vec::new();
        loop {
            let start = Instant::now();
            for id in search.obsolete() {
                running.retain(|&(running, _)| running != id);
                search.cancel(id);
            }
            let verdict = loop {
                match search.step() {
                    Step::Run(trial) => running.push((trial.id, trial.selection)),
                    Step::Wait => break None,
                    Step::Done(verdict) => break Some(verdict),
                }
            };
            let mut busy = start.elapsed();
            if let Some(verdict) = verdict {
                assert_eq!((verdict, search.test(0).found().len()), (Verdict::Complete, 2));
                let bytes = PEAK.load(Relaxed) - before;
                let in_flight = in_flight.get();
                return Self {
                    changes,
                    in_flight,
                    trials: search.progress().trials(),
                    total: total + busy,
                    worst,
                    bytes,
                };
            }
            let (id, selection) = running.remove(0);
            let observation = observe(&ids, &selection);
            let start = Instant::now();
            search.record(id, [observation]);
            black_box(search.trial_state(id).selected());
            busy += start.elapsed();
            total += busy;
            worst = worst.max(busy);
        }
    }

    fn print(&self) {
        let Self { changes, in_flight, trials, total, worst, bytes } = self;
        let mean = *total / u32::try_from(*trials).expect("few trials");
        let [mean, worst] = [mean, *worst].map(|time| time.as_secs_f64() * 1e3);
        println!("{changes:>10}{in_flight:>11}{trials:>8}{mean:>12.4}{worst:>12.4}{:>10}", bytes / 1000);
    }
}

fn observe(ids: &[Rank], selection: &Selection) -> Observation {
    let on = |i: usize| selection.enables(ids[i]);
    let outcome = if on(1) && on(2) || on(3) { Outcome::Fail } else { Outcome::Pass };
    Observation { outcome, reported: ids.iter().copied().filter(|&id| selection.contains(id)).collect() }
}
