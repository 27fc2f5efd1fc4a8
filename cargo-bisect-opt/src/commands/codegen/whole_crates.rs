//! Keys of a profile that decide about whole crates, so that no function and no pass decides.

use crate::{
    axes::compilation::Compilation,
    cargo::{graph::Package, profiles::OPT_LEVEL},
};

/// Returns the keys that may decide about a whole package: its checks, and `opt-level` if only the good options optimize.
pub(super) fn keys(compilation: &Compilation) -> Vec<&'static str> {
    let lacks = compilation.packages.iter().any(|package| lacks_optimization(compilation, package));
    compilation.contrast.checks().chain(lacks.then_some(OPT_LEVEL)).collect()
}

/// Returns true if a package is optimized with the good options, and not with the bad ones.
fn lacks_optimization(compilation: &Compilation, package: &Package) -> bool {
    let mut good = compilation.good_keys(package);
    good.any(|(key, value)| key == OPT_LEVEL && value != "0") && compilation.bad_value(package, OPT_LEVEL) == "0"
}

/// Returns true if neither a function nor a pass decides.
pub(super) fn decide(compilation: &Compilation) -> bool {
    compilation.contrast.is_decided_by_checks() || keys(compilation).contains(&OPT_LEVEL)
}

/// Describes for people what the outcome of the target depends on, if whole crates decide.
pub(super) fn needs(compilation: &Compilation) -> String {
    let contrast = &compilation.contrast;
    let level = contrast.good.keys.get(OPT_LEVEL).filter(|_| keys(compilation).contains(&OPT_LEVEL));
    let needs_level = level.map(|level| format!("the target needs {OPT_LEVEL}={} to pass", level.trim_matches('"')));
    let checks = contrast.checks().next().map(|_| contrast.needs_of_checks());
    checks.into_iter().chain(needs_level).collect::<Vec<_>>().join(", or ")
}
