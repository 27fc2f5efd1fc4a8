//! Lets `cargo bisect-opt` name the call site or the call stack at which a change of yours breaks a program.
//!
//! You replaced something that everybody calls: a faster sort, a timer that coalesces, a hash table with another order.
//! The tests of the new code pass, and yet a large program fails with it. One of a thousand callers relied on an
//! accidental property of the old code. Keep both behaviours, and mark the place:
//!
//! ```
//! use bisect_rt::{bisect_point, bisect_toggle};
//!
//! struct Row {
//!     score: u32,
//! }
//!
//! fn stable_sort(rows: &mut [Row]) {
//!     rows.sort_by_key(|row| row.score);
//! }
//!
//! // Enabled: this body. Disabled: `stable_sort` with the same arguments.
//! #[bisect_toggle("newsort", off = stable_sort)]
//! fn sort(rows: &mut [Row]) {
//!     rows.sort_unstable_by_key(|row| row.score);
//! }
//!
//! // A gate: its body is the default when it is not bisected.
//! #[bisect_toggle("newtimer")]
//! fn use_new_timer() -> bool {
//!     true
//! }
//!
//! fn scaled(a: f64, b: f64, c: f64) -> f64 {
//!     if bisect_point!("fma") { a.mul_add(b, c) } else { a * b + c }
//! }
//!
//! let mut rows = [Row { score: 2 }, Row { score: 1 }];
//! sort(&mut rows);
//! assert_eq!(rows[0].score, 1);
//! assert!(use_new_timer());
//! assert_eq!(scaled(2.0, 3.0, 1.0), 7.0);
//! ```
//!
//! Then `cargo bisect-opt test --toggle newsort` runs the failing test about as often as the number of stacks has
//! binary digits, and prints the one call stack whose new sort breaks it.
//!
//! # What a change is
//! A toggle consists of one or many *changes*, each of which can be on or off. The ID of a change is a 64-bit hash. The
//! key of the toggle defines its changes:
//!
//! | key | a change is | its ID is made of |
//! |---|---|---|
//! | `by = "site"`, the default of [`bisect_point!`] | the place | name, file, line, column |
//! | `by = "caller"` | a place that calls the `#[track_caller]` function | name, and the caller's file, line, column |
//! | `by = "stack"`, the default of [`macro@bisect_toggle`] | a call stack, its innermost `depth` frames (16) | name, and return addresses relative to their modules |
//! | [`bisect_build!`], [`macro@bisect_attr`] | the place, while compiling | name, file, line, column, package |
//!
//! `key = value` makes a separate change for every value, by its [`Hash`]. A hash that depends on addresses differs in
//! every run. The IDs of stacks are the same in every run of one binary, at any load address and on any thread; another
//! build has other stacks.
//!
//! # Three modes
//! - *Inactive*, as your users run it: `BISECT_PATTERN` is not set. A point is one relaxed load and one branch.
//! - *Active*: `BISECT_PATTERN` is set. The pattern decides on each change when the program first reaches it. A
//!   selected change is reported before any thread acts on the decision. Afterwards the decision is remembered, without
//!   a lock.
//! - *Compiled out*: with `--cfg bisect_off` in `RUSTFLAGS` a toggle is its default, and optimized as a constant; the
//!   other branch is still type-checked.
//!
//! Costs measured by `cargo bench -p bisect-tests --bench runtime` on one core of an AMD EPYC server (`std::backtrace`
//! takes 4.7 µs there):
//!
//! | decision | inactive | active, met before |
//! |---|---|---|
//! | a bare atomic load and branch | 0.25 ns | |
//! | site | 0.25 ns | 0.5 ns |
//! | caller, or site with a value | 0.25 ns | 4 ns |
//! | stack of 8, 16, 32 frames, by frame pointers | 0.25 ns | 15 ns, 31 ns, 44 ns |
//! | stack of 8, 16, 32 frames, by the unwinder | 0.25 ns | 0.8 µs, 1.4 µs, 2.6 µs |
//!
//! In a program that is built with `RUSTFLAGS="-Cforce-frame-pointers=yes --cfg bisect_frame_pointers"`, as the driver
//! does, stacks are captured by frame pointers; in others, by the unwinder.
//!
//! # A toggle that is fixed in a build
//! `BISECT_FIX=newsort=off cargo build --release` compiles every toggle called `newsort` as its old behaviour; `on` is the
//! new one, and several settings are separated by `;`. A fixed toggle is a constant, of a gate without its body being
//! run, and costs nothing; both behaviours are still type-checked. This applies to all four macros, and also with
//! `--cfg bisect_off`. Cargo rebuilds the crates with toggles if the value changes; it can also be in `[env]` of cargo's
//! configuration.
//!
//! - A malformed value is a compile error, which names the byte.
//! - A macro knows no names but its own. So a name that no toggle has is reported where all toggles are known:
//!   `BISECT_TOGGLES=1 ./program` on standard error, and `cargo bisect-opt toggles`. Both list fixed toggles as
//!   `fixed off` or `fixed on`.
//! - A pattern for all toggles does not apply to fixed ones. One that asks for another state by name gets a message on
//!   standard error when the program starts (`"newsort" is fixed off in this build`), and the program continues.
//!
//! # How often the old behaviour was used
//! A program whose users set `BISECT_PATTERN=newsort=off` can count the decisions that this setting makes: [`counts`].
//! This decision takes 6 ns at a site, most of which is one atomic addition; threads that decide at the same place
//! take turns for it.
//!
//! # The variables
//! They are read once, before `main`. A program with raised privileges (set-user-ID programs and the like) does not
//! read them, and removes them from the environment of the programs that it starts.
//!
//! | variable | meaning |
//! |---|---|
//! | `BISECT_PATTERN=PATTERN` | which changes of all toggles are on and which are reported ([`bisect_core::Pattern`]) |
//! | `BISECT_PATTERN=name=PATTERN;other=PATTERN` | the same for some toggles; others keep their default. `on` and `off` as a pattern report nothing: a switch for your users, if the change causes trouble for them |
//! | `BISECT_REPORT=FILE` | reports are appended to this file, which must exist and be no pipe, instead of standard error |
//! | `BISECT_WATCH=NAME` | search for the moment at which a condition breaks ([`bisect_watch!`]); the lines are for the driver |
//! | `BISECT_TOGGLES=1` | print the toggles and exit: name, key, place, default; for build-time changes also ID, package and the state that is compiled in; for fixed toggles also `fixed on` or `fixed off` |
//! | `BISECT_UNTIL=PATTERN:N` | count the decisions on the changes that this pattern selects, in each thread; after the first N they are the other way round. With `PATTERN:N:THREAD,THREAD`, it is N + 1 in the threads of these names |
//! | `BISECT_STOP=PATTERN:N` | the same count; on Unix, decision N of a thread raises `SIGTRAP`, at which a debugger stops |
//! | `BISECT_UNWINDER=1` | capture stacks by the unwinder, even if the program has frame pointers |
//!
//! A malformed pattern ends the program before `main` with a line on standard error and status 2. So does a pattern
//! that asks for other build-time changes than are compiled in; build-time changes are selected only by their name. A
//! library that is loaded by `dlopen` does not end the program: its toggles keep their defaults then. Without
//! `BISECT_REPORT`, by which a driver is recognised, there are two more messages on standard error. Before `main`, one
//! lists names that no toggle of the program has. When the program ends, the other reports that it reached none of the
//! single changes that the pattern names (`BISECT_PATTERN=x0123456789abcdef`), which may then be of another build.
//!
//! If a report cannot be written, the program goes on, and one line on standard error reports this.
//!
//! A report is a line with a marker, `[bisect-match 0x…]`. If the pattern begins with `v`, the report is for people:
//! the place and name of the change, and for a stack a line for each function. If debug information has line tables
//! only, functions are named without their path; `debug = "limited"` has the full names. The standard library names
//! functions by following unwind tables: beyond code without tables, a frame is an offset in its module.
//!
//! # Features
//! `stacks`, which is on by default, is the code for decisions by call stack. With `default-features = false`, changes
//! are sites and callers, and toggles add a third less to a program.
//!
//! - Without it, a toggle with `by = "stack"`, or a [`macro@bisect_toggle`] without `by`, is a compile error that
//!   contains the fix. It does not silently become a toggle by caller: its changes would be others, with other IDs.
//! - Cargo unites features: if another crate of the program enables `stacks`, this toggle compiles. A library that does
//!   not use the feature should therefore be built by itself in its own tests, as `cargo test -p` does.
//!
//! Eight packages are compiled for a program with a toggle, with and without the feature: this one, the protocol
//! (`bisect-core`), `libc`, and the macros with `syn`, `quote`, `proc-macro2` and `unicode-ident`. With
//! `--cfg bisect_off` only this one and the macros are compiled, and this one needs no standard library.
//!
//! # What is not supported
//! - A limit on the size of files (`ulimit -f`) that the program sets itself while it runs: a report beyond the limit
//!   causes a signal.
//! - Toggles in constructors, which run before `main`, on Apple's systems: they may keep their defaults.
//! - A toggle by stack in an allocator, with a pattern that begins with `v`: the program waits for itself if it
//!   allocates while the standard library prints a backtrace, which holds the lock that text for people needs.
//! - Targets without 64-bit atomics, except with `--cfg bisect_off`.
//! - Text for people on stacks of less than 128 KiB, except on `x86_64` and `aarch64` under Unix: elsewhere it is made
//!   on the deciding thread.
//! - Stacks on targets without an unwinder (WebAssembly): all stacks are one change. Sites and callers work.
//! - Frame pointers, except on `x86_64` and `aarch64` under Linux, Android and Apple's systems. Elsewhere the unwinder
//!   is used, and so it is on a signal's or a coroutine's stack.
//! - `BISECT_TOGGLES` and build-time changes, except with ELF, Mach-O and COFF. Linux lists all modules of the program;
//!   other systems list the one that this crate is linked into.
//! - Code that is made at run time: a stack ends before its first frame in that code. With frame pointers, a stack also
//!   ends at code that was built without them.
//! - A library that is loaded where another was unloaded: stacks through it may be taken for those of the other.
//! - In a signal handler, or in the child of a `fork` of a program with several threads: patterns that begin with `v`,
//!   because text for people takes locks and memory. Decisions and other reports work, with two exceptions. One is the
//!   unwinder with another C library than glibc 2.35 or newer, because that unwinder takes the lock of the dynamic
//!   loader. The other is a library that was loaded by `dlopen`, because glibc allocates its thread-local variables
//!   when a thread first uses them.
//! - A toggle in code that decisions themselves call (an allocator): it decides, but keeps its default in calls from
//!   its own decisions.

// Compiled out, a library without the standard library can have toggles, too.
#![cfg_attr(all(bisect_off, not(test)), no_std)]

#[cfg(all(not(bisect_off), not(target_has_atomic = "64")))]
compile_error!("bisect-rt needs 64-bit atomics; build with `--cfg bisect_off` for this target");

#[doc(hidden)]
#[path = "private0.rs"]
pub mod __private0;
#[cfg(all(not(bisect_off), target_has_atomic = "64"))]
mod active;
mod counts;
mod macros;

pub use bisect_macros::{bisect_attr, bisect_build, bisect_point, bisect_toggle};
pub use counts::{Count, counts};
