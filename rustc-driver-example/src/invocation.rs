//! How cargo calls compilers: as `RUSTC` with arguments alone, as a wrapper with the path of a compiler before them.

use std::{path::Path, process::Command};

/// The compiler that this one was built from and for: the first line of its `-vV`.
const BUILT_FOR: &str = env!("BISECT_RUSTC_BUILT_FOR");
const RELEASE: &str = env!("BISECT_RUSTC_RELEASE");
const HOST: &str = env!("BISECT_RUSTC_HOST");

/// The arguments that are for the compiler, the program's own name first.
///
/// Asking another compiler for its version takes as long as a small crate does. Cargo asks, through its wrappers, before
/// it compiles anything, and keeps the answer only while all their files stay the same; so `is_checked` is true for what
/// cargo compiles.
///
/// # Errors
/// If this is to stand in for a compiler of another version: what each compiles, the other could not use. The text is
/// a line for the user.
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

/// Whether the first argument is a compiler: `rustc`, or something that is called so in part. Source files are told
/// apart by their extension.
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
    let first = version.lines().next().unwrap_or("of no version that it tells");
    if first == BUILT_FOR && version.lines().any(|line| line.strip_prefix("host: ") == Some(HOST)) {
        return Ok(());
    }
    Err(format!("{rustc} is {first}, but this was built for {BUILT_FOR} on {HOST}; {advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_told_from_sources_and_flags() {
        for compiler in ["rustc", "/x/bin/rustc", "rustc.exe", "bisect-rustc", "/x/rustc-1.96", "rustc.real"] {
            assert!(is_compiler(compiler), "{compiler}");
        }
        for other in ["", "-", "-vV", "--rustc", "@rustc", "src/lib.rs", "rustc.rs", "/rustc/src/main.rs", "program"] {
            assert!(!is_compiler(other), "{other}");
        }
    }
}
