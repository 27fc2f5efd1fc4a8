//! Tickets of a ferry: fares, and how they are printed.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static IS_IN_FRANCS: AtomicBool = AtomicBool::new(false);

/// Prints all fares in francs from now on, or in euros.
pub fn use_francs(yes: bool) {
    IS_IN_FRANCS.store(yes, Relaxed);
}

/// Returns the fare for one passenger of this age, in cents.
#[must_use]
pub fn fare(age: u32, piers: u32) -> u32 {
    let full = 150 + 80 * piers;
    match age {
        0..=5 => 0,
        6..=15 => full / 2,
        16..=64 => full,
        65.. => full * 3 / 4,
    }
}

/// Returns the fare for a vehicle of this length, in cents.
#[must_use]
pub fn vehicle_fare(decimetres: u32) -> u32 {
    if decimetres <= 20 { 300 } else { 900 + 15 * (decimetres - 20) }
}

/// Returns an amount as it is printed on a ticket.
#[must_use]
pub fn printed(cents: u32) -> String {
    let (currency, amount) = if IS_IN_FRANCS.load(Relaxed) { ("CHF", cents * 94 / 100) } else { ("EUR", cents) };
    format!("{currency} {}.{:02}", amount / 100, amount % 100)
}
