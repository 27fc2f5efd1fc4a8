//! The settings of this compilation: its variables, read once, and the decision for each change.
//!
//! An ID ends in 16 bits of the package that is compiled, like that of a build-time change. The rest is a hash of gate,
//! crate and path of the function, for expressions also of line and column.

use std::{
    env::VarError,
    ffi::{OsStr, OsString},
    io,
    sync::Arc,
};

use bisect_core::{
    ChangeId, Field,
    protocol::names::{self, PATTERN},
};

use crate::{
    Gate,
    report::Reports,
    settings::{Names, Settings},
};

/// The settings for one package: the compiled one, or another one whose macros generate some of the compiled code.
#[derive(Clone, Debug)]
pub(crate) struct Bisection {
    package: Option<Package>,
    read: Vec<Variable>,
    settings: Settings,
    reports: Arc<Reports>,
}

/// The name and version of a package, as cargo sets them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
}

/// An environment variable that was read, and its value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Variable {
    /// The name of the variable.
    pub(crate) name: String,
    /// The value of the variable; `None` if it is not set.
    pub(crate) value: Option<String>,
}

impl Bisection {
    /// Reads the settings for the package that is compiled.
    ///
    /// # Errors
    /// See [`Self::of`].
    pub(crate) fn read(variable: impl Fn(&str) -> Result<String, VarError>) -> Result<Self, String> {
        let package = match (get(&variable, "CARGO_PKG_NAME")?, get(&variable, "CARGO_PKG_VERSION")?) {
            (Some(name), Some(version)) => Some(Package { name, version }),
            _ => None,
        };
        Self::of(package, variable)
    }

    /// Reads the settings for a package: from its own variable (`BISECT_RUSTC_<name>_<version>`) if it is set, else
    /// from [`PATTERN`].
    ///
    /// # Errors
    /// If a variable is not UTF-8, or the one that counts is malformed. The text is a line for the user.
    pub(crate) fn of(
        package: Option<Package>,
        variable: impl Fn(&str) -> Result<String, VarError>,
    ) -> Result<Self, String> {
        let mut read = Vec::new();
        let mut settings = None;
        let own = package.as_ref().map(|package| (package.variable(), Names::Gates));
        for (name, names) in own.into_iter().chain([(PATTERN.to_owned(), Names::Shared)]) {
            let value = get(&variable, &name)?;
            read.push(Variable { name: name.clone(), value: value.clone() });
            if let Some(value) = value {
                let parsed =
                    Settings::parse(&value, names).map_err(|problem| format!("{name}={value:?}: {problem}"))?;
                settings = Some(parsed);
                break;
            }
        }
        Ok(Self { package, read, settings: settings.unwrap_or_default(), reports: Arc::default() })
    }

    /// Sends reports to a file instead of standard error.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub(crate) fn report_to(&mut self, path: &OsStr) -> io::Result<()> {
        self.reports = Arc::new(Reports::to(Some(path))?);
        Ok(())
    }

    /// Returns these settings with the reports of `other`: the same destination, and the same record of reported
    /// changes.
    #[must_use]
    pub(crate) fn reporting_with(self, other: &Self) -> Self {
        Self { reports: other.reports.clone(), ..self }
    }

    /// Returns the package, if it is known.
    #[must_use]
    pub(crate) fn package(&self) -> Option<&Package> {
        self.package.as_ref()
    }

    /// Returns the variables that this compilation depends on.
    #[must_use]
    pub(crate) fn variables(&self) -> &[Variable] {
        &self.read
    }

    /// Returns true if the settings ask for at least one of these gates.
    #[must_use]
    pub(crate) fn asks_for(&self, gates: &[Gate]) -> bool {
        gates.iter().any(|&gate| self.settings.asks_for(gate))
    }

    /// Returns the ID of the change that `fields` describe. Its low bits identify the package of these settings or,
    /// without one, the crate `krate`.
    #[must_use]
    pub(crate) fn id(&self, gate: Gate, krate: &str, fields: &[Field<'_>]) -> ChangeId {
        let compiling = match &self.package {
            Some(package) => ChangeId::of(&[Field::Str(&package.name), Field::Str(&package.version)]),
            None => ChangeId::of(&[Field::Str(krate)]),
        };
        let fields: Vec<_> = [Field::Str(gate.name())].iter().chain(fields).copied().collect();
        ChangeId::of(&fields).in_crate(compiling)
    }

    /// Returns true if the change should be enabled.
    #[must_use]
    pub(crate) fn is_on(&self, gate: Gate, id: ChangeId) -> bool {
        self.settings.should_enable(gate, id)
    }

    /// Reports the change, if the pattern selects it and it was not reported before. `describe` is called only for a
    /// verbose report.
    ///
    /// Must be called before the compiler acts on the change: then the report exists even if the compiler crashes on
    /// it.
    pub(crate) fn report(&self, gate: Gate, id: ChangeId, describe: impl FnOnce() -> Description) {
        let Some(matcher) = self.settings.should_report(gate, id) else { return };
        self.reports.once(id, matcher.verbose().then_some(|| describe().lines(gate)));
    }

    /// Writes a line that is not a report, if reports of at least one of these gates are verbose.
    pub(crate) fn write_if_verbose(&self, gates: &[Gate], line: impl FnOnce() -> String) {
        if gates.iter().any(|&gate| self.settings.is_verbose(gate)) {
            self.reports.write(&format!("bisect-rustc: {}\n", line()));
        }
    }
}

/// Returns true if the variables ask for at least one of these gates, for any package.
#[must_use]
pub(crate) fn any_package_asks_for(gates: &[Gate], variables: impl Iterator<Item = (OsString, OsString)>) -> bool {
    // Malformed values are skipped here. The compilation that they apply to reports them.
    let texts = variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut settings = texts.filter_map(|(name, value)| match &*name {
        PATTERN => Settings::parse(&value, Names::Shared).ok(),
        _ if name.starts_with(names::RUSTC_PACKAGE) => Settings::parse(&value, Names::Gates).ok(),
        _ => None,
    });
    settings.any(|settings| gates.iter().any(|&gate| settings.asks_for(gate)))
}

fn get(variable: impl Fn(&str) -> Result<String, VarError>, name: &str) -> Result<Option<String>, String> {
    match variable(name) {
        Ok(value) => Ok(Some(value)),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(format!("{name}: it is not UTF-8")),
    }
}

/// The description of a change in a verbose report.
#[derive(Clone, Debug)]
pub(crate) struct Description {
    /// The source location, as `file:line:column`.
    pub(crate) place: String,
    /// The path of the function.
    pub(crate) function: String,
    /// Further details, one per line.
    pub(crate) details: Vec<String>,
}

impl Description {
    /// Returns the lines of a report. They have the form of the frames of a call stack: the place and the name of the
    /// gate, then the function. Details are indented further.
    fn lines(&self, gate: Gate) -> Vec<String> {
        let Self { place, function, details } = self;
        let mut lines = vec![format!("{place} {}", gate.name()), format!("  {function} at {place}")];
        lines.extend(details.iter().map(|detail| format!("    {detail}")));
        lines
    }
}

impl Package {
    /// Returns the name of the variable for this package alone. It is mangled like that of the package's build-time
    /// changes.
    fn variable(&self) -> String {
        names::of_package(names::RUSTC_PACKAGE, &self.name, &self.version)
    }
}

#[cfg(test)]
#[path = "bisection_tests.rs"]
mod tests;
