//! The two ways in which cargo calls compilers: as `RUSTC`, and as a wrapper with the path of a compiler.

use std::{path::Path, process::Command};

/// The compiler that this one was built with, which is the only one that it can replace: the first line of its `-vV`.
const BUILT_FOR: &str = env!("BISECT_RUSTC_BUILT_FOR");
const RELEASE: &str = env!("BISECT_RUSTC_RELEASE");
const HOST: &str = env!("BISECT_RUSTC_HOST");

/// Returns the arguments for the compiler, with the name of this program first.
///
/// A query for the version of another compiler takes as long as the compilation of a small crate. Cargo makes that
/// query, through its wrappers, before it compiles anything, and keeps the answer only while all their files are
/// unchanged. So `is_checked` is true for compilations by cargo, which skip the query.
///
/// # Errors
/// If this is called as the wrapper of a compiler of another version: neither could use the output of the other. The
/// text is a line for the user.
pub(crate) fn arguments(mut args: Vec<String>, is_checked: bool) -> Result<Vec<String>, String> {
    if let Some(rustc) = args.get(1).filter(|arg| is_compiler(arg)) {
        if !is_checked {
            check_version(rustc)?;
        }
        args.remove(1);
    }
    if !args.iter().any(|arg| arg == "--sysroot" || arg.starts_with("--sysroot=")) {
        args.push(concat!("--sysroot=", env!("BISECT_RUSTC_SYSROOT")).to_owned());
    }
    Ok(args)
}

/// Returns true if an argument is the path of a compiler: its file name contains `rustc` before the extension. Source
/// files have the extension `rs`; flags and argument files begin with `-` and `@`.
fn is_compiler(arg: &str) -> bool {
    let path = Path::new(arg);
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    !arg.starts_with(['-', '@']) && path.extension().is_none_or(|extension| extension != "rs") && stem.contains("rustc")
}

fn check_version(rustc: &str) -> Result<(), String> {
    let advice = format!(
        "build with that one (cargo +{RELEASE} …), or build bisect-rustc for the other one: \
         rustup toolchain install {RELEASE} -c rustc-dev; cargo install --path rustc-driver-example"
    );
    let output = Command::new(rustc)
        .arg("-vV")
        .output()
        .map_err(|error| format!("{rustc} does not run: {error}; bisect-rustc is for {BUILT_FOR}; {advice}"))?;
    let version = String::from_utf8_lossy(&output.stdout);
    let first = version.lines().next().unwrap_or("a program that prints no version");
    if first == BUILT_FOR && version.lines().any(|line| line.strip_prefix("host: ") == Some(HOST)) {
        return Ok(());
    }
    Err(format!("{rustc} is {first}, but this was built for {BUILT_FOR} on {HOST}; {advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_distinguished_from_sources_and_flags() {
        for compiler in ["rustc", "/x/bin/rustc", "rustc.exe", "bisect-rustc", "/x/rustc-1.96", "rustc.real"] {
            assert!(is_compiler(compiler), "{compiler}");
        }
        for other in ["", "-", "-vV", "--rustc", "@rustc", "src/lib.rs", "rustc.rs", "/rustc/src/main.rs", "program"] {
            assert!(!is_compiler(other), "{other}");
        }
    }
}
