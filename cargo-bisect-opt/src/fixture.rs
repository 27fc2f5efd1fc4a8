//! Small cargo projects for tests.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};

#[cfg(target_os = "linux")]
ctor::declarative::ctor! {
    /// Lets tests make temporary files on a RAM disk, and not compile the same twice.
    #[ctor(unsafe, anonymous)]
    fn set_variables() {
        use bisect_test_support::{ram_disk, search_path::search_path};

        let temporary = ram_disk::directory(1 << 30).map(Path::as_os_str);
        for (name, value) in [("TMPDIR", temporary), ("PATH", search_path())] {
            if let Some(value) = value {
                // SAFETY: before `main` there is one thread.
                unsafe { std::env::set_var(name, value) };
            }
        }
    }
}

/// A project in its own directory.
#[derive(Debug)]
pub(crate) struct Fixture {
    path: PathBuf,
    /// Deletes the directory, unless it is kept for other tests.
    _dir: Option<tempfile::TempDir>,
}

impl Fixture {
    /// Creates a project of these files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let fixture = Self { path: dir.path().canonicalize().unwrap(), _dir: Some(dir) };
        for (name, text) in files {
            fixture.write(name, text);
        }
        fixture
    }

    /// Returns the project in `fixture_toggles`, which depends on the runtime. It is kept: the runtime is built once.
    pub(crate) fn toggles() -> &'static Self {
        static FIXTURE: OnceLock<Fixture> = OnceLock::new();
        FIXTURE.get_or_init(|| {
            // `…/debug/deps/cargo_bisect_opt-…`
            let executable = std::env::current_exe().unwrap();
            let path = executable.ancestors().nth(3).unwrap().join("driver-fixture");
            let ours = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
            let fixture = Self { path, _dir: None };
            let manifest = include_str!("fixture_toggles/Cargo.toml.in");
            fixture.write("Cargo.toml", &manifest.replace("RUNTIME", ours.join("bisect-rt").to_str().unwrap()));
            // The versions of this repository: tests need no network.
            fixture.write("Cargo.lock", &fs_err::read_to_string(ours.join("Cargo.lock")).unwrap());
            for (name, text) in [
                ("gates/Cargo.toml", include_str!("fixture_toggles/gates/Cargo.toml.in")),
                ("gates/src/lib.rs", include_str!("fixture_toggles/gates/src/lib.rs")),
                ("gates/src/main.rs", include_str!("fixture_toggles/gates/src/main.rs")),
                ("gates/tests/child.rs", include_str!("fixture_toggles/gates/tests/child.rs")),
                ("low/Cargo.toml", include_str!("fixture_toggles/low/Cargo.toml.in")),
                ("low/src/lib.rs", include_str!("fixture_toggles/low/src/lib.rs")),
                ("top/Cargo.toml", include_str!("fixture_toggles/top/Cargo.toml.in")),
                ("top/src/lib.rs", include_str!("fixture_toggles/top/src/lib.rs")),
            ] {
                fixture.write(name, text);
            }
            fixture
        })
    }

    /// Excludes other tests that compile the package `top` of [`toggles`](Self::toggles) as long as the result lives:
    /// each compiles other decisions into the same executable.
    pub(crate) fn alone_with_top() -> MutexGuard<'static, ()> {
        static TOP: Mutex<()> = Mutex::new(());
        TOP.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns its directory.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file. A file with the same contents is not written, so that its time stays.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path.join(name);
        if fs_err::read_to_string(&path).is_ok_and(|old| old == text || name == "Cargo.lock") {
            return;
        }
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    /// Returns a command line for cargo in it.
    pub(crate) fn words(&self, line: &str) -> Vec<OsString> {
        let target = self.path.join("target");
        let words = ["-C".into(), self.path.clone().into(), "--offline".into(), "--target-dir".into(), target.into()];
        words.into_iter().chain(line.split_whitespace().map(Into::into)).collect()
    }
}
