//! The board of an evening.

use timetable::{board::board, clock::Time, plan::Plan};

const PLAN: &str = "\
# time line platform terminus
18:02 RE1  3  Harbour
18:02 S2  11  University
18:10 IC7  1  Northern Junction
18:17 S2  11  University
18:32 S2  11  University
18:34 RE1  3  Harbour
19:02 S2  11  University
";

fn at(text: &str) -> Time {
    Time::read(text).expect("a time")
}

#[test]
fn the_board_shows_the_next_departures() {
    let expected = "\
18:10  IC7 Northern Juncti.  1
18:17  S2  University       11
18:32  S2  University       11
";
    assert_eq!(board(&Plan::read(PLAN), at("18:05"), 3), expected);
}

#[test]
fn a_departure_at_this_minute_is_still_shown() {
    let plan = Plan::read(PLAN);
    let lines: Vec<_> = plan.next(at("18:32"), 2).iter().map(|departure| departure.line.as_str()).collect();
    assert_eq!(lines, ["S2", "RE1"]);
}

#[test]
fn the_longest_wait() {
    let plan = Plan::read(PLAN);
    assert_eq!(plan.longest_wait("S2"), Some(30));
    assert_eq!(plan.longest_wait("RE1"), Some(32));
    assert_eq!(plan.longest_wait("IC7"), None);
}

#[test]
fn at_night_there_is_nothing() {
    assert_eq!(board(&Plan::read(""), at("23:59").after(2), 3), "no departures\n");
    assert!(Plan::read(PLAN).next(at("19:03"), 3).is_empty());
    assert_eq!(Time::read("24:00"), None);
    assert_eq!(Time::read("7:5:1"), None);
}
