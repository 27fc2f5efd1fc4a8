//! The tables of the driver in manifests: `[package.metadata.bisect-opt]` and `[workspace.metadata.bisect-opt]`.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use cargo_metadata::Package;
use serde_json::Value;

use super::{Arguments, CargoError, Subcommand, is_spec_of, workspace};

/// The key of a table below `metadata`.
const KEY: &str = "bisect-opt";
/// The name of a manifest.
const MANIFEST: &str = "Cargo.toml";

/// A table of the driver in a manifest.
#[derive(Clone, Debug)]
pub(crate) struct DriverTable {
    /// The manifest.
    pub(crate) manifest: PathBuf,
    /// The name of the table in it.
    pub(crate) name: String,
    /// The content.
    pub(crate) content: Value,
}

/// Returns the tables for a command line: that of the selected package, if it is a single one, and that of the
/// workspace. `cargo` has the words for cargo; without them, the command builds nothing with cargo.
///
/// # Errors
/// Cargo's message, if cargo cannot read the manifests. A command that builds reports it by itself, so it gets none.
pub(crate) fn driver_tables(
    start: &Path,
    cargo: Option<(Subcommand, &[OsString])>,
) -> Result<Vec<DriverTable>, CargoError> {
    match cargo {
        Some((subcommand, words)) => Ok(load(start, &Arguments::parse(subcommand, words)).unwrap_or_default()),
        // Such a command needs cargo for nothing else, so it has to work where there is none.
        None if !is_named_above(start) => Ok(Vec::new()),
        None => load(start, &Arguments::default()),
    }
}

/// Returns true if a manifest in this directory or above may have a table.
fn is_named_above(start: &Path) -> bool {
    let manifests = start.ancestors().map(|directory| directory.join(MANIFEST));
    manifests.into_iter().any(|file| std::fs::read_to_string(file).is_ok_and(|text| text.contains(KEY)))
}

fn load(start: &Path, arguments: &Arguments) -> Result<Vec<DriverTable>, CargoError> {
    let directory = arguments.directory_in(start);
    let metadata = workspace::members(&directory, arguments)?;
    let manifest_dir = match arguments.manifest_path.as_deref().map(Path::new) {
        Some(path) => directory.join(path).parent().map_or(directory.clone(), Path::to_owned),
        None => directory,
    };
    let packages = metadata.workspace_packages();
    let of_package = selected(&packages, arguments, &manifest_dir)
        .and_then(|package| table("package", package.manifest_path.as_std_path().to_owned(), &package.metadata));
    let of_workspace =
        table("workspace", metadata.workspace_root.join(MANIFEST).into_std_path_buf(), &metadata.workspace_metadata);
    Ok(of_package.into_iter().chain(of_workspace).collect())
}

/// Returns the only package that the arguments select.
fn selected<'a>(packages: &[&'a Package], arguments: &Arguments, manifest_dir: &Path) -> Option<&'a Package> {
    if arguments.all_members {
        return None;
    }
    if arguments.packages.is_empty() {
        let manifest_dir = &manifest_dir.canonicalize().ok()?;
        let directory = |package: &Package| package.manifest_path.parent()?.canonicalize().ok();
        let above = packages.iter().filter_map(|package| Some((directory(package)?, *package)));
        let above = above.filter(|(directory, _)| manifest_dir.starts_with(directory));
        return above.max_by_key(|(directory, _)| directory.components().count()).map(|(_, package)| package);
    }
    let is_selected =
        |package: &&&Package| arguments.packages.iter().any(|spec| is_spec_of(&spec.to_string_lossy(), package));
    let mut selected = packages.iter().filter(is_selected);
    selected.next().filter(|_| selected.next().is_none()).copied()
}

fn table(of: &str, manifest: PathBuf, metadata: &Value) -> Option<DriverTable> {
    let content = metadata.get(KEY)?.clone();
    Some(DriverTable { manifest, name: format!("{of}.metadata.{KEY}"), content })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names and contents of the tables for a command line in a directory.
    fn tables(directory: &Path, line: &str) -> Vec<String> {
        let words: Vec<_> = line.split_whitespace().map(OsString::from).collect();
        let tables = driver_tables(directory, Some((Subcommand::Test, &words))).unwrap();
        tables.iter().map(|table| format!("{} {}", table.name, table.content)).collect()
    }

    #[test]
    fn the_package_of_a_directory_is_the_one_that_cargo_takes() {
        let dir = tempfile::tempdir().unwrap();
        let package = |path: &str, more: &str| {
            let place = dir.path().join(path);
            fs_err::create_dir_all(place.join("src/deep")).unwrap();
            fs_err::write(place.join("src/lib.rs"), "").unwrap();
            let name = if path.is_empty() { "root" } else { path };
            let table = format!("[package.metadata.bisect-opt]\nout = '{name}'\n");
            let text = format!("[package]\nname = '{name}'\nversion = '1.2.3'\nedition = '2024'\n{table}{more}");
            fs_err::write(place.join("Cargo.toml"), text).unwrap();
        };
        package("", "[workspace]\nmembers = ['one']\n[workspace.metadata.bisect-opt]\njobs = 2\n");
        package("one", "");
        let of = |name: &str| format!("package.metadata.bisect-opt {{\"out\":\"{name}\"}}");
        let workspace = "workspace.metadata.bisect-opt {\"jobs\":2}".to_owned();
        for (place, line, package) in [
            ("", "", Some("root")),
            ("src/deep", "", Some("root")),
            ("one", "", Some("one")),
            ("one/src/deep", "sort", Some("one")),
            ("", "-p one", Some("one")),
            ("", "-C one", Some("one")),
            ("one", "--package=root@1.2", Some("root")),
            ("", "-p one -p root", None),
            ("one", "--workspace", None),
        ] {
            let expected: Vec<_> = package.map(of).into_iter().chain([workspace.clone()]).collect();
            assert_eq!(tables(&dir.path().join(place), line), expected, "{place} {line}");
        }
        let names = driver_tables(&dir.path().join("one"), None).unwrap();
        let manifests: Vec<_> = names.into_iter().map(|table| table.manifest).collect();
        let root = dir.path().canonicalize().unwrap();
        assert_eq!(manifests, [root.join("one/Cargo.toml"), root.join("Cargo.toml")]);
    }

    #[test]
    fn without_a_manifest_there_are_no_tables() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(tables(dir.path(), ""), [""; 0]);
        assert!(driver_tables(dir.path(), None).unwrap().is_empty());
        // Cargo is not asked, so an error of cargo does not matter.
        fs_err::write(dir.path().join("Cargo.toml"), "=").unwrap();
        assert!(driver_tables(dir.path(), None).unwrap().is_empty());
        fs_err::write(dir.path().join("Cargo.toml"), "bisect-opt =").unwrap();
        let error = driver_tables(dir.path(), None).unwrap_err().to_string();
        assert!(error.contains("Cargo.toml"), "{error}");
    }
}
