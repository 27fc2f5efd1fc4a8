//! The page that is published at the end of the season.

use std::fmt::Write as _;

use crate::{
    Row,
    stats::{self, Summary},
};

/// Formats the whole page.
#[must_use]
pub fn season(rows: &[Row]) -> String {
    let all: Vec<_> = rows.iter().collect();
    let mut page = format!("Season    {}\n", Summary::of(&all));
    page += &halves(&all);
    page += &races(&all);
    page += &clubs(&all);
    page += &categories(&all);
    page += &newcomers(&all);
    page += &regulars(&all);
    page += &last_race(&all);
    page += &final_race(&all);
    page
}

fn halves(all: &[&Row]) -> String {
    let (spring, autumn): (Vec<_>, Vec<_>) = all.iter().partition(|row| row.race <= 6);
    format!("Spring    {}\nAutumn    {}\n", Summary::of(&spring), Summary::of(&autumn))
}

fn races(all: &[&Row]) -> String {
    let mut text = String::from("\nRaces\n");
    for (race, rows) in groups(all, |row| row.race) {
        let winners = stats::honours(&rows, 1).join(", ");
        line(&mut text, &format!("{race:2}"), &Summary::of(&rows), &winners);
    }
    text
}

fn clubs(all: &[&Row]) -> String {
    let mut text = String::from("\nClubs\n");
    for (club, rows) in groups(all, |row| row.club.as_str()) {
        line(&mut text, club, &Summary::of(&rows), &stats::honours(&rows, 1).join(", "));
    }
    text
}

fn categories(all: &[&Row]) -> String {
    let mut text = String::from("\nCategories\n");
    for (category, rows) in groups(all, |row| row.category.as_str()) {
        line(&mut text, category, &Summary::of(&rows), &stats::honours(&rows, 3).join(", "));
    }
    text
}

/// Formats the runners whose only race was in the second half of the season.
fn newcomers(all: &[&Row]) -> String {
    let (mut rows, _) = by_number_of_races(all, |races| races == 1);
    rows.retain(|row| row.race > 6);
    format!("\nNewcomers {}\n          {}\n", Summary::of(&rows), stats::honours(&rows, 5).join(", "))
}

/// Formats the runners of at least half of the races, and the others.
fn regulars(all: &[&Row]) -> String {
    let (regulars, others) = by_number_of_races(all, |races| races >= 6);
    format!(
        "Regulars  {}\n          {}\nOthers    {}\n",
        Summary::of(&regulars),
        stats::honours(&regulars, 5).join(", "),
        Summary::of(&others)
    )
}

fn last_race(all: &[&Row]) -> String {
    let rows: Vec<_> = all.iter().copied().filter(|row| row.race == 12).collect();
    format!("Last race {}\n          {}\n", Summary::of(&rows), stats::honours(&rows, 10).join(", "))
}

/// Formats the line-up of the final.
fn final_race(all: &[&Row]) -> String {
    let mut text = String::from("\nFinal\n");
    for (lane, name) in stats::finalists(all, 16).iter().enumerate() {
        let _ = writeln!(text, "{:2} {name}", lane + 1);
    }
    text
}

fn line(text: &mut String, label: &str, summary: &Summary, names: &str) {
    let _ = writeln!(text, "{label:<9} {summary}\n          {names}");
}

/// Groups rows by a key. The keys are in order.
fn groups<'a, K: Ord>(rows: &[&'a Row], key: impl Fn(&'a Row) -> K) -> Vec<(K, Vec<&'a Row>)> {
    let mut groups = std::collections::BTreeMap::<K, Vec<&'a Row>>::new();
    for &row in rows {
        groups.entry(key(row)).or_default().push(row);
    }
    groups.into_iter().collect()
}

/// Separates the rows of runners with a wanted number of races from the others.
fn by_number_of_races<'a>(all: &[&'a Row], wanted: impl Fn(usize) -> bool) -> (Vec<&'a Row>, Vec<&'a Row>) {
    let (mut chosen, mut others) = (Vec::new(), Vec::new());
    for (_, rows) in groups(all, |row| row.runner.as_str()) {
        if wanted(rows.len()) { chosen.extend(rows) } else { others.extend(rows) }
    }
    (chosen, others)
}
