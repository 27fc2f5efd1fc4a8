//! A cache of compiled crates, by their options and inputs.
//!
//! Cargo does not know the flags that the wrapper adds: of artifacts with different flags it keeps only the last. And
//! after a crate was compiled, cargo compiles everything that depends on it. But if only options of LLVM changed, the
//! crate's metadata is the same as before, and libraries depend on nothing else.
//!
//! Keys are arguments, variables and crates. Sources are not part of the key: an entry is ignored once a file in the
//! compiler's dep-info is newer. The rest of the environment, and files that build scripts write without being run
//! again, must not change during a search.

use std::{
    ffi::OsString,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
};

use super::unit::Unit;
use crate::process::remove_tree::remove_tree;

/// The cache entry of a crate, with the inputs of its compilation.
#[derive(Debug)]
pub(crate) struct CachedUnit {
    outputs: Vec<PathBuf>,
    entry: PathBuf,
    /// The file with the hash of the crate's inputs, for crates that are linked with it.
    note: PathBuf,
    /// The hash of the inputs of this crate and of all its dependencies.
    inputs: u64,
}

impl CachedUnit {
    /// Finds the entry of a unit that is compiled with these arguments and these values of the tracked variables.
    /// `reports` is the file of the compiler's reports about it, which is kept with it. `cache_dir` is a directory for
    /// all builds of a search.
    ///
    /// Returns `None` if the unit is neither a Rust library nor a program, or if one of its crates cannot be read.
    pub(crate) fn find(
        cache_dir: &Path,
        unit: &Unit,
        arguments: &[OsString],
        values: [&str; 2],
        reports: Option<&Path>,
    ) -> Option<Self> {
        let mut outputs = unit.outputs()?;
        outputs.extend(reports.map(Path::to_owned));
        let notes = externs(arguments).map(|path| {
            let note = note(cache_dir, &path);
            // A crate without a note was not compiled during this search, and is unchanged.
            (path, std::fs::read(note).unwrap_or_default())
        });
        let notes: Vec<_> = notes.collect();
        let mut own = DefaultHasher::new();
        (arguments, values).hash(&mut own);
        if unit.is_linked() {
            notes.hash(&mut own);
        } else {
            for (path, _) in &notes {
                std::fs::read(path).ok()?.hash(&mut own);
            }
        }
        let own = own.finish();
        let mut all = DefaultHasher::new();
        (own, &notes).hash(&mut all);
        // The arguments contain the output directory, so no other unit has this hash.
        let entry = cache_dir.join(format!("{own:016x}"));
        Some(Self { note: note(cache_dir, &outputs[0]), outputs, entry, inputs: all.finish() })
    }

    /// Copies the entry's files to their places, as if just compiled. Returns whether there was an entry; if not, the
    /// crate must be compiled.
    ///
    /// # Errors
    /// If a file cannot be copied.
    pub(crate) fn restore(&self) -> io::Result<bool> {
        // First of all: cargo compiles dependents of a crate as soon as its metadata exists.
        self.write_note()?;
        if !self.entry.is_dir() || self.has_newer_source() {
            return Ok(false);
        }
        for output in &self.outputs {
            // The file may have other hard links.
            if output.exists() {
                fs_err::remove_file(output)?;
            }
            create_parent(output)?;
            fs_err::copy(self.entry.join(output.file_name().unwrap_or_default()), output)?;
        }
        Ok(true)
    }

    /// Stores the compiled files, if all expected ones exist.
    ///
    /// # Errors
    /// If a file cannot be copied.
    pub(crate) fn store(&self) -> io::Result<()> {
        if !self.outputs.iter().all(|output| output.is_file()) {
            return Ok(());
        }
        let partial = self.entry.with_extension("new");
        fs_err::create_dir_all(&partial)?;
        for output in &self.outputs {
            fs_err::copy(output, partial.join(output.file_name().unwrap_or_default()))?;
        }
        // An entry from older sources.
        remove_tree(&self.entry)?;
        fs_err::rename(partial, &self.entry)
    }

    /// Returns whether a source was edited since the crate was compiled.
    fn has_newer_source(&self) -> bool {
        let infos = self.outputs.iter().filter(|output| output.extension().is_some_and(|extension| extension == "d"));
        let mut infos = infos.map(|info| self.entry.join(info.file_name().unwrap_or_default()));
        infos.any(|info| {
            let modified = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
            let text = std::fs::read_to_string(&info).unwrap_or_default();
            sources(&text).iter().any(|source| modified(source) > modified(&info))
        })
    }

    fn write_note(&self) -> io::Result<()> {
        create_parent(&self.note)?;
        fs_err::write(&self.note, format!("{:016x}", self.inputs))
    }
}

/// Returns the sources in a dep-info file: `output: source source`, with spaces in names escaped.
fn sources(dep_info: &str) -> Vec<PathBuf> {
    let rules = dep_info.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "));
    let names = rules.flat_map(|(_, sources)| {
        let marked = sources.replace("\\ ", "\0");
        marked.split(' ').map(|name| name.replace('\0', " ")).collect::<Vec<_>>()
    });
    names.filter(|name| !name.is_empty()).map(PathBuf::from).collect()
}

/// Makes the directory of a file.
///
/// # Errors
/// If it cannot be made.
pub(crate) fn create_parent(file: &Path) -> io::Result<()> {
    fs_err::create_dir_all(file.parent().unwrap_or(Path::new("")))
}

/// Returns the path of the note for a file: one for both the metadata of a library and the library.
fn note(cache_dir: &Path, path: &Path) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    path.with_extension("").hash(&mut hasher);
    cache_dir.join("notes").join(format!("{:016x}", hasher.finish()))
}

/// Returns the files of the direct dependencies: `--extern name=path`.
fn externs(arguments: &[OsString]) -> impl Iterator<Item = PathBuf> {
    let values = arguments.windows(2).filter(|pair| pair[0] == "--extern").map(|pair| pair[1].to_string_lossy());
    values.filter_map(|value| Some(value.split_once('=')?.1.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct CacheBench(tempfile::TempDir);

    impl CacheBench {
        fn new() -> Self {
            let bench = Self(tempfile::tempdir().unwrap());
            bench.write("libb.rmeta", "b");
            bench
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn write(&self, name: &str, text: &str) {
            fs_err::write(self.at(name), text).unwrap();
        }

        fn read(&self, name: &str) -> String {
            fs_err::read_to_string(self.at(name)).unwrap()
        }

        fn entry(&self, name: &str, kind: &str, dependency: &str, value: &str) -> Option<CachedUnit> {
            let (out, dependency) = (self.0.path().display(), self.at(dependency));
            let line = format!(
                "--crate-name {name} --crate-type {kind} -C extra-filename=-1 --out-dir {out} --extern x={}",
                dependency.display()
            );
            let arguments: Vec<_> = line.split_whitespace().map(OsString::from).collect();
            CachedUnit::find(&self.at("cache"), &Unit::parse(&arguments).unwrap(), &arguments, [value, ""], None)
        }

        /// Compiles a unit or restores it. Returns whether it was compiled.
        fn make(&self, name: &str, kind: &str, dependency: &str, value: &str, text: &str) -> bool {
            let entry = self.entry(name, kind, dependency, value).unwrap();
            if entry.restore().unwrap() {
                return false;
            }
            for output in &entry.outputs {
                fs_err::write(output, text).unwrap();
            }
            entry.store().unwrap();
            true
        }
    }

    #[test]
    fn a_unit_with_the_same_inputs_is_restored() {
        let bench = CacheBench::new();
        assert!(bench.entry("a", "lib", "libc.rmeta", "").is_none(), "c is not there");
        assert!(bench.entry("a", "cdylib", "libb.rmeta", "").is_none());
        assert!(bench.make("a", "lib", "libb.rmeta", "limit 1", "1"));
        assert!(bench.make("a", "lib", "libb.rmeta", "limit 2", "2"));
        fs_err::remove_file(bench.at("liba-1.rlib")).unwrap();
        assert!(!bench.make("a", "lib", "libb.rmeta", "limit 1", "?"));
        assert_eq!([bench.read("a-1.d"), bench.read("liba-1.rlib")], ["1", "1"]);
        bench.write("libb.rmeta", "B");
        assert!(bench.make("a", "lib", "libb.rmeta", "limit 1", "3"), "b has changed");
    }

    #[test]
    fn a_unit_with_an_edited_source_is_not_restored() {
        let bench = CacheBench::new();
        bench.write("a source.rs", "1");
        let text =
            format!("out.d: {}\n\n# env-dep:X\n", bench.at("a source.rs").display().to_string().replace(' ', "\\ "));
        assert!(bench.make("a", "lib", "libb.rmeta", "limit 1", &text));
        assert!(!bench.make("a", "lib", "libb.rmeta", "limit 1", &text));
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
        let source = std::fs::File::options().write(true).open(bench.at("a source.rs")).unwrap();
        source.set_modified(later).unwrap();
        let entry = bench.entry("a", "lib", "libb.rmeta", "limit 1").unwrap();
        assert!(!entry.restore().unwrap());
        entry.store().unwrap();
    }

    #[test]
    fn incomplete_output_is_not_stored() {
        let bench = CacheBench::new();
        let entry = bench.entry("a", "lib", "libb.rmeta", "").unwrap();
        bench.write("liba-1.rlib", "1");
        entry.store().unwrap();
        assert!(!entry.restore().unwrap());
    }

    #[test]
    fn a_program_is_linked_again_if_any_crate_in_it_has_changed() {
        let bench = CacheBench::new();
        let make = |value| {
            // Its metadata does not depend on LLVM.
            let _ = bench.make("deep", "lib", "libb.rmeta", value, "deep");
            let middle = bench.make("middle", "lib", "libdeep-1.rmeta", "", "middle");
            (middle, bench.make("app", "bin", "libmiddle-1.rlib", "", value))
        };
        assert_eq!(make("limit 1"), (true, true));
        assert_eq!(make("limit 2"), (false, true));
        assert_eq!(make("limit 1"), (false, cfg!(not(target_os = "linux"))));
        assert_eq!(bench.read("app-1"), "limit 1");
    }

    #[test]
    fn a_dependent_may_be_compiled_before_its_dependency_is_finished() {
        let bench = CacheBench::new();
        for (value, is_new) in [("limit 1", true), ("limit 2", true), ("limit 1", cfg!(not(target_os = "linux")))] {
            let deep = bench.entry("deep", "lib", "libb.rmeta", value).unwrap();
            let was_restored = deep.restore().unwrap();
            bench.write("libdeep-1.rmeta", "deep");
            let _ = bench.make("middle", "lib", "libdeep-1.rmeta", "", "middle");
            if !was_restored {
                for output in &deep.outputs {
                    fs_err::write(output, "deep").unwrap();
                }
                deep.store().unwrap();
            }
            assert_eq!(bench.make("app", "bin", "libmiddle-1.rlib", "", value), is_new, "{value}");
        }
    }
}
