//! The user's profiles: the packages that they name, their link-time optimization, and what programs check.
//!
//! Cargo rejects a profile that names one package in two ways. So a package that the user has named must be named in
//! the same way.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    path::{Path, PathBuf},
};

use toml::{Table, Value};

use crate::process::cargo_home::cargo_home;

/// The name of all packages outside of the workspace in a profile.
pub(crate) const OTHERS: &str = "*";

/// The keys of a profile that decide what a program checks while it runs. They can be set for single packages, and apply
/// before a crate is optimized.
pub(crate) const CHECKS: [&str; 2] = ["debug-assertions", "overflow-checks"];

/// The key of a profile for the level of optimization.
pub(crate) const OPT_LEVEL: &str = "opt-level";

/// The keys of a profile that can be set for single packages and that change how a program behaves.
pub(crate) const KEYS: [&str; 4] = [CHECKS[0], CHECKS[1], OPT_LEVEL, "codegen-units"];

/// A package as profiles see it: its name there, and whether it is one of the workspace.
type ProfiledPackage<'a> = (&'a str, bool);

/// All sources of profiles.
#[derive(Debug)]
pub(crate) struct Profiles {
    /// The tables of each file or argument, in descending precedence.
    sources: Vec<Table>,
    /// The number of tables, at the beginning, that come from `--config`. They precede environment variables, which precede
    /// files.
    arguments: usize,
}

impl Profiles {
    /// Reads the manifest of the workspace at `root`, the configuration of cargo in `directory`, and these values of
    /// `--config`. Skips invalid files: cargo reports them itself.
    pub(crate) fn read(root: &Path, directory: &Path, given: &[OsString]) -> Self {
        let configs = directory.ancestors().map(|parent| parent.join(".cargo")).chain(cargo_home());
        // Where there are both, cargo reads the one with the older name.
        let configs = configs.map(|dir| ["config", "config.toml"].map(|name| dir.join(name)));
        let configs = configs.filter_map(|names| names.into_iter().find(|file| file.exists()));
        let files = configs.chain([root.join("Cargo.toml")]);
        let read = |file: PathBuf| std::fs::read_to_string(file).ok();
        let given = given.iter().rev();
        let given = given.map(|given| read(directory.join(given)).unwrap_or_else(|| given.to_string_lossy().into()));
        let profiles = |text: String| text.parse::<Table>().ok()?.get("profile")?.as_table().cloned();
        let mut sources: Vec<_> = given.filter_map(profiles).collect();
        let arguments = sources.len();
        sources.extend(files.filter_map(read).filter_map(profiles));
        Self { sources, arguments }
    }

    /// Returns the packages that any profile names.
    pub(crate) fn named_packages(&self) -> BTreeSet<String> {
        let profiles = self.sources.iter().flat_map(Table::values);
        let packages = profiles.filter_map(|profile| profile.get("package")?.as_table());
        packages.flat_map(|packages| packages.keys().cloned()).collect()
    }

    /// Returns whether a profile enables link-time optimization across crates; `variable` is the environment.
    pub(crate) fn has_lto(&self, profile: &str, variable: impl Fn(&str) -> Option<String>) -> bool {
        let values = self.chain(profile).into_iter().filter_map(|profile| self.value(&profile, "lto", &variable));
        let mut lto = values.filter_map(|value| match value {
            Value::Boolean(is_on) => Some(is_on),
            Value::String(kind) => Some(matches!(kind.as_str(), "true" | "fat" | "thin")),
            _ => None,
        });
        lto.next().unwrap_or(false)
    }

    /// Returns true if there is a profile with this name.
    pub(crate) fn has(&self, profile: &str) -> bool {
        BUILT_IN.contains(&profile) || self.sources.iter().any(|source| source.contains_key(profile))
    }

    /// Returns the names of all profiles.
    pub(crate) fn names(&self) -> BTreeSet<&str> {
        BUILT_IN.into_iter().chain(self.sources.iter().flat_map(Table::keys).map(String::as_str)).collect()
    }

    /// Returns the value that a profile gives one of the [`KEYS`] in a package, as TOML.
    pub(crate) fn key_of(
        &self,
        profile: &str,
        key: &str,
        (spec, is_own): ProfiledPackage<'_>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> String {
        let chain = self.chain(profile);
        let of_package = |spec: &str| {
            let in_source =
                |profile: &String, source: &Table| toml_text(source.get(profile)?.get("package")?.get(spec)?.get(key)?);
            chain.iter().find_map(|profile| self.sources.iter().find_map(|source| in_source(profile, source)))
        };
        let of_others = || if is_own { None } else { of_package(OTHERS) };
        let of_all = || chain.iter().find_map(|profile| toml_text(&self.value(profile, key, &variable)?));
        let built_in = || {
            let of_dev = chain.last().is_some_and(|root| root == "dev");
            match (key, of_dev) {
                (OPT_LEVEL, true) => "0",
                (OPT_LEVEL, false) => "3",
                ("codegen-units", _) => "16",
                (_, check) => return check.to_string(),
            }
            .to_owned()
        };
        of_package(spec).or_else(of_others).or_else(of_all).unwrap_or_else(built_in)
    }

    /// Returns true if a profile gives the key another value than this one, or if its value is not known.
    pub(crate) fn may_differ(
        &self,
        profile: &str,
        (key, value): (&str, &str),
        package: ProfiledPackage<'_>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> bool {
        !KEYS.contains(&key) || self.key_of(profile, key, package, variable) != value
    }

    /// Returns a profile and those that it inherits from, the nearest first.
    fn chain(&self, profile: &str) -> Vec<String> {
        let mut chain = vec![profile.to_owned()];
        loop {
            let profile = &chain[chain.len() - 1];
            let inherited = self.sources.iter().find_map(|source| source.get(profile)?.get("inherits"));
            let parent = match (inherited, profile.as_str()) {
                (Some(Value::String(parent)), _) => parent,
                (_, "bench") => "release",
                (_, "test") => "dev",
                _ => return chain,
            };
            // Cargo rejects a circle.
            if chain.iter().any(|known| known == parent) {
                return chain;
            }
            chain.push(parent.to_owned());
        }
    }

    /// Returns the value of a key in a profile, without those that it inherits from.
    fn value(&self, profile: &str, key: &str, variable: impl Fn(&str) -> Option<String>) -> Option<Value> {
        let (arguments, files) = self.sources.split_at(self.arguments);
        let among = |sources: &[Table]| sources.iter().find_map(|source| source.get(profile)?.get(key)).cloned();
        let name = |text: &str| text.to_uppercase().replace('-', "_");
        let name = format!("CARGO_PROFILE_{}_{}", name(profile), name(key));
        among(arguments).or_else(|| variable(&name).map(Value::String)).or_else(|| among(files))
    }
}

/// The profiles that cargo has without a manifest.
const BUILT_IN: [&str; 4] = ["dev", "release", "test", "bench"];

/// Returns the value of a key as TOML, a number as one even if it is written as a string.
fn toml_text(value: &Value) -> Option<String> {
    match value {
        Value::Boolean(value) => Some(value.to_string()),
        Value::Integer(value) => Some(value.to_string()),
        Value::String(text) if text.parse::<u32>().is_ok() || text.parse::<bool>().is_ok() => Some(text.clone()),
        Value::String(text) => Some(format!("\"{text}\"")),
        _ => None,
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
        fs_err::create_dir_all(dir.path().join("a/.cargo")).unwrap();
        fs_err::write(dir.path().join("a/.cargo/config"), "profile.dev.package.older.opt-level = 1\n").unwrap();
        fs_err::write(dir.path().join("a/.cargo/config.toml"), "profile.dev.package.unread.opt-level = 1\n").unwrap();
        fs_err::write(below.join("given.toml"), "[profile.dev.package.file]\n").unwrap();
        let given = ["given.toml".into(), "profile.dev.package.\"word@1\".debug=1".into(), "build.jobs=1".into()];
        let found = Profiles::read(dir.path(), &below, &given).named_packages();
        let ours = [OTHERS, "memchr", "x@1.0", "z", "older", "file", "word@1"];
        assert_eq!(ours.iter().find(|&&name| !found.contains(name)), None, "{found:?}");
        assert!(["y", "release", "unread"].iter().all(|&name| !found.contains(name)), "{found:?}");
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
            ("dist", "profile.slow.lto=false", Some("off"), true),
        ] {
            assert_eq!(has_lto(profile, given, variable), expected, "{profile} {given} {variable:?}");
        }
    }

    #[test]
    fn checks_follow_packages_precedence_and_inheritance() {
        let dir = tempfile::tempdir().unwrap();
        let manifest = "[profile.dev]\noverflow-checks = false\n[profile.dev.package.'*']\ndebug-assertions = false\n\
                        [profile.test.package.own]\ndebug-assertions = false\n\
                        [profile.dev.package.far]\ndebug-assertions = true\n\
                        [profile.slow]\ninherits = 'dev'\noverflow-checks = true\n\
                        [profile.fast]\ninherits = 'release'\n";
        fs_err::write(dir.path().join("Cargo.toml"), manifest).unwrap();
        let (own, far, other) = (("own", true), ("far", false), ("other", false));
        let [assertions, overflow] = CHECKS;
        for (profile, key, package, given, variable, expected) in [
            ("dev", assertions, own, "", None, true),
            ("test", assertions, own, "", None, false),
            ("dev", assertions, other, "", None, false),
            ("test", assertions, far, "", None, true),
            ("slow", assertions, other, "", None, false),
            ("dev", overflow, own, "", None, false),
            ("slow", overflow, own, "", None, true),
            ("release", assertions, own, "", None, false),
            ("fast", overflow, far, "", None, false),
            ("bench", overflow, far, "profile.release.overflow-checks=true", None, true),
            ("release", overflow, far, "profile.release.package.far.overflow-checks=true", None, true),
            ("dev", overflow, own, "", Some("true"), true),
            ("dev", overflow, own, "profile.dev.overflow-checks=false", Some("true"), false),
        ] {
            let profiles = Profiles::read(dir.path(), dir.path(), &[given.into()]);
            let variable =
                |name: &str| variable.filter(|_| name == "CARGO_PROFILE_DEV_OVERFLOW_CHECKS").map(str::to_owned);
            let found = profiles.key_of(profile, key, package, variable);
            assert_eq!(found, expected.to_string(), "{profile} {key} {package:?} {given}");
        }
    }

    #[test]
    fn a_check_that_a_profile_has_anyway_does_not_differ() {
        let dir = tempfile::tempdir().unwrap();
        fs_err::write(dir.path().join("Cargo.toml"), "[profile.dev.package.off]\noverflow-checks = false\n").unwrap();
        let profiles = Profiles::read(dir.path(), dir.path(), &[]);
        let [assertions, overflow] = CHECKS;
        for (profile, package, key, expected) in [
            ("release", "a", (assertions, "false"), false),
            ("dev", "a", (assertions, "false"), true),
            ("release", "a", (assertions, "true"), true),
            ("dev", "off", (overflow, "false"), false),
            ("release", "a", (OPT_LEVEL, "3"), false),
            ("dev", "a", (OPT_LEVEL, "3"), true),
            ("release", "a", ("codegen-units", "1"), true),
            ("release", "a", ("lto", "true"), true),
        ] {
            let found = profiles.may_differ(profile, key, (package, true), |_| None);
            assert_eq!(found, expected, "{profile} {package} {key:?}");
        }
    }

    #[test]
    fn all_keys_are_known_in_all_profiles() {
        let dir = tempfile::tempdir().unwrap();
        let manifest = "[profile.dev.package.'*']\nopt-level = 3\n[profile.small]\ninherits = 'release'\nopt-level = 's'\n\
                        codegen-units = 1\n[profile.quick]\ninherits = 'dev'\nopt-level = '1'\n";
        fs_err::write(dir.path().join("Cargo.toml"), manifest).unwrap();
        let profiles = Profiles::read(dir.path(), dir.path(), &[]);
        for (profile, package, expected) in [
            ("dev", ("own", true), "true true 0 16"),
            ("test", ("far", false), "true true 3 16"),
            ("release", ("own", true), "false false 3 16"),
            ("bench", ("own", true), "false false 3 16"),
            ("small", ("own", true), "false false \"s\" 1"),
            ("quick", ("own", true), "true true 1 16"),
        ] {
            let values = KEYS.map(|key| profiles.key_of(profile, key, package, |_| None));
            assert_eq!(values.join(" "), expected, "{profile} {package:?}");
        }
        let of_variable = |name: &str| (name == "CARGO_PROFILE_DEV_OPT_LEVEL").then(|| "2".to_owned());
        assert_eq!(profiles.key_of("test", OPT_LEVEL, ("own", true), of_variable), "2");
        assert_eq!(profiles.names().into_iter().collect::<Vec<_>>().join(" "), "bench dev quick release small test");
        assert!(profiles.has("small") && profiles.has("bench") && !profiles.has("fast"));
    }
}
