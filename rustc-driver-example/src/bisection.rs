//! What is asked of this compilation: the variables, read once, and the answers for each change.

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

/// What is asked of this compilation about one package: the one that is compiled, or another one that has written some
/// of this one's code.
#[derive(Clone, Debug)]
pub(crate) struct Bisection {
    package: Option<Package>,
    read: Vec<Variable>,
    settings: Settings,
    reports: Arc<Reports>,
}

/// A package, as cargo names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
}

/// A variable that was read, and what it was set to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Variable {
    /// Its name.
    pub(crate) name: String,
    /// Its value; none if it was not set.
    pub(crate) value: Option<String>,
}

impl Bisection {
    /// Reads what is asked about the package that is compiled.
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

    /// Reads the variables for a package: its own (`BISECT_RUSTC_<name>_<version>`) if it is set, else [`PATTERN`].
    ///
    /// # Errors
    /// If the one that counts has no meaning. The text is a line for the user.
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
    /// If it cannot be opened.
    pub(crate) fn report_to(&mut self, path: &OsStr) -> io::Result<()> {
        self.reports = Arc::new(Reports::to(Some(path))?);
        Ok(())
    }

    /// Sends reports to where those of another one go.
    #[must_use]
    pub(crate) fn reporting_with(self, other: &Self) -> Self {
        Self { reports: other.reports.clone(), ..self }
    }

    /// The package, if cargo has told which it is.
    #[must_use]
    pub(crate) fn package(&self) -> Option<&Package> {
        self.package.as_ref()
    }

    /// The variables that this compilation depends on.
    #[must_use]
    pub(crate) fn variables(&self) -> &[Variable] {
        &self.read
    }

    /// Whether anybody asks for one of these gates.
    #[must_use]
    pub(crate) fn asks_for(&self, gates: &[Gate]) -> bool {
        gates.iter().any(|&gate| self.settings.asks_for(gate))
    }

    /// The ID of the change that `fields` describe. Its low bits are those of the package that is compiled, or else of
    /// the crate.
    #[must_use]
    pub(crate) fn id(&self, gate: Gate, krate: &str, fields: &[Field<'_>]) -> ChangeId {
        let compiling = match &self.package {
            Some(package) => ChangeId::of(&[Field::Str(&package.name), Field::Str(&package.version)]),
            None => ChangeId::of(&[Field::Str(krate)]),
        };
        let fields: Vec<_> = [Field::Str(gate.name())].iter().chain(fields).copied().collect();
        ChangeId::of(&fields).in_crate(compiling)
    }

    /// Whether the change is to be on.
    #[must_use]
    pub(crate) fn is_on(&self, gate: Gate, id: ChangeId) -> bool {
        self.settings.should_enable(gate, id)
    }

    /// Reports the change, if the pattern selects it and that was not done before; `place` and `function` are asked for
    /// only if people want to read them.
    ///
    /// To be called before the compiler acts on the change, so that a crash right behind it loses nothing.
    pub(crate) fn report(&self, gate: Gate, id: ChangeId, describe: impl FnOnce() -> Description) {
        let Some(matcher) = self.settings.should_report(gate, id) else { return };
        self.reports.once(id, matcher.verbose().then_some(|| describe().lines(gate)));
    }

    /// Tells people who read reports of these gates a line that is no report.
    pub(crate) fn tell(&self, gates: &[Gate], line: impl FnOnce() -> String) {
        if gates.iter().any(|&gate| self.settings.is_verbose(gate)) {
            self.reports.write(&format!("bisect-rustc: {}\n", line()));
        }
    }
}

/// Whether anybody asks for one of these gates, in whichever package.
#[must_use]
pub(crate) fn somebody_asks_for(gates: &[Gate], variables: impl Iterator<Item = (OsString, OsString)>) -> bool {
    // What has no meaning is told where it counts.
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

/// A change, for people.
#[derive(Clone, Debug)]
pub(crate) struct Description {
    /// `file:line:column`.
    pub(crate) place: String,
    /// The path of the function.
    pub(crate) function: String,
    /// What else there is to say, a line each.
    pub(crate) details: Vec<String>,
}

impl Description {
    /// The form of the frames of a call stack: the place and the name, then the function; details are indented further.
    fn lines(&self, gate: Gate) -> Vec<String> {
        let Self { place, function, details } = self;
        let mut lines = vec![format!("{place} {}", gate.name()), format!("  {function} at {place}")];
        lines.extend(details.iter().map(|detail| format!("    {detail}")));
        lines
    }
}

impl Package {
    /// The variable that is for this package alone, with the same characters as that of its build-time changes.
    fn variable(&self) -> String {
        names::of_package(names::RUSTC_PACKAGE, &self.name, &self.version)
    }
}

#[cfg(test)]
#[path = "bisection_tests.rs"]
mod tests;
