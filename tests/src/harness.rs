//! Runs the driver as a user does, on a copy of a fixture or in an empty folder.
//!
//! All fixtures are built into one target directory of their own, so that the runtime and what it depends on is compiled
//! once. Each has one copy at a stable place, so that what did not change is not compiled again the next time; whoever
//! holds the copy has it alone, which keeps tests that run at the same time from breaking each other.

use std::{
    env,
    ffi::OsStr,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{OnceLock, mpsc},
    thread,
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;

/// No search of these tests takes nearly as long: whatever does is stuck.
const STUCK: Duration = Duration::from_secs(1200);

/// A copy of a fixture that this value has for itself.
#[derive(Debug)]
pub struct Fixture {
    dir: PathBuf,
    _lock: File,
}

impl Fixture {
    /// A fresh copy of `tests/fixtures/<name>`. Waits while another test has it.
    ///
    /// # Panics
    /// If it cannot be made.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let copies = fixtures_dir();
        fs::create_dir_all(&copies).expect("the fixtures' folder can be made");
        let lock = File::create(copies.join(format!("{name}.lock"))).expect("the lock file can be made");
        lock.lock().expect("the fixture can be locked");
        let (from, dir) = (root().join("tests/fixtures").join(name), copies.join(name));
        synchronize(&from, &dir);
        if from.join("Cargo.toml").exists() {
            // Everything resolves to what the workspace uses, so nothing need be downloaded.
            copy(&root().join("Cargo.lock"), &dir.join("Cargo.lock"));
        }
        Self { dir, _lock: lock }
    }

    /// Where the copy is.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes a file of the copy, and the folders it is in.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.dir.join(path);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("the folder can be made");
        fs::write(path, text).expect("the file can be written");
    }

    /// `cargo bisect-opt` with these arguments, in the copy.
    pub fn driver<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        driver_in(&self.dir, args)
    }

    /// Cargo itself, in the copy.
    pub fn cargo<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = scrubbed(&cargo(), &self.dir);
        command.args(args);
        command
    }
}

/// An empty folder, gone with this value.
#[derive(Debug)]
pub struct Scratch(TempDir);

impl Scratch {
    /// A new one.
    ///
    /// # Panics
    /// If it cannot be made.
    #[must_use]
    pub fn new() -> Self {
        Self(TempDir::new().expect("a folder for temporary files"))
    }

    /// Where it is.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file in it.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.dir().join(name), text).expect("the file can be written");
    }

    /// The text of a file in it; empty if there is none.
    #[must_use]
    pub fn read(&self, name: &str) -> String {
        fs::read(self.dir().join(name)).map_or(String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// `cargo bisect-opt` with these arguments, in this folder.
    pub fn driver<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        driver_in(self.dir(), args)
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

/// What a process came to.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Its exit status; none if a signal ended it.
    pub status: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Finished {
    /// The objects that `--json` writes, one a line.
    ///
    /// # Panics
    /// If standard output holds anything else.
    #[must_use]
    pub fn events(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}\n{self}"));
        self.stdout.lines().map(parse).collect()
    }

    /// The events of one kind.
    #[must_use]
    pub fn events_of(&self, kind: &str) -> Vec<Value> {
        self.events().into_iter().filter(|event| event["event"] == kind).collect()
    }

    /// The texts of each culprit, in the order in which they were found: of each change, the first line.
    ///
    /// # Panics
    /// If an event is not as documented.
    #[must_use]
    pub fn culprits(&self) -> Vec<Vec<String>> {
        let first_line = |change: &Value| change["text"][0].as_str().unwrap_or_default().to_owned();
        let set = |found: &Value| {
            let mut changes: Vec<_> = found["changes"].as_array().expect("changes").iter().map(first_line).collect();
            changes.sort();
            changes
        };
        self.events_of("found").iter().map(set).collect()
    }

    /// This, if the status is as expected.
    ///
    /// # Panics
    /// With everything that was printed, if it is another.
    #[must_use]
    #[track_caller]
    pub fn expect_status(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "{self}");
        self
    }

    /// Checks that the facts that a user needs are on standard error.
    ///
    /// # Panics
    /// If one is missing.
    #[track_caller]
    pub fn expect_message(&self, facts: &[&str]) {
        for fact in facts {
            assert!(self.stderr.contains(fact), "{fact:?} is not on standard error\n{self}");
        }
    }
}

impl std::fmt::Display for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { status, stdout, stderr } = self;
        write!(f, "status {status:?}\n--- standard output\n{stdout}\n--- standard error\n{stderr}\n---")
    }
}

/// Runs a command to its end.
///
/// # Panics
/// If it cannot be started, or is stuck.
#[must_use]
#[track_caller]
pub fn run(command: &mut Command) -> Finished {
    Running::start(command).finish()
}

/// A process that has been started.
#[derive(Debug)]
pub struct Running {
    child: Child,
    output: [mpsc::Receiver<Vec<u8>>; 2],
}

impl Running {
    /// Starts a command, with no standard input.
    ///
    /// # Panics
    /// If it cannot be started.
    #[must_use]
    #[track_caller]
    pub fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let output = [read(child.stdout.take().expect("piped")), read(child.stderr.take().expect("piped"))];
        Self { child, output }
    }

    /// Its process ID.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// If it is stuck; then it is killed.
    #[must_use]
    #[track_caller]
    pub fn finish(mut self) -> Finished {
        let texts = self.output.each_ref().map(|output| output.recv_timeout(STUCK));
        let [Ok(stdout), Ok(stderr)] = texts else {
            let _ = self.child.kill();
            panic!("stuck: {:?} of its output was left open", texts.map(|text| text.is_err()));
        };
        let status = self.child.wait().expect("our child can be waited for");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Finished { status: status.code(), stdout: text(stdout), stderr: text(stderr) }
    }
}

fn read(mut pipe: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

/// Waits until something is so.
///
/// # Panics
/// If it never is.
#[track_caller]
pub fn wait_until(what: &str, mut so: impl FnMut() -> bool) {
    for _ in 0..120_000 {
        if so() {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("waited in vain: {what}");
}

/// The number of the line, from 1, that ends in this text: how fixtures mark the place that a search must find.
///
/// # Panics
/// If there is not exactly one.
#[must_use]
#[track_caller]
pub fn line_of(dir: &Path, file: &str, mark: &str) -> usize {
    let text = fs::read_to_string(dir.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let lines: Vec<_> = text.lines().enumerate().filter(|(_, line)| line.ends_with(mark)).collect();
    let [(index, _)] = lines[..] else { panic!("{mark:?} marks {} lines of {file}", lines.len()) };
    index + 1
}

/// The root of the workspace.
#[must_use]
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package is a member")
}

/// A command that knows nothing of the `cargo test` that runs these tests, nor of a bisection that may be going on.
#[must_use]
pub fn scrubbed(program: &Path, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir);
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let ours = text.starts_with("BISECT_") && text != "BISECT_TEST_GO";
        let cargos = text.starts_with("CARGO") && text != "CARGO_HOME" || text.starts_with("RUSTFLAGS");
        let others = ["LD_LIBRARY_PATH", "OUT_DIR", "RUSTDOCFLAGS", "RUST_BACKTRACE", "RUSTC_WRAPPER", "NO_COLOR"];
        if ours || cargos || others.contains(&&*text) {
            command.env_remove(&name);
        }
    }
    command.env("CARGO_TARGET_DIR", fixtures_dir().join("target")).env("CARGO_NET_OFFLINE", "true");
    command
}

/// The cargo that runs these tests.
#[must_use]
pub fn cargo() -> PathBuf {
    env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}

/// The target directory that all fixtures are built into.
#[must_use]
pub fn fixtures_target_dir() -> PathBuf {
    fixtures_dir().join("target")
}

fn driver_in<S: AsRef<OsStr>>(dir: &Path, args: impl IntoIterator<Item = S>) -> Command {
    let mut command = scrubbed(driver(), dir);
    // What cargo passes to a subcommand.
    command.env("CARGO", cargo()).arg("bisect-opt").args(args);
    command
}

/// The driver's executable, as cargo built it.
///
/// # Panics
/// If it does not build.
pub fn driver() -> &'static Path {
    static DRIVER: OnceLock<PathBuf> = OnceLock::new();
    DRIVER.get_or_init(|| {
        let mut command = Command::new(cargo());
        command.current_dir(root()).args(["build", "--package=cargo-bisect-opt", "--message-format=json"]);
        command.arg("--target-dir").arg(target_dir()).stderr(Stdio::inherit());
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

/// The target directory of the workspace: the one that this executable is in.
fn target_dir() -> PathBuf {
    let exe = env::current_exe().expect("an executable knows its place");
    let marked = exe.ancestors().find(|dir| dir.join("CACHEDIR.TAG").exists());
    marked.expect("cargo marks its target directory").to_owned()
}

fn fixtures_dir() -> PathBuf {
    target_dir().join("fixtures")
}

/// Makes `to` what `from` is, without touching files that need not change.
fn synchronize(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    let names = |dir: &Path| -> Vec<_> {
        let entries = fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
        entries.map(|entry| entry.expect("a folder can be read").file_name()).collect()
    };
    let wanted = names(from);
    for name in names(to).iter().filter(|name| !wanted.contains(name)) {
        let path = to.join(name);
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        removed.expect("what an earlier test left can be removed");
    }
    for name in wanted.iter().filter(|name| *name != "target" && *name != "Cargo.lock") {
        let (from, to) = (from.join(name), to.join(name));
        if from.is_dir() { synchronize(&from, &to) } else { copy(&from, &to) }
    }
}

/// Copies a file; the paths in a manifest that lead out of a fixture are made absolute.
fn copy(from: &Path, to: &Path) {
    let mut bytes = fs::read(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    if from.file_name() == Some("Cargo.toml".as_ref()) {
        let text = String::from_utf8(bytes).expect("a manifest is UTF-8");
        bytes = text.replace("\"../../../", &format!("\"{}/", root().display())).into_bytes();
    }
    if fs::read(to).ok().as_deref() != Some(&bytes) {
        fs::write(to, bytes).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
    }
}
