//! The driver's executable, and commands that are isolated from the `cargo test` that runs these tests.

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{LazyLock, OnceLock},
};

use bisect_test_support::{
    ram_disk,
    search_path::{profile_dir, search_path},
};

/// Returns the root of the workspace.
#[must_use]
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package is a member")
}

/// Returns a command without the variables of the `cargo test` that runs these tests, and of a bisection that may be in
/// progress. Also restores the default actions of signals in this process: see `end_at_signals`.
#[must_use]
pub fn scrubbed(program: &Path, dir: &Path) -> Command {
    end_at_signals();
    let mut command = Command::new(program);
    command.current_dir(dir);
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let ours = text.starts_with("BISECT_") && text != "BISECT_TEST_GO";
        let cargos = text.starts_with("CARGO") && text != "CARGO_HOME" || text.starts_with("RUSTFLAGS");
        let others = [
            "LD_LIBRARY_PATH",
            "OUT_DIR",
            "RUSTDOCFLAGS",
            "RUST_BACKTRACE",
            "RUST_TEST_THREADS",
            "RUSTC_WRAPPER",
            "NO_COLOR",
        ];
        if ours || cargos || others.contains(&&*text) {
            command.env_remove(&name);
        }
    }
    command.env("CARGO_TARGET_DIR", fixtures_dir().join("target")).env("CARGO_NET_OFFLINE", "true");
    if let Some(directory) = ram_disk() {
        command.env("TMPDIR", directory);
    }
    command.envs(search_path().map(|path| ("PATH", path)));
    command
}

/// Restores the default actions of SIGINT, SIGHUP and SIGTERM in this process and its children. A script that starts
/// `cargo test` in the background makes it ignore SIGINT; `nohup` makes it ignore SIGHUP. The driver would inherit this,
/// and a test that interrupts a search would never end.
fn end_at_signals() {
    #[cfg(unix)]
    {
        use std::sync::{Arc, Once, atomic::AtomicBool};

        use signal_hook::{
            consts::{SIGHUP, SIGINT, SIGTERM},
            flag,
        };

        static ONCE: Once = Once::new();
        // A signal with a handler gets its default action in a child; this handler has the same effect here.
        ONCE.call_once(|| {
            let always = Arc::new(AtomicBool::new(true));
            for signal in [SIGINT, SIGHUP, SIGTERM] {
                flag::register_conditional_default(signal, always.clone()).expect("a handler can be installed");
            }
        });
    }
}

/// The free space below which the RAM disk is not used, in bytes.
const RAM_DISK: u64 = 4 << 30;

fn ram_disk() -> Option<&'static Path> {
    static FOUND: LazyLock<Option<&'static Path>> = LazyLock::new(|| ram_disk::directory(RAM_DISK));
    *FOUND
}

/// Returns the directory for temporary files of tests and of the commands that they run.
#[must_use]
pub fn temp_dir() -> PathBuf {
    ram_disk().map_or_else(env::temp_dir, Path::to_owned)
}

/// Returns the path of the cargo that runs these tests.
#[must_use]
pub fn cargo() -> PathBuf {
    env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}

/// Returns the target directory that all fixtures are built into.
#[must_use]
pub fn fixtures_target_dir() -> PathBuf {
    fixtures_dir().join("target")
}

pub(super) fn driver_in<S: AsRef<OsStr>>(dir: &Path, args: impl IntoIterator<Item = S>) -> Command {
    let mut command = scrubbed(driver(), dir);
    // Cargo passes this variable and this argument to a subcommand.
    command.env("CARGO", cargo()).arg("bisect-opt").args(args);
    command
}

/// Builds the driver once, and returns its executable.
///
/// # Panics
/// If it does not build.
pub fn driver() -> &'static Path {
    static DRIVER: OnceLock<PathBuf> = OnceLock::new();
    DRIVER.get_or_init(|| {
        let mut command = Command::new(cargo());
        // The same features as in `cargo test` of the workspace; otherwise cargo compiles all dependencies twice. It
        // resolves the features of dev-dependencies only if a test is built, so this also builds the smallest one (of
        // `examples/acyclic`).
        command.current_dir(root()).args(["build", "--workspace", "--bin=cargo-bisect-opt", "--test=feed"]);
        command.arg("--message-format=json");
        command.arg("--target-dir").arg(target_dir()).stderr(Stdio::inherit());
        // Benches are optimized, and so is the driver that they measure.
        command.args((!cfg!(debug_assertions)).then_some("--release"));
        let output = command.output().expect("cargo can be started");
        assert!(output.status.success(), "the driver does not build");
        cargo_metadata::Message::parse_stream(&output.stdout[..])
            .find_map(|message| match message.expect("cargo's messages can be read") {
                cargo_metadata::Message::CompilerArtifact(artifact) if artifact.target.name == "cargo-bisect-opt" => {
                    artifact.executable
                }
                _ => None,
            })
            .expect("the package has an executable")
            .into()
    })
}

/// Returns the target directory of the workspace, which contains this executable.
fn target_dir() -> PathBuf {
    let profile = profile_dir();
    let parent = profile.parent().expect("a profile is in the target directory");
    let is_triple = parent.file_name().is_some_and(|name| name.to_string_lossy().matches('-').count() >= 2);
    if is_triple { parent.parent().unwrap_or(parent) } else { parent }.to_owned()
}

pub(super) fn fixtures_dir() -> PathBuf {
    target_dir().join("fixtures")
}
