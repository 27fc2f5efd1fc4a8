//! The user's profiles: the packages that they name, and their link-time optimization.
//!
//! Cargo rejects a profile that names one package in two ways. So a package that the user has named must be named in
//! the same way.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    path::{Path, PathBuf},
};

use toml::{Table, Value};

/// The name of all packages outside of the workspace in a profile.
pub(crate) const OTHERS: &str = "*";

/// All sources of profiles.
#[derive(Debug)]
pub(crate) struct Profiles {
    /// The tables of each file or argument, in descending precedence.
    sources: Vec<Table>,
}

impl Profiles {
    /// Reads the manifest of the workspace at `root`, the configuration of cargo in `directory`, and these values of
    /// `--config`. Skips invalid files: cargo reports them itself.
    pub(crate) fn read(root: &Path, directory: &Path, given: &[OsString]) -> Self {
        let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = std::env::home_dir().map(|home| home.join(".cargo"));
        let configs = directory.ancestors().map(|parent| parent.join(".cargo")).chain(cargo_home.or(home));
        let configs = configs.flat_map(|dir| [dir.join("config.toml"), dir.join("config")]);
        let files = configs.chain([root.join("Cargo.toml")]);
        let read = |file: PathBuf| std::fs::read_to_string(file).ok();
        let given = given.iter().rev();
        let given = given.map(|given| read(directory.join(given)).unwrap_or_else(|| given.to_string_lossy().into()));
        let texts = given.chain(files.filter_map(read));
        Self {
            sources: texts.filter_map(|text| text.parse::<Table>().ok()?.get("profile")?.as_table().cloned()).collect(),
        }
    }

    /// Returns the packages that any profile names.
    pub(crate) fn named_packages(&self) -> BTreeSet<String> {
        let profiles = self.sources.iter().flat_map(Table::values);
        let packages = profiles.filter_map(|profile| profile.get("package")?.as_table());
        packages.flat_map(|packages| packages.keys().cloned()).collect()
    }

    /// Returns whether a profile enables link-time optimization across crates; `variable` is the environment.
    pub(crate) fn has_lto(&self, profile: &str, variable: impl Fn(&str) -> Option<String>) -> bool {
        let mut profile = profile.to_owned();
        // Cargo rejects a circle.
        for _ in 0..=self.sources.iter().map(Table::len).sum() {
            let name = format!("CARGO_PROFILE_{}_LTO", profile.to_uppercase().replace('-', "_"));
            let found = self.get(&profile, "lto").or_else(|| variable(&name).map(Value::String));
            match found {
                Some(Value::Boolean(is_on)) => return is_on,
                Some(Value::String(kind)) => return matches!(kind.as_str(), "true" | "fat" | "thin"),
                _ => {}
            }
            profile = match (self.get(&profile, "inherits"), profile.as_str()) {
                (Some(Value::String(parent)), _) => parent,
                (_, "bench") => "release".to_owned(),
                _ => return false,
            };
        }
        false
    }

    fn get(&self, profile: &str, key: &str) -> Option<Value> {
        self.sources.iter().find_map(|source| source.get(profile)?.get(key)).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named_in_profiles() {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("a/b");
        fs_err::create_dir_all(below.join(".cargo")).unwrap();
        fs_err::create_dir_all(dir.path().join(".cargo")).unwrap();
        fs_err::write(
            dir.path().join("Cargo.toml"),
            "[profile.release.package.memchr]\nopt-level = 1\n[profile.dev.package.\"*\"]\nopt-level = 3\n\
             [profile.slow.package.'x@1.0']\ndebug = 1\n[dependencies.y]\nversion = '1'\n",
        )
        .unwrap();
        fs_err::write(below.join(".cargo/config.toml"), "profile.release.package.z.opt-level = 's'\n").unwrap();
        fs_err::write(dir.path().join(".cargo/config.toml"), "not toml").unwrap();
        fs_err::write(below.join("given.toml"), "[profile.dev.package.file]\n").unwrap();
        let given = ["given.toml".into(), "profile.dev.package.\"word@1\".debug=1".into(), "build.jobs=1".into()];
        let found = Profiles::read(dir.path(), &below, &given).named_packages();
        let ours = [OTHERS, "memchr", "x@1.0", "z", "file", "word@1"];
        assert_eq!(ours.iter().find(|&&name| !found.contains(name)), None, "{found:?}");
        assert!(found.iter().all(|name| name != "y" && name != "release"), "{found:?}");
    }

    #[test]
    fn link_time_optimization_follows_precedence_and_inheritance() {
        let dir = tempfile::tempdir().unwrap();
        let manifest = "[profile.release]\nlto = 'thin'\n[profile.fast]\ninherits = 'release'\n\
                        [profile.dist]\ninherits = 'fast'\nlto = true\n[profile.a]\ninherits='b'\n[profile.b]\ninherits='a'\n";
        fs_err::write(dir.path().join("Cargo.toml"), manifest).unwrap();
        let has_lto = |profile: &str, given: &str, variable: Option<&str>| {
            let profiles = Profiles::read(dir.path(), dir.path(), &[given.into()]);
            profiles.has_lto(profile, |name| variable.filter(|_| name == "CARGO_PROFILE_FAST_LTO").map(str::to_owned))
        };
        for (profile, given, variable, expected) in [
            ("release", "", None, true),
            ("fast", "", None, true),
            ("dist", "", None, true),
            ("bench", "", None, true),
            ("dev", "", None, false),
            ("a", "", None, false),
            ("dist", "profile.dist.lto=false", None, false),
            ("fast", "profile.release.lto='off'", None, false),
            ("fast", "", Some("false"), false),
            ("fast", "profile.fast.lto='fat'", Some("off"), true),
        ] {
            assert_eq!(has_lto(profile, given, variable), expected, "{profile} {given} {variable:?}");
        }
    }
}
