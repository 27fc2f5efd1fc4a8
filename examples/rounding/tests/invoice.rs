//! Properties that hold by both rules.

use rounding::{Cents, Invoice, Position};

fn invoice(pieces: u64, price: u64, discount: u64) -> Invoice {
    Invoice::of(&[Position { pieces, price: Cents(price), discount }])
}

#[test]
fn an_invoice_adds_up() {
    let invoice = invoice(2, 10_000, 10);
    assert_eq!(invoice.goods, Cents(18_000));
    assert_eq!(invoice.loyalty, Cents(540));
    assert_eq!(invoice.freight, Cents(1_048));
    assert_eq!(invoice.insurance, Cents(52));
    assert_eq!(invoice.card_fee, Cents(185));
    assert_eq!(invoice.tax, Cents(3_562));
    assert_eq!(invoice.total(), Cents(22_307));
}

#[test]
fn freight_is_dearer_for_goods_of_little_value() {
    let freight = |price| invoice(1, price, 0).freight;
    assert_eq!([1_000, 10_000, 30_000].map(freight), [Cents(87), Cents(582), Cents(1_164)]);
}

#[test]
fn the_deposit_and_the_late_fee_are_shares_of_the_total() {
    let invoice = invoice(2, 10_000, 10);
    assert_eq!((invoice.deposit(), invoice.late_fee()), (Cents(4_461), Cents(446)));
}
