//! The updates between two lock files, and lock files with some of them.

use std::collections::{BTreeMap, BTreeSet};

use cargo_lock::{Package, Version};

use super::{
    KnownVersion,
    lock_file::{LockGraph, VersionLine, version_of},
    resolution::Requirements,
};

/// A package that has another version in the new lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LockUpdate {
    /// Its name.
    pub(crate) name: String,
    /// The old version.
    pub(crate) old: String,
    /// The new version.
    pub(crate) new: String,
    /// The packages that depend on it in the new lock file, each with its version.
    pub(crate) required_by: Vec<String>,
    /// Both versions as numbers.
    pub(super) versions: (Version, Version),
    lines: (VersionLine, VersionLine),
}

impl std::fmt::Display for LockUpdate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} -> {}", self.name, self.old, self.new)
    }
}

impl LockUpdate {
    /// Returns true if the same requirements allow both versions.
    pub(crate) fn is_compatible(&self) -> bool {
        self.lines.0 == self.lines.1
    }

    /// Returns the old version and the new one.
    pub(crate) fn ends(&self) -> (KnownVersion, KnownVersion) {
        (KnownVersion::here(self.versions.0.clone()), KnownVersion::here(self.versions.1.clone()))
    }
}

/// Two lock files of one workspace.
///
/// An update is a package with another compatible version. Packages that are only in one of the lock files belong to
/// those that require them, with one exception: if a package that did not change moves from one incompatible version of
/// a dependency to another one, that is an update, too.
#[derive(Debug)]
pub(super) struct LockPair {
    old: LockGraph,
    new: LockGraph,
    requirements: Requirements,
    old_lines: BTreeMap<VersionLine, usize>,
    new_lines: BTreeMap<VersionLine, usize>,
    updates: Vec<LockUpdate>,
}

/// A package of one of both lock files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    Old(usize),
    New(usize),
}

impl LockPair {
    /// Compares two lock files. The requirements are those of all packages in both.
    pub(super) fn new(old: LockGraph, new: LockGraph, requirements: Requirements) -> Self {
        let lines = |graph: &LockGraph| -> BTreeMap<VersionLine, usize> {
            graph.packages().iter().enumerate().map(|(index, package)| (VersionLine::of(package), index)).collect()
        };
        let (old_lines, new_lines) = (lines(&old), lines(&new));
        let mut pair = Self { old, new, requirements, old_lines, new_lines, updates: Vec::new() };
        pair.updates = pair.find_updates();
        pair
    }

    /// Returns the updates: a package follows its dependencies.
    pub(super) fn updates(&self) -> &[LockUpdate] {
        &self.updates
    }

    fn find_updates(&self) -> Vec<LockUpdate> {
        let mut updates = Vec::new();
        for new in self.new.in_order() {
            let package = &self.new.packages()[new];
            let line = VersionLine::of(package);
            if let Some(&old) = self.old_lines.get(&line) {
                if !is_same(&self.old.packages()[old], package) {
                    updates.push(self.update(old, new));
                    continue;
                }
                updates.extend(self.moves(old, new).map(|(old, new)| self.update(old, new)));
            }
        }
        let mut seen = BTreeSet::new();
        updates.retain(|update| seen.insert(update.lines.clone()));
        updates
    }

    /// Returns the dependencies of an unchanged package that moved to an incompatible version: the old package and the
    /// new one.
    fn moves(&self, old: usize, new: usize) -> impl Iterator<Item = (usize, usize)> {
        let old_edges = self.old.dependencies(old);
        self.new.dependencies(new).iter().filter_map(move |&after| {
            let package = &self.new.packages()[after];
            let line = VersionLine::of(package);
            let line_of = |old: usize| VersionLine::of(&self.old.packages()[old]);
            let has_line = old_edges.iter().any(|&before| line_of(before) == line);
            let lines: Vec<_> =
                self.new.dependencies(new).iter().map(|&it| VersionLine::of(&self.new.packages()[it])).collect();
            let is_gone = |&before: &usize| line_of(before).name == line.name && !lines.contains(&line_of(before));
            let before = (!has_line).then(|| old_edges.iter().copied().find(is_gone)).flatten()?;
            Some((before, after))
        })
    }

    fn update(&self, old: usize, new: usize) -> LockUpdate {
        let (before, after) = (&self.old.packages()[old], &self.new.packages()[new]);
        let describe = |dependent: usize| {
            let dependent = &self.new.packages()[dependent];
            format!("{} {}", dependent.name, dependent.version)
        };
        LockUpdate {
            name: after.name.to_string(),
            old: version_of(before),
            new: version_of(after),
            required_by: self.new.dependents(new).map(describe).collect(),
            versions: (before.version.clone(), after.version.clone()),
            lines: (VersionLine::of(before), VersionLine::of(after)),
        }
    }

    /// Returns the updates that each update needs directly.
    pub(super) fn needs(&self) -> Vec<BTreeSet<usize>> {
        let mut needs = vec![BTreeSet::new(); self.updates.len()];
        for (update, LockUpdate { lines, .. }) in self.updates.iter().enumerate() {
            if lines.0 != lines.1 {
                continue;
            }
            let (Some(&old), Some(&new)) = (self.old_lines.get(&lines.0), self.new_lines.get(&lines.1)) else {
                continue;
            };
            let (before, after) = (&self.old.packages()[old], &self.new.packages()[new]);
            // New versions that refuse the old version of this package.
            for dependent in self.new.dependents(new) {
                if !self.requirements.accepts(&self.new.packages()[dependent], after, before) {
                    for owner in self.owners(Node::New(dependent)) {
                        needs[owner].insert(update);
                    }
                }
            }
            // Old versions that refuse its new version.
            for dependent in self.old.dependents(old) {
                if !self.requirements.accepts(&self.old.packages()[dependent], before, after) {
                    needs[update].extend(self.owners(Node::Old(dependent)));
                }
            }
        }
        for (old, new) in self.rivals() {
            // The updates that add the new package need all updates that remove the old one.
            let removals = self.owners(Node::Old(old));
            for owner in self.owners(Node::New(new)) {
                needs[owner].extend(&removals);
            }
        }
        for (update, needed) in needs.iter_mut().enumerate() {
            needed.remove(&update);
        }
        needs
    }

    /// Returns the pairs of an old and a new package that link the same native library and are not compatible versions
    /// of one package. No build has both.
    fn rivals(&self) -> impl Iterator<Item = (usize, usize)> {
        let libraries = |graph: &LockGraph| -> Vec<_> {
            let library = |package| self.requirements.library(package).map(str::to_owned);
            let packages = graph.packages().iter().enumerate();
            packages.filter_map(|(index, package)| Some((library(package)?, index, VersionLine::of(package)))).collect()
        };
        let (old, new) = (libraries(&self.old), libraries(&self.new));
        old.into_iter().flat_map(move |(library, old, line)| {
            let rivals = new.iter().filter(|(other, _, other_line)| *other == library && *other_line != line);
            rivals.map(|&(_, new, _)| (old, new)).collect::<Vec<_>>()
        })
    }

    /// Returns the updates that have a package in a build (for one of the new lock file), or remove it (for one of the
    /// old lock file).
    fn owners(&self, node: Node) -> BTreeSet<usize> {
        let (mut owners, mut seen, mut open) = (BTreeSet::new(), BTreeSet::new(), vec![node]);
        while let Some(node) = open.pop() {
            if !seen.insert(node) {
                continue;
            }
            let line = VersionLine::of(self.package(node));
            let is_of = |update: &LockUpdate| match node {
                Node::Old(_) => update.lines.0 == line,
                Node::New(_) => update.lines.1 == line,
            };
            let own: Vec<_> = (0..self.updates.len()).filter(|&update| is_of(&self.updates[update])).collect();
            let is_in_both = self.old_lines.contains_key(&line) && self.new_lines.contains_key(&line);
            if is_in_both || !own.is_empty() {
                owners.extend(own);
                continue;
            }
            match node {
                Node::Old(index) => open.extend(self.old.dependents(index).map(Node::Old)),
                Node::New(index) => open.extend(self.new.dependents(index).map(Node::New)),
            }
        }
        owners
    }

    fn package(&self, node: Node) -> &Package {
        match node {
            Node::Old(index) => &self.old.packages()[index],
            Node::New(index) => &self.new.packages()[index],
        }
    }

    /// Formats the lock file with these updates.
    pub(super) fn lock_file(&self, enabled: &BTreeSet<usize>) -> String {
        let mut selected: BTreeMap<VersionLine, Node> = BTreeMap::new();
        selected.extend(self.old_lines.iter().map(|(line, &index)| (line.clone(), Node::Old(index))));
        for (line, &index) in &self.new_lines {
            let update = self.updates.iter().position(|update| update.lines == (line.clone(), line.clone()));
            if update.is_none_or(|update| enabled.contains(&update)) {
                selected.insert(line.clone(), Node::New(index));
            }
        }
        let edges: BTreeMap<Node, BTreeSet<Node>> =
            selected.values().map(|&node| (node, self.edges(node, &selected, enabled))).collect();
        let mut reached = BTreeSet::new();
        let mut open: Vec<_> = selected.values().copied().filter(|&node| self.package(node).source.is_none()).collect();
        while let Some(node) = open.pop() {
            if reached.insert(node) {
                open.extend(edges[&node].iter().copied());
            }
        }
        let index: BTreeMap<_, _> = reached.iter().enumerate().map(|(index, &node)| (node, index)).collect();
        let packages = reached.iter().map(|node| {
            let dependencies = edges[node].iter().map(|next| index[next]).collect();
            (self.package(*node).clone(), dependencies)
        });
        self.new.with_packages(&packages.collect::<Vec<_>>())
    }

    /// Returns the dependencies of a selected package.
    fn edges(&self, node: Node, selected: &BTreeMap<VersionLine, Node>, enabled: &BTreeSet<usize>) -> BTreeSet<Node> {
        let old = |index: usize| self.old.dependencies(index).iter().map(|&next| Node::Old(next)).collect::<Vec<_>>();
        let new = |index: usize| self.new.dependencies(index).iter().map(|&next| Node::New(next)).collect::<Vec<_>>();
        let mut targets = match node {
            Node::Old(index) => old(index),
            Node::New(index) => new(index),
        };
        if let Node::New(index) = node
            && let Some(&before) = self.old_lines.get(&VersionLine::of(self.package(node)))
            && is_same(&self.old.packages()[before], &self.new.packages()[index])
        {
            // The features of an unchanged package may differ, and with them its dependencies. Cargo drops the rest.
            targets.extend(old(before));
        }
        let target = |target: &Node| {
            let line = VersionLine::of(self.package(*target));
            let moved = self.updates.iter().enumerate().find(|(_, update)| {
                update.lines.0 != update.lines.1 && (update.lines.0 == line || update.lines.1 == line)
            });
            if let Some((index, update)) = moved {
                let side = if enabled.contains(&index) { &update.lines.1 } else { &update.lines.0 };
                if let Some(&other) = selected.get(side)
                    && self.requirements.accepts(self.package(node), self.package(*target), self.package(other))
                {
                    return Some(other);
                }
            }
            selected.get(&line).copied()
        };
        targets.iter().filter_map(target).collect()
    }
}

/// Returns true if two packages are the same: the same version from the same place.
fn is_same(one: &Package, other: &Package) -> bool {
    one.version == other.version
        && one.source.as_ref().map(ToString::to_string) == other.source.as_ref().map(ToString::to_string)
}
