//! Compilation of single crates by plans: the driver as cargo's `RUSTC_WRAPPER`, also with `bisect-rustc`.

pub(crate) mod bisect_rustc;
pub(crate) mod cache;
pub(crate) mod passes;
pub(crate) mod plan;
pub(crate) mod unit;
pub(crate) mod wrapper;
