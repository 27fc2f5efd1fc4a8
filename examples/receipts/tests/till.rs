//! The receipt of one customer.

use receipts::Receipt;

fn receipt() -> String {
    Receipt::default().with("lamp", 1_999).with("bulb", 349).print()
}

#[test]
fn prices_have_cents() {
    assert!(receipt().ends_with("23.48"), "{}", receipt());
}

#[test]
fn lines_are_as_wide_as_the_paper() {
    assert!(receipt().lines().all(|line| line.len() == 24), "{}", receipt());
}
