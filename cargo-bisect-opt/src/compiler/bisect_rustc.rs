//! Finding `bisect-rustc`, the compiler that can be told which functions it may optimize.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// The variable that names it.
const VARIABLE: &str = "BISECT_RUSTC";
/// The toolchain that the one of this version is made for.
const TOOLCHAIN: &str = "1.96.0";

/// LLVM's passes on whole modules also change functions that are `optnone`: in those, too, what cannot happen is taken out.
pub(crate) const WITHOUT_MODULE_PASSES: &str =
    "-Cllvm-args=-opt-disable=ipsccp,globalopt,deadargelim,argpromotion,called-value-propagation";

/// Why there is none, in words that say what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BisectRustcError {
    /// It is nowhere.
    #[error("there is no bisect-rustc. {}", advice(.0))]
    Missing(String),
    /// It cannot be started, or is something else.
    #[error("`{}` is no bisect-rustc that can be used: {why}", path.display())]
    Unusable {
        /// What was tried.
        path: PathBuf,
        /// What happened.
        why: String,
    },
    /// It is of another toolchain.
    #[error(
        "`{}` is of {driver}, and what compiles here is {rustc}; the two must be the same. {}",
        path.display(), advice(rustc)
    )]
    Mismatch {
        /// What was found.
        path: PathBuf,
        /// Its version.
        driver: String,
        /// That of the compiler in use.
        rustc: String,
    },
}

/// How to have functions searched, by who has this compiler.
fn advice(rustc: &str) -> String {
    let install = format!(
        "`rustup toolchain install {TOOLCHAIN} -c rustc-dev`, \
         `RUSTC_BOOTSTRAP=1 cargo +{TOOLCHAIN} install --path rustc-driver-example`"
    );
    let is_there = rustc.split(' ').nth(1) == Some(TOOLCHAIN);
    let switch = if is_there { String::new() } else { format!(", and then `cargo +{TOOLCHAIN} bisect-opt`") };
    format!("To get it: {install}{switch}")
}

impl BisectRustcError {
    /// Whether what the user named cannot be used, rather than that nothing was found.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(self, BisectRustcError::Unusable { .. })
    }
}

/// The `bisect-rustc` that the user names, or that stands beside this executable, for a compiler that says of itself what
/// `rustc -vV` prints.
///
/// # Errors
/// If there is none, or none that can take this compiler's place.
pub(crate) fn find(named: Option<&Path>, rustc: &str) -> Result<PathBuf, BisectRustcError> {
    let version = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    let from_environment = || env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let Some(path) = named.map(Path::to_owned).or_else(from_environment).or_else(beside) else {
        return Err(BisectRustcError::Missing(version(rustc)));
    };
    let unusable = |why: String| BisectRustcError::Unusable { path: path.clone(), why };
    // Cargo runs it elsewhere.
    let path = std::path::absolute(&path).map_err(|error| unusable(error.to_string()))?;
    let output = Command::new(&path).arg("-vV").output().map_err(|error| unusable(error.to_string()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || !said.starts_with("rustc ") {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(unusable(format!("`{} -vV` says {:?}", path.display(), said.lines().chain(stderr.lines()).next())));
    }
    if said.trim() == rustc.trim() {
        return Ok(path);
    }
    Err(BisectRustcError::Mismatch { driver: version(&said), rustc: version(rustc), path })
}

fn beside() -> Option<PathBuf> {
    let path = env::current_exe().ok()?.with_file_name(format!("bisect-rustc{}", env::consts::EXE_SUFFIX));
    path.is_file().then_some(path)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const RUSTC: &str = "rustc 1.95.0 (59807616e 2026-04-14)\nbinary: rustc\nrelease: 1.95.0\n";

    /// What is said of a driver that is this script.
    fn said(script: &str) -> Result<PathBuf, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bisect-rustc");
        fs_err::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        find(Some(&path), RUSTC).map_err(|error| format!("{} {error}", error.is_usage()))
    }

    #[test]
    fn a_driver_must_be_of_the_compiler_in_use() {
        assert!(said(&format!("printf '{RUSTC}'")).is_ok());
        let error = said("echo 'rustc 1.96.0 (ac68faa20 2026-05-25)'").unwrap_err();
        for fact in
            ["false", "1.96.0 (ac68faa20", "1.95.0 (59807616e", "rustup toolchain install", "+1.96.0 bisect-opt"]
        {
            assert!(error.contains(fact), "{fact:?} is not in {error}");
        }
    }

    #[test]
    fn what_is_no_driver_is_a_mistake_on_the_command_line() {
        for (script, fact) in [
            ("exit 1", "None"),
            ("echo cargo 1.95.0", "cargo 1.95.0"),
            ("echo error: no toolchain >&2; exit 1", "no toolchain"),
        ] {
            let error = said(script).unwrap_err();
            assert!(error.starts_with("true") && error.contains(fact), "{script}: {error}");
        }
        let error = find(Some(Path::new("no/such/file")), RUSTC).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("no/such/file"), "{error}");
    }
}
