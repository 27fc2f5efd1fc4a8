//! Properties that hold in every edition.

use edition::{
    evening,
    hall::{Seat, Ticket},
    office::Office,
};

fn seat(name: &str) -> Seat {
    Seat::parse(name).unwrap()
}

#[test]
fn a_seat_that_is_free_is_sold() {
    let office = Office::default();
    assert_eq!(office.sell("ann", seat("B3"), Ticket::Reduced), Some(seat("B3")));
    assert_eq!((office.paid("ann"), office.takings(), office.last()), (1_332, 1_332, "ann".to_owned()));
    assert_eq!(office.hall().guest(seat("B3")), "ann");
}

#[test]
fn who_comes_later_sits_nearby() {
    let office = Office::default();
    assert_eq!(evening::serve(&office, "ann B3 full\n\nbob B3 full\n"), Ok(2));
    assert_eq!(office.hall().seat_of("bob"), Some(seat("B2")));
    assert_eq!((office.hall().front(), office.hall().back()), ("bob".to_owned(), "ann".to_owned()));
}

#[test]
fn when_the_hall_is_full_people_go_home() {
    let office = Office::default();
    let wishes = "x C6 reduced\n".repeat(19);
    assert_eq!(evening::serve(&office, &wishes), Ok(18));
    assert!(office.hall().is_full());
    assert_eq!((office.takings(), office.last_refused()), (0, "x".to_owned()));
}

#[test]
fn what_is_no_wish_is_said() {
    let office = Office::default();
    for line in ["ann D1 full", "ann A7 full", "ann A1", "ann A1 full twice", "ann A1 free"] {
        assert_eq!(evening::serve(&office, line), Err(line.to_owned()));
    }
    assert_eq!(
        (office.last(), office.hall().guest(seat("A1"))),
        ("nobody, of 0".to_owned(), "nobody in A1".to_owned())
    );
}
