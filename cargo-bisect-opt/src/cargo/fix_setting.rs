//! Names of fixed toggles that no toggle has: a macro that reads `BISECT_FIX` knows its own name only.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
};

use bisect_core::{Config, protocol::names};

use super::{project::Project, toggles::Toggle};
use crate::units::nearest;

/// Returns a note about the names in the project's `BISECT_FIX` that none of these toggles has.
pub(crate) fn unknown_fixes(project: &Project, toggles: &BTreeSet<Toggle>) -> Option<String> {
    let value = effective(std::env::var_os(names::FIX), &project.config.env)?;
    note(&value.to_string_lossy(), toggles)
}

/// Returns the value that the compiler gets: cargo's setting if it is forced, else that of the environment, else cargo's.
fn effective(environment: Option<OsString>, cargo: &BTreeMap<String, (OsString, bool)>) -> Option<OsString> {
    let of_cargo = cargo.get(names::FIX);
    let forced = of_cargo.filter(|(_, is_forced)| *is_forced);
    forced.map(|(value, _)| value.clone()).or(environment).or_else(|| of_cargo.map(|(value, _)| value.clone()))
}

fn note(value: &str, toggles: &BTreeSet<Toggle>) -> Option<String> {
    // A malformed value breaks the build of every crate with toggles.
    let config = Config::parse(value.as_bytes()).ok()?;
    let known: BTreeSet<_> = toggles.iter().map(|toggle| toggle.name.as_str()).collect();
    let unknown: Vec<_> = config
        .names()
        .filter(|name| !known.contains(name))
        .map(|name| match nearest(name, known.iter().map(|&name| name.to_owned())) {
            Some(nearest) => format!("`{name}` (did you mean `{nearest}`?)"),
            None => format!("`{name}`"),
        })
        .collect();
    let variable = names::FIX;
    (!unknown.is_empty())
        .then(|| format!("{variable} fixes nothing by names that no toggle has: {}", unknown.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::toggles::parse;

    #[test]
    fn names_that_no_toggle_has_are_noted() {
        let toggles = parse(b"newsort\tstack\ta.rs:1:1\ton\tfixed off\nother\tsite\ta.rs:2:1\ton\n");
        assert_eq!(note("newsort=off;other=on", &toggles), None);
        assert_eq!(note("", &toggles), None);
        assert_eq!(
            note("newsort=off;othr=on;zebra=on", &toggles).as_deref(),
            Some("BISECT_FIX fixes nothing by names that no toggle has: `othr` (did you mean `other`?), `zebra`")
        );
    }

    #[test]
    fn the_value_is_the_one_that_the_compiler_gets() {
        let cargo = |is_forced| BTreeMap::from([(names::FIX.to_owned(), (OsString::from("cargo"), is_forced))]);
        for (environment, cargo, expected) in [
            (Some("env"), BTreeMap::new(), Some("env")),
            (Some("env"), cargo(false), Some("env")),
            (Some("env"), cargo(true), Some("cargo")),
            (None, cargo(false), Some("cargo")),
            (None, BTreeMap::new(), None),
        ] {
            assert_eq!(effective(environment.map(OsString::from), &cargo), expected.map(OsString::from));
        }
    }
}
