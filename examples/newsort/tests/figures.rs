//! Figures that no order of equal rows can change.

use newsort::{ReadError, Row, read, sort, stats};

const RESULTS: &str = "runner,club,category,race,points
Ada Berg,Aurora,W20,1,300
Emil Park,Delta,M40,1,410
Mei Sato,Delta,W40,1,410
Rosa Weber,Castle,W60,2,250
Emil Park,Delta,M40,2,390
";

fn with_rows<T>(f: impl FnOnce(&[&Row]) -> T) -> T {
    let rows = read(RESULTS).unwrap();
    f(&rows.iter().collect::<Vec<_>>())
}

#[test]
fn sort_puts_the_most_points_first() {
    let points = with_rows(|rows| {
        let mut rows = rows.to_vec();
        sort(&mut rows);
        rows.iter().map(|row| row.points).collect::<Vec<_>>()
    });
    assert_eq!(points, [410, 410, 390, 300, 250]);
}

#[test]
fn quarters_and_the_median_are_those_of_the_ranking() {
    assert_eq!(with_rows(stats::upper_quartile), 410);
    assert_eq!(with_rows(stats::median), 390);
    assert_eq!(with_rows(stats::lower_quartile), 300);
}

#[test]
fn the_lead_is_measured_to_the_next_lower_points() {
    assert_eq!(with_rows(stats::lead), 20);
}

#[test]
fn everybody_with_the_points_of_the_last_place_is_honoured() {
    assert_eq!(with_rows(|rows| stats::honours(rows, 1).join(", ")), "Emil Park, Mei Sato");
    assert_eq!(with_rows(|rows| stats::honours(rows, 4).join(", ")), "Ada Berg, Emil Park, Mei Sato");
}

#[test]
fn a_runner_has_one_place_in_the_final() {
    assert_eq!(with_rows(|rows| stats::finalists(rows, 9).join(", ")).split(", ").count(), 4);
}

#[test]
fn no_results_have_no_figures() {
    assert_eq!(stats::best(&[]), 0);
    assert_eq!(stats::median(&[]), 0);
    assert_eq!(stats::team_score(&[], 5), 0);
    assert!(stats::honours(&[], 3).is_empty());
}

#[test]
fn a_line_that_is_no_result_is_named() {
    assert_eq!(read("heading\nAda,Aurora,W20,1,300\nAda,Aurora,W20,first,300\n"), Err(ReadError { line: 3 }));
    assert_eq!(read("heading\nAda,Aurora,W20,1,300,400\n"), Err(ReadError { line: 2 }));
}
