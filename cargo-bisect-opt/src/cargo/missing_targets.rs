//! Packages and targets that a command line names and the sources of a run do not have.
//!
//! Cargo refuses the whole command then. Runs without some hunks of a patch leave these names out instead.

use std::ffi::OsString;

use cargo_metadata::{Package, Target, TargetKind};

use super::{
    is_spec_of,
    option::{self, LinePart, TARGETS},
};

/// The handling of missing packages and targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum IfMissing {
    /// They are passed to cargo, which refuses them.
    #[default]
    Refuse,
    /// They are left out. If no named package or target is left, nothing is built.
    LeaveOut,
    /// They are left out. If no named package or target is left, the default targets are built.
    BuildOthers,
}

/// The options that name packages.
const PACKAGES: [&str; 2] = ["-p", "--package"];
/// The kinds of the target that `--lib` selects.
const LIBRARIES: [TargetKind; 6] = [
    TargetKind::Lib,
    TargetKind::RLib,
    TargetKind::DyLib,
    TargetKind::CDyLib,
    TargetKind::StaticLib,
    TargetKind::ProcMacro,
];

/// The options of a command line without the missing packages and targets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PresentOptions {
    /// The options without the missing packages and targets.
    pub(super) options: Vec<OsString>,
    /// True if all named packages, or all named targets, are missing.
    pub(super) has_nothing: bool,
}

impl PresentOptions {
    /// Leaves out the packages and targets that these members of a workspace do not have. `defaults` are the members that
    /// cargo selects if none is named. URLs, patterns for several names, and dependencies are left to cargo.
    pub(super) fn of(
        options: &[OsString],
        members: &[&Package],
        defaults: &[&Package],
        is_dependency: impl Fn(&str) -> bool,
    ) -> Self {
        let parts: Vec<_> = {
            let mut words = options.iter().peekable();
            std::iter::from_fn(|| option::next_part(&mut words)).collect()
        };
        let specs: Vec<_> = parts.iter().filter_map(|part| named(part, &PACKAGES)).collect();
        let is_member = |spec: &str| members.iter().any(|package| is_spec_of(spec, package));
        let has_package =
            |spec: &str| is_pattern(spec) || spec.contains(['/', '#']) || is_member(spec) || is_dependency(spec);
        let is_named = |package: &&&Package| specs.iter().any(|spec| is_pattern(spec) || is_spec_of(spec, package));
        let selected: Vec<_> = match specs.as_slice() {
            [] => defaults.to_vec(),
            _ => members.iter().filter(is_named).copied().collect(),
        };
        let targets: Vec<_> = selected.iter().flat_map(|package| &package.targets).collect();
        let is_there = |part: &LinePart| {
            let spec = named(part, &PACKAGES);
            spec.map_or_else(|| has_target(part, &targets), |spec| has_package(&spec))
        };
        let of_kind = |names: &[&str]| {
            let all: Vec<_> =
                parts.iter().filter(|part| name(part).is_some_and(|name| names.contains(&name))).collect();
            !all.is_empty() && !all.into_iter().any(is_there)
        };
        let has_nothing = of_kind(&PACKAGES) || of_kind(&TARGETS);
        let words = |part: LinePart| match part {
            LinePart::Word(word) => vec![word],
            LinePart::Option { words, .. } => words,
        };
        let options = parts.iter().filter(|part| is_there(part)).cloned().flat_map(words).collect();
        Self { options, has_nothing }
    }
}

fn name(part: &LinePart) -> Option<&str> {
    match part {
        LinePart::Word(_) => None,
        LinePart::Option { name, .. } => Some(name),
    }
}

/// Returns the value of one of these options.
fn named(part: &LinePart, names: &[&str]) -> Option<String> {
    match part {
        LinePart::Option { name, value: Some(value), .. } if names.contains(&name.as_str()) => {
            Some(value.to_string_lossy().into_owned())
        }
        _ => None,
    }
}

/// Returns true unless an option names a missing target.
fn has_target(part: &LinePart, targets: &[&Target]) -> bool {
    let kinds: &[TargetKind] = match name(part) {
        Some("--lib") => &LIBRARIES,
        Some("--bin") => &[TargetKind::Bin],
        Some("--test") => &[TargetKind::Test],
        Some("--bench") => &[TargetKind::Bench],
        Some("--example") => &[TargetKind::Example],
        _ => return true,
    };
    let name = named(part, &TARGETS);
    let is_of_kind = |target: &Target| target.kind.iter().any(|kind| kinds.contains(kind));
    match name {
        Some(name) => is_pattern(&name) || targets.iter().any(|target| is_of_kind(target) && target.name == name),
        // Without a name, cargo lists what there is.
        None => kinds != LIBRARIES || targets.iter().any(|target| is_of_kind(target)),
    }
}

/// Returns true if cargo takes this as a pattern for several names.
fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, targets: &[(&str, &str)]) -> Package {
        let target = |&(kind, name): &(&str, &str)| serde_json::json!({ "kind": [kind], "crate_types": [kind], "name": name, "src_path": "x" });
        let targets: Vec<_> = targets.iter().map(target).collect();
        let package = serde_json::json!({
            "name": name, "version": "0.1.0", "id": format!("path+file:///{name}#0.1.0"), "dependencies": [],
            "targets": targets, "features": {}, "manifest_path": "x",
        });
        serde_json::from_value(package).unwrap()
    }

    #[test]
    fn missing_packages_and_targets_are_left_out() {
        let shop = package("shop", &[("lib", "shop"), ("test", "sums"), ("bin", "till")]);
        let tool = package("tool", &[("bin", "tool"), ("test", "use")]);
        for (line, expected) in [
            ("--release", Some("--release")),
            ("--lib --test sums -F a", Some("--lib --test sums -F a")),
            ("--test sums --test=labels", Some("--test sums")),
            ("--test labels -q", None),
            // A target of another package, which is not a default one.
            ("--test use", None),
            ("-p tool --test use", Some("-p tool --test use")),
            ("-p tool --lib", None),
            ("-p tool --lib --bins", Some("-p tool --bins")),
            ("-p tool -p pump", Some("-p tool")),
            ("-ppump --lib", None),
            ("-p shop@0.1 --bin till --bin tool", Some("-p shop@0.1 --bin till")),
            ("-p serde", Some("-p serde")),
            ("-p file:///pump", Some("-p file:///pump")),
            // Cargo reads patterns.
            ("-p t* --test us?", Some("-p t* --test us?")),
            ("--test", Some("--test")),
        ] {
            let options: Vec<OsString> = line.split(' ').map(Into::into).collect();
            let present = PresentOptions::of(&options, &[&shop, &tool], &[&shop], |spec| spec == "serde");
            let words: Vec<_> = present.options.iter().map(|word| word.to_str().unwrap()).collect();
            assert_eq!((!present.has_nothing).then(|| words.join(" ")).as_deref(), expected, "{line}");
        }
    }
}
