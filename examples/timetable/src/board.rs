//! The board over a platform.

use crate::{
    clock::Time,
    plan::{Departure, Plan},
};

/// The width of a terminus on the board.
const WIDTH: usize = 16;

/// Returns the board at a time: the next departures, one a line.
pub fn board(plan: &Plan, now: Time, rows: usize) -> String {
    if plan.is_empty() {
        return String::from("no departures\n");
    }
    let mut text = String::new();
    for departure in plan.next(now, rows).iter() {
        text.push_str(&row(departure));
        text.push_str("\n");
    }
    text
}

fn row(departure: &Departure) -> String {
    let mut row = String::new();
    row.push_str(&clock(departure.time));
    row.push_str("  ");
    row.push_str(&padded(&departure.line, 4));
    row.push_str(&padded(&shortened(&departure.terminus), WIDTH));
    row.push_str(&format!("{:>3}", departure.platform));
    row
}

fn clock(time: Time) -> String {
    format!("{:02}:{:02}", time.hour(), time.minute())
}

fn padded(text: &str, width: usize) -> String {
    let mut padded = text.to_string();
    while padded.chars().count() < width {
        padded.push(' ');
    }
    padded
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= WIDTH {
        return text.to_string();
    }
    let mut short: String = text.chars().take(WIDTH - 1).collect();
    short.push('.');
    short
}
