//! Figures over any selection of results.

use std::fmt;

use crate::{Row, sort};

/// Returns the rows, most points first.
fn ranked<'a>(rows: &[&'a Row]) -> Vec<&'a Row> {
    let mut rows = rows.to_vec();
    sort(&mut rows);
    rows
}

/// Returns the points at this share of the ranking: 0 is the best, 1 the last. Without rows, these are 0 points.
fn at_share(rows: &[&Row], numerator: usize, denominator: usize) -> u32 {
    let last = rows.len().saturating_sub(1);
    ranked(rows).get(last * numerator / denominator).map_or(0, |row| row.points)
}

/// Returns the most points.
#[must_use]
pub fn best(rows: &[&Row]) -> u32 {
    ranked(rows).first().map_or(0, |row| row.points)
}

/// Returns the points of the middle of the field.
#[must_use]
pub fn median(rows: &[&Row]) -> u32 {
    at_share(rows, 1, 2)
}

/// Returns the points that a quarter of the field reaches.
#[must_use]
pub fn upper_quartile(rows: &[&Row]) -> u32 {
    at_share(rows, 1, 4)
}

/// Returns the points that three quarters of the field reach.
#[must_use]
pub fn lower_quartile(rows: &[&Row]) -> u32 {
    at_share(rows, 3, 4)
}

/// Returns the difference between the most points and the next lower points.
#[must_use]
pub fn lead(rows: &[&Row]) -> u32 {
    let ranked = ranked(rows);
    let Some(first) = ranked.first() else { return 0 };
    let next = ranked.iter().find(|row| row.points < first.points);
    next.map_or(0, |next| first.points - next.points)
}

/// Returns the sum of the points of the `count` best rows.
#[must_use]
pub fn team_score(rows: &[&Row], count: usize) -> u32 {
    ranked(rows).iter().take(count).map(|row| row.points).sum()
}

/// Returns the runners with at least the points of place `places`, each once, by name. Equal points are equally good.
#[must_use]
pub fn honours<'a>(rows: &[&'a Row], places: usize) -> Vec<&'a str> {
    let ranked = ranked(rows);
    let Some(border) = ranked.get(places.saturating_sub(1)).or(ranked.last()).map(|row| row.points) else {
        return Vec::new();
    };
    let mut names: Vec<_> =
        ranked.iter().take_while(|row| row.points >= border).map(|row| row.runner.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the runners of the final: the first `places` runners, each once, best first. Of equal points, the earlier
/// result goes ahead.
#[must_use]
pub fn finalists<'a>(rows: &[&'a Row], places: usize) -> Vec<&'a str> {
    let mut names = Vec::new();
    for row in ranked(rows) {
        if names.len() < places && !names.contains(&row.runner.as_str()) {
            names.push(row.runner.as_str());
        }
    }
    names
}

/// The figures of a selection, which fit on one line of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    results: usize,
    best: u32,
    upper: u32,
    median: u32,
    lower: u32,
    lead: u32,
    team: u32,
}

impl Summary {
    /// Computes the figures of these rows.
    #[must_use]
    pub fn of(rows: &[&Row]) -> Self {
        Self {
            results: rows.len(),
            best: best(rows),
            upper: upper_quartile(rows),
            median: median(rows),
            lower: lower_quartile(rows),
            lead: lead(rows),
            team: team_score(rows, 5),
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { results, best, upper, median, lower, lead, team } = self;
        write!(
            f,
            "{results:4} results, best {best:3}, quarters {upper:3} {median:3} {lower:3}, lead {lead}, team {team}"
        )
    }
}
