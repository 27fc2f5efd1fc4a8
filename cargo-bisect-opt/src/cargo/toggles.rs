//! The toggles of a program.
//!
//! The runtime lists them (`BISECT_TOGGLES=1`). A program without the runtime would run instead. So its file is first
//! searched for the name of the variable.
//!
//! The list has a line for each toggle, tab-separated, sorted, without duplicates: name, key (`site`, `caller`, `stack`,
//! `build`), place (`file:line:column`), default (`on`, or `body` for a gate). Build-time changes have three more columns:
//! ID, package (`name@version`), and the compiled state (`on`, `off`). Fixed toggles have a last column, `fixed on` or
//! `fixed off`. The list is followed on standard error by the names in `BISECT_FIX` that no toggle has.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fmt::{self, Write},
    io,
    path::PathBuf,
};

use bisect_core::{ChangeId, Matcher, Pattern, protocol::names};
use memchr::memmem;
use serde::{Serialize, Serializer};

use super::{CargoError, Executable};
use crate::{
    process::shell,
    report::{
        content::{Location, Report},
        kind::ChangeKind,
        scan::Reports,
    },
    units::plural,
};

/// The maximum number of toggle names in the first line of a search.
const MAX_SHOWN_NAMES: usize = 6;

/// The variable that makes a program list its toggles and exit, if it is `1`.
pub(crate) const VARIABLE: &str = names::TOGGLES;

/// One line of the list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Toggle {
    /// Its name.
    pub(crate) name: String,
    /// The kind of its changes.
    #[serde(rename = "kind")]
    pub(crate) key: ToggleKey,
    /// Its location.
    pub(crate) place: TogglePlace,
    /// Its behaviour without a pattern.
    pub(crate) default: String,
    /// The facts that only build-time toggles have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) build: Option<BuildTimeInfo>,
    /// The state in which it is compiled, if `BISECT_FIX` names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fixed: Option<FixedState>,
}

/// The state of a toggle that is fixed while it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FixedState {
    /// Enabled.
    On,
    /// Disabled.
    Off,
}

impl FixedState {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "fixed on" => Some(Self::On),
            "fixed off" => Some(Self::Off),
            _ => None,
        }
    }
}

impl fmt::Display for FixedState {
    /// Formats it as `fixed on` or `fixed off`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::On => "fixed on",
            Self::Off => "fixed off",
        })
    }
}

/// A location in the source, as the runtime reports it, in reading order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TogglePlace {
    file: String,
    line: u32,
    column: u32,
}

/// The kind of a toggle's changes, in the order and with the names of the list. See [`ChangeKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ToggleKey {
    /// See [`ChangeKind::SITE`].
    Site,
    /// See [`ChangeKind::CALLER`].
    Caller,
    /// See [`ChangeKind::STACK`].
    Stack,
    /// See [`ChangeKind::BUILD`].
    Build,
}

/// The facts about a build-time change in the list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct BuildTimeInfo {
    /// The change's ID.
    #[serde(serialize_with = "id")]
    pub(crate) id: ChangeId,
    /// `name@version`
    pub(crate) package: String,
    /// Set if it is compiled in.
    pub(crate) compiled_in: bool,
}

impl TogglePlace {
    fn parse(text: &str) -> Option<Self> {
        let (rest, column) = text.rsplit_once(':')?;
        let (file, line) = rest.rsplit_once(':')?;
        Some(Self { file: file.to_owned(), line: line.parse().ok()?, column: column.parse().ok()? })
    }
}

impl fmt::Display for TogglePlace {
    /// Formats it as `file:line:column`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Serialize for TogglePlace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl ToggleKey {
    const ALL: [Self; 4] = [Self::Site, Self::Caller, Self::Stack, Self::Build];

    fn name(self) -> &'static str {
        match self {
            ToggleKey::Site => "site",
            ToggleKey::Caller => "caller",
            ToggleKey::Stack => "stack",
            ToggleKey::Build => "build",
        }
    }

    /// Returns the driver's kind of change.
    pub(crate) fn kind(self) -> ChangeKind {
        match self {
            ToggleKey::Site => ChangeKind::SITE,
            ToggleKey::Caller => ChangeKind::CALLER,
            ToggleKey::Stack => ChangeKind::STACK,
            ToggleKey::Build => ChangeKind::BUILD,
        }
    }
}

impl Serialize for ToggleKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn id<S: Serializer>(id: &ChangeId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

/// Parses the toggles that a program listed, among its other output.
pub(crate) fn parse(output: &[u8]) -> BTreeSet<Toggle> {
    String::from_utf8_lossy(output).lines().filter_map(line).collect()
}

fn line(line: &str) -> Option<Toggle> {
    let mut columns = line.split('\t');
    let name = columns.next().filter(|name| !name.is_empty())?;
    let key = columns.next()?;
    let key = ToggleKey::ALL.into_iter().find(|known| known.name() == key)?;
    let place = TogglePlace::parse(columns.next()?)?;
    let default = columns.next().filter(|default| ["on", "body"].contains(default))?;
    let build = if key == ToggleKey::Build {
        let id = u64::from_str_radix(columns.next()?.strip_prefix("0x")?, 16).ok()?;
        let package = columns.next().filter(|package| package.contains('@'))?.to_owned();
        let compiled_in = match columns.next()? {
            "on" => true,
            "off" => false,
            _ => return None,
        };
        Some(BuildTimeInfo { id: ChangeId(id), package, compiled_in })
    } else {
        None
    };
    let fixed = match columns.next() {
        None => None,
        Some(state) => Some(FixedState::parse(state)?),
    };
    let toggle = Toggle { name: name.to_owned(), key, place, default: default.to_owned(), build, fixed };
    columns.next().is_none().then_some(toggle)
}

/// The names of the shared libraries that contain the runtime. A program that names one of them may have toggles.
#[derive(Debug, Default)]
pub(crate) struct Libraries(Vec<String>);

impl Libraries {
    /// Finds the libraries among `files` that contain the runtime.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub(crate) fn among(files: impl IntoIterator<Item = PathBuf>) -> io::Result<Self> {
        let mut names = Vec::new();
        for file in files {
            if has_runtime(&fs_err::read(&file)?) {
                names.extend(file.file_name().and_then(|name| name.to_str()).map(str::to_owned));
            }
        }
        Ok(Self(names))
    }

    /// Returns whether the program with these bytes can list its toggles.
    pub(crate) fn or_runtime_in(&self, program: &[u8]) -> bool {
        has_runtime(program) || self.0.iter().any(|name| memmem::find(program, name.as_bytes()).is_some())
    }
}

fn has_runtime(bytes: &[u8]) -> bool {
    memmem::find(bytes, VARIABLE.as_bytes()).is_some()
}

/// Reports the build-time changes that the pattern selects, of toggles with these names. Programs do not report them.
pub(crate) fn report(toggles: &BTreeSet<Toggle>, names: &[String], pattern: &Pattern, reports: &mut Reports) {
    let Some(matcher) = Matcher::new(pattern) else { return };
    for toggle in toggles.iter().filter(|toggle| toggle.fixed.is_none() && names.contains(&toggle.name)) {
        if let Some(build) = toggle.build.as_ref().filter(|build| matcher.should_report(build.id)) {
            let TogglePlace { file, line, column } = &toggle.place;
            reports.add(Report {
                kind: ChangeKind::BUILD,
                name: toggle.name.clone(),
                location: Some(Location::new(file, *line, Some(*column))),
                ..Report::with_text(build.id, format!("{} {}", toggle.place, toggle.name))
            });
        }
    }
}

/// Returns the kind of a change by the toggle with its name, or by the one of several that fits its report.
pub(crate) fn kind(toggles: &BTreeSet<Toggle>, report: &Report) -> ChangeKind {
    let mut named = toggles.iter().filter(|known| known.name == report.name);
    let is_at = |place: &TogglePlace| {
        let at = report.location.as_ref();
        at.is_some_and(|at| (&at.file, at.line, at.column) == (&place.file, Some(place.line), Some(place.column)))
    };
    let fits = |toggle: &&Toggle| match toggle.key {
        ToggleKey::Site | ToggleKey::Build => is_at(&toggle.place),
        ToggleKey::Caller => report.frames.is_empty(),
        ToggleKey::Stack => !report.frames.is_empty(),
    };
    let fitting = named.clone().find(fits).or_else(|| named.next());
    fitting.map_or(report.kind, |toggle| toggle.key.kind())
}

/// Describes the searched toggles as `3 run-time toggles (a, b, c)`: those with one of the names, or all if none is
/// given. Fixed toggles are not searched.
pub(crate) fn subject<'a>(toggles: impl Iterator<Item = &'a Toggle>, names: &[String], noun: &str) -> String {
    let searched =
        toggles.filter(|toggle| toggle.fixed.is_none() && (names.is_empty() || names.contains(&toggle.name)));
    let searched: BTreeSet<_> = searched.map(|toggle| toggle.name.as_str()).collect();
    let shown = searched.iter().take(MAX_SHOWN_NAMES).copied().collect::<Vec<_>>().join(", ");
    let more = if searched.len() > MAX_SHOWN_NAMES { ", …" } else { "" };
    format!("{} ({shown}{more})", plural(searched.len(), noun))
}

/// The toggles as a table for people.
pub(crate) struct ToggleTable<'a>(pub(crate) &'a BTreeSet<Toggle>);

impl fmt::Debug for ToggleTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ToggleTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = ["NAME", "KIND", "PLACE", "DEFAULT"].map(str::to_owned);
        let mut rows = vec![header];
        rows.extend(self.0.iter().map(|toggle| {
            let default = toggle.fixed.map_or_else(|| toggle.default.clone(), |state| state.to_string());
            [toggle.name.clone(), toggle.key.name().to_owned(), toggle.place.to_string(), default]
        }));
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths = [0, 1, 2].map(width);
        for row in &rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(widths.into_iter().chain([0])) {
                write!(line, "{cell:width$}  ")?;
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Returns an error if executables with the runtime listed no toggle, and a runner starts them, which may not pass the
/// environment on. `asked` is one of these executables.
pub(super) fn check_runner(
    found: &BTreeSet<Toggle>,
    asked: Option<&Executable>,
    runner: &[OsString],
) -> Result<(), CargoError> {
    let Some(executable) = asked.filter(|_| found.is_empty() && !runner.is_empty()) else { return Ok(()) };
    let runner = shell::line(runner);
    let [pattern, report, toggles] = [names::PATTERN, names::REPORT, names::TOGGLES];
    Err(CargoError::Nothing(format!(
        "{executable} lists no toggles, and the runner `{runner}` starts it: does it pass the environment on? Have it pass \
         {pattern}, {report}, {toggles} and the other variables {}* to the executable (`passthrough` of cross, \
         `--env` of containers)",
        names::FAMILY
    )))
}

#[cfg(test)]
#[path = "toggles_tests.rs"]
mod tests;
