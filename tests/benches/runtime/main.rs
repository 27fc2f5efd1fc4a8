//! The runtime's cost for the program that is bisected, as tables in Markdown.
//!
//! ```text
//! cargo bench -p bisect-tests --bench runtime                 everything, about three minutes
//! cargo bench -p bisect-tests --bench runtime -- decisions    one table: decisions, or million
//! ```
//! The figures are the best of many runs that take turns, so that they hardly depend on the load of the machine.
//! Instructions are counted by valgrind's callgrind and do not depend on the machine at all. A stack decision is
//! compared with that of Go's standard library where a Go toolchain is installed.

mod callgrind;
mod decisions;
mod go;
mod million;
mod programs;

use programs::Flavour;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo bench` passes `--bench`; `cargo test --all-targets` must not wait for measurements.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return println!("measured by `cargo bench` only");
    }
    let tables: Vec<_> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |table: &str| tables.is_empty() || tables.iter().any(|wanted| *wanted == table);
    Flavour::build_all();
    if is_wanted("decisions") {
        decisions::print();
    }
    if is_wanted("million") {
        million::print();
    }
}
