//! `PATH` for tests that compile: the rustc that does not compile the same twice (`tests/stored-rustc`) comes first.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::LazyLock,
};

#[cfg(unix)]
use xxhash_rust::xxh3::xxh3_128;

/// The size of the store above which entries are removed, in bytes. What all tests compile fits in.
const LARGEST: u64 = 10 << 30;

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

/// Returns a copy of stored-rustc that stands for this compiler, or the compiler if stored-rustc is not built. For
/// bisect-rustc, and for the rustc of the toolchain that it needs.
///
/// # Panics
/// If the directory of that compiler cannot be made.
#[must_use]
pub fn stored(compiler: &Path) -> PathBuf {
    let of_cargo = search_path().is_some();
    let name = compiler.file_name().and_then(OsStr::to_str).filter(|_| of_cargo);
    let dir = name.and_then(|name| stored_compiler(&format!("{name}-of-another-toolchain"), compiler));
    dir.unwrap_or_else(|| compiler.to_owned())
}

fn make() -> Option<OsString> {
    let toolchain = PathBuf::from(env::var_os("CARGO")?).parent()?.to_owned();
    let rest = env::var_os("PATH").unwrap_or_default();
    let rustc = stored_compiler(OF_CARGO, &toolchain.join("rustc"));
    let stored = rustc.as_deref().and_then(Path::parent);
    if let Some(dir) = stored {
        limit(&dir.join("store"));
    }
    env::join_paths(stored.map(Path::to_owned).into_iter().chain([toolchain]).chain(env::split_paths(&rest))).ok()
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

/// Returns a copy of stored-rustc that stands for this compiler, in the directory with this name. Makes it if it is not
/// there. Returns `None` if stored-rustc is not built, or if this system has no symbolic links.
fn stored_compiler(directory: &str, compiler: &Path) -> Option<PathBuf> {
    let built = profile_dir().join("stored-rustc");
    if !cfg!(unix) || !built.is_file() {
        return None;
    }
    let dir = profile_dir().with_file_name("fixtures").join(directory);
    fs::create_dir_all(&dir).expect("the directory can be made");
    let lock = File::create(dir.join("lock")).expect("the lock file can be made");
    lock.lock().expect("the directory can be locked");
    let made = fill(&dir, &built, compiler).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    Some(made)
}

#[cfg(unix)]
fn fill(dir: &Path, built: &Path, compiler: &Path) -> io::Result<PathBuf> {
    use std::os::unix::fs::symlink;

    let store = dir.with_file_name(OF_CARGO).join("store");
    fs::create_dir_all(&store)?;
    let (toolchain, name) = (compiler.parent().unwrap_or(compiler), compiler.file_name().unwrap_or_default());
    // All compilers share a store: keys contain the compiler's path and the hashes of its files.
    for (name, to) in [("toolchain", toolchain), ("store", &*store)] {
        let link = dir.join(name);
        if link != to && fs::read_link(&link).ok().as_deref() != Some(to) {
            let _ = fs::remove_file(&link);
            symlink(to, link)?;
        }
    }
    replace(&dir.join("compiler"), |new| fs::write(new, contents(compiler)?))?;
    // A copy, because a program asks for its own place by the path of its file.
    let made = dir.join(name);
    let modified = |path: &Path| path.metadata().and_then(|metadata| metadata.modified());
    if modified(&made).ok() != Some(modified(built)?) {
        replace(&made, |new| {
            fs::copy(built, new)?;
            File::options().append(true).open(new)?.set_modified(modified(built)?)
        })?;
    }
    Ok(made)
}

/// Replaces a file as a whole, because another process may be using it.
#[cfg(unix)]
fn replace(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let new = path.with_extension("new");
    write(&new)?;
    fs::rename(new, path)
}

/// Returns the path and the hash of each file beside a compiler that has its name, except dep-info. The compiler may be a
/// script that starts, for example, `rustc.real`.
#[cfg(unix)]
fn contents(compiler: &Path) -> io::Result<String> {
    let name = compiler.file_name();
    let dir = compiler.parent().unwrap_or(compiler);
    let files = fs::read_dir(dir)?.flatten().map(|entry| entry.path());
    let is_of_compiler = |file: &PathBuf| file.file_stem() == name && file.extension() != Some(OsStr::new("d"));
    let mut files: Vec<_> = files.filter(is_of_compiler).collect();
    files.sort();
    let line = |file: PathBuf| Ok(format!("{} {:032x}\n", file.display(), xxh3_128(&fs::read(&file)?)));
    files.into_iter().map(line).collect()
}

#[cfg(not(unix))]
fn fill(_: &Path, _: &Path, compiler: &Path) -> io::Result<PathBuf> {
    Ok(compiler.to_owned())
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_that_a_script_starts_is_another_one_if_either_file_changes() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path();
        let write = |name: &str, text: &str| fs::write(dir.join(name), text).unwrap();
        let mut seen = Vec::new();
        for (name, text) in [("rustc", "script"), ("rustc.real", "one"), ("rustc.real", "other"), ("rustc", "second")] {
            write(name, text);
            seen.push(contents(&dir.join("rustc")).unwrap());
        }
        write("unrelated", "");
        write("rustc.d", "its dependencies");
        assert_eq!(seen.last(), Some(&contents(&dir.join("rustc")).unwrap()));
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 4, "{seen:?}");
    }
}
