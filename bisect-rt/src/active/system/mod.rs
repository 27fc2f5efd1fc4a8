//! The operating system: memory, modules, standard error, and state that decisions must not change.

pub(super) mod breakpoint;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) mod errno;
pub(super) mod host;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) mod loaded;
#[cfg(all(feature = "stacks", any(target_os = "linux", target_os = "android")))]
pub(super) mod mappings;
pub(super) mod pages;
pub(super) mod size_limit;
pub(super) mod stderr;
