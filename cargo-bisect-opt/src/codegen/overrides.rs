//! Profiles as the user has written them: which packages they name already.
//!
//! Cargo refuses two names of one package in a profile. So where the user has named it, in whatever way, it is named in the
//! same way.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    path::{Path, PathBuf},
};

use toml::{Table, Value};

/// How a profile names all packages but those of the workspace.
pub const OTHERS: &str = "*";

/// The packages that any profile names, in a workspace whose root is `root`, for cargo as it works in `directory`, with
/// these values of `--config`.
pub fn named_packages(root: &Path, directory: &Path, given: &[OsString]) -> BTreeSet<String> {
    let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = std::env::home_dir().map(|home| home.join(".cargo"));
    let configs = directory.ancestors().map(|parent| parent.join(".cargo")).chain(cargo_home.or(home));
    let configs = configs.flat_map(|dir| [dir.join("config.toml"), dir.join("config")]);
    let files = [root.join("Cargo.toml")].into_iter().chain(configs);
    // What cargo cannot read it complains about itself.
    let read = |file: PathBuf| std::fs::read_to_string(file).ok();
    let given = given.iter().map(|given| read(directory.join(given)).unwrap_or_else(|| given.to_string_lossy().into()));
    let texts = files.filter_map(read).chain(given);
    texts.flat_map(|text| text.parse::<Table>().map(|table| in_profiles(&table)).unwrap_or_default()).collect()
}

fn in_profiles(table: &Table) -> Vec<String> {
    let profiles = table.get("profile").and_then(Value::as_table).into_iter().flat_map(|profiles| profiles.values());
    let packages = profiles.filter_map(|profile| profile.get("package")?.as_table());
    packages.flat_map(|packages| packages.keys().cloned()).collect()
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
        let found = named_packages(dir.path(), &below, &given);
        let ours = [OTHERS, "memchr", "x@1.0", "z", "file", "word@1"];
        assert_eq!(ours.iter().find(|&&name| !found.contains(name)), None, "{found:?}");
        assert!(found.iter().all(|name| name != "y" && name != "release"), "{found:?}");
    }
}
