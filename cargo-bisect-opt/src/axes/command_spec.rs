//! The command of an axis. Its options are data, of which `commands` makes a command line.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
};

use super::Axis;

/// A command that searches an axis with any command as its target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandSpec {
    /// Name of the command.
    pub(crate) name: &'static str,
    /// One line about it.
    pub(crate) about: &'static str,
    /// The usage line.
    pub(crate) usage: &'static str,
    /// Options beside those of every search.
    pub(crate) options: &'static [OptionSpec],
    /// Makes the axis from the options that were given.
    pub(crate) prepare: fn(&Asked) -> Result<Box<dyn Axis>, AxisError>,
}

/// An option of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OptionSpec {
    /// Its name, without dashes.
    pub(crate) name: &'static str,
    /// The name of its value; `None`: it has none.
    pub(crate) value: Option<&'static str>,
    /// The command does not work without it.
    pub(crate) is_required: bool,
    /// One line about it.
    pub(crate) help: &'static str,
}

/// The options that were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    given: BTreeMap<&'static str, Option<OsString>>,
}

impl Asked {
    /// Adds an option that was given, with its value, if it has one.
    pub(crate) fn add(&mut self, option: &OptionSpec, value: Option<OsString>) {
        self.given.insert(option.name, value);
    }

    /// Returns true if the option was given.
    pub(crate) fn has(&self, option: &str) -> bool {
        self.given.contains_key(option)
    }

    /// Returns the value of an option.
    pub(crate) fn value(&self, option: &str) -> Option<&OsStr> {
        self.given.get(option)?.as_deref()
    }
}

/// Why there is no search.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AxisError {
    /// The command line asks for what does not work.
    #[error("{0}")]
    Usage(String),
    /// There are no changes.
    #[error("{0}")]
    Nothing(String),
}
