//! The command of an axis. Its options are data, from which `commands` builds the command line.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
};

use super::Axis;
use crate::cargo::CargoError;

/// A command that searches an axis with any command as its target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandSpec {
    /// The name of the command.
    pub(crate) name: &'static str,
    /// A description, on one line.
    pub(crate) about: &'static str,
    /// The rest of the description, in sentences.
    pub(crate) details: &'static str,
    /// The usage line.
    pub(crate) usage: &'static str,
    /// The options that other searches do not have.
    pub(crate) options: &'static [OptionSpec],
    /// Creates the axis from the given options.
    pub(crate) prepare: fn(&Asked) -> Result<Prepared, AxisError>,
}

/// The axis that a command searches, unless the target passes with all of its changes and there is a larger axis.
pub(crate) struct Prepared {
    /// The axis.
    pub(crate) axis: Box<dyn Axis>,
    /// Axes with more and more changes.
    pub(crate) larger: Box<dyn Iterator<Item = Box<dyn Axis>>>,
}

impl<A: Axis + 'static> From<A> for Prepared {
    fn from(axis: A) -> Self {
        Box::<dyn Axis>::from(Box::new(axis)).into()
    }
}

impl From<Box<dyn Axis>> for Prepared {
    fn from(axis: Box<dyn Axis>) -> Self {
        Self { axis, larger: Box::new(std::iter::empty()) }
    }
}

/// An option of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OptionSpec {
    /// The name, without dashes.
    pub(crate) name: &'static str,
    /// The name of the value; `None`: the option has no value.
    pub(crate) value: Option<&'static str>,
    /// Set if the command requires it.
    pub(crate) is_required: bool,
    /// The help text for one line of the screen, as a sentence without a full stop.
    pub(crate) help: &'static str,
    /// The rest of the help text, in sentences; empty if there is none.
    pub(crate) details: &'static str,
}

/// The given options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    given: BTreeMap<&'static str, Option<OsString>>,
}

impl Asked {
    /// Adds a given option, with its value if it has one.
    pub(crate) fn add(&mut self, option: &OptionSpec, value: Option<OsString>) {
        self.given.insert(option.name, value);
    }

    /// Returns true if the user gave the option.
    pub(crate) fn has(&self, option: &str) -> bool {
        self.given.contains_key(option)
    }

    /// Returns the value of an option.
    pub(crate) fn value(&self, option: &str) -> Option<&OsStr> {
        self.given.get(option)?.as_deref()
    }
}

/// A reason why an axis cannot be searched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AxisError {
    /// The command line is wrong.
    #[error("{0}")]
    Usage(String),
    /// There are no changes to search.
    #[error("{0}")]
    Nothing(String),
    /// Cargo cannot use the project.
    #[error(transparent)]
    Cargo(#[from] CargoError),
}
