//! A Rust compiler that is told by `BISECT_PATTERN` what it may optimize.
//!
//! So far it reads the pattern, refuses a malformed one, and otherwise compiles as `rustc` does.
#![feature(rustc_private)]

extern crate rustc_driver;

use std::{env, process::ExitCode};

use bisect_core::{ParseError, Pattern};
use rustc_driver::Callbacks;

/// The variable that holds the pattern.
pub const VARIABLE: &str = "BISECT_PATTERN";

/// The compiler's side of a search: what is asked of this compilation.
#[derive(Debug)]
pub struct Bisect {
    pattern: Pattern,
}

impl Bisect {
    /// Reads the value of [`VARIABLE`]; the empty value is that nobody is bisecting.
    ///
    /// # Errors
    /// If `value` is no pattern.
    pub fn new(value: &str) -> Result<Self, ParseError> {
        Ok(Self { pattern: value.parse()? })
    }

    /// Which functions are to be optimized.
    #[must_use]
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }
}

impl Callbacks for Bisect {}

/// Compiles as told by the arguments and the environment of this process.
///
/// The status is the compiler's, or 2 with a line on standard error if the pattern is malformed.
#[must_use]
pub fn main() -> ExitCode {
    let value = match env::var(VARIABLE) {
        Ok(value) => value,
        Err(env::VarError::NotPresent) => String::new(),
        Err(env::VarError::NotUnicode(_)) => return refuse("not UTF-8"),
    };
    let mut bisect = match Bisect::new(&value) {
        Ok(bisect) => bisect,
        Err(error) => return refuse(&format!("{value:?} is no pattern: {error}")),
    };
    let mut args: Vec<_> = env::args().collect();
    if !args.iter().any(|arg| arg == "--sysroot" || arg.starts_with("--sysroot=")) {
        args.push(concat!("--sysroot=", env!("BISECT_RUSTC_SYSROOT")).to_owned());
    }
    rustc_driver::catch_with_exit_code(|| rustc_driver::run_compiler(&args, &mut bisect))
}

fn refuse(what: &str) -> ExitCode {
    eprintln!("bisect-rustc: {VARIABLE}: {what}; unset it, or let cargo bisect-opt set it");
    ExitCode::from(2)
}
