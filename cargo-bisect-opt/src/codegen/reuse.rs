//! What was compiled before from the same, and need not be compiled again. Cargo does not know of what the wrapper adds: it
//! keeps only the last of what was made with different flags; and it compiles everything that depends on a crate once that was
//! compiled, but where only LLVM was told otherwise, its metadata is the same as before, and that is all that libraries
//! depend on.

use std::{
    ffi::OsString,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
};

use super::wrapper::Unit;

/// What one library was made from, and where what was made of it is kept.
#[derive(Debug)]
pub struct Reuse {
    outputs: Vec<PathBuf>,
    kept: PathBuf,
}

impl Reuse {
    /// Of a unit that is compiled with these arguments and these values of the variables that count; `None` if it is no
    /// library, or one of the crates that it is compiled with cannot be read. `keep` is a directory for one search, in which
    /// sources do not change.
    pub fn of(keep: &Path, unit: &Unit, words: &[OsString], values: [&str; 2]) -> Option<Self> {
        let outputs = unit.outputs_of_library()?;
        let mut hasher = DefaultHasher::new();
        (words, values).hash(&mut hasher);
        for path in externs(words) {
            std::fs::read(path).ok()?.hash(&mut hasher);
        }
        // The arguments say where it goes, so this is of one unit only.
        Some(Self { outputs, kept: keep.join(format!("{:016x}", hasher.finish())) })
    }

    /// Puts what was kept in its place, as new. Whether there was anything.
    ///
    /// # Errors
    /// If a file cannot be copied.
    pub fn restore(&self) -> io::Result<bool> {
        if !self.kept.is_dir() {
            return Ok(false);
        }
        for output in &self.outputs {
            fs_err::copy(self.kept.join(output.file_name().unwrap_or_default()), output)?;
        }
        Ok(true)
    }

    /// Keeps what was made, if it was made as expected.
    ///
    /// # Errors
    /// If a file cannot be copied.
    pub fn keep(&self) -> io::Result<()> {
        if !self.outputs.iter().all(|output| output.is_file()) {
            return Ok(());
        }
        let unfinished = self.kept.with_extension("new");
        fs_err::create_dir_all(&unfinished)?;
        for output in &self.outputs {
            fs_err::copy(output, unfinished.join(output.file_name().unwrap_or_default()))?;
        }
        fs_err::rename(unfinished, &self.kept)
    }
}

/// The files of crates that a crate is compiled with: `--extern name=path`.
fn externs(words: &[OsString]) -> impl Iterator<Item = PathBuf> {
    let values = words.windows(2).filter(|pair| pair[0] == "--extern").map(|pair| pair[1].to_string_lossy());
    values.filter_map(|value| Some(value.split_once('=')?.1.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_from_the_same_is_put_back() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let words = |kind: &str| {
            let line = format!(
                "--crate-name a --crate-type {kind} -C extra-filename=-1 --out-dir {} --extern b={}",
                dir.path().display(),
                at("libb.rmeta").display()
            );
            line.split_whitespace().map(OsString::from).collect::<Vec<_>>()
        };
        let reuse = |values| {
            let words = words("lib");
            Reuse::of(&at("keep"), &Unit::of(&words).unwrap(), &words, values)
        };
        assert!(reuse(["", ""]).is_none(), "b is not there");
        fs_err::write(at("libb.rmeta"), "b").unwrap();
        let first = reuse(["limit 1", ""]).unwrap();
        assert!(!first.restore().unwrap());
        for name in ["liba-1.rlib", "liba-1.rmeta"] {
            fs_err::write(at(name), "1").unwrap();
        }
        first.keep().unwrap();
        assert!(!first.restore().unwrap(), "something is missing");
        fs_err::write(at("a-1.d"), "1").unwrap();
        first.keep().unwrap();

        fs_err::write(at("a-1.d"), "2").unwrap();
        fs_err::remove_file(at("liba-1.rlib")).unwrap();
        assert!(!reuse(["limit 2", ""]).unwrap().restore().unwrap());
        assert!(reuse(["limit 1", ""]).unwrap().restore().unwrap());
        assert_eq!(fs_err::read_to_string(at("a-1.d")).unwrap(), "1");
        assert_eq!(fs_err::read_to_string(at("liba-1.rlib")).unwrap(), "1");

        fs_err::write(at("libb.rmeta"), "B").unwrap();
        assert!(!reuse(["limit 1", ""]).unwrap().restore().unwrap(), "b is another one");
        let program = words("bin");
        assert!(Reuse::of(&at("keep"), &Unit::of(&program).unwrap(), &program, ["", ""]).is_none());
    }
}
