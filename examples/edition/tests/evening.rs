//! The seats of the guests in wheelchairs, in the evening.

use edition::{evening, hall::Seat, office::Office, EVENING};

#[test]
fn who_comes_in_a_wheelchair_has_a_place_for_it() {
    let office = Office::default();
    assert_eq!(evening::serve(&office, EVENING), Ok(8));
    for (name, seat) in [("emil", "A1"), ("hana", "C1")] {
        assert_eq!(office.hall().seat_of(name), Seat::parse(seat), "{}", office.seating());
    }
}
