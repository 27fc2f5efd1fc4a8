//! A resolution by cargo: the versions that it selects for a lock file, and the requirements of all packages.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use cargo_metadata::{
    Metadata, Package,
    semver::{Version, VersionReq},
};

use super::{CargoError, Project, lock_file::LockGraph, workspace};

/// The lock file that cargo completed, with the requirements of its packages.
#[derive(Debug)]
pub(super) struct Resolution {
    /// The lock file.
    pub(super) graph: LockGraph,
    /// Its text.
    pub(super) text: String,
    /// The requirements.
    pub(super) requirements: Requirements,
    /// The directories with the sources of packages from registries.
    pub(super) sources: BTreeMap<VersionKey, PathBuf>,
}

impl Resolution {
    /// Has cargo complete the lock file of a workspace without network. `directory` corresponds to the user's working
    /// directory, and `root` is that of the workspace. Cargo may write to `target`.
    ///
    /// # Errors
    /// If cargo refuses the lock file, or lacks a package.
    pub(super) fn of(project: &Project, directory: &Path, root: &Path, target: &Path) -> Result<Self, CargoError> {
        let Project { config, arguments, .. } = project;
        let metadata = workspace::resolve(&config.moved_to(arguments.directory_in(directory)), arguments, target)?;
        let text = fs_err::read_to_string(root.join("Cargo.lock"))?;
        let graph = LockGraph::parse(&text).map_err(|error| CargoError::Workspace(error.to_string()))?;
        let is_of_registry =
            |package: &&Package| package.source.as_ref().is_some_and(|source| !source.repr.starts_with("git+"));
        let source = |package: &Package| {
            let directory = package.manifest_path.parent()?;
            Some(((package.name.to_string(), package.version.clone()), directory.into()))
        };
        let sources = metadata.packages.iter().filter(is_of_registry).filter_map(source).collect();
        Ok(Self { graph, text, requirements: Requirements::of(&metadata), sources })
    }
}

/// A package version: its name and its version. A path and a registry may have the same one; then both count.
pub(super) type VersionKey = (String, Version);

/// A dependency that a package declares.
#[derive(Clone, Debug)]
struct Declared {
    name: String,
    requirement: VersionReq,
    features: Vec<String>,
}

/// The dependencies and features of packages.
#[derive(Clone, Debug, Default)]
pub(super) struct Requirements {
    declared: BTreeMap<VersionKey, Vec<Declared>>,
    features: BTreeMap<VersionKey, BTreeSet<String>>,
    /// The native libraries that packages link. A build has at most one package for each.
    libraries: BTreeMap<VersionKey, String>,
}

impl Requirements {
    fn of(metadata: &Metadata) -> Self {
        let mut requirements = Self::default();
        for package in &metadata.packages {
            let key = (package.name.to_string(), package.version.clone());
            let declared = package.dependencies.iter().map(|dependency| Declared {
                name: dependency.name.clone(),
                requirement: dependency.req.clone(),
                features: dependency.features.clone(),
            });
            requirements.declared.entry(key.clone()).or_default().extend(declared);
            requirements.libraries.extend(package.links.iter().map(|library| (key.clone(), library.clone())));
            requirements.features.entry(key).or_default().extend(package.features.keys().cloned());
        }
        requirements
    }

    /// Adds those of other packages.
    pub(super) fn extend(&mut self, other: Self) {
        self.declared.extend(other.declared);
        self.features.extend(other.features);
        self.libraries.extend(other.libraries);
    }

    /// Returns the native library that a package links.
    pub(super) fn library(&self, package: &cargo_lock::Package) -> Option<&str> {
        self.libraries.get(&key(package)).map(String::as_str)
    }

    /// Returns true if a package that has one version of a dependency may have another one instead.
    pub(super) fn accepts(
        &self,
        dependent: &cargo_lock::Package,
        has: &cargo_lock::Package,
        instead: &cargo_lock::Package,
    ) -> bool {
        let Some(declared) = self.declared.get(&key(dependent)) else { return true };
        let of_name = || declared.iter().filter(|declared| declared.name == has.name.as_str());
        of_name().filter(|declared| self.fits(declared, has)).all(|declared| self.fits(declared, instead))
    }

    fn fits(&self, declared: &Declared, package: &cargo_lock::Package) -> bool {
        // A feature may be `dep/feature`, and which packages are known may differ: only known ones are compared.
        let known = self.features.get(&key(package));
        let has_feature = |feature: &String| known.is_none_or(|known| known.contains(feature));
        declared.requirement.matches(&package.version) && declared.features.iter().all(has_feature)
    }
}

fn key(package: &cargo_lock::Package) -> VersionKey {
    (package.name.to_string(), package.version.clone())
}
