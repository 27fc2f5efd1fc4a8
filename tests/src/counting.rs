//! A wrapper of rustc that notes each compilation: the user's own wrapper, which the driver must chain. It is a script,
//! so it works on Unix only.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

/// The script of the wrapper, which writes its note before rustc starts. Cargo's queries to rustc are not compilations.
const SCRIPT: &str = r#"#!/bin/sh
case " $* " in
*' --crate-name ___ '*) ;;
*' --crate-name build_script_'*|*' --crate-type proc-macro '*) echo "host $CARGO_PKG_NAME" >> "$COUNTING_NOTES" ;;
*' --crate-name '*) echo "target $CARGO_PKG_NAME" >> "$COUNTING_NOTES" ;;
esac
exec $COMPILER "$@"
"#;

/// The wrapper and its notes, in a folder that is deleted when this value is dropped.
#[derive(Debug)]
pub struct Counting(TempDir);

/// The number of rustc processes, by package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compiled {
    /// Compilations of crates of the graph.
    pub target: BTreeMap<String, usize>,
    /// Compilations of build scripts and procedural macros.
    pub host: BTreeMap<String, usize>,
}

impl Counting {
    /// Makes a wrapper without notes.
    ///
    /// # Panics
    /// If it cannot be written.
    #[must_use]
    pub fn new() -> Self {
        let dir = TempDir::new().expect("a folder for temporary files");
        let this = Self(dir);
        // Cargo passes the compiler to a wrapper as its first argument.
        this.write("rustc.sh", "");
        this
    }

    fn write(&self, name: &str, compiler: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, SCRIPT.replace("$COMPILER", compiler)).expect("the script can be written");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be made executable");
        }
        path
    }

    /// Writes a compiler that runs this one, and notes its compilations.
    ///
    /// # Panics
    /// If it cannot be written.
    #[must_use]
    pub fn compiler(&self, compiler: &Path) -> PathBuf {
        self.write("compiler.sh", &format!("'{}'", compiler.display()))
    }

    /// Returns the path of the wrapper.
    #[must_use]
    pub fn wrapper(&self) -> PathBuf {
        self.0.path().join("rustc.sh")
    }

    /// Returns the variable that the wrapper needs, and its value.
    #[must_use]
    pub fn notes(&self) -> (&'static str, OsString) {
        ("COUNTING_NOTES", self.0.path().join("notes").into())
    }

    /// Sets it as the wrapper of a command, as a user does by a variable.
    pub fn set<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let (variable, notes) = self.notes();
        command.env("RUSTC_WRAPPER", self.wrapper()).env(variable, notes)
    }

    /// Returns the compilations since the last call.
    ///
    /// # Panics
    /// If the notes cannot be read.
    #[must_use]
    pub fn take(&self) -> Compiled {
        let path = PathBuf::from(self.notes().1);
        let mut compiled = Compiled::default();
        if !path.exists() {
            return compiled;
        }
        for line in fs::read_to_string(&path).expect("the notes can be read").lines() {
            let (kind, package) = line.split_once(' ').expect("a kind and a name");
            let counts = if kind == "host" { &mut compiled.host } else { &mut compiled.target };
            *counts.entry(package.to_owned()).or_default() += 1;
        }
        fs::remove_file(&path).expect("the notes can be removed");
        compiled
    }
}

impl Default for Counting {
    fn default() -> Self {
        Self::new()
    }
}

impl Compiled {
    /// Returns the number of compilations of crates of the graph.
    #[must_use]
    pub fn of_target(&self) -> usize {
        self.target.values().sum()
    }

    /// Returns the number of compilations of build scripts and procedural macros.
    #[must_use]
    pub fn of_host(&self) -> usize {
        self.host.values().sum()
    }
}

/// Returns the files below a directory, with their modification times.
///
/// # Panics
/// If it cannot be read.
#[must_use]
pub fn times(dir: &Path) -> BTreeMap<PathBuf, std::time::SystemTime> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display())) {
            let path = entry.expect("a folder can be read").path();
            let metadata = fs::symlink_metadata(&path).expect("a file can be looked at");
            if metadata.is_dir() {
                open.push(path);
            } else {
                found.insert(path, metadata.modified().expect("files have times"));
            }
        }
    }
    found
}
