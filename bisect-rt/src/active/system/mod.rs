//! The operating system: memory, modules, processes, standard error, and state that decisions must not change.

pub(super) mod breakpoint;
#[cfg(target_os = "linux")]
pub(super) mod children;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) mod errno;
pub(super) mod exit;
#[cfg(unix)]
pub(super) mod forks;
pub(super) mod host;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) mod loaded;
#[cfg(all(feature = "stacks", any(target_os = "linux", target_os = "android")))]
pub(super) mod mappings;
#[cfg(target_os = "linux")]
pub(super) mod open_files;
pub(super) mod pages;
#[cfg(target_os = "linux")]
pub(super) mod pipe;
#[cfg(target_os = "linux")]
pub(super) mod shared;
pub(super) mod size_limit;
pub(super) mod stderr;
#[cfg(target_os = "linux")]
pub(super) mod threads;
