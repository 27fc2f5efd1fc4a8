//! The office, which sells each guest the requested seat or another one.

use std::{
    cell::RefCell,
    fmt::Write as _,
    sync::{Mutex, PoisonError},
};

use crate::hall::{Hall, Seat, Ticket};

/// The office, with its hall and its till.
#[derive(Debug, Default)]
pub struct Office {
    hall: Hall,
    /// The payments: the name of the guest, and the price in cents.
    till: Mutex<Vec<(String, u32)>>,
    /// The guests who went home without a seat.
    refused: RefCell<Vec<String>>,
}

impl Office {
    /// Returns the hall.
    #[must_use]
    pub fn hall(&self) -> &Hall {
        &self.hall
    }

    /// Sells the requested seat, or else another one. Returns the seat that was sold.
    pub fn sell(&self, name: &str, wish: Seat, ticket: Ticket) -> Option<Seat> {
        if let Some(price) = self.hall.hold(wish).price(ticket) {
            self.hall.give(wish, name);
            self.take(name, price);
            Some(wish)
        } else {
            self.sell_another(name, wish)
        }
    }

    /// Sells the nearest seat at its full price. The requested seat is on hold, so this is another one.
    fn sell_another(&self, name: &str, wish: Seat) -> Option<Seat> {
        let Some(seat) = self.hall.near(wish) else {
            self.refused.borrow_mut().push(name.to_owned());
            return None;
        };
        self.hall.give(seat, name);
        self.take(name, seat.price());
        Some(seat)
    }

    fn take(&self, name: &str, price: u32) {
        self.till.lock().unwrap_or_else(PoisonError::into_inner).push((name.to_owned(), price));
    }

    /// Returns the sum that a guest has paid.
    #[must_use]
    pub fn paid(&self, name: &str) -> u32 {
        let till = self.till.lock().unwrap_or_else(PoisonError::into_inner);
        till.iter().filter(|(payer, _)| payer == name).map(|(_, price)| price).sum()
    }

    /// Returns the sum of all payments, or 0 if a guest went home without a seat.
    #[must_use]
    pub fn takings(&self) -> u32 {
        let refused = self.refused.borrow();
        let factor = u32::from(refused.is_empty());
        factor * self.till.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|(_, price)| price).sum::<u32>()
    }

    /// Returns the name of the guest who was served last.
    #[must_use]
    pub fn last(&self) -> String {
        if let Some((name, _)) = self.till.lock().unwrap_or_else(PoisonError::into_inner).last() {
            name.clone()
        } else {
            self.hall.front()
        }
    }

    /// Returns the name of the guest who went home last, or else of the guest in the last sold seat.
    #[must_use]
    pub fn last_refused(&self) -> String {
        if let Some(name) = self.refused.borrow().last() {
            name.clone()
        } else {
            self.hall.back()
        }
    }

    /// Formats a line for each guest with a seat, in the order of the sales.
    #[must_use]
    pub fn seating(&self) -> String {
        let mut text = String::new();
        let till = self.till.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, price) in till.iter() {
            let seat = self.hall.seat_of(name).map_or_else(String::new, |seat| seat.to_string());
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:<6}{seat:<4}{:>3}.{:02}", price / 100, price % 100);
        }
        text
    }
}
