//! `bisect-core` is `no_std`, free of unsafe code, and depends only on `xxhash-rust`.

use std::{fs, path::Path};

#[test]
fn it_depends_only_on_xxhash_rust() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let (_, dependencies) = manifest.split_once("\n[dependencies]\n").unwrap();
    let dependencies: Vec<_> = dependencies.lines().take_while(|line| !line.starts_with('[')).collect();
    assert_eq!(
        dependencies.join("\n").trim(),
        r#"xxhash-rust = { workspace = true, features = ["const_xxh3", "xxh3"] }"#,
        "the only dependency, whose features bring in no other crate"
    );
    for table in ["dependencies.", "build-dependencies", "target."] {
        assert!(!manifest.contains(&format!("[{table}")), "[{table}] brings something in");
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
