//! Finds the compiler's library and standard library: both are where the compiler that builds this crate has them.

use std::{env, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC");
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC for build scripts");
    let output = Command::new(rustc).args(["--print", "sysroot"]).output().expect("the compiler that built this runs");
    let sysroot = String::from_utf8(output.stdout).expect("the folder of the toolchain is UTF-8");
    let sysroot = sysroot.trim();
    println!("cargo::rustc-env=BISECT_RUSTC_SYSROOT={sysroot}");
    if cfg!(unix) {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{sysroot}/lib");
    }
}
