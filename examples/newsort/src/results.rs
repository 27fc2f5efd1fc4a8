//! The results as they were submitted: one a line, earliest first.

use std::{error::Error, fmt};

/// One runner in one race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The name of the runner.
    pub runner: String,
    /// The runner's club.
    pub club: String,
    /// The runner's age group.
    pub category: String,
    /// The number of the race in the season, from 1.
    pub race: u32,
    /// The points that the runner earned.
    pub points: u32,
}

/// Parses `runner,club,category,race,points` lines below a heading.
///
/// # Errors
/// Returns the number of the first line that is not of that form.
pub fn read(csv: &str) -> Result<Vec<Row>, ReadError> {
    let lines = csv.lines().enumerate().skip(1);
    lines.map(|(index, line)| row(line).ok_or(ReadError { line: index + 1 })).collect()
}

fn row(line: &str) -> Option<Row> {
    let mut fields = line.split(',');
    let row = Row {
        runner: fields.next()?.to_owned(),
        club: fields.next()?.to_owned(),
        category: fields.next()?.to_owned(),
        race: fields.next()?.parse().ok()?,
        points: fields.next()?.parse().ok()?,
    };
    fields.next().is_none().then_some(row)
}

/// The error of a line that is not a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The number of the line, from 1.
    pub line: usize,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: expected runner,club,category,race,points", self.line)
    }
}

impl Error for ReadError {}
