//! The season's page as it was published, with the old sort.

use std::fs;

#[test]
fn the_page_is_the_one_that_was_published() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/data");
    let rows = newsort::read(&fs::read_to_string(format!("{data}/results.csv")).unwrap()).unwrap();
    let published = fs::read_to_string(format!("{data}/season.txt")).unwrap();

    let page = newsort::page::season(&rows);

    assert_eq!(page.lines().count(), published.lines().count());
    for (number, (now, then)) in (1..).zip(page.lines().zip(published.lines())) {
        assert_eq!(now, then, "line {number} of the page has changed");
    }
}
