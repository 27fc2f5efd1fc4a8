//! The clearing house of a small bank: a day's payments are read, booked and printed.

use clearing_ledger::Ledger;

/// The payments of a day. One customer moves money between two cards of the same account.
pub const DAY: &str = include_str!("../data/day.txt");

/// Returns the ledger as it is in the morning.
#[must_use]
pub fn morning() -> Ledger {
    let mut ledger = Ledger::default();
    for (owner, cents) in [("ann", 250_000), ("bob", 120_050), ("cleo", 78_000), ("dora", 4_999), ("emil", 310_000)] {
        ledger.open(owner, cents);
    }
    ledger
}

/// Books all payments of a file, in order. If a line is not a payment, nothing is booked.
///
/// # Errors
/// Returns the first line that is not a payment, or the first payment whose payer or payee has no account.
pub fn clear(ledger: &mut Ledger, payments: &str) -> Result<(), String> {
    for payment in clearing_batch::read(payments)? {
        if !ledger.pay(&payment.from, &payment.to, &payment.instalments) {
            return Err(format!("{} > {}", payment.from, payment.to));
        }
    }
    Ok(())
}
