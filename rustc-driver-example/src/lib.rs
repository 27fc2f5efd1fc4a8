//! A Rust compiler with changes that a pattern selects: optimized functions, and expressions of another edition.
//!
//! `Bisection` holds the settings of a compilation, and a `Gate` is a kind of change. Neither depends on rustc:
//! everything that does is in the module `rustc`. The README has a tutorial.
#![feature(rustc_private)]

extern crate rustc_ast;
extern crate rustc_builtin_macros;
extern crate rustc_data_structures;
extern crate rustc_driver;
extern crate rustc_errors;
extern crate rustc_hir;
extern crate rustc_hir_analysis;
extern crate rustc_index;
extern crate rustc_interface;
extern crate rustc_middle;
extern crate rustc_mir_dataflow;
extern crate rustc_session;
extern crate rustc_span;

mod bisection;
mod gate;
mod invocation;
mod key_values;
mod report;
mod rustc;
mod settings;

use std::{env, process::ExitCode};

use bisect_core::protocol::names;
use bisection::{Bisection, Description};
use gate::Gate;

/// Compiles as the arguments and the environment of this process specify.
///
/// Returns the status of the compiler, or 2 after a line on standard error if this is the wrong compiler or a variable
/// is malformed.
#[must_use]
pub fn main() -> ExitCode {
    match prepare() {
        Ok((args, bisection)) => rustc::compile(&args, bisection),
        Err(problem) => {
            eprintln!("bisect-rustc: {problem}");
            ExitCode::from(2)
        }
    }
}

fn prepare() -> Result<(Vec<String>, Bisection), String> {
    let compiles_for_cargo = env::var_os("CARGO_PKG_NAME").is_some() && env::var_os("CARGO_CRATE_NAME").is_some();
    let args = invocation::arguments(rustc::arguments(), compiles_for_cargo)?;
    let mut bisection = Bisection::read(|name| env::var(name))
        .map_err(|problem| format!("{problem}; unset it, or let cargo bisect-opt set it"))?;
    if let Some(path) = env::var_os(names::REPORT).filter(|path| !path.is_empty())
        && bisection::any_package_asks_for(&Gate::ALL, env::vars_os())
        && let Err(error) = bisection.report_to(&path)
    {
        eprintln!("bisect-rustc: {}={}: {error}; reports go to standard error", names::REPORT, path.display());
    }
    Ok((args, bisection))
}
