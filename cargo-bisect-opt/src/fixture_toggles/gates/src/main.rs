//! A program that fails if its toggle is on, or if it has an argument.

use std::process::ExitCode;

fn main() -> ExitCode {
    let on = bisect_rt::bisect_point!("program");
    let arguments = std::env::args().skip(1).collect::<Vec<_>>();
    println!("in {} with {arguments:?}", std::env::current_dir().unwrap().display());
    ExitCode::from(u8::from(on || !arguments.is_empty()))
}
