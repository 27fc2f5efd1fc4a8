//! Invoices, in a release that rounds half a cent to the even cent instead of up.
//!
//! Each step of an invoice rounds. The new rule moves some steps by a cent, and most of these pass unnoticed.

use bisect_rt::bisect_point;

mod money;

pub use money::{Cents, Rounding};

use money::percent;

/// One position of an order.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// The number of pieces.
    pub pieces: u64,
    /// The price of one piece.
    pub price: Cents,
    /// The discount, in percent.
    pub discount: u64,
}

/// The amount to pay, step by step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invoice {
    /// The sum of the positions after their discounts.
    pub goods: Cents,
    /// The discount for customers of many years.
    pub loyalty: Cents,
    /// The carriage.
    pub freight: Cents,
    /// The insurance of the carriage.
    pub insurance: Cents,
    /// The fee for the card company.
    pub card_fee: Cents,
    /// The tax on the sum of the others.
    pub tax: Cents,
}

/// Chooses the new rule at this place, or the old one.
macro_rules! rounding {
    () => {
        if bisect_point!("half-even") { Rounding::HalfEven } else { Rounding::HalfUp }
    };
}

impl Invoice {
    /// Computes the invoice of an order.
    #[must_use]
    pub fn of(order: &[Position]) -> Self {
        let goods = order.iter().map(position).sum();
        let loyalty = percent(goods, 3, rounding!());
        let net = goods - loyalty;
        let freight = freight(net);
        let insurance = percent(freight, 5, rounding!());
        let card_fee = percent(net + freight, 1, rounding!());
        let tax = percent(net + freight + insurance + card_fee, 19, rounding!());
        Self { goods, loyalty, freight, insurance, card_fee, tax }
    }

    /// Returns the sum at the bottom.
    #[must_use]
    pub fn total(&self) -> Cents {
        self.goods - self.loyalty + self.freight + self.insurance + self.card_fee + self.tax
    }

    /// Returns the deposit: a fifth of the sum.
    #[must_use]
    pub fn deposit(&self) -> Cents {
        percent(self.total(), 20, rounding!())
    }

    /// Returns the fee of a reminder.
    #[must_use]
    pub fn late_fee(&self) -> Cents {
        percent(self.total(), 2, rounding!())
    }
}

fn position(position: &Position) -> Cents {
    let full = position.price * position.pieces;
    full - percent(full, position.discount, rounding!())
}

/// Computes the carriage. Its rate is higher for goods of little value.
fn freight(net: Cents) -> Cents {
    if net < Cents(5_000) {
        percent(net, 9, rounding!())
    } else if net < Cents(20_000) {
        percent(net, 6, rounding!())
    } else {
        percent(net, 4, rounding!())
    }
}
