//! Lock files as graphs: packages, and the packages that each one depends on.

use std::collections::BTreeMap;

use cargo_lock::{Dependency, Lockfile, Package, Version};

use super::KnownVersion;

/// The newest format that this release reads.
const NEWEST_FORMAT: i64 = 4;

/// An error in a lock file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockFileError {
    /// Its format has a version that this release does not know.
    #[error(
        "it has format version {0}, and this release of cargo-bisect-opt reads versions 1 to {NEWEST_FORMAT}\n\
         help: use a newer release, or write the lock file with a cargo that uses one of these versions"
    )]
    UnknownFormat(i64),
    /// It has conflict markers.
    #[error("it has conflict markers\nhelp: resolve the conflict first")]
    Conflict,
    /// It is invalid in another way.
    #[error("it is damaged, or no lock file of cargo: {0}")]
    Invalid(String),
}

impl LockFileError {
    /// Explains an error of the parser.
    fn new(error: &cargo_lock::Error, text: &str) -> Self {
        let format = text.parse::<toml::Table>().ok().and_then(|table| table.get("version")?.as_integer());
        match format.filter(|format| !(1..=NEWEST_FORMAT).contains(format)) {
            Some(format) => Self::UnknownFormat(format),
            None if text.lines().any(|line| line.starts_with("<<<<<<< ")) => Self::Conflict,
            None => {
                let message = error.to_string();
                Self::Invalid(message.strip_prefix("parse error: ").unwrap_or(&message).trim_end().to_owned())
            }
        }
    }
}

/// A lock file with its edges as indices of packages.
#[derive(Clone, Debug)]
pub(super) struct LockGraph {
    file: Lockfile,
    edges: Vec<Vec<usize>>,
}

/// The versions of a package that cannot be in one build side by side: those that are compatible with each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VersionLine {
    /// The name of the package.
    pub(super) name: String,
    /// Its source without the commit; empty for a path.
    source: String,
    /// The first version that is compatible.
    first: (u64, u64, u64),
}

impl VersionLine {
    /// Returns the line of a package.
    pub(super) fn of(package: &Package) -> Self {
        let Version { major, minor, patch, .. } = package.version;
        let first = match (major, minor) {
            (0, 0) => (0, 0, patch),
            (0, _) => (0, minor, 0),
            _ => (major, 0, 0),
        };
        let source = package.source.as_ref().map_or_else(String::new, ToString::to_string);
        let source = source.split('#').next().unwrap_or_default().to_owned();
        Self { name: package.name.to_string(), source, first }
    }
}

impl LockGraph {
    /// Parses a lock file.
    ///
    /// # Errors
    /// If it is invalid.
    pub(super) fn parse(text: &str) -> Result<Self, LockFileError> {
        let file: Lockfile = text.parse().map_err(|error| LockFileError::new(&error, text))?;
        let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, package) in file.packages.iter().enumerate() {
            by_name.entry(package.name.as_str()).or_default().push(index);
        }
        let find = |dependency: &Dependency| {
            let named = by_name.get(dependency.name.as_str())?;
            named.iter().copied().find(|&index| dependency.matches(&file.packages[index])).or_else(|| {
                // The source is left out where the version alone is unique.
                let has_version = |&index: &usize| file.packages[index].version == dependency.version;
                named.iter().copied().find(has_version)
            })
        };
        let edges = file.packages.iter().map(|package| package.dependencies.iter().filter_map(find).collect());
        let edges = edges.collect();
        Ok(Self { file, edges })
    }

    /// Returns all packages.
    pub(super) fn packages(&self) -> &[Package] {
        &self.file.packages
    }

    /// Returns the dependencies of a package.
    pub(super) fn dependencies(&self, index: usize) -> &[usize] {
        &self.edges[index]
    }

    /// Returns the packages that depend on a package.
    pub(super) fn dependents(&self, index: usize) -> impl Iterator<Item = usize> {
        let depends = move |edges: &Vec<usize>| edges.contains(&index);
        self.edges.iter().enumerate().filter(move |(_, edges)| depends(edges)).map(|(dependent, _)| dependent)
    }

    /// Returns the packages that are not in another lock file.
    pub(super) fn packages_not_in(&self, other: &Self) -> impl Iterator<Item = &Package> {
        let is_in = |package: &Package| {
            other.packages().iter().any(|it| (&it.name, &it.version) == (&package.name, &package.version))
        };
        self.packages().iter().filter(move |package| !is_in(package))
    }

    /// Returns all packages in an order in which dependencies precede dependents, unless they depend on each other.
    pub(super) fn in_order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.edges.len());
        let mut is_seen = vec![false; self.edges.len()];
        for root in 0..self.edges.len() {
            let mut stack = vec![(root, false)];
            while let Some((index, is_done)) = stack.pop() {
                if is_done {
                    order.push(index);
                } else if !std::mem::replace(&mut is_seen[index], true) {
                    stack.push((index, true));
                    stack.extend(self.edges[index].iter().filter(|&&next| !is_seen[next]).map(|&next| (next, false)));
                }
            }
        }
        order
    }

    /// Formats this lock file with another version of a package; `None`, if it does not have the package.
    pub(super) fn with_version(&self, name: &str, version: &Version, instead: &KnownVersion) -> Option<String> {
        let is_searched = |package: &Package| package.name.as_str() == name && package.version == *version;
        let index = self.packages().iter().position(is_searched)?;
        let mut packages: Vec<_> = self.packages().iter().cloned().zip(self.edges.iter().cloned()).collect();
        packages[index].0.version = instead.version.clone();
        packages[index].0.checksum = instead.checksum.as_ref().and_then(|checksum| checksum.parse().ok());
        Some(self.with_packages(&packages))
    }

    /// Formats a lock file with other packages. Each comes with indices of its dependencies among them.
    pub(super) fn with_packages(&self, packages: &[(Package, Vec<usize>)]) -> String {
        let dependency = |&index: &usize| Dependency::from(&packages[index].0);
        let linked = packages.iter().map(|(package, edges)| Package {
            dependencies: edges.iter().map(dependency).collect(),
            ..package.clone()
        });
        let mut linked: Vec<_> = linked.collect();
        linked.sort();
        Lockfile { packages: linked, ..self.file.clone() }.to_string()
    }
}

/// Formats the name and the version of a package.
pub(super) fn describe(package: &Package) -> String {
    format!("{} {}", package.name, version_of(package))
}

/// Formats the version of a package, for one from git with its commit.
pub(super) fn version_of(package: &Package) -> String {
    let commit = package.source.as_ref().filter(|source| source.is_git()).and_then(|source| source.precise());
    match commit {
        Some(commit) => format!("{} ({})", package.version, &commit[..commit.len().min(8)]),
        None => package.version.to_string(),
    }
}
