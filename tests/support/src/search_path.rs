//! `PATH` for tests that compile: the rustc that does not compile the same twice (`tests/stored-rustc`) comes first.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::LazyLock,
};

/// The size of the store above which entries are removed, in bytes. What all tests compile fits in.
const LARGEST: u64 = 7 << 30;

/// The name of the directory with that rustc of the toolchain of cargo.
const OF_CARGO: &str = "rustc";

/// Returns `PATH` with that rustc in front, if it is built, and then the directory of the cargo that runs these tests.
/// Otherwise rustup's proxies come first, and each of them looks for the toolchain again.
///
/// Returns `None` if cargo does not run these tests.
///
/// # Panics
/// If the directory of that rustc cannot be made.
#[must_use]
pub fn search_path() -> Option<&'static OsStr> {
    // The whole store is looked through, so this is done once.
    static PATH: LazyLock<Option<OsString>> = LazyLock::new(make);
    PATH.as_deref()
}

/// Returns the rustc that restores what this one has compiled, if it is built; otherwise this one. This one is of another
/// toolchain than the cargo that runs these tests: bisect-rustc needs a certain one.
///
/// # Panics
/// If the directory of that rustc cannot be made.
#[must_use]
pub fn stored(rustc: &Path) -> PathBuf {
    let of_cargo = search_path().is_some();
    let toolchain = rustc.parent().filter(|_| of_cargo);
    let dir = toolchain.and_then(|toolchain| stored_rustc("rustc-of-another-toolchain", toolchain));
    dir.map_or_else(|| rustc.to_owned(), |dir| dir.join("rustc"))
}

fn make() -> Option<OsString> {
    let toolchain = PathBuf::from(env::var_os("CARGO")?).parent()?.to_owned();
    let rest = env::var_os("PATH").unwrap_or_default();
    let stored = stored_rustc(OF_CARGO, &toolchain);
    if let Some(dir) = &stored {
        limit(&dir.join("store"));
    }
    env::join_paths(stored.into_iter().chain([toolchain]).chain(env::split_paths(&rest))).ok()
}

/// Returns the directory of the executables that were built with this one.
///
/// # Panics
/// If this executable is not in a target directory.
#[must_use]
pub fn profile_dir() -> PathBuf {
    let exe = env::current_exe().expect("an executable knows its place");
    // The path is `<target>/<profile>/deps/<test>`; if a target triple is set, it is between the first two.
    exe.ancestors().nth(2).expect("a test is in the target directory").to_owned()
}

/// Returns the directory with this name, which has that rustc of a toolchain. It is made if need be, unless that rustc is
/// not built, or this system has no symbolic links.
fn stored_rustc(name: &str, toolchain: &Path) -> Option<PathBuf> {
    let built = profile_dir().join("stored-rustc");
    if !cfg!(unix) || !built.is_file() {
        return None;
    }
    let dir = profile_dir().with_file_name("fixtures").join(name);
    fs::create_dir_all(&dir).expect("the directory can be made");
    let lock = File::create(dir.join("lock")).expect("the lock file can be made");
    lock.lock().expect("the directory can be locked");
    fill(&dir, &built, toolchain).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    Some(dir)
}

#[cfg(unix)]
fn fill(dir: &Path, built: &Path, toolchain: &Path) -> io::Result<()> {
    use std::os::unix::fs::symlink;

    let store = dir.with_file_name(OF_CARGO).join("store");
    fs::create_dir_all(&store)?;
    // All toolchains share a store: keys contain the path of the compiler.
    for (name, to) in [("toolchain", toolchain), ("store", &*store)] {
        let link = dir.join(name);
        if link != to && fs::read_link(&link).ok().as_deref() != Some(to) {
            let _ = fs::remove_file(&link);
            symlink(to, link)?;
        }
    }
    // A copy, because a program asks for its own place by the path of its file. Replaced as a whole: it may be running.
    let rustc = dir.join("rustc");
    let modified = |path: &Path| path.metadata().and_then(|metadata| metadata.modified());
    if modified(&rustc).ok() != Some(modified(built)?) {
        let new = dir.join("rustc.new");
        fs::copy(built, &new)?;
        File::options().append(true).open(&new)?.set_modified(modified(built)?)?;
        fs::rename(new, rustc)?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn fill(_: &Path, _: &Path, _: &Path) -> io::Result<()> {
    Ok(())
}

/// Removes the entries that were not used for the longest time, until the store is not too large. Another process may
/// use it at the same time.
fn limit(store: &Path) {
    let children = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let size = |path: PathBuf| path.metadata().map_or(0, |metadata| metadata.len());
    let entries = children(store).flat_map(|key| children(&key).collect::<Vec<_>>());
    let mut entries: Vec<_> = entries
        .map(|entry| {
            let used = entry.join("inputs").metadata().and_then(|metadata| metadata.modified()).ok();
            (used, children(&entry.join("files")).map(size).sum::<u64>(), entry)
        })
        .collect();
    entries.sort();
    let mut total: u64 = entries.iter().map(|(_, size, _)| size).sum();
    for (_, size, entry) in entries {
        if total <= LARGEST {
            break;
        }
        let _ = fs::remove_dir_all(&entry);
        // Only if it is empty.
        let _ = entry.parent().map(fs::remove_dir);
        total -= size;
    }
}
