//! Properties that no optimization changes.

use clearing::{clear, morning};

#[test]
fn who_is_not_mentioned_keeps_his_money() {
    let mut ledger = morning();
    clear(&mut ledger, "ann > bob: 10.00\nbob > cleo: 5.00 5.00\n").unwrap();
    let (before, after) = (morning(), ledger);
    assert_eq!(after.accounts()[3..], before.accounts()[3..]);
    assert_eq!(after.total(), before.total());
}

#[test]
fn an_account_that_does_not_exist_is_named() {
    assert_eq!(clear(&mut morning(), "ann > zoe: 1.00"), Err("ann > zoe".to_owned()));
}
