//! The program; see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    cargo_bisect_opt::main()
}
