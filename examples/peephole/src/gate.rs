//! The protocol, adopted: is a change enabled, and is it reported? A compiler needs no more than this file.

use std::{
    collections::HashSet,
    env, fmt,
    fs::{File, OpenOptions},
    io::{self, Write},
    sync::Mutex,
};

use bisect_core::{ChangeId, Field, Matcher, ParseError, Pattern, marker, protocol::names};

use crate::tree::Position;

/// The variable that has the pattern. A compiler chooses its own, or an option.
pub const VARIABLE: &str = "OPT_PATTERN";

/// The decisions on all changes of this process.
#[derive(Debug, Default)]
pub struct Gate {
    /// `None` if there is no search: every change is enabled, and nothing is hashed or reported.
    search: Option<Search>,
}

#[derive(Debug)]
struct Search {
    matcher: Matcher,
    /// The file for reports; standard error without one.
    file: Option<File>,
    /// The changes that this process has reported.
    reported: Mutex<HashSet<ChangeId>>,
}

/// A reason why the variables cannot be used.
#[derive(Debug)]
pub enum GateError {
    /// The pattern is malformed.
    Pattern(ParseError),
    /// The pattern is not Unicode.
    NotUnicode,
    /// The file for reports cannot be opened.
    Report(io::Error),
}

impl fmt::Display for GateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pattern(error) => write!(f, "{VARIABLE}: {error}"),
            Self::NotUnicode => write!(f, "{VARIABLE}: it is not Unicode"),
            Self::Report(error) => write!(f, "{}: {error}", names::REPORT),
        }
    }
}

impl std::error::Error for GateError {}

impl Gate {
    /// Reads the variables of this process.
    ///
    /// # Errors
    /// If the pattern is malformed, or the file for reports cannot be opened.
    pub fn from_env() -> Result<Self, GateError> {
        let pattern = match env::var(VARIABLE) {
            Ok(text) => text.parse::<Pattern>().map_err(GateError::Pattern)?,
            Err(env::VarError::NotPresent) => Pattern::default(),
            Err(env::VarError::NotUnicode(_)) => return Err(GateError::NotUnicode),
        };
        let Some(matcher) = Matcher::new(&pattern) else { return Ok(Self::default()) };
        // The driver has made the file. It is shared with other processes, so each report is appended by one `write`.
        let file = env::var_os(names::REPORT).filter(|path| !path.is_empty());
        let file = file.map(|path| OpenOptions::new().append(true).open(path)).transpose();
        let file = file.map_err(GateError::Report)?;
        Ok(Self { search: Some(Search { matcher, file, reported: Mutex::default() }) })
    }

    /// Returns true if this application of a rule is enabled, and reports it first if the pattern selects it.
    ///
    /// The ID is made of the rule, the function and the position, so it is the same in every run, whatever else is
    /// enabled. The path of the file is in the text only: IDs are the same in every directory.
    pub fn is_enabled(
        &self,
        rule: &str,
        function: &str,
        file: &str,
        at: Position,
        text: impl FnOnce() -> String,
    ) -> bool {
        let Some(search) = &self.search else { return true };
        let fields = [Field::Str(rule), Field::Str(function), Field::U64(at.line.into()), Field::U64(at.column.into())];
        let id = ChangeId::of(&fields);
        if search.matcher.should_report(id) {
            search.report(id, || format!("{file}:{}:{} {rule}\n    fn {function}: {}", at.line, at.column, text()));
        }
        search.matcher.should_enable(id)
    }
}

impl Search {
    /// Reports a change once: the marker alone, or, if the pattern begins with `v`, lines for people that each end with
    /// the marker.
    fn report(&self, id: ChangeId, text: impl FnOnce() -> String) {
        let mut reported = self.reported.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !reported.insert(id) {
            return;
        }
        let marker = marker::format(id);
        let marker = String::from_utf8_lossy(&marker);
        let lines = if self.matcher.verbose() {
            text().lines().flat_map(|line| [line, " ", &marker, "\n"].map(str::to_owned)).collect()
        } else {
            format!("{marker}\n")
        };
        let written = match &self.file {
            Some(file) => (&mut &*file).write_all(lines.as_bytes()),
            None => io::stderr().write_all(lines.as_bytes()),
        };
        if let Err(error) = written {
            // An answer without all reports could be wrong. For the driver, a run with this status says nothing.
            eprintln!("{VARIABLE}: {error}: reports are lost");
            std::process::exit(125);
        }
    }
}
