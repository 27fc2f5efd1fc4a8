//! The office: who asks for a seat gets it, or another one.

use std::{
    cell::RefCell,
    fmt::Write as _,
    sync::{Mutex, PoisonError},
};

use crate::hall::{Hall, Seat, Ticket};

/// The hall, and the till.
#[derive(Debug, Default)]
pub struct Office {
    hall: Hall,
    /// What was paid, by whom, in cents.
    till: Mutex<Vec<(String, u32)>>,
    /// Who went home.
    refused: RefCell<Vec<String>>,
}

impl Office {
    /// The hall.
    #[must_use]
    pub fn hall(&self) -> &Hall {
        &self.hall
    }

    /// Sells somebody the seat that he wishes, or else another one. The seat; nothing if there is none.
    pub fn sell(&self, name: &str, wish: Seat, ticket: Ticket) -> Option<Seat> {
        if let Some(price) = self.hall.hold(wish).price(ticket) {
            self.hall.give(wish, name);
            self.take(name, price);
            Some(wish)
        } else {
            self.sell_another(name, wish)
        }
    }

    /// Sells the nearest seat at its full price. The one that was asked for is held, so that this is another one.
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

    /// What somebody has paid.
    #[must_use]
    pub fn paid(&self, name: &str) -> u32 {
        let till = self.till.lock().unwrap_or_else(PoisonError::into_inner);
        till.iter().filter(|(payer, _)| payer == name).map(|(_, price)| price).sum()
    }

    /// What all have paid, if nobody went home.
    #[must_use]
    pub fn takings(&self) -> u32 {
        let refused = self.refused.borrow();
        let factor = u32::from(refused.is_empty());
        factor * self.till.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|(_, price)| price).sum::<u32>()
    }

    /// Who was served last.
    #[must_use]
    pub fn last(&self) -> String {
        if let Some((name, _)) = self.till.lock().unwrap_or_else(PoisonError::into_inner).last() {
            name.clone()
        } else {
            self.hall.front()
        }
    }

    /// Who went home last.
    #[must_use]
    pub fn last_refused(&self) -> String {
        if let Some(name) = self.refused.borrow().last() {
            name.clone()
        } else {
            self.hall.back()
        }
    }

    /// A line for each guest, in the order in which they came.
    #[must_use]
    pub fn seating(&self) -> String {
        let mut text = String::new();
        let till = self.till.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, price) in till.iter() {
            let seat = self.hall.seat_of(name).map_or_else(String::new, |seat| seat.to_string());
            // A string takes everything.
            let _ = writeln!(text, "{name:<6}{seat:<4}{:>3}.{:02}", price / 100, price % 100);
        }
        text
    }
}
