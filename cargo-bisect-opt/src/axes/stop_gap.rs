//! Workarounds until a culprit is fixed: a configuration that passed in the search, as the user writes it.

use super::compilation::Compilation;
use crate::{cargo::graph::Package, compiler::plan::CounterKind, record::culprit::StopGap};

/// Returns the section of the workspace's manifest that compiles these packages with the good options. `None` if a
/// manifest cannot express them: it has no compiler flags for single packages.
pub(crate) fn of_crates(compilation: &Compilation, packages: &[&Package]) -> Option<StopGap> {
    let Compilation { contrast, profile: searched, settings, .. } = compilation;
    if contrast.good.keys.is_empty() || !contrast.good.flags.is_empty() || !contrast.bad.flags.is_empty() {
        return None;
    }
    let profile = compilation.profile_with_effect(packages)?;
    let keys = |package: &&Package| {
        let is_only = compilation.packages.iter().filter(|other| other.name == package.name).count() == 1;
        if is_only && !package.is_named { package.name.clone() } else { format!("{:?}", package.spec) }
    };
    let tables = packages.iter().map(|package| (keys(package), compilation.good_keys(package).collect()));
    // The target passed with the search's settings for all packages, so they belong to the workaround.
    let of_profile = format!("profile.{searched}.");
    let global = settings.iter().filter_map(|setting| setting.strip_prefix(&of_profile)?.split_once('='));
    let global = global.filter(|_| profile == searched);
    let text = overrides(profile, global, &tables.collect::<Vec<_>>());
    Some(StopGap { place: "in the workspace's Cargo.toml".into(), text })
}

/// Formats tables of a manifest: the `global` keys of a profile for all packages, and the keys of each package.
fn overrides<'a>(
    profile: &str,
    global: impl Iterator<Item = (&'a str, &'a str)>,
    packages: &[(String, Vec<(&'a str, &'a str)>)],
) -> String {
    let line = |(key, value): (&str, &str)| format!("{key} = {value}");
    let mut lines: Vec<_> = global.map(line).collect();
    if !lines.is_empty() {
        lines.insert(0, format!("[profile.{profile}]"));
    }
    for (package, keys) in packages {
        lines.push(format!("[profile.{profile}.package.{package}]"));
        lines.extend(keys.iter().copied().map(line));
    }
    lines.join("\n")
}

/// Returns the workaround for functions that must not be optimized. `changes` is the number of functions.
pub(crate) fn of_functions(are_own: bool, changes: usize) -> StopGap {
    let (place, text) = match (are_own, changes) {
        (true, 1) => (
            "on the function",
            "#[optimize(none)]   (nightly: #![feature(optimize_attribute)]; with stable Rust, move it to a crate of its own that has \
             `opt-level = 0` as above)",
        ),
        (true, _) => (
            "on one of these functions",
            "#[optimize(none)]   (nightly: #![feature(optimize_attribute)]; with stable Rust, move it to a crate of its own that has \
             `opt-level = 0` as above)",
        ),
        (false, _) => (
            "in the workspace's Cargo.toml",
            "what is said above for the crate: not all of these functions are yours to change",
        ),
    };
    StopGap { place: place.into(), text: text.to_owned() }
}

/// Returns the environment variables for cargo that disable a pass.
pub(crate) fn of_pass(of: CounterKind, flags: &[String]) -> String {
    let unstable = if of == CounterKind::Mir { "RUSTC_BOOTSTRAP=1 " } else { "" };
    format!("{unstable}RUSTFLAGS='{}'", flags.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_says_it_in_tables() {
        let packages = ["means", "\"memchr@2.7.4\""].map(|name| (name.to_owned(), vec![("opt-level", "0")]));
        let text = overrides("release", [("lto", "false")].into_iter(), &packages);
        let parsed: toml::Table = text.parse().unwrap();
        let release = &parsed["profile"]["release"];
        assert_eq!(release["lto"].as_bool(), Some(false));
        for package in ["means", "memchr@2.7.4"] {
            assert_eq!(release["package"][package]["opt-level"].as_integer(), Some(0), "{text}");
        }
        let alone = overrides("dev", [].into_iter(), &packages[..1]);
        assert_eq!(alone, "[profile.dev.package.means]\nopt-level = 0");
    }

    #[test]
    fn a_pass_is_left_out_by_flags() {
        let flags = ["-Ccodegen-units=1".to_owned(), "-Cllvm-args=-opt-disable=gvn".to_owned()];
        let expected = "RUSTFLAGS='-Ccodegen-units=1 -Cllvm-args=-opt-disable=gvn'";
        assert_eq!(of_pass(CounterKind::Llvm, &flags), expected);
        assert_eq!(of_pass(CounterKind::Mir, &flags), format!("RUSTC_BOOTSTRAP=1 {expected}"));
    }
}
