//! `bisect-core` is `no_std`, free of unsafe code, and depends on `xxhash-rust` alone.

use std::{fs, path::Path};

#[test]
fn the_only_dependency_is_xxhash() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let dependencies: Vec<_> = manifest
        .lines()
        .skip_while(|line| line.trim() != "[dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|line| line.split(['.', ' ', '=']).next().unwrap())
        .collect();
    assert_eq!(dependencies, ["xxhash-rust"]);
    for table in ["build-dependencies", "target."] {
        assert!(!manifest.contains(&format!("[{table}")), "[{table}] brings in more");
    }
}

#[test]
fn it_is_no_std_and_forbids_unsafe_code() {
    let root = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    for attribute in ["#![no_std]", "#![forbid(unsafe_code)]"] {
        assert!(root.lines().any(|line| line == attribute), "{attribute} is missing");
    }
    // `extern crate std` would bring it back in; tests may.
    assert!(!root.contains("extern crate std"));
}
