//! Names and sizes of types.

use std::collections::{BTreeMap, BTreeSet};

use crate::exceptions::Violation;
use crate::house::{MOST_IMPL_FILES, MOST_PUBLIC_METHODS, MOST_TRAIT_METHODS};
use crate::modules::Crate;

/// Returns definitions of types and traits whose name is not unique in the crate.
///
/// Two definitions under different conditions (`#[cfg(unix)]`, `#[cfg(windows)]`) count as one type.
pub(crate) fn names_twice(krate: &Crate) -> Vec<Violation> {
    let mut seen: BTreeMap<&str, Vec<(String, Vec<String>)>> = BTreeMap::new();
    let mut violations = Vec::new();
    for module in &krate.modules {
        let file = &krate.files[module.file];
        for definition in &module.facts.types {
            let cfg = [module.cfg.as_slice(), &definition.cfg].concat();
            let others = seen.entry(&definition.name).or_default();
            let is_variant = |other: &[String]| !cfg.is_empty() && !other.is_empty() && cfg != other;
            if let Some((other, _)) = others.iter().find(|(_, other)| !is_variant(other)) {
                let message = format!("`{}` is also the name of a type at {other}; rename one", definition.name);
                let name = format!("{}::{}", krate.house.name, definition.name);
                violations
                    .push(Violation { place: name, ..Violation::new("type-names", file, definition.line, message) });
            }
            others.push((format!("{file}:{}", definition.line), cfg));
        }
    }
    violations
}

/// Returns the types whose inherent `impl` blocks stand in too many files.
pub(crate) fn scattered(krate: &Crate) -> Vec<Violation> {
    let mut files: BTreeMap<&str, BTreeSet<(&str, usize)>> = BTreeMap::new();
    for module in &krate.modules {
        for block in &module.facts.impls {
            files.entry(&block.of).or_default().insert((&krate.files[module.file], block.line));
        }
    }
    let mut violations = Vec::new();
    for (name, blocks) in files {
        let count = blocks.iter().map(|(file, _)| file).collect::<BTreeSet<_>>().len();
        let (file, line) = *blocks.first().expect("an impl block was seen");
        for _ in MOST_IMPL_FILES..count {
            let files: Vec<_> = blocks.iter().map(|(file, line)| format!("{file}:{line}")).collect();
            let message = format!(
                "the methods of `{name}` stand in {count} files, {MOST_IMPL_FILES} are allowed: split the type ({})",
                files.join(", ")
            );
            let place = format!("{}::{name}", krate.house.name);
            violations.push(Violation { place, ..Violation::new("impl-files", file, line, message) });
        }
    }
    violations
}

/// Returns the public methods of types that have too many.
pub(crate) fn too_many_methods(krate: &Crate) -> Vec<Violation> {
    let mut methods: BTreeMap<&str, BTreeMap<&str, (&str, usize)>> = BTreeMap::new();
    for module in &krate.modules {
        for block in &module.facts.impls {
            for (method, line) in &block.public_methods {
                methods.entry(&block.of).or_default().insert(method, (&krate.files[module.file], *line));
            }
        }
    }
    let mut violations = Vec::new();
    for (name, methods) in methods {
        for (file, line) in methods.values().skip(MOST_PUBLIC_METHODS) {
            let message = format!(
                "`{name}` has {} public methods, {MOST_PUBLIC_METHODS} are allowed: split the type",
                methods.len()
            );
            let place = format!("{}::{name}", krate.house.name);
            violations.push(Violation { place, ..Violation::new("methods", file, *line, message) });
        }
    }
    violations
}

/// Returns the methods of interfaces that have too many for someone who implements one.
pub(crate) fn wide_traits(krate: &Crate) -> Vec<Violation> {
    let mut violations = Vec::new();
    for module in &krate.modules {
        for definition in &module.facts.traits {
            let limit = MOST_TRAIT_METHODS.iter().find(|(name, _)| *name == definition.name);
            let Some(&(name, most)) = limit else { continue };
            for (_, line) in definition.methods.iter().skip(most) {
                let message = format!(
                    "`{name}` has {} methods, {most} are allowed: move constants to one value, and what few need to a \
                     trait of its own",
                    definition.methods.len()
                );
                let place = format!("{}::{name}", krate.house.name);
                let file = &krate.files[module.file];
                violations.push(Violation { place, ..Violation::new("trait-methods", file, *line, message) });
            }
        }
    }
    violations
}
