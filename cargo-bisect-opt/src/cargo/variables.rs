//! Build-time changes: the variable of each package, so that exactly the selected changes are compiled in.
//!
//! `BISECT_BUILD_<name>_<version>`, with `_` for everything but letters and digits, is the variable of a package: `on` or
//! `off`, then any number of `;name=file:line:column` that are the other way round. The macros read it by `option_env!`,
//! so that rustc reports the dependency to cargo, and only crates whose decisions changed are rebuilt. An unset variable
//! means that all changes are on, so a package with all changes on is not rebuilt.
//!
//! At run time, a pattern for the toggle makes the runtime report every selected build-time change before `main`, and
//! stop with status 2 if a compiled state is not the one that the pattern asks for. Fixed toggles are exempt.

use std::collections::{BTreeMap, BTreeSet};

use bisect_core::{Matcher, Pattern, protocol::names};

use super::toggles::Toggle;

/// Returns the variables of the packages with changes. All others must be unset.
///
/// Only toggles with one of the `names` follow the pattern. The others stay on.
pub(crate) fn values(toggles: &BTreeSet<Toggle>, names: &[String], pattern: &Pattern) -> BTreeMap<String, String> {
    let matcher = Matcher::new(pattern);
    // By package: its changes as the variable names them, and whether they are on.
    let mut packages: BTreeMap<String, BTreeMap<String, bool>> = BTreeMap::new();
    for toggle in toggles {
        let Some(build) = &toggle.build else { continue };
        let follows = names.contains(&toggle.name);
        let on = !follows || matcher.as_ref().is_none_or(|matcher| matcher.should_enable(build.id));
        packages.entry(variable(&build.package)).or_default().insert(format!("{}={}", toggle.name, toggle.place), on);
    }
    packages.into_iter().filter_map(|(variable, changes)| Some((variable, value(&changes)?))).collect()
}

/// Returns the variable of a package, `name@version`.
fn variable(package: &str) -> String {
    let (name, version) = package.split_once('@').unwrap_or((package, ""));
    names::of_package(names::BUILD, name, version)
}

/// Returns the shorter of the two forms of a value; `None` if all changes are on.
fn value(changes: &BTreeMap<String, bool>) -> Option<String> {
    let with_exceptions = |usual: bool| {
        let exceptions = changes.iter().filter(|&(_, &on)| on != usual).map(|(change, _)| format!(";{change}"));
        [if usual { "on" } else { "off" }.to_owned()].into_iter().chain(exceptions).collect::<String>()
    };
    let (on, off) = (with_exceptions(true), with_exceptions(false));
    if on == "on" {
        return None;
    }
    Some(if off.len() < on.len() { off } else { on })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::toggles;

    /// Three changes of `deep@1.2.0`, with IDs ending in 00, 01 and 11, and one of `my-top@0.1.0-rc.1` in 10; and one
    /// toggle that is decided at run time.
    fn toggles() -> BTreeSet<Toggle> {
        toggles::parse(
            b"fast\tbuild\tsrc/lib.rs:3:1\ton\t0x0\tdeep@1.2.0\ton\n\
              fast\tbuild\tsrc/lib.rs:9:1\ton\t0x1\tdeep@1.2.0\ton\n\
              safe\tbuild\tsrc/a.rs:1:1\ton\t0x3\tdeep@1.2.0\ton\n\
              fast\tbuild\tsrc/lib.rs:3:1\ton\t0x2\tmy-top@0.1.0-rc.1\ton\n\
              other\tsite\tsrc/lib.rs:7:1\ton\n",
        )
    }

    fn variables(names: &[&str], pattern: &str) -> Vec<(String, String)> {
        let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
        values(&toggles(), &names, &pattern.parse().unwrap()).into_iter().collect()
    }

    const DEEP: &str = "BISECT_BUILD_deep_1_2_0";
    const TOP: &str = "BISECT_BUILD_my_top_0_1_0_rc_1";

    #[test]
    fn each_package_gets_the_selected_changes() {
        for (names, pattern, expected) in [
            (&["fast", "safe"] as &[_], "y", &[] as &[_]),
            (&["fast", "safe"], "", &[]),
            (&["fast", "safe"], "n", &[(DEEP, "off"), (TOP, "off")]),
            (&["fast", "safe"], "y-00", &[(DEEP, "on;fast=src/lib.rs:3:1")]),
            (&["fast", "safe"], "00", &[(DEEP, "off;fast=src/lib.rs:3:1"), (TOP, "off")]),
            (&["fast", "safe"], "!x0000", &[(DEEP, "on;fast=src/lib.rs:3:1")]),
            (&["fast"], "n", &[(DEEP, "off;safe=src/a.rs:1:1"), (TOP, "off")]),
            (&["safe"], "n", &[(DEEP, "on;safe=src/a.rs:1:1")]),
            (&["other"], "n", &[]),
        ] {
            let expected: Vec<_> = expected.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
            assert_eq!(variables(names, pattern), expected, "{names:?} {pattern}");
        }
    }
}
