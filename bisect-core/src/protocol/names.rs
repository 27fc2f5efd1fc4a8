//! The names of all environment variables of the project, each written once.

use alloc::{format, string::String};

/// The beginning of the names of all variables that targets read.
pub const FAMILY: &str = "BISECT_";
/// The pattern of a target's toggles, or settings by name: [`Config`](super::Config).
pub const PATTERN: &str = "BISECT_PATTERN";
/// The existing file to which a target appends its reports.
pub const REPORT: &str = "BISECT_REPORT";
/// `1`: the target prints its toggles and exits.
pub const TOGGLES: &str = "BISECT_TOGGLES";
/// `1`: the target captures stacks by the unwinder, even if it is built with frame pointers.
pub const UNWINDER: &str = "BISECT_UNWINDER";
/// The last decision on some changes that is not reversed: [`Occurrence`](super::Occurrence).
pub const UNTIL: &str = "BISECT_UNTIL";
/// The decision on some changes at which the target stops in a debugger: [`Occurrence`](super::Occurrence).
pub const STOP: &str = "BISECT_STOP";
/// The watched condition, and the moments at which it is evaluated.
pub const WATCH: &str = "BISECT_WATCH";
/// Prefix, followed by a package: the way in which its build-time changes are compiled. `bisect-macros` has its own
/// copy.
pub const BUILD: &str = "BISECT_BUILD_";

/// The states in which toggles are fixed while they are compiled: `name=on;other=off`. `bisect-macros` has its own copy.
pub const FIX: &str = "BISECT_FIX";

/// The path of `bisect-rustc`, for the driver.
pub const RUSTC: &str = "BISECT_RUSTC";
/// Prefix, followed by a package: the pattern of its functions and expressions, for `bisect-rustc`.
pub const RUSTC_PACKAGE: &str = "BISECT_RUSTC_";
/// Prefix, followed by a package: the way in which the driver, as cargo's wrapper of the compiler, compiles it.
pub const CODEGEN_PACKAGE: &str = "BISECT_CODEGEN_";

/// The number of the slot in which a run takes place, for the target.
pub const SLOT: &str = "BISECT_SLOT";

/// The mark of a driver that cargo runs as wrapper of the compiler.
pub const OPT_WRAPPER: &str = "BISECT_OPT_WRAPPER";
/// The folder in which that wrapper keeps reports of the compiler.
pub const OPT_STORE: &str = "BISECT_OPT_STORE";
/// The mark of the process that ends runs when the driver is killed.
pub const OPT_GUARD: &str = "BISECT_OPT_GUARD";
/// A value that marks the processes of one run.
pub const OPT_RUN: &str = "BISECT_OPT_RUN";

/// Prefix, followed by the name of an option: its default, for the driver.
pub const OPTION: &str = "CARGO_BISECT_OPT_";

/// Returns the name of a package's variable, from one of the prefixes above.
///
/// A shell between cargo and the compiler passes on only variables whose names the shell's grammar allows, so other
/// characters become `_`.
///
/// ```
/// use bisect_core::protocol::names;
///
/// assert_eq!(names::of_package(names::BUILD, "my-crate", "0.1.0"), "BISECT_BUILD_my_crate_0_1_0");
/// ```
#[must_use]
pub fn of_package(prefix: &str, package: &str, version: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    format!("{prefix}{package}_{version}").chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::{BUILD, of_package};

    #[test]
    fn names_of_packages_are_such_as_shells_can_write() {
        assert_eq!(of_package(BUILD, "my-crate", "0.1.0-rc.1+x"), "BISECT_BUILD_my_crate_0_1_0_rc_1_x");
    }
}
