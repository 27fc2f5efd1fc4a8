//! What happens before `main`: the variables are read, once.

use std::{env, ffi::OsString};

use crate::{build_time, config, config::Config, mode, registry, report, stack};

/// Which toggles are on; the grammar is told by [`Config::parse`].
const PATTERN: &str = "BISECT_PATTERN";
/// `1`: print the toggles and exit.
const TOGGLES: &str = "BISECT_TOGGLES";
/// `1`: capture stacks by the unwinder even where there are frame pointers.
const UNWINDER: &str = "BISECT_UNWINDER";

/// The exit status of a program that was asked for what has no meaning, or what it cannot do.
const REFUSED: i32 = 2;

// `early`, so that the toggles in other constructors are asked for like those in `main`.
ctor::declarative::ctor! {
    /// Configures the process.
    #[ctor(unsafe, anonymous, priority = early)]
    fn start() {
        if !has_raised_privileges() {
            configure();
        }
    }
}

fn configure() {
    if is_set(TOGGLES) {
        let printed = registry::print();
        exit(i32::from(printed.is_err()));
    }
    let Some(value) = env::var_os(PATTERN) else { return };
    let shown = value.to_string_lossy();
    let config = match Config::parse(value.as_encoded_bytes()) {
        Ok(config) => config,
        Err(malformed) => refuse(format_args!(
            "bisect-rt: {PATTERN}={shown:?}: {malformed}; \
             set it to PATTERN or to name=PATTERN;other=PATTERN (on and off are patterns there too), or unset it"
        )),
    };
    if config.is_default() {
        return;
    }
    stack::prepare(is_set(UNWINDER));
    if let Some(path) = env::var_os(report::VARIABLE).filter(|path| !path.is_empty()) {
        open_reports(path);
    }
    if let Err(stale) = build_time::report(&config) {
        refuse(format_args!(
            "bisect-rt: {PATTERN}={shown:?}: {stale}; build the program again with the BISECT_BUILD_ variables of its packages"
        ));
    }
    config::set(config);
    mode::activate();
}

fn open_reports(path: OsString) {
    let shown = path.to_string_lossy().into_owned();
    if let Err(error) = report::open(path) {
        eprintln!("bisect-rt: {}={shown:?}: {error}; reports go to standard error", report::VARIABLE);
    }
}

fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| value == "1")
}

fn refuse(message: std::fmt::Arguments<'_>) -> ! {
    eprintln!("{message}");
    exit(REFUSED)
}

/// Ends the process at once: nothing of the program has run yet that would have to be cleaned up.
#[cfg(unix)]
fn exit(status: i32) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(status) }
}

#[cfg(not(unix))]
fn exit(status: i32) -> ! {
    std::process::exit(status)
}

/// Whether whoever started the program has fewer rights than it: then the environment is not to be trusted.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn has_raised_privileges() -> bool {
    // SAFETY: `getauxval` has no preconditions.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
fn has_raised_privileges() -> bool {
    // SAFETY: these have no preconditions. (Nothing has run yet that could have given rights back.)
    unsafe { libc::getuid() != libc::geteuid() || libc::getgid() != libc::getegid() }
}

/// Elsewhere programs do not raise privileges by being started.
#[cfg(not(unix))]
fn has_raised_privileges() -> bool {
    false
}
