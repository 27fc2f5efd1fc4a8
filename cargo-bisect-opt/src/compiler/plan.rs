//! Plans, which say how a package is compiled: one environment variable per package, which cargo tracks.
//!
//! The wrapper records in rustc's dep-info (`# env-dep:`) that the variable was read. So if the variable of one package
//! changes, cargo compiles only this package and its dependents.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
};

use bisect_core::{ChangeId, Field};
use serde::{Deserialize, Serialize};

use super::unit::Unit;

/// The additions to cargo's options for the crates of one package. The default plan adds nothing, and has no variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// Flags for rustc, after cargo's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) flags: Vec<String>,
    /// The path of `bisect-rustc`, which replaces rustc.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bisect_rustc: Option<PathBuf>,
    /// The [build](super::bisect_rustc::BisectRustc::build) of `bisect-rustc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) build: Option<String>,
    /// Allows unstable flags.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unstable: bool,
    /// The passes of LLVM to disable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<String>,
    /// The limits for a counter of the compiler, in each [unit](super::unit::Unit).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) counter: Option<Counter>,
}

/// The limits for a counter of the compiler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counter {
    /// The counter.
    pub(crate) of: CounterKind,
    /// The limit of each unit; 0 for other units.
    pub(crate) limits: BTreeMap<String, u64>,
    /// Sets no limit, and stores a list of the counted passes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) lists: bool,
}

/// A counter of passes in the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum CounterKind {
    /// The counter of rustc, of passes on MIR.
    Mir,
    /// The counter of LLVM.
    Llvm,
}

impl CounterKind {
    /// Returns the name of its owner, for people.
    pub(crate) fn owner(self) -> &'static str {
        match self {
            CounterKind::Mir => "MIR",
            CounterKind::Llvm => "LLVM",
        }
    }
}

impl Plan {
    /// Returns the value of the variable; `None` for the default plan.
    pub(crate) fn value(&self) -> Option<String> {
        // A struct of texts and numbers can always be serialized.
        (*self != Self::default()).then(|| serde_json::to_string(self).expect("a plan is plain data"))
    }
}

/// Returns the directory for the compiler's reports about a package, next to the artifacts. It has a file for each
/// unit. `values` are those of the variables with the prefixes `BISECT_CODEGEN_` and `BISECT_RUSTC_`.
pub(crate) fn reports_dir(store: &Path, variable: &str, values: [&str; 2]) -> PathBuf {
    let hash = ChangeId::of(&values.map(Field::Str)).0;
    store.join(variable).join(format!("{hash:016x}"))
}

/// Returns the directory for reports of running and failed compilations. The reports of the last successful compilation
/// stay until the next success.
pub(crate) fn partial_dir(reports_dir: &Path) -> PathBuf {
    reports_dir.with_extension("unfinished")
}

/// Returns the report file of each unit. A unit of the same name that was compiled by another toolchain, in another
/// profile or with other features has a file as well, which does not count: `built` are the stems of the current
/// artifacts. For a unit that failed, its partial file counts. The names of programs have no hash; there the newest
/// file counts.
///
/// # Errors
/// If the directory cannot be read.
pub(crate) fn latest_per_unit(reports_dir: &Path, built: &BTreeSet<String>) -> io::Result<BTreeMap<String, PathBuf>> {
    let mut files = BTreeMap::new();
    for (directory, is_finished) in [(partial_dir(reports_dir), false), (reports_dir.to_owned(), true)] {
        if !directory.is_dir() {
            continue;
        }
        for entry in fs_err::read_dir(directory)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_built = built.contains(name.split('.').next().unwrap_or_default());
            let rank = [is_built && is_finished, is_built == is_finished];
            files.insert((rank, entry.metadata()?.modified()?, name), entry.path());
        }
    }
    Ok(files.into_iter().map(|((_, _, name), path)| (Unit::name_of_file(&name), path)).collect())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn the_file_of_the_current_artifact_counts_or_else_the_newest() {
        let dir = tempfile::tempdir().unwrap();
        let names = ["app-9", "app-1", "app-5", "it-1.test", "app-7.bin"];
        for (age, name) in (0..).zip(names) {
            let file = fs_err::File::create(dir.path().join(name)).unwrap();
            file.file().set_modified(SystemTime::now() - Duration::from_secs(100 * age)).unwrap();
        }
        for (built, app) in [("", "app-9"), ("app-1", "app-1"), ("app-5", "app-5"), ("app-2", "app-9")] {
            let files = latest_per_unit(dir.path(), &[built.to_owned(), "app".to_owned()].into()).unwrap();
            let expected = [("app", app), ("app:bin", "app-7.bin"), ("it:test", "it-1.test")];
            let expected = expected.map(|(unit, file)| (unit.to_owned(), dir.path().join(file)));
            assert_eq!(files, expected.into(), "{built}");
        }
        assert_eq!(latest_per_unit(&dir.path().join("nothing"), &BTreeSet::new()).unwrap(), BTreeMap::new());
    }

    #[test]
    fn the_partial_file_of_a_failed_unit_counts() {
        let dir = tempfile::tempdir().unwrap();
        let reports = dir.path().join("reports");
        let write = |age: u64, directory: &Path, name: &str| {
            fs_err::create_dir_all(directory).unwrap();
            let file = fs_err::File::create(directory.join(name)).unwrap();
            file.file().set_modified(SystemTime::now() - Duration::from_secs(100 * age)).unwrap();
            file.into_path()
        };
        let finished = write(1, &reports, "app-1");
        let other = write(0, &reports, "app-2");
        for age in [0, 2] {
            let failed = write(age, &partial_dir(&reports), "app-1");
            for (built, expected) in [("app-1", &finished), ("app-2", &other), ("", &failed)] {
                assert_eq!(
                    latest_per_unit(&reports, &[built.to_owned()].into()).unwrap()["app"],
                    *expected,
                    "{built} {age}"
                );
            }
        }
    }

    #[test]
    fn a_plan_is_read_back() {
        assert_eq!(Plan::default().value(), None);
        let plan = Plan {
            flags: vec!["-C".to_owned(), "a\\b \"c\"".to_owned()],
            unstable: true,
            left_out: vec!["gvn".to_owned()],
            bisect_rustc: Some("/x y/bisect-rustc".into()),
            build: Some("0123456789abcdef".to_owned()),
            counter: Some(Counter { of: CounterKind::Llvm, limits: [("lib".to_owned(), 7)].into(), lists: false }),
        };
        assert_eq!(serde_json::from_str::<Plan>(&plan.value().unwrap()).unwrap(), plan);
    }
}
