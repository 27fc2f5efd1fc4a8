//! The statement that is printed at the end of a day.

use std::fmt::Write as _;

use clearing_ledger::Ledger;

/// Formats the balances: a line for each account, and one for the total.
#[must_use]
pub fn statement(ledger: &Ledger) -> String {
    let mut text = String::new();
    for account in ledger.accounts() {
        line(&mut text, &account.owner, account.cents);
    }
    line(&mut text, "total", ledger.total());
    text
}

fn line(text: &mut String, owner: &str, cents: i64) {
    let sign = if cents < 0 { "-" } else { "" };
    let amount = format!("{sign}{}.{:02}", (cents / 100).abs(), (cents % 100).abs());
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{owner:<8}{amount:>12}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_stand_below_each_other() {
        let mut ledger = Ledger::default();
        ledger.open("ann", 123_405);
        ledger.open("bob", -50);
        assert_eq!(statement(&ledger), "ann          1234.05\nbob            -0.50\ntotal        1233.55\n");
    }
}
