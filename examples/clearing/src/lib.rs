//! The clearing house of a small bank: a day's payments are read, booked and printed.

use clearing_ledger::Ledger;

/// The payments of a day in which somebody moves money between two cards of the same account.
pub const DAY: &str = include_str!("../data/day.txt");

/// The ledger in the morning.
#[must_use]
pub fn morning() -> Ledger {
    let mut ledger = Ledger::default();
    for (owner, cents) in [("ann", 250_000), ("bob", 120_050), ("cleo", 78_000), ("dora", 4_999), ("emil", 310_000)] {
        ledger.open(owner, cents);
    }
    ledger
}

/// Books all payments of a file.
///
/// # Errors
/// With the first line that is no payment, or whose payer or payee has no account. What stands before it is booked.
pub fn clear(ledger: &mut Ledger, payments: &str) -> Result<(), String> {
    for payment in clearing_batch::read(payments)? {
        if !ledger.pay(&payment.from, &payment.to, &payment.instalments) {
            return Err(format!("{} > {}", payment.from, payment.to));
        }
    }
    Ok(())
}
