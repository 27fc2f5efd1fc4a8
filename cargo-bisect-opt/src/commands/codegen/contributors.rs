//! Packages whose code may be compiled in a culprit: its own, those that define its functions, and their dependencies.

use std::collections::BTreeSet;

use super::unsafe_code;
use crate::{axes::compilation::Compilation, cargo::graph::Package, units};

/// The maximum number of packages that are named.
const MAX_NAMES: usize = 3;

/// The packages whose code may be compiled in a culprit.
#[derive(Debug, Default)]
pub(super) struct Contributors<'a> {
    /// The packages of the culprit, and those that define its functions.
    pub(super) own: Vec<&'a Package>,
    /// The dependencies of these: generic and inlined functions are compiled where they are used.
    pub(super) dependencies: Vec<&'a Package>,
}

impl<'a> Contributors<'a> {
    /// Returns these packages and their dependencies. Adds to the former the packages of the `crates` that the names of
    /// the culprit's functions contain.
    pub(super) fn of(compilation: &'a Compilation, packages: Vec<&'a Package>, crates: &BTreeSet<String>) -> Self {
        Self::among(&compilation.packages, packages, crates)
    }

    fn among(all: &'a [Package], packages: Vec<&'a Package>, crates: &BTreeSet<String>) -> Self {
        let mut own = packages;
        for package in dependencies(all, &own) {
            if crates.contains(&package.crate_name) {
                own.push(package);
            }
        }
        let dependencies = dependencies(all, &own);
        Self { own, dependencies }
    }

    /// Returns those of the culprit's own packages that have unsafe code.
    pub(super) fn with_unsafe_code(&self) -> Vec<&'a Package> {
        with_unsafe_code(&self.own)
    }

    /// Returns those of the dependencies that have unsafe code.
    pub(super) fn dependencies_with_unsafe_code(&self) -> Vec<&'a Package> {
        with_unsafe_code(&self.dependencies)
    }
}

fn with_unsafe_code<'a>(packages: &[&'a Package]) -> Vec<&'a Package> {
    packages.iter().copied().filter(|package| unsafe_code::is_in_package(package)).collect()
}

/// Returns the direct and indirect dependencies of packages, without the packages.
fn dependencies<'a>(all: &'a [Package], of: &[&'a Package]) -> Vec<&'a Package> {
    let is_needed = |package: &&Package| of.iter().any(|other| other.needs.contains(&package.change));
    all.iter().filter(|package| !of.contains(package)).filter(is_needed).collect()
}

/// Formats the names of packages for people: the first ones, and the number of the others.
pub(super) fn first_names(packages: &[&Package]) -> String {
    let named = packages.iter().take(MAX_NAMES).map(|package| package.name.clone());
    let left = packages.len().saturating_sub(MAX_NAMES);
    units::listed(named.chain((left > 0).then(|| format!("{left} more"))))
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::Path;

    use cargo_metadata::Edition;

    use super::*;

    /// Writes the source of a package, which needs others, and returns the package.
    pub(in super::super) fn package(directory: &Path, name: &str, source: &str, needs: &[&Package]) -> Package {
        let directory = directory.join(name);
        fs_err::create_dir_all(directory.join("src")).unwrap();
        fs_err::write(directory.join("Cargo.toml"), "").unwrap();
        fs_err::write(directory.join("src/lib.rs"), source).unwrap();
        let indirect = needs.iter().flat_map(|package| package.needs.iter().copied());
        Package {
            change: Package::crate_id(name, "0.1.0"),
            id: name.to_owned(),
            name: name.to_owned(),
            crate_name: name.replace('-', "_"),
            version: "0.1.0".to_owned(),
            spec: name.to_owned(),
            is_named: false,
            source: directory.join("src/lib.rs"),
            directory,
            is_own: false,
            is_root: false,
            edition: Edition::E2024,
            needs: needs.iter().map(|package| package.change).chain(indirect).collect(),
        }
    }

    #[test]
    fn a_generic_function_is_looked_for_where_it_is_defined() {
        let dir = tempfile::tempdir().unwrap();
        let deep = package(dir.path(), "deep", "fn f() { unsafe {} }", &[]);
        let promise = package(dir.path(), "poll-promise", "fn f() { unsafe {} }", &[&deep]);
        let launcher = package(dir.path(), "launcher", "fn main() {}", &[&promise]);
        let other = package(dir.path(), "other", "fn f() { unsafe {} }", &[]);
        let all = [deep, promise, launcher, other];
        let names = |packages: Vec<&Package>| packages.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(" ");
        for (crates, own, with_unsafe_code, beside) in [
            (&["poll_promise", "core"] as &[&str], "launcher poll-promise", "poll-promise", "deep"),
            (&["launcher"], "launcher", "", "deep poll-promise"),
            (&["other"], "launcher", "", "deep poll-promise"),
        ] {
            let crates = crates.iter().map(|&name| name.to_owned()).collect();
            let found = Contributors::among(&all, vec![&all[2]], &crates);
            assert_eq!(names(found.with_unsafe_code()), with_unsafe_code, "{crates:?}");
            assert_eq!(names(found.dependencies_with_unsafe_code()), beside, "{crates:?}");
            assert_eq!(names(found.own), own, "{crates:?}");
        }
    }

    #[test]
    fn only_what_is_compiled_in_the_target_counts() {
        let dir = tempfile::tempdir().unwrap();
        let mut package = package(dir.path(), "a", "#![forbid(unsafe_code)]", &[]);
        fs_err::create_dir(package.directory.join("tests")).unwrap();
        fs_err::write(package.directory.join("tests/a.rs"), "fn f() { unsafe {} }").unwrap();
        assert!(!unsafe_code::is_in_package(&package), "the tests of a dependency are not compiled");
        package.is_root = true;
        assert!(unsafe_code::is_in_package(&package));
    }

    #[test]
    fn few_of_many_packages_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let all = ["a", "b", "c", "d", "e"].map(|name| package(dir.path(), name, "", &[]));
        let all: Vec<_> = all.iter().collect();
        assert_eq!(first_names(&all), "a, b, c and 2 more");
        assert_eq!(first_names(&all[..2]), "a and b");
    }
}
