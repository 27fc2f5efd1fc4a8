//! Finding `bisect-rustc`, the compiler that optimizes selected functions.

use std::{
    env, io,
    path::{Path, PathBuf},
    process::Command,
    time::UNIX_EPOCH,
};

use bisect_core::{ChangeId, Field, protocol::names};

use crate::process::{self, SpawnError, own_executable::own_executable};

/// The variable with its path.
const VARIABLE: &str = names::RUSTC;
/// The toolchain that this version supports.
const TOOLCHAIN: &str = "1.96.0";

/// The flag that disables LLVM's passes on whole modules. They also change functions that are `optnone`: they remove
/// unreachable code there, too.
pub(crate) const WITHOUT_MODULE_PASSES: &str =
    "-Cllvm-args=-opt-disable=ipsccp,globalopt,deadargelim,argpromotion,called-value-propagation";

/// An installed `bisect-rustc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BisectRustc {
    /// Its absolute path.
    pub(crate) path: PathBuf,
    /// A hash of the size of its file and of the time of its last change. Another build may compile or report
    /// otherwise, but cargo takes it for the same compiler: both print the same version.
    pub(crate) build: String,
}

impl BisectRustc {
    /// Returns the one at this path.
    ///
    /// # Errors
    /// If the file cannot be examined.
    pub(crate) fn at(path: PathBuf) -> io::Result<Self> {
        let file = fs_err::metadata(&path)?;
        let changed = file.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        let facts = [file.len(), changed.as_secs(), changed.subsec_nanos().into()];
        Ok(Self { path, build: format!("{:016x}", ChangeId::of(&facts.map(Field::U64)).0) })
    }
}

/// A reason why there is no usable `bisect-rustc`, with advice for the user.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BisectRustcError {
    /// It was not found.
    #[error("bisect-rustc was not found. {}", advice(.0))]
    Missing(String),
    /// It cannot be started.
    #[error("the bisect-rustc that `--bisect-rustc` or BISECT_RUSTC names cannot be used: {0}")]
    Start(#[source] SpawnError),
    /// Its file cannot be examined.
    #[error("the bisect-rustc at `{}` cannot be read: {source}; make it readable, or name another one", path.display())]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The program is not a compiler.
    #[error("`{}` is not bisect-rustc: `{} -vV` prints {output:?}; name another file with `--bisect-rustc`", path.display(), path.display())]
    NoCompiler {
        /// Its path.
        path: PathBuf,
        /// The first line that it prints.
        output: String,
    },
    /// It belongs to another toolchain.
    #[error(
        "`{}` is built for {bisect_rustc}, but the compiler in use is {rustc}; they must be the same. {}",
        path.display(), advice(rustc)
    )]
    Mismatch {
        /// Its path.
        path: PathBuf,
        /// Its version.
        bisect_rustc: String,
        /// The version of the compiler in use.
        rustc: String,
    },
}

/// Describes how to install it, for a user of this compiler.
fn advice(rustc: &str) -> String {
    let install = format!(
        "`rustup toolchain install {TOOLCHAIN} -c rustc-dev && \
         RUSTC_BOOTSTRAP=1 cargo +{TOOLCHAIN} install --path rustc-driver-example` in the sources of cargo-bisect-opt"
    );
    let is_there = rustc.split(' ').nth(1) == Some(TOOLCHAIN);
    let switch = if is_there { String::new() } else { format!(", and then `cargo +{TOOLCHAIN} bisect-opt`") };
    format!("To install it: {install}{switch}")
}

impl BisectRustcError {
    /// Returns whether the user gave a wrong path.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(
            self,
            BisectRustcError::Start(_) | BisectRustcError::Unreadable { .. } | BisectRustcError::NoCompiler { .. }
        )
    }
}

/// Finds the `bisect-rustc` that the user names, or that is next to this executable. `rustc` is what the compiler in
/// use prints for `-vV`.
///
/// # Errors
/// If there is none, or it cannot replace this compiler.
pub(crate) fn find(named: Option<&Path>, rustc: &str) -> Result<BisectRustc, BisectRustcError> {
    let version = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    let from_environment = || env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let Some(path) = named.map(Path::to_owned).or_else(from_environment).or_else(next_to_this_executable) else {
        return Err(BisectRustcError::Missing(version(rustc)));
    };
    // Cargo runs it in other directories. An empty path can be neither made absolute nor started.
    let path = std::path::absolute(&path).unwrap_or(path);
    let mut command = Command::new(&path);
    command.arg("-vV");
    let output = match process::output_of(command) {
        Ok(output) => output,
        Err(source) => return Err(BisectRustcError::Start(source)),
    };
    let stdout = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || !stdout.starts_with("rustc ") {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let output = stdout.lines().chain(stderr.lines()).next().unwrap_or_default().to_owned();
        return Err(BisectRustcError::NoCompiler { path, output });
    }
    if stdout.trim() == rustc.trim() {
        return BisectRustc::at(path.clone()).map_err(|source| BisectRustcError::Unreadable { path, source });
    }
    Err(BisectRustcError::Mismatch { bisect_rustc: version(&stdout), rustc: version(rustc), path })
}

fn next_to_this_executable() -> Option<PathBuf> {
    let path = own_executable().ok()?.with_file_name(format!("bisect-rustc{}", env::consts::EXE_SUFFIX));
    path.is_file().then_some(path)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const RUSTC: &str = "rustc 1.95.0 (59807616e 2026-04-14)\nbinary: rustc\nrelease: 1.95.0\n";

    /// Returns the result for a `bisect-rustc` that is this script.
    fn find_script(script: &str) -> Result<BisectRustc, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bisect-rustc");
        fs_err::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        find(Some(&path), RUSTC).map_err(|error| format!("{} {error}", error.is_usage()))
    }

    #[test]
    fn it_must_be_built_for_the_compiler_in_use() {
        assert!(find_script(&format!("printf '{RUSTC}'")).is_ok());
        let error = find_script("echo 'rustc 1.96.0 (ac68faa20 2026-05-25)'").unwrap_err();
        for fact in [
            "false",
            "1.96.0 (ac68faa20",
            "1.95.0 (59807616e",
            "; they must be the same. To install it: `rustup toolchain install",
            ", and then `cargo +1.96.0 bisect-opt`",
        ] {
            assert!(error.contains(fact), "{fact:?} is not in {error}");
        }
    }

    #[test]
    fn another_build_at_the_same_path_is_another_compiler() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bisect-rustc");
        fs_err::write(&path, "1").unwrap();
        let first = BisectRustc::at(path.clone()).unwrap();
        assert_eq!(first, BisectRustc::at(path.clone()).unwrap());
        let file = fs_err::File::options().write(true).open(&path).unwrap();
        file.file().set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(1)).unwrap();
        assert_ne!(first, BisectRustc::at(path).unwrap());
    }

    #[test]
    fn another_program_is_a_mistake_on_the_command_line() {
        for (script, fact) in [
            ("exit 1", "prints \"\"; name another file with `--bisect-rustc`"),
            ("echo cargo 1.95.0", "cargo 1.95.0"),
            ("echo error: no toolchain >&2; exit 1", "no toolchain"),
        ] {
            let error = find_script(script).unwrap_err();
            assert!(error.starts_with("true") && error.contains(fact), "{script}: {error}");
        }
        let error = find(Some(Path::new("no/such/file")), RUSTC).unwrap_err();
        assert!(error.is_usage());
        let text = error.to_string();
        assert!(
            text.starts_with("the bisect-rustc that `--bisect-rustc` or BISECT_RUSTC names cannot be used: "),
            "{text}"
        );
    }
}
