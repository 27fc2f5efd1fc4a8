//! The packages that a build compiles for its target: their compiler options can be searched.
//!
//! Build scripts, procedural macros and dependencies of these alone run during compilation. They are not searched.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::{is_spec_of, profiles};
use bisect_core::{ChangeId, Field, protocol::names};
use cargo_metadata::{DependencyKind, Edition, Metadata, Package as MetadataPackage, PackageId, TargetKind};

/// A package whose compiler options can be searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    /// Its change.
    pub(crate) change: ChangeId,
    /// Cargo's ID.
    pub(crate) id: String,
    /// Its name.
    pub(crate) name: String,
    /// The name of its library in code, or of its first program.
    pub(crate) crate_name: String,
    /// Its version.
    pub(crate) version: String,
    /// Its name in a profile.
    pub(crate) spec: String,
    /// Set if a profile of the user names it, or all packages of its kind.
    pub(crate) is_named: bool,
    /// The root source file of its library, or of its first program.
    pub(crate) source: PathBuf,
    /// The directory of its manifest.
    pub(crate) directory: PathBuf,
    /// Set for members of the workspace.
    pub(crate) is_own: bool,
    /// Set for packages that are built themselves, not only as dependencies.
    pub(crate) is_root: bool,
    /// Its edition.
    pub(crate) edition: Edition,
    /// Its direct and indirect dependencies.
    pub(crate) needs: BTreeSet<ChangeId>,
}

impl Package {
    /// Returns the variable with its plan.
    pub(crate) fn variable(&self) -> String {
        names::of_package(names::CODEGEN_PACKAGE, &self.name, &self.version)
    }

    /// Returns the variable that `bisect-rustc` reads for it.
    pub(crate) fn bisect_rustc_variable(&self) -> String {
        names::of_package(names::RUSTC_PACKAGE, &self.name, &self.version)
    }

    /// Formats it as `name version`.
    pub(crate) fn describe(&self) -> String {
        format!("{} {}", self.name, self.version)
    }

    fn change(name: &str, version: &str) -> ChangeId {
        ChangeId::of(&["crate", name, version].map(Field::Str)).in_crate(Self::crate_id(name, version))
    }

    /// Returns the ID whose lowest bits all changes in this package share.
    pub(crate) fn crate_id(name: &str, version: &str) -> ChangeId {
        ChangeId::of(&[Field::Str(name), Field::Str(version)])
    }
}

/// Returns the packages of a build of `roots`, and with `tests` also the development dependencies of `roots`. `named`
/// are the packages that profiles of the user name. Each package follows its dependencies, and the packages of the
/// workspace are the last.
pub(crate) fn packages(
    metadata: &Metadata,
    roots: &[PackageId],
    tests: bool,
    named: &BTreeSet<String>,
) -> Vec<Package> {
    let by_id: BTreeMap<_, _> = metadata.packages.iter().map(|package| (&package.id, package)).collect();
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let nodes: BTreeMap<_, _> = nodes.map(|node| (&node.id, node)).collect();
    let is_tested = |id: &PackageId| tests && roots.contains(id);
    let dependencies = |id: &PackageId, is_tested: bool| {
        let counts = move |kind: DependencyKind| match kind {
            DependencyKind::Normal => true,
            DependencyKind::Development => is_tested,
            _ => false,
        };
        let all = nodes.get(id).into_iter().flat_map(|node| &node.deps);
        all.filter(move |dependency| dependency.dep_kinds.iter().any(|kind| counts(kind.kind))).map(|it| &it.pkg)
    };
    let reach = |mut open: Vec<_>, is_tested: &dyn Fn(&PackageId) -> bool| {
        let mut reached = BTreeSet::new();
        while let Some(id) = open.pop() {
            if by_id.get(id).is_some_and(|package| !is_proc_macro(package)) && reached.insert(id) {
                open.extend(dependencies(id, is_tested(id)));
            }
        }
        reached
    };
    let members: BTreeSet<_> = metadata.workspace_members.iter().collect();
    let change =
        |id: &PackageId| by_id.get(id).map(|package| Package::change(&package.name, &package.version.to_string()));
    let package = |id: &PackageId| {
        let (is_own, is_root) = (members.contains(id), roots.contains(id));
        let needs = reach(dependencies(id, is_tested(id)).collect(), &|_| false).into_iter().filter_map(change);
        let needs = needs.collect();
        Some(Package { is_own, is_root, needs, ..Package::of(by_id.get(id)?, is_own, metadata, named) })
    };
    in_order(reach(roots.iter().collect(), &is_tested).into_iter().filter_map(package).collect())
}

/// Sorts packages: each one follows its dependencies, at the smallest distance. If a build changes the options of the
/// first packages of this order, few others are compiled again: those that depend on one of them. Members of the
/// workspace are the last, unless others depend on them.
fn in_order(packages: Vec<Package>) -> Vec<Package> {
    /// Adds the indices of a package and of its dependencies that have none yet.
    fn add(packages: &[Package], index: usize, is_added: &mut [bool], order: &mut Vec<usize>) {
        if std::mem::replace(&mut is_added[index], true) {
            return;
        }
        let is_needed = |&other: &usize| packages[index].needs.contains(&packages[other].change);
        let mut needed: Vec<_> = (0..packages.len()).filter(is_needed).collect();
        needed.sort_by_key(|&other| Reverse(packages[other].needs.len()));
        for other in needed {
            add(packages, other, is_added, order);
        }
        order.push(index);
    }
    let mut roots: Vec<_> = (0..packages.len()).collect();
    roots.sort_by_key(|&index| (packages[index].is_own, Reverse(packages[index].needs.len())));
    let (mut is_added, mut order) = (vec![false; packages.len()], Vec::new());
    for index in roots {
        add(&packages, index, &mut is_added, &mut order);
    }
    let mut packages: Vec<_> = packages.into_iter().map(Some).collect();
    order.into_iter().filter_map(|index| packages[index].take()).collect()
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
        let source = package.targets.iter().find(|target| !target.is_custom_build());
        Self {
            change: Self::change(&name, &version),
            id: package.id.repr.clone(),
            spec: match by_user {
                Some(spec) => spec.clone(),
                None if is_unique => format!("{name}@{version}"),
                None => package.id.repr.clone(),
            },
            is_named: by_user.is_some() || !is_own && named.contains(profiles::OTHERS),
            crate_name: source.map_or(&name, |target| &target.name).replace('-', "_"),
            source: source.map_or_else(PathBuf::new, |target| target.src_path.clone().into()),
            directory: package
                .manifest_path
                .parent()
                .map_or_else(PathBuf::new, |directory| Path::new(directory).into()),
            is_own,
            is_root: false,
            needs: BTreeSet::new(),
            edition: package.edition,
            name,
            version,
        }
    }
}

#[cfg(test)]
mod tests {
    use cargo_metadata::MetadataCommand;

    use crate::cargo::profiles::Profiles;

    use super::*;

    /// `app` needs `lib` in three ways, a macro and a build script that need packages of their own, and two packages
    /// that share a name.
    fn workspace() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let package = |path: &str, name: &str, version: &str, more: &str| {
            let dir = dir.path().join(path);
            fs_err::create_dir_all(dir.join("src")).unwrap();
            fs_err::write(dir.join("src/lib.rs"), "").unwrap();
            let package = format!("package = {{ name = '{name}', version = '{version}', edition = '2024' }}\n");
            fs_err::write(dir.join("Cargo.toml"), package + more).unwrap();
        };
        let path = |name: &str| format!("{name} = {{ path = '../{name}' }}\n");
        let [lib, tool, tested, deep] = ["lib", "tool", "tested", "deep"].map(path);
        let twins = "twin = { path = '../twin' }\nother = { path = '../other', package = 'twin' }\n";
        let derive = "derive = { path = '../derive' }\n";
        let of_app = format!(
            "[dependencies]\n{lib}{derive}{twins}[build-dependencies]\n{tool}[dev-dependencies]\n{tested}\
             [target.'cfg(windows)'.dependencies]\nfar = {{ path = '../far' }}\n"
        );
        package("app", "app", "1.0.0", &of_app);
        package("lib", "lib", "0.1.0", &format!("[dependencies]\n{deep}[dev-dependencies]\n{tool}"));
        package("derive", "derive", "0.1.0", &format!("lib.proc-macro = true\n[dependencies]\n{tool}"));
        package("twin", "twin", "0.1.0", "");
        package("other", "twin", "0.2.0", "");
        for name in ["tool", "tested", "deep", "far"] {
            package(name, name, "0.1.0", "");
        }
        fs_err::write(
            dir.path().join("Cargo.toml"),
            "workspace = { members = ['app'], exclude = ['other'], resolver = '3' }\nprofile.release.package.deep.debug = 1\n",
        )
        .unwrap();
        dir
    }

    fn graph(dir: &Path, tests: bool) -> Vec<Package> {
        let mut command = MetadataCommand::new();
        let options = ["--offline", "--filter-platform", "x86_64-unknown-linux-gnu"].map(str::to_owned);
        let metadata = command.current_dir(dir).other_options(options.to_vec()).exec().unwrap();
        let root = metadata.packages.iter().find(|package| package.name.as_str() == "app").unwrap().id.clone();
        let mut packages = packages(&metadata, &[root], tests, &Profiles::read(dir, dir, &[]).named_packages());
        packages.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
        packages
    }

    #[test]
    fn packages_that_run_during_compilation_are_left_out() {
        let dir = workspace();
        let names = |tests| graph(dir.path(), tests).into_iter().map(|package| package.name).collect::<Vec<_>>();
        assert_eq!(names(false), ["app", "deep", "lib", "twin", "twin"]);
        assert_eq!(
            names(true),
            ["app", "deep", "lib", "tested", "twin", "twin"],
            "tests of others need more, but are not built"
        );
    }

    #[test]
    fn all_dependencies_of_a_package_are_known() {
        let dir = workspace();
        let packages = graph(dir.path(), true);
        let needs = |name: &str| {
            let package = packages.iter().find(|package| package.name == name).unwrap();
            let needed = packages.iter().filter(|other| package.needs.contains(&other.change));
            needed.map(|package| package.name.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(needs("app"), ["deep", "lib", "tested", "twin", "twin"]);
        assert_eq!(needs("lib"), ["deep"]);
        assert_eq!(needs("deep"), [""; 0]);
    }

    #[test]
    fn packages_follow_their_dependencies_and_own_ones_are_last() {
        let package = |name: &str, is_own, needs: &[&str]| {
            let needs = needs.iter().map(|name| Package::change(name, "1.0.0")).collect();
            let change = Package::change(name, "1.0.0");
            Package { change, name: name.to_owned(), is_own, needs, ..graph(workspace().path(), false).remove(0) }
        };
        let packages = vec![
            package("app", true, &["lib", "json", "text", "bytes", "time"]),
            package("bytes", false, &[]),
            package("json", false, &["text", "bytes"]),
            package("lib", true, &["bytes"]),
            package("plugin", false, &["lib", "bytes"]),
            package("text", false, &["bytes"]),
            package("time", false, &[]),
        ];
        let names: Vec<_> = in_order(packages).into_iter().map(|package| package.name).collect();
        assert_eq!(names, ["bytes", "text", "json", "lib", "plugin", "time", "app"]);
    }

    #[test]
    fn specifications_are_unique() {
        let dir = workspace();
        let packages = graph(dir.path(), false);
        let spec = |at: usize| packages[at].spec.as_str();
        assert_eq!([spec(0), spec(1), spec(2)], ["app@1.0.0", "deep", "lib@0.1.0"], "as the user has named it");
        assert_eq!([spec(3), spec(4)], ["twin@0.2.0", "twin@0.1.0"]);
        assert_ne!(packages[3].change, packages[4].change);
        let named: Vec<_> = packages.iter().map(|package| package.is_named).collect();
        assert_eq!(named, [false, true, false, false, false]);
        let app = &packages[0];
        assert!(app.is_own && app.source.ends_with("app/src/lib.rs") && app.directory.ends_with("app"), "{app:?}");
        assert_eq!(app.change.in_crate(Package::crate_id("app", "1.0.0")), app.change);
    }
}
