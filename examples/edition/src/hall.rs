//! The hall: three rows of six seats. The first seat of each row is a place for a wheelchair.

use std::{cell::RefCell, collections::BTreeMap, fmt};

/// The number of rows, and the number of seats in each row.
const SIZE: (u8, u8) = (3, 6);

/// A seat: row and number, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seat {
    row: u8,
    number: u8,
}

/// The ticket of a guest, which determines the allowed seats and the price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ticket {
    /// Any seat except places for wheelchairs, at its price.
    Full,
    /// The same seats, for two thirds of the price.
    Reduced,
    /// A place for a wheelchair, for half the price.
    Wheelchair,
}

impl Seat {
    /// Parses `A1`. Returns `None` if the hall has no seat of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let &[row, number] = name.as_bytes() else { return None };
        let seat = Self { row: row.checked_sub(b'A')?, number: number.checked_sub(b'1')? };
        (seat.row < SIZE.0 && seat.number < SIZE.1).then_some(seat)
    }

    /// Returns the price in cents.
    #[must_use]
    pub fn price(self) -> u32 {
        2_400 - 400 * u32::from(self.row)
    }

    /// Returns the distance to another seat. Seats in other rows are farther than all seats in the same row.
    #[must_use]
    pub fn distance(self, other: Self) -> u8 {
        self.row.abs_diff(other.row) * SIZE.1 + self.number.abs_diff(other.number)
    }

    fn is_for_wheelchairs(self) -> bool {
        self.number == 0
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", char::from(b'A' + self.row), self.number + 1)
    }
}

/// The sold seats with their guests, and the seats on hold.
#[derive(Debug, Default)]
pub struct Hall {
    sold: RefCell<BTreeMap<Seat, String>>,
    held: RefCell<Vec<Seat>>,
}

/// A hold on a seat that a guest asks for: until it is dropped, no other guest is offered the seat.
#[derive(Debug)]
pub struct Hold<'a> {
    hall: &'a Hall,
    seat: Seat,
}

impl Hold<'_> {
    /// Returns the price with this ticket, or `None` if the seat is sold or not for this ticket.
    #[must_use]
    pub fn price(&self, ticket: Ticket) -> Option<u32> {
        if self.hall.sold.borrow().contains_key(&self.seat) {
            return None;
        }
        match (ticket, self.seat.is_for_wheelchairs()) {
            (Ticket::Wheelchair, true) => Some(self.seat.price() / 2),
            (Ticket::Full, false) => Some(self.seat.price()),
            (Ticket::Reduced, false) => Some(self.seat.price() / 3 * 2),
            _ => None,
        }
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let mut held = self.hall.held.borrow_mut();
        held.retain(|&seat| seat != self.seat);
    }
}

impl Hall {
    /// Holds a seat.
    pub fn hold(&self, seat: Seat) -> Hold<'_> {
        self.held.borrow_mut().push(seat);
        Hold { hall: self, seat }
    }

    /// Assigns a seat to a guest.
    pub fn give(&self, seat: Seat, name: &str) {
        self.sold.borrow_mut().insert(seat, name.to_owned());
    }

    /// Returns the nearest seat that is neither sold nor on hold.
    pub fn near(&self, wish: Seat) -> Option<Seat> {
        let (held, sold) = (self.held.borrow(), self.sold.borrow());
        let seats = (0..SIZE.0).flat_map(|row| (0..SIZE.1).map(move |number| Seat { row, number }));
        let free = seats.filter(|seat| !held.contains(seat) && !sold.contains_key(seat));
        free.min_by_key(|seat| seat.distance(wish))
    }

    /// Returns the name of the guest in a seat, or a text that says that the seat is free.
    #[must_use]
    pub fn guest(&self, seat: Seat) -> String {
        if let Some(name) = self.sold.borrow().get(&seat) {
            name.clone()
        } else {
            format!("nobody in {seat}")
        }
    }

    /// Returns the seat of a guest.
    #[must_use]
    pub fn seat_of(&self, name: &str) -> Option<Seat> {
        self.sold.borrow().iter().find(|(_, guest)| *guest == name).map(|(&seat, _)| seat)
    }

    /// Returns true if there are at least as many sold seats and holds as seats.
    #[must_use]
    pub fn is_full(&self) -> bool {
        let held = self.held.borrow();
        held.len() + self.sold.borrow().len() >= usize::from(SIZE.0 * SIZE.1)
    }

    /// Returns the name of the guest in the first sold seat, from the front.
    #[must_use]
    pub fn front(&self) -> String {
        if let Some((_, name)) = self.sold.borrow().first_key_value() {
            name.clone()
        } else {
            self.nobody()
        }
    }

    /// Returns the name of the guest in the last sold seat.
    #[must_use]
    pub fn back(&self) -> String {
        if let Some((_, name)) = self.sold.borrow().last_key_value() {
            name.clone()
        } else {
            self.nobody()
        }
    }

    fn nobody(&self) -> String {
        format!("nobody, of {}", self.sold.borrow().len())
    }
}
