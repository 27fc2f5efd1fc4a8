//! A year of invoices, compared with the ledger, which was written by the old rule.

use std::fs;

use rounding::{Cents, Invoice, Position};

/// Parses `3*4.50-7`: three pieces at 4.50 each, seven percent off.
fn position(text: &str) -> Option<Position> {
    let (pieces, rest) = text.split_once('*')?;
    let (price, discount) = rest.split_once('-')?;
    Some(Position { pieces: pieces.parse().ok()?, price: cents(price)?, discount: discount.parse().ok()? })
}

fn cents(text: &str) -> Option<Cents> {
    let (whole, cents) = text.split_once('.')?;
    Some(Cents(whole.parse::<u64>().ok()? * 100 + cents.parse::<u64>().ok()?))
}

#[test]
fn every_invoice_is_within_a_cent_of_the_ledger() {
    let ledger = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/data/ledger.csv")).unwrap();
    for line in ledger.lines().skip(1) {
        let [number, order, total] = line.split(',').collect::<Vec<_>>()[..] else { panic!("malformed: {line}") };
        let order: Vec<_> = order.split(' ').map(|text| position(text).expect(line)).collect();

        let invoice = Invoice::of(&order);

        let booked = cents(total).expect(line);
        let off = invoice.total().distance(booked);
        assert!(off <= Cents(1), "order {number}: the ledger says {booked}, the invoice {}", invoice.total());
        assert!((invoice.deposit() * 5).distance(booked) <= Cents(5), "order {number}: the deposit is no fifth");
        assert!((invoice.late_fee() * 50).distance(booked) <= Cents(50), "order {number}: the fee is not 2 %");
    }
}
