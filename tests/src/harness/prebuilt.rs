//! The dependencies that fixtures share, compiled once, as the driver compiles them and as cargo does. The target
//! directory of each fixture begins as a copy of this one.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io,
    path::Path,
};

use super::{
    driver::{cargo, driver_in, fixtures_dir, root, scrubbed},
    finished::run,
};

/// A package that uses every feature of the runtime that fixtures use.
const MANIFEST: &str = "[package]\nname = \"prebuilt\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n";
const LIBRARY: &str = "//! Depends on the runtime.\n\n#[bisect_rt::bisect_toggle(\"prebuilt\")]\nfn gate() -> bool {\n    \
                       true\n}\n\n#[test]\nfn works() {\n    assert!(gate());\n}\n";

/// Makes `target` a target directory in which the runtime is compiled, unless it exists.
///
/// # Panics
/// If the runtime does not compile, or the directory cannot be copied.
pub fn prepare_target_dir(target: &Path) {
    if target.exists() {
        return;
    }
    let dir = fixtures_dir().join("prebuilt");
    let (package, original) = (dir.join("package"), dir.join("target"));
    fs::create_dir_all(package.join("src")).expect("the folder of the package can be made");
    let lock = File::create(dir.join("lock")).expect("the lock file can be made");
    // Cargo releases its own lock between its builds.
    lock.lock().expect("the directory can be locked");
    let runtime = format!("[dependencies]\nbisect-rt = {{ path = '{}' }}\n", root().join("bisect-rt").display());
    write(&package.join("Cargo.toml"), &format!("{MANIFEST}\n{runtime}"));
    write(&package.join("src/lib.rs"), LIBRARY);
    let lock_file = fs::read_to_string(root().join("Cargo.lock")).expect("the workspace has a lock file");
    write(&package.join("Cargo.lock"), &lock_file);
    let mut build = scrubbed(&cargo(), &package);
    build.args(["test", "--no-run"]);
    for mut command in [driver_in(&package, ["toggles"]), build] {
        command.env("CARGO_TARGET_DIR", &original);
        let _ = run(&mut command).expect_status(0);
    }
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
