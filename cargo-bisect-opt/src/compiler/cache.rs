//! What was made before from the same, and need not be compiled again. Cargo does not know of what the wrapper adds: it keeps
//! only the last of what was made with different flags; and it compiles everything that depends on a crate once that was
//! compiled, but where only LLVM was told otherwise, its metadata is the same as before, and that is all that libraries
//! depend on.
//!
//! What is kept is known by arguments, variables and crates. Sources are not among them: what was kept is left aside once a file
//! that the compiler has named in its dep-info is newer. The rest of the environment, and what build scripts write without
//! being run again, is supposed to stay as it is while a search lasts.

use std::{
    ffi::OsString,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
};

use super::unit::Unit;
use crate::process::remove_tree::remove_tree;

/// What a crate was made from, and where what was made of it is kept.
#[derive(Debug)]
pub(crate) struct CachedUnit {
    outputs: Vec<PathBuf>,
    kept: PathBuf,
    /// Where it is noted what it was made from, for what is linked with it.
    note: PathBuf,
    /// That of it and of all that it depends on.
    made_from: u64,
}

impl CachedUnit {
    /// Of a unit that is compiled with these arguments and these values of the variables that count, and of which something is
    /// said in the file `told`, which is kept with it; `None` if it makes
    /// anything but a library for Rust or a program, or if one of the crates that it is compiled with cannot be read. `keep`
    /// is a directory for all builds of a search, while which nothing else changes.
    pub(crate) fn of(
        keep: &Path,
        unit: &Unit,
        words: &[OsString],
        values: [&str; 2],
        told: Option<&Path>,
    ) -> Option<Self> {
        let mut outputs = unit.outputs()?;
        outputs.extend(told.map(Path::to_owned));
        let notes = externs(words).map(|path| {
            let note = note(keep, &path);
            // What was never compiled in all these builds is as it was at the beginning.
            (path, std::fs::read(note).unwrap_or_default())
        });
        let notes: Vec<_> = notes.collect();
        let mut own = DefaultHasher::new();
        (words, values).hash(&mut own);
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
        // The arguments say where it goes, so this is of one unit only.
        let kept = keep.join(format!("{own:016x}"));
        Some(Self { note: note(keep, &outputs[0]), outputs, kept, made_from: all.finish() })
    }

    /// Puts what was kept in its place, as new. Whether there was anything; if not, the crate is to be compiled.
    ///
    /// # Errors
    /// If a file cannot be copied.
    pub(crate) fn restore(&self) -> io::Result<bool> {
        // Before anything else: cargo compiles what depends on a crate as soon as its metadata is there.
        self.take_note()?;
        if !self.kept.is_dir() || self.has_newer_source() {
            return Ok(false);
        }
        for output in &self.outputs {
            // There may be another name for the same file.
            if output.exists() {
                fs_err::remove_file(output)?;
            }
            create_parent(output)?;
            fs_err::copy(self.kept.join(output.file_name().unwrap_or_default()), output)?;
        }
        Ok(true)
    }

    /// Keeps what was made, if it was made as expected.
    ///
    /// # Errors
    /// If a file cannot be copied.
    pub(crate) fn keep(&self) -> io::Result<()> {
        if !self.outputs.iter().all(|output| output.is_file()) {
            return Ok(());
        }
        let unfinished = self.kept.with_extension("new");
        fs_err::create_dir_all(&unfinished)?;
        for output in &self.outputs {
            fs_err::copy(output, unfinished.join(output.file_name().unwrap_or_default()))?;
        }
        // What was made from sources that are older.
        remove_tree(&self.kept)?;
        fs_err::rename(unfinished, &self.kept)
    }

    /// Whether a source has been edited since the crate was compiled.
    fn has_newer_source(&self) -> bool {
        let infos = self.outputs.iter().filter(|output| output.extension().is_some_and(|extension| extension == "d"));
        let mut infos = infos.map(|info| self.kept.join(info.file_name().unwrap_or_default()));
        infos.any(|info| {
            let modified = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
            let text = std::fs::read_to_string(&info).unwrap_or_default();
            sources(&text).iter().any(|source| modified(source) > modified(&info))
        })
    }

    fn take_note(&self) -> io::Result<()> {
        create_parent(&self.note)?;
        fs_err::write(&self.note, format!("{:016x}", self.made_from))
    }
}

/// The sources that a dep-info names: `output: source source`, with blanks in names escaped.
fn sources(dep_info: &str) -> Vec<PathBuf> {
    let rules = dep_info.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "));
    let words = rules.flat_map(|(_, sources)| {
        let marked = sources.replace("\\ ", "\0");
        marked.split(' ').map(|word| word.replace('\0', " ")).collect::<Vec<_>>()
    });
    words.filter(|word| !word.is_empty()).map(PathBuf::from).collect()
}

/// Makes the directory that a file is to be in.
///
/// # Errors
/// If it cannot be made.
pub(crate) fn create_parent(file: &Path) -> io::Result<()> {
    fs_err::create_dir_all(file.parent().unwrap_or(Path::new("")))
}

/// Where it is noted what a file was made from: the same for the metadata of a library and for all of it.
fn note(keep: &Path, path: &Path) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    path.with_extension("").hash(&mut hasher);
    keep.join("notes").join(format!("{:016x}", hasher.finish()))
}

/// The files of crates that a crate is compiled with: `--extern name=path`.
fn externs(words: &[OsString]) -> impl Iterator<Item = PathBuf> {
    let values = words.windows(2).filter(|pair| pair[0] == "--extern").map(|pair| pair[1].to_string_lossy());
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

        fn reuse(&self, name: &str, kind: &str, dependency: &str, value: &str) -> Option<CachedUnit> {
            let (out, dependency) = (self.0.path().display(), self.at(dependency));
            let line = format!(
                "--crate-name {name} --crate-type {kind} -C extra-filename=-1 --out-dir {out} --extern x={}",
                dependency.display()
            );
            let words: Vec<_> = line.split_whitespace().map(OsString::from).collect();
            CachedUnit::of(&self.at("keep"), &Unit::of(&words).unwrap(), &words, [value, ""], None)
        }

        /// Makes it, or puts it back; whether it was made.
        fn make(&self, name: &str, kind: &str, dependency: &str, value: &str, text: &str) -> bool {
            let reuse = self.reuse(name, kind, dependency, value).unwrap();
            if reuse.restore().unwrap() {
                return false;
            }
            for output in &reuse.outputs {
                fs_err::write(output, text).unwrap();
            }
            reuse.keep().unwrap();
            true
        }
    }

    #[test]
    fn what_was_made_from_the_same_is_put_back() {
        let bench = CacheBench::new();
        assert!(bench.reuse("a", "lib", "libc.rmeta", "").is_none(), "c is not there");
        assert!(bench.reuse("a", "cdylib", "libb.rmeta", "").is_none());
        assert!(bench.make("a", "lib", "libb.rmeta", "limit 1", "1"));
        assert!(bench.make("a", "lib", "libb.rmeta", "limit 2", "2"));
        fs_err::remove_file(bench.at("liba-1.rlib")).unwrap();
        assert!(!bench.make("a", "lib", "libb.rmeta", "limit 1", "?"));
        assert_eq!([bench.read("a-1.d"), bench.read("liba-1.rlib")], ["1", "1"]);
        bench.write("libb.rmeta", "B");
        assert!(bench.make("a", "lib", "libb.rmeta", "limit 1", "3"), "b is another one");
    }

    #[test]
    fn what_was_made_from_an_older_source_is_not_put_back() {
        let bench = CacheBench::new();
        bench.write("a source.rs", "1");
        let text =
            format!("out.d: {}\n\n# env-dep:X\n", bench.at("a source.rs").display().to_string().replace(' ', "\\ "));
        assert!(bench.make("a", "lib", "libb.rmeta", "limit 1", &text));
        assert!(!bench.make("a", "lib", "libb.rmeta", "limit 1", &text));
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
        let source = std::fs::File::options().write(true).open(bench.at("a source.rs")).unwrap();
        source.set_modified(later).unwrap();
        let reuse = bench.reuse("a", "lib", "libb.rmeta", "limit 1").unwrap();
        assert!(!reuse.restore().unwrap());
        reuse.keep().unwrap();
    }

    #[test]
    fn what_is_not_all_there_is_not_kept() {
        let bench = CacheBench::new();
        let reuse = bench.reuse("a", "lib", "libb.rmeta", "").unwrap();
        bench.write("liba-1.rlib", "1");
        reuse.keep().unwrap();
        assert!(!reuse.restore().unwrap());
    }

    #[test]
    fn what_is_linked_is_linked_again_if_anything_in_it_is_another() {
        let bench = CacheBench::new();
        let make = |value| {
            // Its metadata is the same whatever LLVM does.
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
    fn what_depends_on_a_crate_may_be_compiled_before_that_is_finished() {
        let bench = CacheBench::new();
        for (value, is_new) in [("limit 1", true), ("limit 2", true), ("limit 1", cfg!(not(target_os = "linux")))] {
            let deep = bench.reuse("deep", "lib", "libb.rmeta", value).unwrap();
            let was_kept = deep.restore().unwrap();
            bench.write("libdeep-1.rmeta", "deep");
            let _ = bench.make("middle", "lib", "libdeep-1.rmeta", "", "middle");
            if !was_kept {
                for output in &deep.outputs {
                    fs_err::write(output, "deep").unwrap();
                }
                deep.keep().unwrap();
            }
            assert_eq!(bench.make("app", "bin", "libmiddle-1.rlib", "", value), is_new, "{value}");
        }
    }
}
