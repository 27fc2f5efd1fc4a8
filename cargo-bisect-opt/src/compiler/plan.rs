//! What the compiler is told of each package: one variable a package, which cargo tracks.
//!
//! Cargo is told by the wrapper that the variable was read (`# env-dep:` in rustc's dep-info). So where only the variable
//! of one package has changed, that package is compiled anew, and what depends on it.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
};

use bisect_core::{ChangeId, Field};
use serde::{Deserialize, Serialize};

use super::unit::Unit;

/// What the name of a package's variable begins with.
pub(crate) const PREFIX: &str = "BISECT_CODEGEN_";
/// The same of the variable that `bisect-rustc` reads.
pub(crate) const BISECT_RUSTC_PREFIX: &str = "BISECT_RUSTC_";

/// How the crates of one package are compiled, beyond what cargo says. The default, nothing, is told by no variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// Flags for rustc, behind cargo's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) flags: Vec<String>,
    /// The compiler that takes rustc's place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bisect_rustc: Option<PathBuf>,
    /// Flags among them are unstable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unstable: bool,
    /// Passes of LLVM that are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<String>,
    /// A limit for a counter of the compiler, in each [unit](super::unit::Unit).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) counter: Option<Counter>,
}

/// How far a counter of the compiler counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counter {
    /// Whose.
    pub(crate) of: CounterKind,
    /// By unit; in units that are not named nothing is counted.
    pub(crate) limits: BTreeMap<String, u64>,
    /// No limit anywhere: what is counted is listed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) lists: bool,
}

/// A counter of the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum CounterKind {
    /// rustc's, of passes on its own intermediate code.
    Mir,
    /// LLVM's.
    Llvm,
}

impl CounterKind {
    /// Whose it is, for people.
    pub(crate) fn owner(self) -> &'static str {
        match self {
            CounterKind::Mir => "MIR",
            CounterKind::Llvm => "LLVM",
        }
    }
}

/// The name of the variable with this prefix for a package, `name@version`: such as every shell passes on.
pub(crate) fn variable_of(prefix: &str, package: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    prefix.chars().chain(package.chars().map(plain)).collect()
}

impl Plan {
    /// As text for the variable; `None` if there is nothing to say.
    pub(crate) fn value(&self) -> Option<String> {
        // A struct of texts and numbers can always be written.
        (*self != Self::default()).then(|| serde_json::to_string(self).expect("a plan is plain data"))
    }
}

/// The variable of a package, from a prefix: such a name as every shell passes on.
pub(crate) fn variable(prefix: &str, name: &str, version: &str) -> String {
    variable_of(prefix, &[name, "@", version].concat())
}

/// Where what the compiler says about a package, told so, is kept beside what it made: a directory with a file for each
/// unit. `values` are those of the variables with [`PREFIX`] and [`BISECT_RUSTC_PREFIX`].
pub(crate) fn told(store: &Path, variable: &str, values: [&str; 2]) -> PathBuf {
    let hash = ChangeId::of(&values.map(Field::Str)).0;
    store.join(variable).join(format!("{hash:016x}"))
}

/// The same for what the driver says while it compiles, and for good if it fails. What it has said of the crate that is
/// there stays until there is another one.
pub(crate) fn unfinished(told: &Path) -> PathBuf {
    told.with_extension("unfinished")
}

/// The files in such a directory, by unit. A unit of the same name that was compiled otherwise (by another toolchain, in
/// another profile, with other features) has left a file as well, and is not meant: `built` are the stems of the files that
/// are there now; of a unit that is not, what was said before it failed counts. Where cargo names what it made without the
/// hash that tells them apart, as it does programs, the latest counts.
///
/// # Errors
/// If the directory cannot be read.
pub(crate) fn kept(told: &Path, built: &BTreeSet<String>) -> io::Result<BTreeMap<String, PathBuf>> {
    let mut files = BTreeMap::new();
    for (directory, is_finished) in [(unfinished(told), false), (told.to_owned(), true)] {
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
    fn of_each_unit_the_file_counts_that_was_built_or_else_the_latest() {
        let dir = tempfile::tempdir().unwrap();
        let names = ["app-9", "app-1", "app-5", "it-1.test", "app-7.bin"];
        for (age, name) in (0..).zip(names) {
            let file = fs_err::File::create(dir.path().join(name)).unwrap();
            file.file().set_modified(SystemTime::now() - Duration::from_secs(100 * age)).unwrap();
        }
        for (built, app) in [("", "app-9"), ("app-1", "app-1"), ("app-5", "app-5"), ("app-2", "app-9")] {
            let kept = kept(dir.path(), &[built.to_owned(), "app".to_owned()].into()).unwrap();
            let expected = [("app", app), ("app:bin", "app-7.bin"), ("it:test", "it-1.test")];
            let expected = expected.map(|(unit, file)| (unit.to_owned(), dir.path().join(file)));
            assert_eq!(kept, expected.into(), "{built}");
        }
        assert_eq!(kept(&dir.path().join("nothing"), &BTreeSet::new()).unwrap(), BTreeMap::new());
    }

    #[test]
    fn of_what_is_not_there_counts_what_was_said_before_it_failed() {
        let dir = tempfile::tempdir().unwrap();
        let told = dir.path().join("told");
        let write = |age: u64, directory: &Path, name: &str| {
            fs_err::create_dir_all(directory).unwrap();
            let file = fs_err::File::create(directory.join(name)).unwrap();
            file.file().set_modified(SystemTime::now() - Duration::from_secs(100 * age)).unwrap();
            file.into_path()
        };
        let finished = write(1, &told, "app-1");
        let other = write(0, &told, "app-2");
        for age in [0, 2] {
            let failed = write(age, &unfinished(&told), "app-1");
            for (built, expected) in [("app-1", &finished), ("app-2", &other), ("", &failed)] {
                assert_eq!(kept(&told, &[built.to_owned()].into()).unwrap()["app"], *expected, "{built} {age}");
            }
        }
    }

    #[test]
    fn names_are_plain() {
        assert_eq!(variable(PREFIX, "my-crate", "0.1.0-rc.1+x"), "BISECT_CODEGEN_my_crate_0_1_0_rc_1_x");
    }

    #[test]
    fn a_plan_is_read_back() {
        assert_eq!(Plan::default().value(), None);
        let plan = Plan {
            flags: vec!["-C".to_owned(), "a\\b \"c\"".to_owned()],
            unstable: true,
            left_out: vec!["gvn".to_owned()],
            bisect_rustc: Some("/x y/bisect-rustc".into()),
            counter: Some(Counter { of: CounterKind::Llvm, limits: [("lib".to_owned(), 7)].into(), lists: false }),
        };
        assert_eq!(serde_json::from_str::<Plan>(&plan.value().unwrap()).unwrap(), plan);
    }
}
