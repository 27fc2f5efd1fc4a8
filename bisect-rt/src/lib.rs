//! Lets `cargo bisect-opt` name the call site or the call stack at which a change of yours breaks a program.
//!
//! You replaced code that has many callers, for example by a faster sort, a timer that coalesces, or a hash table with
//! another order. The tests of the new code pass, but a large program fails with it: one of a thousand callers relies
//! on an accidental property of the old code. Keep both behaviours, and mark the place:
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
//! Then `cargo bisect-opt test --toggle newsort` runs the failing test about log2 N times if there are N call stacks,
//! and prints the one call stack whose new sort breaks it.
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
//! With `key = value`, each value is a separate change. Its [`Hash`] becomes part of the ID, so it must not depend on
//! addresses, which differ from run to run. The IDs of stacks are the same in every run of one binary, at any load
//! address and on any thread. In another build, stacks have other IDs.
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
//! | decision | inactive | active, decided before |
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
//! `BISECT_FIX=newsort=off cargo build --release` compiles every toggle called `newsort` as its old behaviour; `on` is
//! the new one, and several settings are separated by `;`. A fixed toggle is a constant and costs nothing; the body of
//! a fixed gate is not run. Both behaviours are still type-checked. This applies to all macros except
//! [`bisect_watch!`], and also with `--cfg bisect_off`. Cargo rebuilds the crates with toggles if the value changes.
//! The variable can also be set in `[env]` of cargo's configuration.
//!
//! - A malformed value is a compile error, which names the byte.
//! - A macro knows only its own name. So a name that no toggle has is reported only where all toggles are known: by
//!   `BISECT_TOGGLES=1 ./program` on standard error, and by `cargo bisect-opt toggles`. Both list fixed toggles as
//!   `fixed off` or `fixed on`.
//! - A pattern for all toggles does not apply to fixed toggles. If a pattern names a fixed toggle and asks for another
//!   state, the program prints a message on standard error when it starts (`"newsort" is fixed off in this build`), and
//!   continues.
//!
//! # How often the old behaviour was used
//! A program whose users set `BISECT_PATTERN=newsort=off` can count the decisions that this setting makes: [`counts`].
//! This decision takes 6 ns at a site, most of which is one atomic addition. Threads that decide at one place
//! at the same time wait for each other.
//!
//! # The variables
//! They are read once, before `main`. A program with raised privileges (set-user-ID programs and the like) does not
//! read them, and removes them from the environment of the programs that it starts.
//!
//! | variable | meaning |
//! |---|---|
//! | `BISECT_PATTERN=PATTERN` | which changes of all toggles are on and which are reported ([`bisect_core::Pattern`]) |
//! | `BISECT_PATTERN=name=PATTERN;other=PATTERN` | the same for some toggles; others keep their default. `on` and `off` as a pattern report nothing: a switch for your users, if the change causes trouble for them |
//! | `BISECT_REPORT=FILE` | reports are appended to this file instead of standard error; it must exist and must not be a pipe |
//! | `BISECT_WATCH=NAME` | search for the moment at which a condition breaks ([`bisect_watch!`]); the lines are for the driver |
//! | `BISECT_TOGGLES=1` | print the toggles and exit: name, key, place, default; for build-time changes also ID, package and the state that is compiled in; for fixed toggles also `fixed on` or `fixed off` |
//! | `BISECT_UNTIL=PATTERN:N` | in each thread, count the decisions on the changes that this pattern selects, and reverse those after the first N. With `PATTERN:N:THREAD,THREAD`, the limit is N + 1 in the threads with these names |
//! | `BISECT_STOP=PATTERN:N` | the same count; on Unix, decision N of a thread raises `SIGTRAP`, at which a debugger stops |
//! | `BISECT_UNWINDER=1` | capture stacks by the unwinder, even if the program has frame pointers |
//!
//! A malformed pattern ends the program before `main` with a line on standard error and status 2. So does a pattern
//! that asks for other build-time changes than are compiled in; build-time changes are selected only by their name. In
//! a library that is loaded by `dlopen`, the same errors do not end the program: the toggles of that library keep their
//! defaults.
//!
//! If `BISECT_REPORT` is not set, the program assumes that a person has started it. Then there are two more messages on
//! standard error. Before `main`, the program prints names that none of its toggles has. When it ends, it prints
//! that it has reached none of the single changes that the pattern selects (`BISECT_PATTERN=x0123456789abcdef`): they
//! may be those of another build.
//!
//! If a report cannot be written, the program goes on, and one line on standard error reports this.
//!
//! A report is a line with a marker, `[bisect-match 0x…]`. If the pattern begins with `v`, the report is for people:
//! the place and name of the change, and for a stack a line for each function. If debug information has line tables
//! only, functions are named without their path; `debug = "limited"` has the full names. A frame
//! without a symbol is printed as an offset in its module; so is a frame in a library that was loaded after the first
//! report for people.
//!
//! # Features
//! `stacks`, which is on by default, is the code for decisions by call stack. It brings the crate `backtrace`, which
//! captures stacks and names their functions. With `default-features = false`, toggles are keyed by site or caller only:
//! the light way for a library that needs no stacks.
//!
//! | | packages | processor time of a debug build | bytes added to a stripped program |
//! |---|---|---|---|
//! | with `stacks` | 20 (at most 21) | at most 19 s | 380 KB (at most 420 KB) |
//! | without | 10 (at most 11) | at most 8 s | 100 KB (at most 150 KB) |
//!
//! - Without it, a toggle with `by = "stack"`, or a [`macro@bisect_toggle`] without `by`, is a compile error that
//!   contains the fix. It does not silently become a toggle by caller: its changes would be others, with other IDs.
//! - Cargo unifies features: if another crate of the program enables `stacks`, a toggle by stack compiles everywhere. A
//!   library that does not enable the feature should therefore be built by itself in its own tests, as `cargo test -p`
//!   does.
//!
//! Without the feature, these packages are compiled for a program with a toggle: this one, the protocol (`bisect-core`)
//! with `xxhash-rust`, `ctor`, `libc`, and the macros with `syn`, `quote`, `proc-macro2` and `unicode-ident`. The feature
//! adds `once_cell` and `backtrace` with `addr2line`, `gimli`, `object`, `memchr`, `miniz_oxide`, `adler2`,
//! `rustc-demangle` and `cfg-if`. With `--cfg bisect_off` only this one and the macros are compiled, and this one needs no
//! standard library. `cargo bench -p bisect-tests --bench adoption` measures the table.
//!
//! # What is not supported
//! - A limit on the size of files (`ulimit -f`) that the program sets itself while it runs: a report beyond the limit
//!   causes a signal.
//! - Toggles in constructors, which run before `main`, on Apple's systems: they may keep their defaults.
//! - A toggle by stack in an allocator, with a pattern that begins with `v`, in a program that itself reads debug
//!   information with the crate `backtrace`: that crate does not expect a call from within its own allocations. The
//!   backtraces of the standard library are no problem.
//! - Stack decisions without a lock, on 32-bit Windows: its unwinder is for one thread at a time.
//! - Targets without 64-bit atomics, except with `--cfg bisect_off`.
//! - Text for people on stacks of less than 128 KiB, except on `x86_64` and `aarch64` under Unix: elsewhere the text is
//!   made on the stack of the deciding thread.
//! - Stacks on targets for which `backtrace` has no unwinder (WebAssembly, the Universal Windows Platform): all stacks
//!   are one change. Sites and callers work.
//! - Frame pointers, except on `x86_64` and `aarch64` under Linux, Android and Apple's systems. Elsewhere the unwinder
//!   is used. It is also used on the stack of a signal handler or a coroutine.
//! - `BISECT_TOGGLES` and build-time changes, except with ELF, Mach-O and COFF. Linux lists all modules of the program;
//!   other systems list the one that this crate is linked into.
//! - Code that is generated at run time: a stack ends before its first frame in that code. With frame pointers, a stack
//!   also ends at code that was built without them.
//! - A library that is loaded at the address of an unloaded one: stacks through it may get the remembered decisions of
//!   stacks through the other.
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
