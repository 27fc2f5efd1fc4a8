//! Finds the compiler's library and the standard library of the compiler that builds this crate, and records its
//! version: no other version works.

use std::{env, ffi::OsStr, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC");
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC for build scripts");
    let sysroot = ask(&rustc, &["--print", "sysroot"]);
    let sysroot = sysroot.trim();
    println!("cargo::rustc-env=BISECT_RUSTC_SYSROOT={sysroot}");
    if cfg!(unix) {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{sysroot}/lib");
    }
    let version = ask(&rustc, &["-vV"]);
    let find =
        |field: &str| version.lines().find_map(|line| line.strip_prefix(field)).expect("rustc knows its version");
    println!("cargo::rustc-env=BISECT_RUSTC_BUILT_FOR={}", version.lines().next().expect("a version"));
    println!("cargo::rustc-env=BISECT_RUSTC_RELEASE={}", find("release: "));
    println!("cargo::rustc-env=BISECT_RUSTC_HOST={}", find("host: "));
}

fn ask(rustc: &OsStr, args: &[&str]) -> String {
    let output = Command::new(rustc).args(args).output().expect("the compiler that builds this runs");
    String::from_utf8(output.stdout).expect("the compiler speaks UTF-8")
}
