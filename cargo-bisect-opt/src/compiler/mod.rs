//! Compilation of single crates by plans: the driver as cargo's `RUSTC_WRAPPER`, also with `bisect-rustc`.
//!
//! Cargo compiles. Overrides of its profiles, of which it keeps both variants, and one variable for each package in the
//! dep-info express how each crate is compiled. Freshness, features, build scripts, cross targets and runners stay as
//! the user has them.
//!
//! `BISECT_OPT_WRAPPER` turns the driver's executable into a wrapper of rustc. `BISECT_CODEGEN_<name>_<version>` holds
//! the [plan] of a package as JSON. Reports and lists of passes are stored below `BISECT_OPT_STORE`, by variable and
//! hash of its values, since cargo starts no compiler for a fresh crate. Reports of a failed compilation are used only
//! for a crate that has not been built.

pub(crate) mod bisect_rustc;
pub(crate) mod cache;
pub(crate) mod passes;
pub(crate) mod plan;
mod stored_path;
pub(crate) mod unit;
pub(crate) mod wrapper;
