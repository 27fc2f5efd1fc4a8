//! Fares and printed tickets.

use ferry::{fare, printed, use_francs, vehicle_fare};

#[test]
fn adults_pay_the_full_fare() {
    assert_eq!(fare(30, 2), 310);
}

#[test]
fn at_sixteen_the_full_fare_begins() {
    assert!(fare(15, 2) < fare(16, 2));
}

#[test]
fn babies_travel_free() {
    assert_eq!(fare(0, 9), 0);
}

#[test]
fn bicycles_have_one_price() {
    assert_eq!(vehicle_fare(17), vehicle_fare(20));
}

#[test]
fn cars_pay_by_length() {
    assert_eq!(vehicle_fare(45), 1_275);
}

#[test]
fn children_pay_half() {
    assert_eq!(fare(8, 2) * 2, fare(30, 2));
}

#[test]
fn day_tickets_cover_nine_piers() {
    assert_eq!(fare(30, 9), 870);
}

#[test]
fn each_pier_costs_the_same() {
    assert_eq!(fare(30, 3) - fare(30, 2), fare(30, 2) - fare(30, 1));
}

#[test]
fn families_add_up() {
    assert_eq!(fare(40, 1) + fare(38, 1) + fare(7, 1), 575);
}

#[test]
fn lake_tickets_are_in_francs() {
    use_francs(true);
    assert_eq!(printed(1_000), "CHF 9.40");
}

#[test]
fn long_trips_cost_more() {
    assert!(fare(30, 5) > fare(30, 4));
}

#[test]
fn lorries_pay_by_length() {
    assert_eq!(vehicle_fare(120), 2_400);
}

#[test]
fn motorbikes_are_longer_than_bicycles() {
    assert!(vehicle_fare(22) > vehicle_fare(20));
}

#[test]
fn pensioners_pay_three_quarters() {
    assert_eq!(fare(70, 2) * 4, fare(30, 2) * 3 - 2);
}

#[test]
fn return_trips_cost_twice() {
    assert_eq!(2 * fare(30, 1), 460);
}

#[test]
fn schools_pay_half() {
    assert_eq!((6..16).map(|age| fare(age, 1)).sum::<u32>(), 1_150);
}

#[test]
fn short_trips_have_a_base_price() {
    assert_eq!(fare(30, 0), 150);
}

#[test]
fn the_oldest_passengers_pay_too() {
    assert!(fare(110, 1) > 0);
}

#[test]
fn tickets_show_two_digits() {
    assert!(printed(1_005).ends_with(".05") || printed(1_005).ends_with(".44"));
}

#[test]
fn tourists_pay_in_euros() {
    assert_eq!(printed(1_000), "EUR 10.00");
}

#[test]
fn vehicles_are_dearer_than_adults() {
    assert!(vehicle_fare(45) > fare(30, 2));
}

#[test]
fn weekly_tickets_are_seven_days() {
    assert_eq!(7 * fare(30, 2), 2_170);
}
