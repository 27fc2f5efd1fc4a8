//! The sum of all balances at the end of the day.

use clearing::{DAY, clear, morning};

#[test]
fn no_money_is_made_or_lost() {
    let mut ledger = morning();
    clear(&mut ledger, DAY).unwrap();
    assert_eq!(ledger.total(), morning().total(), "{}", clearing_statement::statement(&ledger));
}
