//! The division of a bench's output: one table for BENCHMARKS.md, and details that are kept beside the bench.

/// Prints the line after which `.ci/benchmarks` writes the output to a file in `tests/benches/details/`.
pub fn begin() {
    println!("\n<!-- details -->");
}
