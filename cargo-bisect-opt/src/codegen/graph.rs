//! The packages that a build compiles for its target: those whose options can be searched.
//!
//! Build scripts, procedural macros and what only they depend on run while compiling and are left as they are.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::{Path, PathBuf},
};

use super::overrides;
use crate::cargo::is_spec_of;
use bisect_core::{ChangeId, Field};
use cargo_metadata::{DependencyKind, Metadata, Package as MetadataPackage, PackageId, TargetKind};

/// A package whose crates can be compiled in two ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The change that it is.
    pub change: ChangeId,
    /// Cargo's ID.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// How it is named in a profile.
    pub spec: String,
    /// Whether a profile of the user's names it, or all like it.
    pub is_named: bool,
    /// Where its library begins, or its first program.
    pub source: PathBuf,
    /// The directory of its manifest.
    pub directory: PathBuf,
    /// Whether it is the workspace's own.
    pub is_own: bool,
}

impl Package {
    /// `name version`
    pub fn describe(&self) -> String {
        format!("{} {}", self.name, self.version)
    }

    /// The lowest bits of all changes in this package.
    pub fn crate_id(name: &str, version: &str) -> ChangeId {
        ChangeId::of(&[Field::Str(name), Field::Str(version)])
    }
}

/// The packages that `metadata` has of a build of `roots`, with what their tests need if they are tested; for cargo as it
/// works in `directory` with these values of `--config`.
pub fn packages(
    metadata: &Metadata,
    roots: &[PackageId],
    tests: bool,
    directory: &Path,
    given: &[OsString],
) -> Vec<Package> {
    let named = overrides::named_packages(metadata.workspace_root.as_std_path(), directory, given);
    let by_id: BTreeMap<_, _> = metadata.packages.iter().map(|package| (&package.id, package)).collect();
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let nodes: BTreeMap<_, _> = nodes.map(|node| (&node.id, node)).collect();
    let mut reached: BTreeSet<&PackageId> = BTreeSet::new();
    let mut open: Vec<&PackageId> = roots.iter().collect();
    while let Some(id) = open.pop() {
        if by_id.get(id).is_none_or(|package| is_proc_macro(package)) || !reached.insert(id) {
            continue;
        }
        let is_root = roots.contains(id);
        for dependency in nodes.get(id).iter().flat_map(|node| &node.deps) {
            let counts = |kind: DependencyKind| match kind {
                DependencyKind::Normal => true,
                DependencyKind::Development => tests && is_root,
                _ => false,
            };
            if dependency.dep_kinds.iter().any(|kind| counts(kind.kind)) {
                open.push(&dependency.pkg);
            }
        }
    }
    let members: BTreeSet<_> = metadata.workspace_members.iter().collect();
    let all = reached.iter().filter_map(|id| by_id.get(id));
    all.map(|package| Package::of(package, members.contains(&package.id), metadata, &named)).collect()
}

fn is_proc_macro(package: &MetadataPackage) -> bool {
    package.targets.iter().any(|target| target.kind.contains(&TargetKind::ProcMacro))
}

impl Package {
    fn of(package: &MetadataPackage, is_own: bool, metadata: &Metadata, named: &BTreeSet<String>) -> Self {
        let (name, version) = (package.name.to_string(), package.version.to_string());
        let same = |other: &&MetadataPackage| other.name == package.name && other.version == package.version;
        let is_unique = metadata.packages.iter().filter(same).count() == 1;
        let by_user = named.iter().find(|spec| is_spec_of(spec, package));
        let fields = ["crate", &name, &version].map(Field::Str);
        let source = package.targets.iter().find(|target| !target.is_custom_build());
        Self {
            change: ChangeId::of(&fields).in_crate(Self::crate_id(&name, &version)),
            id: package.id.repr.clone(),
            spec: match by_user {
                Some(spec) => spec.clone(),
                None if is_unique => format!("{name}@{version}"),
                None => package.id.repr.clone(),
            },
            is_named: by_user.is_some() || !is_own && named.contains(overrides::OTHERS),
            source: source.map_or_else(PathBuf::new, |target| target.src_path.clone().into()),
            directory: package
                .manifest_path
                .parent()
                .map_or_else(PathBuf::new, |directory| Path::new(directory).into()),
            is_own,
            name,
            version,
        }
    }
}
