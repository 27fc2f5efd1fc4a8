//! The hall: three rows of six seats. The first one of each row is a place for a wheelchair.

use std::{cell::RefCell, collections::BTreeMap, fmt};

/// How many rows there are, and how many seats in each.
const SIZE: (u8, u8) = (3, 6);

/// A seat: row and number, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seat {
    row: u8,
    number: u8,
}

/// What somebody is entitled to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ticket {
    /// Any seat, at its price.
    Full,
    /// Any seat, for two thirds.
    Reduced,
    /// A place for a wheelchair.
    Wheelchair,
}

impl Seat {
    /// Reads `A1`; nothing if the hall has no such seat.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let &[row, number] = name.as_bytes() else { return None };
        let seat = Self { row: row.checked_sub(b'A')?, number: number.checked_sub(b'1')? };
        (seat.row < SIZE.0 && seat.number < SIZE.1).then_some(seat)
    }

    /// In cents.
    #[must_use]
    pub fn price(self) -> u32 {
        2_400 - 400 * u32::from(self.row)
    }

    /// How far it is from another one. To another row it is farther than to any seat in the same.
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

/// Who has a seat, and which ones are being asked for.
#[derive(Debug, Default)]
pub struct Hall {
    sold: RefCell<BTreeMap<Seat, String>>,
    held: RefCell<Vec<Seat>>,
}

/// A seat that somebody asks for: nobody else is offered it until this is dropped.
#[derive(Debug)]
pub struct Hold<'a> {
    hall: &'a Hall,
    seat: Seat,
}

impl Hold<'_> {
    /// What the seat costs with such a ticket; nothing if it is sold, or not for that ticket.
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

    /// Gives a seat away.
    pub fn give(&self, seat: Seat, name: &str) {
        self.sold.borrow_mut().insert(seat, name.to_owned());
    }

    /// The seat next to another one that nobody has, and nobody is asking for.
    pub fn near(&self, wish: Seat) -> Option<Seat> {
        let (held, sold) = (self.held.borrow(), self.sold.borrow());
        let seats = (0..SIZE.0).flat_map(|row| (0..SIZE.1).map(move |number| Seat { row, number }));
        let free = seats.filter(|seat| !held.contains(seat) && !sold.contains_key(seat));
        free.min_by_key(|seat| seat.distance(wish))
    }

    /// Who has a seat.
    #[must_use]
    pub fn guest(&self, seat: Seat) -> String {
        if let Some(name) = self.sold.borrow().get(&seat) {
            name.clone()
        } else {
            format!("nobody in {seat}")
        }
    }

    /// The seat of somebody.
    #[must_use]
    pub fn seat_of(&self, name: &str) -> Option<Seat> {
        self.sold.borrow().iter().find(|(_, guest)| *guest == name).map(|(&seat, _)| seat)
    }

    /// Whether there is a free seat that nobody asks for.
    #[must_use]
    pub fn is_full(&self) -> bool {
        let held = self.held.borrow();
        held.len() + self.sold.borrow().len() >= usize::from(SIZE.0 * SIZE.1)
    }

    /// Who has the first seat that is sold, from the front.
    #[must_use]
    pub fn front(&self) -> String {
        if let Some((_, name)) = self.sold.borrow().first_key_value() {
            name.clone()
        } else {
            self.nobody()
        }
    }

    /// Who has the last one.
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
