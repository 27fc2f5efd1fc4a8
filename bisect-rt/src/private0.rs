//! The items that expansions of the macros name.
//!
//! The module's name contains the patch version, so expansions of one version never meet the runtime of another.

pub use ::core;

#[cfg(all(not(bisect_off), target_has_atomic = "64"))]
pub use crate::active::{
    build_time::is_enabled,
    mode::use_bisect_build_in_a_constant,
    start::start_watching,
    toggle::{Default, Key, Package, Place, Toggle},
    value::hash,
    watch::{Watch, unwatched},
};

/// Requires of a value the trait that `hash` requires, because nothing is hashed when a toggle is fixed or compiled
/// out.
#[inline(always)]
pub fn check_value<T: core::hash::Hash + ?Sized>(_: &T) {}

#[cfg(test)]
mod tests {
    #[test]
    fn the_name_carries_the_patch_version() {
        let name = concat!("bisect_rt::__private", env!("CARGO_PKG_VERSION_PATCH"), "::tests");
        assert_eq!(module_path!(), name);
    }

    #[test]
    fn the_section_carries_the_version() {
        let section = concat!("bisect_rt_", env!("CARGO_PKG_VERSION")).replace('.', "_");
        let uses = include_str!("macros.rs").matches(&section).count();
        assert_eq!(uses, 2, "of ELF and Mach-O");
    }
}
