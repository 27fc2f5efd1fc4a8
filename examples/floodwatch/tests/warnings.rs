//! Both gauges at the same time, as in operation.

mod feeds;

use floodwatch::Board;

#[test]
fn every_warning_is_on_the_list() {
    let board = Board::default();
    board.read(&feeds::rain(), &feeds::river());
    let raised = board.rain.warnings.get() + board.river.warnings.get();
    assert_eq!(board.warnings.list().len(), raised);
}
