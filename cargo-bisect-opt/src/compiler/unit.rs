//! One invocation of rustc by cargo, parsed from the arguments.

use std::{ffi::OsString, path::PathBuf};

/// The kind of output of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnitKind {
    /// A library for other crates.
    Library,
    /// An executable.
    Program,
    /// Another kind, such as a library for C.
    Other,
}

/// A crate that rustc is to compile, with its kind of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// The name, unique in the package: `name`, `name:bin`, `name:test`.
    pub(crate) name: String,
    /// Set for build scripts and procedural macros.
    pub(crate) runs_while_compiling: bool,
    kind: UnitKind,
    /// The output directory.
    pub(crate) directory: PathBuf,
    /// The beginning of the names of its files.
    pub(crate) stem: String,
}

impl Unit {
    /// Parses the arguments of rustc; `None` if they compile nothing.
    pub(crate) fn parse(arguments: &[OsString]) -> Option<Self> {
        let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
        let after = || words.iter().enumerate().filter_map(|(i, word)| Some((word, words.get(i + 1)?)));
        let value = |option: &str| {
            let joined = words.iter().find_map(|word| word.strip_prefix(option)?.strip_prefix('='));
            joined
                .map(str::to_owned)
                .or_else(|| after().find(|(word, _)| **word == option).map(|(_, value)| value.to_string()))
        };
        let name = value("--crate-name").filter(|name| name != "___")?;
        let extra =
            after().find_map(|(word, value)| (word == "-C").then(|| value.strip_prefix("extra-filename=")).flatten());
        let extra = extra.or_else(|| words.iter().find_map(|word| word.strip_prefix("-Cextra-filename=")));
        let kind = value("--crate-type").unwrap_or_default();
        let is_test = words.iter().any(|word| word == "--test");
        let suffix = match kind.as_str() {
            _ if is_test => ":test",
            "bin" => ":bin",
            _ => "",
        };
        Some(Self {
            kind: match kind.as_str() {
                _ if is_test => UnitKind::Program,
                "bin" => UnitKind::Program,
                "lib" | "rlib" => UnitKind::Library,
                _ => UnitKind::Other,
            },
            runs_while_compiling: kind == "proc-macro" || kind == "bin" && name.starts_with("build_script_"),
            directory: value("--out-dir").unwrap_or_default().into(),
            stem: format!("{name}{}", extra.unwrap_or_default()),
            name: name + suffix,
        })
    }

    /// Returns the output files and the dep-info file of a Rust library or a program. On other systems than Linux,
    /// programs may have more than one file.
    pub(crate) fn outputs(&self) -> Option<Vec<PathBuf>> {
        let of_library = |extension| self.directory.join(format!("lib{}.{extension}", self.stem));
        match self.kind {
            UnitKind::Library => Some(vec![of_library("rmeta"), of_library("rlib"), self.dep_info()]),
            UnitKind::Program if cfg!(target_os = "linux") => {
                Some(vec![self.directory.join(&self.stem), self.dep_info()])
            }
            UnitKind::Program | UnitKind::Other => None,
        }
    }

    /// Returns whether its dependencies are linked into it.
    pub(crate) fn is_linked(&self) -> bool {
        self.kind == UnitKind::Program
    }

    /// Returns the path of rustc's dep-info file.
    pub(crate) fn dep_info(&self) -> PathBuf {
        self.directory.join(format!("{}.d", self.stem))
    }

    /// Returns the name for a file about the unit. It has no `:`, which the unit's name may have.
    pub(crate) fn file_name(&self) -> String {
        format!("{}{}", self.stem, self.name.find(':').map_or(String::new(), |at| self.name[at..].replace(':', ".")))
    }

    /// Returns the unit's name, from the name of the file about it.
    pub(crate) fn name_of_file(file_name: &str) -> String {
        let (stem, kind) = file_name.split_once('.').map_or((file_name, ""), |(stem, kind)| (stem, kind));
        let name = stem.split_once('-').map_or(stem, |(name, _)| name);
        if kind.is_empty() { name.to_owned() } else { format!("{name}:{kind}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(line: &str) -> Option<Unit> {
        Unit::parse(&line.split_whitespace().map(Into::into).collect::<Vec<_>>())
    }

    #[test]
    fn arguments_name_the_unit() {
        for (line, name, dep_info, file) in [
            (
                "--crate-name ledger --edition=2024 src/lib.rs --crate-type lib -C extra-filename=-1a2b --out-dir /t/deps",
                "ledger",
                "/t/deps/ledger-1a2b.d",
                "ledger-1a2b",
            ),
            (
                "--crate-name it --test -Cextra-filename=-77 --out-dir=d tests/it.rs",
                "it:test",
                "d/it-77.d",
                "it-77.test",
            ),
            ("--crate-name app --crate-type bin --out-dir d", "app:bin", "d/app.d", "app.bin"),
        ] {
            let unit = unit(line).unwrap();
            assert_eq!((unit.name.as_str(), unit.dep_info()), (name, dep_info.into()), "{line}");
            assert_eq!(unit.file_name(), file);
            assert_eq!(Unit::name_of_file(file), name);
            assert!(!unit.runs_while_compiling);
        }
    }

    #[test]
    fn queries_are_no_units_and_build_scripts_run_while_compiling() {
        for line in ["-vV", "- --crate-name ___ --print=file-names", "--print cfg"] {
            assert_eq!(unit(line), None, "{line}");
        }
        for line in ["--crate-name build_script_build --crate-type bin", "--crate-name derive --crate-type proc-macro"]
        {
            assert!(unit(line).unwrap().runs_while_compiling, "{line}");
        }
    }
}
