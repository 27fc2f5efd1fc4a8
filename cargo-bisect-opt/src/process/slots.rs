//! Slots, which separate parallel runs: no two runs have the same slot at the same time.
//!
//! Each run gets the number of its slot. Users can give each slot its own port, database or directory.

use std::{
    ffi::{OsStr, OsString},
    process::Command,
};

use bisect_core::protocol::names;

/// The placeholder for the number in values of variables.
pub(crate) const PLACEHOLDER: &str = "{slot}";
/// The variable that holds the number.
const VARIABLE: &str = names::SLOT;

/// The variables whose values depend on the slot.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    /// The inherited variables whose values contain the placeholder.
    inherited: Vec<(OsString, OsString)>,
}

impl Slots {
    /// Reads the environment of this process.
    pub(crate) fn inherited() -> Self {
        Self::of(std::env::vars_os())
    }

    fn of(environment: impl Iterator<Item = (OsString, OsString)>) -> Self {
        Self { inherited: environment.filter(|(name, value)| name != VARIABLE && fill(value, 0).is_some()).collect() }
    }

    /// Returns the variables that replace inherited ones in a slot.
    pub(crate) fn variables(&self, slot: usize) -> impl Iterator<Item = (OsString, OsString)> {
        let filled = self.inherited.iter().filter_map(move |(name, value)| Some((name.clone(), fill(value, slot)?)));
        filled.chain([(VARIABLE.into(), slot.to_string().into())])
    }

    /// Prepares a command for a slot: sets [`Self::variables`], and replaces the placeholder in its own variables.
    pub(crate) fn apply(&self, command: &mut Command, slot: usize) {
        let own = command.get_envs().map(|(name, value)| (name.to_owned(), value.map(OsStr::to_owned)));
        let own: Vec<_> = own.collect();
        // Variables that the command sets or removes override inherited ones.
        let is_own = |name: &OsStr| own.iter().any(|(own, _)| own == name);
        command.envs(self.variables(slot).filter(|(name, _)| !is_own(name)));
        command.envs(own.iter().filter_map(|(name, value)| Some((name, fill(value.as_ref()?, slot)?))));
        command.env(VARIABLE, slot.to_string());
    }
}

/// Replaces the placeholder in a text by the number of a slot.
pub(crate) fn fill_text(text: &str, slot: usize) -> String {
    text.replace(PLACEHOLDER, &slot.to_string())
}

/// Returns a value for a slot; `None` if it does not depend on the slot.
#[cfg(unix)]
fn fill(value: &OsStr, slot: usize) -> Option<OsString> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};

    let mut rest = value.as_bytes();
    let mut filled = Vec::new();
    while let Some(at) = memchr::memmem::find(rest, PLACEHOLDER.as_bytes()) {
        filled.extend_from_slice(&rest[..at]);
        filled.extend_from_slice(slot.to_string().as_bytes());
        rest = &rest[at + PLACEHOLDER.len()..];
    }
    if rest.len() == value.len() {
        return None;
    }
    filled.extend_from_slice(rest);
    Some(OsString::from_vec(filled))
}

/// Returns a value for a slot; `None` if it does not depend on the slot, or is not Unicode.
#[cfg(not(unix))]
fn fill(value: &OsStr, slot: usize) -> Option<OsString> {
    let text = value.to_str().filter(|text| text.contains(PLACEHOLDER))?;
    Some(text.replace(PLACEHOLDER, &slot.to_string()).into())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn slots(environment: &[(&str, &str)]) -> Slots {
        Slots::of(environment.iter().map(|&(name, value)| (name.into(), value.into())))
    }

    #[test]
    fn the_placeholder_is_replaced() {
        for (value, expected) in [
            ("{slot}", Some("7")),
            ("50{slot}", Some("507")),
            ("{slot}{slot}/db-{slot}.sqlite", Some("77/db-7.sqlite")),
            ("{{slot}}", Some("{7}")),
            ("ö{slot}ö", Some("ö7ö")),
            ("", None),
            ("{slots}", None),
            ("{ slot }", None),
            ("{slot", None),
            ("{SLOT}", None),
            ("{slo{slo", None),
        ] {
            assert_eq!(fill(value.as_ref(), 7).as_deref(), expected.map(OsStr::new), "{value}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn values_of_any_bytes() {
        use std::os::unix::ffi::OsStrExt;
        let value = OsStr::from_bytes(b"\xff{slot}\xc3");
        assert_eq!(fill(value, 12).unwrap().as_bytes(), b"\xff12\xc3");
        assert_eq!(fill(OsStr::from_bytes(b"\xff"), 12), None);
    }

    #[test]
    fn only_variables_that_depend_on_the_slot_are_set() {
        let slots = slots(&[("PORT", "50{slot}"), ("HOME", "/home/me"), ("{slot}", "x"), ("BISECT_SLOT", "in-{slot}")]);
        let variables: BTreeMap<_, _> = slots.variables(3).collect();
        assert_eq!(variables, [("PORT", "503"), ("BISECT_SLOT", "3")].map(|(n, v)| (n.into(), v.into())).into());
    }

    #[test]
    fn variables_of_a_command_override_inherited_ones() {
        let slots = slots(&[("A", "a{slot}"), ("B", "b{slot}"), ("C", "c{slot}")]);
        let mut command = Command::new("true");
        command.env("A", "own").env("D", "d{slot}").env("E", "e").env_remove("B").env("BISECT_SLOT", "{slot}{slot}");
        slots.apply(&mut command, 10);
        let variables: BTreeMap<_, _> = command.get_envs().collect();
        let expected = [
            ("A", Some("own")),
            ("B", None),
            ("C", Some("c10")),
            ("D", Some("d10")),
            ("E", Some("e")),
            ("BISECT_SLOT", Some("10")),
        ];
        assert_eq!(variables, expected.map(|(name, value)| (OsStr::new(name), value.map(OsStr::new))).into());
    }
}
