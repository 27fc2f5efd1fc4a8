//! The start of a program, before `main`: reads the variables, once.

use std::{env, fmt};

use bisect_core::protocol::names::{PATTERN, REPORT, STOP, TOGGLES, UNTIL, UNWINDER, WATCH};

#[cfg(feature = "stacks")]
use super::stack;
use super::{
    build_time, config,
    config::{Config, Occurrence, ProcessConfig},
    mode, registry, report,
    system::{exit, host},
    unheard, watch,
};

/// The exit status of a program whose variables are invalid, or ask for something that it cannot do.
const REFUSED: i32 = 2;

/// Makes the loader call `start` before `main`. The argument determines the order among constructors.
macro_rules! before_main {
    ($($order:tt)+) => {
        ctor::declarative::ctor! {
            #[ctor(unsafe, anonymous, $($order)+)]
            fn before_main() {
                start();
            }
        }
    };
}

// The call comes before other constructors, so that toggles in those are decided as well. On ELF systems the order is by
// number, and 101 is the first number that the C library leaves to programs. On Windows the order is alphabetical. On
// Apple's systems it cannot be chosen. `ctor` has the feature `priority` for this, which needs one more package.
#[cfg(not(any(windows, target_vendor = "apple")))]
before_main!(link_section = ".init_array.101");
#[cfg(windows)]
before_main!(link_section = ".CRT$XCT");
#[cfg(target_vendor = "apple")]
before_main!(naked);

/// Configures the process.
fn start() {
    if has_raised_privileges() {
        forget_variables();
    } else {
        configure();
    }
}

fn configure() {
    if is_set(TOGGLES) && host::was_loaded_with_the_program() {
        let toggles = registry::all();
        let printed = registry::print(&toggles);
        unheard::say_unknown_fixes(&toggles);
        exit::at_once(i32::from(printed.is_err()));
    }
    let Some(value) = env::var_os(PATTERN) else { return };
    let shown = value.to_string_lossy();
    let config = match Config::parse(value.as_encoded_bytes()) {
        Ok(config) => config,
        Err(malformed) => {
            return refuse(format_args!(
                "{PATTERN}={shown:?}: {malformed}; \
                 set it to PATTERN or to name=PATTERN;other=PATTERN (on and off are patterns there too), or unset it"
            ));
        }
    };
    if config.is_default() {
        return;
    }
    let (Ok(until), Ok(stop)) = (occurrence(UNTIL), occurrence(STOP)) else { return };
    #[cfg(feature = "stacks")]
    stack::prepare(is_set(UNWINDER));
    let report_file = open_report_file();
    // Only settings by name need the list of toggles. To make it, the files of all libraries are read.
    if matches!(config, Config::Named(_)) {
        let toggles = registry::all();
        if let Err(stale) = build_time::report(&config, &toggles) {
            return refuse(format_args!(
                "{PATTERN}={shown:?}: {stale}; build the program again with the BISECT_BUILD_ variables of its packages"
            ));
        }
        unheard::say_fixed(&config, &toggles);
        if !report_file {
            unheard::say_unknown_names(&config, &toggles);
        }
    }
    if !report_file {
        unheard::say_unknown_ids_at_exit(&config);
    }
    config::set(ProcessConfig { settings: config, until, stop });
    mode::activate();
}

/// Reads a variable that asks for counted decisions, if it is set. Returns an error if the request is refused.
fn occurrence(variable: &str) -> Result<Option<Occurrence>, ()> {
    let Some(value) = env::var_os(variable).filter(|value| !value.is_empty()) else { return Ok(None) };
    let shown = value.to_string_lossy();
    Occurrence::parse(&shown).map(Some).map_err(|malformed| {
        refuse(format_args!("{variable}={shown:?}: {malformed}; set it to PATTERN:N, or unset it"));
    })
}

/// Begins to watch a condition, if the environment asks for it. On Linux it then forks: the process that was started
/// stays here as the supervisor, and this function returns in the child, which runs the program. Each `bisect_watch!`
/// has an entry that calls this before `main`, so programs without one do not contain this code.
pub extern "C" fn start_watching() {
    if has_raised_privileges() {
        return forget_variables();
    }
    let Some(value) = env::var_os(WATCH).filter(|value| !value.is_empty()) else { return };
    // A library that was loaded later shares neither the start of the program nor its count.
    if !host::was_loaded_with_the_program() {
        return;
    }
    open_report_file();
    #[cfg(feature = "stacks")]
    stack::prepare(is_set(UNWINDER));
    if let Err(refusal) = watch::start(&value) {
        refuse(format_args!("{refusal}"));
    }
}

/// Opens the file for reports. Returns true if one is named.
fn open_report_file() -> bool {
    let Some(path) = env::var_os(REPORT).filter(|path| !path.is_empty()) else { return false };
    if let Err(error) = report::open(&path) {
        eprintln!(
            "bisect-rt: {REPORT}={:?}: {error}; reports are lost to it, and go to standard error",
            path.to_string_lossy()
        );
    }
    true
}

/// Removes the variables. In a program with raised privileges they are not trusted. Programs that it starts do not know
/// that, so they must not see the variables either. A library that is loaded later does not remove them, because
/// another thread may read the environment.
fn forget_variables() {
    if !host::was_loaded_with_the_program() {
        return;
    }
    for variable in [PATTERN, UNTIL, STOP, TOGGLES, UNWINDER, REPORT, WATCH] {
        if env::var_os(variable).is_some() {
            // SAFETY: this is before `main`, so no other thread reads the environment.
            unsafe { env::remove_var(variable) };
        }
    }
}

fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| value == "1")
}

/// Ends a program that was asked for something that it cannot do. A library that the program loaded later stays at its
/// defaults instead.
fn refuse(message: fmt::Arguments<'_>) {
    if host::was_loaded_with_the_program() {
        eprintln!("bisect-rt: {message}");
        exit::at_once(REFUSED)
    }
    eprintln!("bisect-rt: {message}; until then the toggles of a library that was loaded later keep their defaults");
}

/// Returns true if the program has more rights than the process that started it: then the environment is not trusted.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn has_raised_privileges() -> bool {
    // SAFETY: `getauxval` has no preconditions.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
fn has_raised_privileges() -> bool {
    // SAFETY: these have no preconditions. (No code has run yet that could have given rights back.)
    unsafe { libc::getuid() != libc::geteuid() || libc::getgid() != libc::getegid() }
}

/// Returns false: on other platforms, starting a program does not raise privileges.
#[cfg(not(unix))]
fn has_raised_privileges() -> bool {
    false
}
