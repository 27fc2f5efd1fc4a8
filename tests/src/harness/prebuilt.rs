//! The dependencies that fixtures share, compiled once with stacks and once without, as the driver compiles them.
//!
//! The target directory of a fixture begins as a copy of one of these two.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io,
    path::Path,
};

use super::{
    driver::{driver_in, fixtures_dir, root},
    finished::run,
};

/// The features of the runtime that a fixture uses. The crates that find stacks take most of the time.
#[derive(Clone, Copy, Debug)]
enum Kind {
    WithStacks,
    WithoutStacks,
}

impl Kind {
    /// Returns the kind that a manifest needs, if it needs the runtime.
    fn of(manifest: &str) -> Option<Self> {
        let line = manifest.lines().find(|line| line.starts_with("bisect-rt"))?;
        Some(if line.contains("default-features = false") { Self::WithoutStacks } else { Self::WithStacks })
    }

    /// Returns the name of the folder, the options of the dependency, and the key of a toggle.
    fn texts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::WithStacks => ("prebuilt", "", "stack"),
            Self::WithoutStacks => ("prebuilt-light", ", default-features = false", "site"),
        }
    }
}

/// Makes `target` a target directory in which the runtime is compiled, unless it exists, or the manifest does not need
/// the runtime.
///
/// # Panics
/// If the runtime does not compile, or the directory cannot be copied.
pub fn prepare_target_dir(target: &Path, manifest: &str) {
    let Some(kind) = Kind::of(manifest).filter(|_| !target.exists()) else { return };
    let (folder, options, key) = kind.texts();
    let dir = fixtures_dir().join(folder);
    let (package, original) = (dir.join("package"), dir.join("target"));
    fs::create_dir_all(package.join("src")).expect("the folder of the package can be made");
    let lock = File::create(dir.join("lock")).expect("the lock file can be made");
    // Cargo releases its own lock between its builds.
    lock.lock().expect("the directory can be locked");
    let head = "[package]\nname = \"prebuilt\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n";
    let runtime = root().join("bisect-rt");
    let manifest = format!("{head}\n[dependencies]\nbisect-rt = {{ path = '{}'{options} }}\n", runtime.display());
    write(&package.join("Cargo.toml"), &manifest);
    let library = format!(
        "//! Depends on the runtime.\n\n#[bisect_rt::bisect_toggle(\"prebuilt\", by = \"{key}\")]\n\
         fn gate() -> bool {{\n    true\n}}\n\n#[test]\nfn works() {{\n    assert!(gate());\n}}\n"
    );
    write(&package.join("src/lib.rs"), &library);
    let lock_file = fs::read_to_string(root().join("Cargo.lock")).expect("the workspace has a lock file");
    write(&package.join("Cargo.lock"), &lock_file);
    let mut toggles = driver_in(&package, ["toggles"]);
    let _ = run(toggles.env("CARGO_TARGET_DIR", &original)).expect_status(0);
    // An incomplete copy has another name.
    let unfinished = target.with_extension("unfinished");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).expect("what an earlier test left can be removed");
    }
    copy(&original, &unfinished)
        .and_then(|()| fs::rename(&unfinished, target))
        .unwrap_or_else(|error| panic!("{}: {error}", target.display()));
}

/// Writes a file, unless it has this text already.
fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// Copies a directory with the modification times of its files, by which cargo decides what is fresh.
///
/// Libraries are large, and rustc replaces them as a whole, so the copy shares them with the original. All other files
/// may be written in place.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, copied) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            // Files of incremental compilation are large, and useless for a crate that is not compiled again.
            if entry.file_name() != "incremental" {
                copy(&source, &copied)?;
            }
            continue;
        }
        let is_library =
            source.extension().and_then(OsStr::to_str).is_some_and(|end| ["rlib", "rmeta", "so"].contains(&end));
        if !is_library || fs::hard_link(&source, &copied).is_err() {
            fs::copy(&source, &copied)?;
            let modified = entry.metadata()?.modified()?;
            File::options().append(true).open(&copied)?.set_modified(modified)?;
        }
    }
    Ok(())
}
