//! Places and programs for the tests of all packages.

pub mod ram_disk;
pub mod search_path;
