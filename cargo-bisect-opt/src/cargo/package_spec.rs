//! Package ID specifications, by which users name packages.

use cargo_metadata::Package;

/// Returns whether a package ID specification (`name`, `name@version`, or a URL) names this package.
pub(crate) fn is_spec_of(spec: &str, package: &Package) -> bool {
    let (name, version) = (package.name.as_str(), package.version.to_string());
    spec == name
        || spec == package.id.repr
        || spec
            .split_once(['@', ':'])
            .is_some_and(|(n, v)| n == name && (version == v || version.starts_with(&format!("{v}."))))
}
