//! The rustc that does not compile the same twice makes and says what the real one does.
#![cfg(unix)]

use std::{
    collections::BTreeMap,
    env,
    ffi::OsStr,
    fs,
    os::unix::{
        fs::{PermissionsExt as _, symlink},
        process::ExitStatusExt as _,
    },
    path::{Path, PathBuf},
    process::{Command, Output},
};

use tempfile::TempDir;

/// A workspace of two packages, and a directory with that rustc.
struct Bench {
    dir: TempDir,
    cargo: PathBuf,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let cargo = PathBuf::from(env::var_os("CARGO").expect("cargo runs this test"));
        let bin = dir.path().join("bin");
        fs::create_dir_all(bin.join("store")).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_stored-rustc"), bin.join("rustc")).unwrap();
        symlink(cargo.parent().unwrap(), bin.join("toolchain")).unwrap();
        fs::write(bin.join("compiler"), "").unwrap();
        let bench = Self { dir, cargo };
        bench.write("Cargo.toml", "[workspace]\nmembers = ['app', 'deep']\nresolver = '3'\n");
        let package = |name: &str| format!("[package]\nname = '{name}'\nversion = '0.1.0'\nedition = '2024'\n");
        bench.write("deep/Cargo.toml", &package("deep"));
        bench
            .write("deep/src/lib.rs", "pub fn depth() -> u32 { inner() }\n#[inline(never)]\nfn inner() -> u32 { 1 }\n");
        bench.write("app/Cargo.toml", &format!("{}[dependencies]\ndeep.path = '../deep'\n", package("app")));
        bench.write("app/build.rs", "fn main() {\n    println!(\"cargo::rerun-if-changed=build.rs\");\n}\n");
        bench.write("app/src/lib.rs", "mod text;\npub fn unused() { let forgotten = 1; }\npub use text::said;\n");
        bench.write(
            "app/src/text.rs",
            "pub fn said() -> String { format!(\"{} {}\", include_str!(\"said.txt\"), deep::depth()) }\n",
        );
        bench.write("app/src/said.txt", "one");
        bench.write("app/src/main.rs", "fn main() { println!(\"{} {:?}\", app::said(), option_env!(\"WORD\")); }\n");
        bench
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join("work").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Builds into a fresh target directory with one of the two.
    fn build(&self, is_real: bool, variables: &[(&str, &str)]) -> Built {
        let target = self.dir.path().join("target");
        let _ = fs::remove_dir_all(&target);
        self.build_again("work", &target, is_real, variables)
    }

    fn build_again(&self, place: &str, target: &Path, is_real: bool, variables: &[(&str, &str)]) -> Built {
        let first = if is_real { self.cargo.parent().unwrap().to_owned() } else { self.dir.path().join("bin") };
        let rest = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths([first].into_iter().chain(env::split_paths(&rest))).unwrap();
        let mut command = Command::new(&self.cargo);
        command.args(["build", "--workspace", "--all-targets", "--keep-going", "--offline", "--message-format=json"]);
        for (name, _) in env::vars_os().filter(|(name, _)| {
            let name = name.to_string_lossy();
            name.starts_with("CARGO_") && name != "CARGO_HOME"
                || name.starts_with("RUSTFLAGS")
                || name.starts_with("BISECT")
        }) {
            command.env_remove(name);
        }
        command.env("PATH", path).env("CARGO_TARGET_DIR", target).env("CARGO_INCREMENTAL", "0");
        let output = command.current_dir(self.dir.path().join(place)).envs(variables.iter().copied()).output().unwrap();
        Built {
            files: files(&target.join("debug/deps")),
            printed: output.clone().stdout,
            output,
            target: target.to_owned(),
        }
    }

    /// Returns the number of compilations that are stored.
    fn stored(&self) -> usize {
        let keys = fs::read_dir(self.dir.path().join("bin/store")).unwrap();
        let entries = keys.flat_map(|key| fs::read_dir(key.unwrap().path()).unwrap());
        // Answers to questions about the compiler have no files.
        entries.filter(|entry| !files(&entry.as_ref().unwrap().path().join("files")).is_empty()).count()
    }
}

struct Built {
    files: BTreeMap<String, Vec<u8>>,
    printed: Vec<u8>,
    output: Output,
    target: PathBuf,
}

impl Built {
    /// Returns cargo's messages in the order of their texts: the order of the builds is not fixed.
    fn messages(&self) -> Vec<String> {
        let text = String::from_utf8(self.printed.clone()).unwrap();
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }

    fn program(&self) -> String {
        let output = Command::new(self.target.join("debug/app")).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let paths = fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path());
    // Objects that the linker has read are removed.
    let kept = paths.filter(|path| path.is_file() && path.extension() != Some(OsStr::new("o")));
    kept.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap())).collect()
}

#[track_caller]
fn assert_same(one: &Built, other: &Built) {
    assert!(one.messages() == other.messages(), "{:#?}\n{:#?}", one.messages(), other.messages());
    assert_eq!(one.files.keys().collect::<Vec<_>>(), other.files.keys().collect::<Vec<_>>());
    for (name, bytes) in &one.files {
        assert!(other.files[name] == *bytes, "{name} differs");
    }
}

#[test]
fn what_is_restored_is_what_was_compiled() {
    let bench = Bench::new();
    let real = bench.build(true, &[]);
    assert!(real.output.status.success(), "{}", String::from_utf8_lossy(&real.output.stderr));
    assert!(real.messages().iter().any(|line| line.contains("unused variable: `forgotten`")));
    assert_eq!(real.program(), "one 1 None\n");
    assert_eq!(bench.stored(), 0);
    assert_same(&real, &bench.build(false, &[]));
    let stored = bench.stored();
    assert!(stored > 5, "{stored}");
    assert_same(&real, &bench.build(false, &[]));
    // In another directory, too.
    let other = bench.build_again("work", &bench.dir.path().join("an other"), false, &[]);
    assert_eq!(other.program(), "one 1 None\n");
    assert_eq!(other.files.len(), real.files.len());
    assert_eq!(bench.stored(), stored, "nothing was compiled again");
}

/// Searches build in worktrees and copies, whose names are random.
#[test]
#[ignore = "slow: CI runs it"]
fn in_a_temporary_directory_with_another_name_nothing_is_compiled_again() {
    let bench = Bench::new();
    bench.write("app/src/main.rs", "fn main() { println!(\"{} {}\", env!(\"CARGO_MANIFEST_DIR\"), app::said()); }\n");
    let target = bench.dir.path().join("target");
    let mut counts = Vec::new();
    for copy in [".tmpAbCdE1", ".tmpVwXyZ9", "no-random-name"] {
        fs::create_dir(bench.dir.path().join(copy)).unwrap();
        let (from, to) = (bench.dir.path().join("work/."), bench.dir.path().join(copy));
        assert!(Command::new("cp").arg("-r").args([from, to]).status().unwrap().success());
        let build = |is_real| {
            let _ = fs::remove_dir_all(&target);
            bench.build_again(copy, &target, is_real, &[])
        };
        let (real, ours) = (build(true), build(false));
        assert!(real.program().ends_with(&format!("/{copy}/app one 1\n")), "{}", real.program());
        assert_eq!(ours.program(), real.program());
        assert_eq!(ours.messages(), real.messages());
        let contain_other_names = ours.files.iter().filter(|(_, bytes)| {
            let text = String::from_utf8_lossy(bytes);
            [".tmpAbCdE1", ".tmpVwXyZ9"].iter().any(|name| *name != copy && text.contains(name))
        });
        assert_eq!(contain_other_names.map(|(name, _)| name).collect::<Vec<_>>(), [""; 0]);
        counts.push(bench.stored());
    }
    assert!(counts[0] == counts[1] && counts[1] < counts[2], "{counts:?}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn each_input_matters() {
    let bench = Bench::new();
    let mut stored = 0;
    let mut check = |change: &str, said: &str, variables: &[(&str, &str)]| {
        for _ in 0..2 {
            let real = bench.build(true, variables);
            assert_eq!(real.program(), said, "{change}");
            let built = bench.build(false, variables);
            assert_eq!(built.program(), said, "{change}");
            assert!(built.messages() == real.messages(), "{change}");
        }
        assert!(bench.stored() > stored, "{change}: nothing was compiled");
        stored = bench.stored();
    };
    check("all is new", "one 1 None\n", &[]);
    bench.write("app/src/said.txt", "two");
    check("an included file", "two 1 None\n", &[]);
    // The text of the library's metadata is the same except for its hash.
    bench.write("deep/src/lib.rs", "pub fn depth() -> u32 { inner() }\n#[inline(never)]\nfn inner() -> u32 { 2 }\n");
    check("the body of a function in a dependency", "two 2 None\n", &[]);
    check("a variable that the code reads", "two 2 Some(\"x\")\n", &[("WORD", "x")]);
    check("another value of it", "two 2 Some(\"y\")\n", &[("WORD", "y")]);
    bench.write(
        "app/src/text.rs",
        "pub fn said() -> String { if cfg!(wrong) { \"cfg\".into() } else { \"\".into() } }\n",
    );
    check("a module", " None\n", &[]);
    check("flags", "cfg None\n", &[("RUSTFLAGS", "--cfg wrong")]);
    // An older state is found again.
    let before = bench.stored();
    bench.write(
        "app/src/text.rs",
        "pub fn said() -> String { format!(\"{} {}\", include_str!(\"said.txt\"), deep::depth()) }\n",
    );
    assert_eq!(bench.build(false, &[]).program(), "two 2 None\n");
    assert_eq!(bench.stored(), before);
}

#[test]
#[ignore = "slow: CI runs it"]
fn what_fails_or_is_not_understood_is_left_to_rustc() {
    let bench = Bench::new();
    bench.write("app/src/text.rs", "pub fn said() -> u32 { \"no number\" }\n");
    for _ in 0..2 {
        let (real, ours) = (bench.build(true, &[]), bench.build(false, &[]));
        assert_eq!(ours.output.status.code(), Some(101));
        assert!(ours.messages() == real.messages());
    }
    bench.write("app/src/text.rs", "pub fn said() -> &'static str { \"\" }\n");
    let _ = bench.build(false, &[]);
    let stored = bench.stored();
    // Toggles in macros act while a crate is compiled; a native library may change without a trace.
    for variables in [("BISECT_PATTERN", "+"), ("RUSTFLAGS", "-L native=/nowhere")] {
        assert_eq!(bench.build(false, &[variables]).program(), " None\n");
        assert_eq!(bench.stored(), stored, "{variables:?}");
    }
}

#[test]
fn builds_at_the_same_time_compile_each_crate_once() {
    let bench = Bench::new();
    let (bin, toolchain) = (bench.dir.path().join("bin"), bench.cargo.parent().unwrap());
    fs::remove_file(bin.join("toolchain")).unwrap();
    fs::create_dir(bin.join("toolchain")).unwrap();
    let started = bench.dir.path().join("started");
    let rustc = bin.join("toolchain/rustc");
    let script =
        format!("#!/bin/sh\necho \"$*\" >> {}\nexec {}/rustc \"$@\"\n", started.display(), toolchain.display());
    fs::write(&rustc, script).unwrap();
    fs::set_permissions(&rustc, fs::Permissions::from_mode(0o755)).unwrap();
    std::thread::scope(|scope| {
        for target in ["one", "two", "three"] {
            let target = bench.dir.path().join(target);
            scope.spawn({
                let bench = &bench;
                move || assert_eq!(bench.build_again("work", &target, false, &[]).program(), "one 1 None\n")
            });
        }
    });
    let started = fs::read_to_string(started).unwrap();
    let mut crates: Vec<_> =
        started.lines().filter_map(|line| line.split_once("metadata=")?.1.split(' ').next()).collect();
    let all = crates.len();
    crates.sort_unstable();
    crates.dedup();
    assert!(all > 5 && all == crates.len(), "{started}");
}

#[test]
fn it_ends_by_the_signal_that_ended_rustc() {
    let bench = Bench::new();
    let bin = bench.dir.path().join("bin");
    fs::remove_file(bin.join("toolchain")).unwrap();
    let rustc = bin.join("toolchain/rustc");
    fs::create_dir(rustc.parent().unwrap()).unwrap();
    for (name, signal) in [("SEGV", 11), ("ABRT", 6), ("ILL", 4)] {
        fs::write(&rustc, format!("#!/bin/sh\nkill -{name} $$\n")).unwrap();
        fs::set_permissions(&rustc, fs::Permissions::from_mode(0o755)).unwrap();
        let status = Command::new(bin.join("rustc")).arg("-vV").status().unwrap();
        assert_eq!(status.signal(), Some(signal), "{name}");
    }
}

#[test]
fn another_compiler_compiles_again() {
    let bench = Bench::new();
    let _ = bench.build(false, &[]);
    let stored = bench.stored();
    fs::write(bench.dir.path().join("bin/compiler"), "another one").unwrap();
    let _ = bench.build(false, &[]);
    assert_eq!(bench.stored(), 2 * stored);
}

/// `bisect-rustc` appends reports to a file, and its output depends on variables of a search.
#[test]
fn reports_are_restored() {
    let bench = Bench::new();
    let bin = bench.dir.path().join("bin");
    fs::rename(bin.join("rustc"), bin.join("bisect-rustc")).unwrap();
    fs::remove_file(bin.join("toolchain")).unwrap();
    fs::create_dir(bin.join("toolchain")).unwrap();
    let [started, reports] = ["started", "reports"].map(|name| bench.dir.path().join(name));
    let script = format!(
        "#!/bin/sh\ncase $CARGO_CRATE_NAME in app) echo \"$BISECT_RUSTC_app_0_1_0 in $PWD\" >> $BISECT_REPORT;; esac\n\
         echo >> {}\nexec {}/rustc \"$@\"\n",
        started.display(),
        bench.cargo.parent().unwrap().display()
    );
    let script_path = bin.join("toolchain/bisect-rustc");
    fs::write(&script_path, script).unwrap();
    fs::set_permissions(&script_path, fs::Permissions::from_mode(0o755)).unwrap();
    let build = |pattern: &str| {
        fs::write(&started, "").unwrap();
        fs::write(&reports, "").unwrap();
        let variables = [
            ("RUSTC", bin.join("bisect-rustc").to_str().unwrap().to_owned()),
            ("BISECT_REPORT", reports.to_str().unwrap().to_owned()),
            ("BISECT_RUSTC_app_0_1_0", pattern.to_owned()),
        ];
        let variables = variables.iter().map(|(name, value)| (*name, value.as_str())).collect::<Vec<_>>();
        assert_eq!(bench.build(false, &variables).program(), "one 1 None\n");
        let mut lines: Vec<_> = fs::read_to_string(&reports).unwrap().lines().map(str::to_owned).collect();
        lines.sort();
        assert!(lines.len() > 2 && lines.iter().all(|line| line.starts_with(&format!("{pattern} in /"))), "{lines:?}");
        (lines, fs::read_to_string(&started).unwrap().len())
    };
    let (first, compiled) = build("on");
    assert!(compiled > 5, "{compiled}");
    assert_eq!(build("on"), (first, 0));
    assert_eq!(build("off").1, compiled);
}
