//! The feature graph of a package: the features that each feature implies.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::Package;

/// The features of a package. A feature may imply others of the same package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FeatureGraph {
    /// For each feature all features that it implies, also indirectly, and the feature itself.
    implied: BTreeMap<String, BTreeSet<String>>,
}

impl FeatureGraph {
    /// Returns the graph of a package.
    pub(super) fn of(package: &Package) -> Self {
        let optional = package.dependencies.iter().filter(|dependency| dependency.optional);
        let name = |dependency: &cargo_metadata::Dependency| {
            dependency.rename.clone().unwrap_or_else(|| dependency.name.clone())
        };
        let features = package.features.iter().map(|(name, values)| (name.clone(), values.clone())).collect();
        Self::new(&features, &optional.map(name).collect())
    }

    /// Returns the graph of the features in a manifest, which include those that optional dependencies define.
    /// `optional` are the names of these dependencies.
    fn new(features: &BTreeMap<String, Vec<String>>, optional: &BTreeSet<String>) -> Self {
        let reached = |feature: &str| {
            let (mut open, mut reached) = (vec![feature], BTreeSet::new());
            while let Some(feature) = open.pop() {
                if reached.insert(feature.to_owned()) {
                    let values = features.get(feature).into_iter().flatten();
                    open.extend(values.filter_map(|value| named_feature(value, features, optional)));
                }
            }
            reached
        };
        Self { implied: features.keys().map(|feature| (feature.clone(), reached(feature))).collect() }
    }

    /// Returns all features.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.implied.keys()
    }

    /// Returns true if a feature is, or implies, another one.
    pub(crate) fn implies(&self, feature: &str, other: &str) -> bool {
        self.implied.get(feature).is_some_and(|implied| implied.contains(other))
    }

    /// Divides features into changes: features that imply each other are one change. A change follows those that it
    /// implies.
    pub(super) fn changes(&self, features: &BTreeSet<String>) -> Vec<Vec<String>> {
        // A feature implies more features than each one that it implies, except for those in a cycle with it.
        let count = |feature: &String| self.implied.get(feature).map_or(0, BTreeSet::len);
        let mut sorted: Vec<_> = features.iter().collect();
        sorted.sort_by_key(|&feature| (count(feature), feature));
        let mut changes: Vec<Vec<String>> = Vec::new();
        for feature in sorted {
            let is_cycle =
                |change: &&mut Vec<String>| self.implies(&change[0], feature) && self.implies(feature, &change[0]);
            match changes.iter_mut().find(is_cycle) {
                Some(change) => change.push(feature.clone()),
                None => changes.push(vec![feature.clone()]),
            }
        }
        changes
    }

    /// Returns the features that enable all of these: those that no other one implies, and one of each cycle.
    pub(super) fn generators(&self, features: &BTreeSet<String>) -> Vec<String> {
        let is_superfluous = |feature: &String| {
            let mut others = features.iter().filter(|&other| other != feature && self.implies(other, feature));
            others.any(|other| !self.implies(feature, other) || other < feature)
        };
        features.iter().filter(|feature| !is_superfluous(feature)).cloned().collect()
    }
}

/// Returns the feature of the same package that a value in the table of features names.
fn named_feature<'a>(
    value: &'a str,
    features: &BTreeMap<String, Vec<String>>,
    optional: &BTreeSet<String>,
) -> Option<&'a str> {
    let name = match value.split_once('/') {
        // `x/y` also enables the optional dependency `x`, and the feature of this name; `x?/y` does not.
        Some((dependency, _)) => Some(dependency).filter(|&dependency| optional.contains(dependency)),
        None => (!value.starts_with("dep:")).then_some(value),
    };
    name.filter(|&name| features.contains_key(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &str) -> BTreeSet<String> {
        names.split_whitespace().map(str::to_owned).collect()
    }

    /// Returns the graph of lines like `a = b c`. The names in `optional` are optional dependencies.
    fn graph(lines: &[&str], optional: &str) -> FeatureGraph {
        let parse = |line: &&str| {
            let (name, values) = line.split_once('=').unwrap();
            (name.trim().to_owned(), values.split_whitespace().map(str::to_owned).collect())
        };
        FeatureGraph::new(&lines.iter().map(parse).collect(), &set(optional))
    }

    #[test]
    fn features_imply_others_of_the_same_package() {
        // `serde` is a feature because no feature has the value `dep:serde`; `rand` is none.
        let graph = graph(
            &[
                "default = std",
                "std = alloc serde?/std always/std",
                "alloc =",
                "serde = dep:serde",
                "derive = serde/derive",
                "random = dep:rand rand/std",
                "always =",
                "full = default derive random",
            ],
            "serde rand",
        );
        for (feature, implied) in [
            ("default", "alloc default std"),
            ("std", "alloc std"),
            ("serde", "serde"),
            ("derive", "derive serde"),
            ("random", "random"),
            ("full", "alloc default derive full random serde std"),
        ] {
            assert_eq!(graph.implied[feature], set(implied), "{feature}");
        }
        assert!(!graph.implies("unknown", "std") && !graph.implies("std", "unknown"));
    }

    #[test]
    fn a_change_follows_those_that_it_implies() {
        let graph = graph(&["a = z", "b = c", "c = d b", "d =", "m = b", "z =", "top = a m"], "");
        let changes = graph.changes(&set("a b c d m top z"));
        assert_eq!(changes, [vec!["d"], vec!["z"], vec!["a"], vec!["b", "c"], vec!["m"], vec!["top"]]);
        assert_eq!(graph.changes(&set("c a")), [["a"], ["c"]], "only what is asked for");
        assert!(graph.changes(&set("")).is_empty());
    }

    #[test]
    fn a_cycle_of_three_is_one_change() {
        let graph = graph(&["a = b", "b = c", "c = a", "self = self"], "");
        assert_eq!(graph.changes(&set("a b c self")), [vec!["self"], vec!["a", "b", "c"]]);
        assert_eq!(graph.generators(&set("a b c self")), ["a", "self"]);
    }

    #[test]
    fn what_others_imply_need_not_be_named() {
        let graph = graph(&["a = b", "b =", "c = a", "d =", "e = f", "f = e"], "");
        for (features, expected) in
            [("a b c d", "c d"), ("a b", "a"), ("b d", "b d"), ("e f", "e"), ("", ""), ("unknown a b", "a unknown")]
        {
            assert_eq!(graph.generators(&set(features)).join(" "), expected, "{features}");
        }
    }
}
