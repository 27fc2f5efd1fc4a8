//! What expansions of the macros name. The module's name carries the patch version, so that expansions of one version
//! never meet the runtime of another.

pub use ::core;

#[cfg(not(bisect_off))]
pub use crate::{
    build_time::is_enabled,
    mode::inactive,
    toggle::{Default, Key, Package, Place, Toggle},
    value::hash,
};

/// What `hash` asks of a value, where nobody hashes it.
#[cfg(bisect_off)]
#[inline(always)]
pub fn check_value<T: core::hash::Hash + ?Sized>(_: &T) {}
