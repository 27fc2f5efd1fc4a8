//! Lines of a manifest: where it defines each feature.

use std::{collections::BTreeMap, path::Path};

use toml::de::{DeTable, DeValue};

/// Returns the line, from 1, that defines each feature. An optional dependency also defines one. Empty if the manifest
/// cannot be read.
pub(super) fn of_features(manifest: &Path) -> BTreeMap<String, u32> {
    fs_err::read_to_string(manifest).map(|text| lines(&text)).unwrap_or_default()
}

fn lines(text: &str) -> BTreeMap<String, u32> {
    let Ok(document) = DeTable::parse(text) else { return BTreeMap::new() };
    let document = document.get_ref();
    let mut lines = BTreeMap::new();
    let mut add = |keys: Option<&DeTable<'_>>, is_feature: fn(&DeValue<'_>) -> bool| {
        for (name, value) in keys.into_iter().flatten() {
            if is_feature(value.get_ref()) {
                let line = 1 + text[..name.span().start].matches('\n').count();
                lines.entry(name.get_ref().to_string()).or_insert(u32::try_from(line).unwrap_or(u32::MAX));
            }
        }
    };
    add(table(document, "features"), |_| true);
    let targets = table(document, "target").into_iter().flat_map(DeTable::values);
    let targets = targets.filter_map(|value| value.get_ref().as_table());
    for of_target in [document].into_iter().chain(targets) {
        for kind in ["dependencies", "build-dependencies", "build_dependencies"] {
            add(table(of_target, kind), is_optional);
        }
    }
    lines
}

fn table<'a, 'i>(within: &'a DeTable<'i>, name: &str) -> Option<&'a DeTable<'i>> {
    within.get(name)?.get_ref().as_table()
}

fn is_optional(dependency: &DeValue<'_>) -> bool {
    dependency.get("optional").is_some_and(|value| value.get_ref().as_bool() == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_and_optional_dependencies_have_lines() {
        let text = "[package]\nname = 'x'\n[features]\n# é\ndefault = [\n  'std',\n]\n\"std\" = []\nlog = ['dep:log']\n\
                    [dependencies]\nlog = { version = '1', optional = true }\nmemchr = '2'\n\
                    serde = { version = '1', optional = true }\n[dependencies.rand]\nversion = '1'\noptional = true\n\
                    [target.'cfg(unix)'.dependencies]\nlibc = { version = '1', optional = true }\n";
        let expected = [("default", 5), ("std", 8), ("log", 9), ("serde", 13), ("rand", 14), ("libc", 18)];
        assert_eq!(lines(text), expected.map(|(name, line)| (name.to_owned(), line)).into());
        assert!(lines("[features").is_empty() && lines("features = 1").is_empty());
    }

    #[test]
    fn inline_tables_have_lines() {
        let text = "features = { a = [], b = [] }\n";
        assert_eq!(lines(text), [("a".to_owned(), 1), ("b".to_owned(), 1)].into());
    }

    #[test]
    fn a_manifest_that_cannot_be_read_has_none() {
        assert!(of_features(Path::new("/nowhere/Cargo.toml")).is_empty());
    }
}
