//! The results as they were handed in: a line each, earliest first.

use std::{error::Error, fmt};

/// One runner in one race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Who ran.
    pub runner: String,
    /// For which club.
    pub club: String,
    /// In which age group.
    pub category: String,
    /// Number of the race in the season, from 1.
    pub race: u32,
    /// What it earned.
    pub points: u32,
}

/// Reads `runner,club,category,race,points` lines below a heading.
///
/// # Errors
/// Names the first line that is not of that form.
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

/// A line that is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Its number, from 1.
    pub line: usize,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: expected runner,club,category,race,points", self.line)
    }
}

impl Error for ReadError {}
