//! The memory of decisions and of reports, under every interleaving of threads on a small table.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p bisect-rt --test loom --release`
#![cfg(loom)]

#[allow(dead_code, unreachable_pub, reason = "a part of the crate without the rest")]
#[path = "../src/active/table.rs"]
mod table;

use loom::{cell::UnsafeCell, model::Builder, sync::Arc, thread};
use table::Table;

const DONE: u64 = 2;
const OTHER: u64 = 3;

fn explore(test: impl Fn() + Sync + Send + 'static) {
    let mut model = Builder::new();
    model.preemption_bound = Some(3);
    model.check(test);
}

/// A report: loom fails if it is written twice at once, or read before it was written.
struct Report(UnsafeCell<u32>);

// SAFETY: loom detects unsound accesses.
unsafe impl Sync for Report {}

impl Report {
    fn write(&self) {
        // SAFETY: as above.
        self.0.with_mut(|written| unsafe { *written += 1 });
    }

    fn times_written(&self) -> u32 {
        // SAFETY: as above.
        self.0.with(|written| unsafe { *written })
    }
}

#[test]
fn a_report_is_written_once_and_before_anyone_acts_on_it() {
    explore(|| {
        let shared = Arc::new((Table::new(), Report(UnsafeCell::new(0))));
        let act = |shared: &(Table, Report)| {
            let (table, report) = shared;
            table.once(8, DONE, || report.write());
            assert_eq!(report.times_written(), 1);
            assert_eq!(table.get(8), Some(DONE));
        };
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || act(&other));
        act(&shared);
        thread.join().unwrap();
    });
}

#[test]
fn two_keys_for_one_slot_are_both_remembered() {
    explore(|| {
        let table = Arc::new(Table::new());
        let other = Arc::clone(&table);
        let thread = thread::spawn(move || {
            other.insert(8, DONE);
            assert_eq!(other.get(8), Some(DONE));
            other.insert(8, DONE);
        });
        table.insert(16, OTHER);
        assert_eq!(table.get(16), Some(OTHER));
        assert!(matches!(table.get(8), None | Some(DONE)));
        thread.join().unwrap();
        assert_eq!((table.get(8), table.get(16), table.get(24)), (Some(DONE), Some(OTHER), None));
    });
}

#[test]
fn reports_of_two_changes_for_one_slot() {
    explore(|| {
        let shared = Arc::new((Table::new(), [Report(UnsafeCell::new(0)), Report(UnsafeCell::new(0))]));
        let act = |shared: &(Table, [Report; 2]), order: [usize; 2]| {
            let (table, reports) = shared;
            for change in order {
                table.once(8 + 8 * change as u64, DONE, || reports[change].write());
                assert_eq!(reports[change].times_written(), 1);
            }
        };
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || act(&other, [0, 1]));
        act(&shared, [1, 0]);
        thread.join().unwrap();
    });
}
