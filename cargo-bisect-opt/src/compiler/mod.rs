//! The driver as cargo's `RUSTC_WRAPPER`: each crate is compiled by a plan. And `bisect-rustc`, where it is.

pub(crate) mod bisect_rustc;
pub(crate) mod cache;
pub(crate) mod passes;
pub(crate) mod plan;
pub(crate) mod unit;
pub(crate) mod wrapper;
