//! Figures that hold with every change and with none: one gauge is read after the other.

mod feeds;

use floodwatch::{Board, Kind, Reading};

fn board() -> Board {
    let board = Board::default();
    board.read(&feeds::rain(), "");
    board.read("", &feeds::river());
    board
}

#[test]
fn rain_is_summed_by_the_hour_and_by_the_day() {
    let rain = board().rain;
    assert_eq!(rain.latest.get(), Reading { minute: 17_279, tenths: 0 });
    assert_eq!([rain.total.get(), rain.today.get(), rain.hour.get()], [100_529, 8_397, 338]);
    assert_eq!([rain.wettest_day.get(), rain.wettest_hour.get()], [8_446, 380]);
    assert_eq!(rain.heaviest.get(), Reading { minute: 10, tenths: 21 });
}

#[test]
fn minutes_with_rain_and_without_are_counted() {
    let rain = board().rain;
    assert_eq!([rain.rainy.get(), rain.dry.get(), rain.longest_dry.get()], [7_038, 30, 35]);
    assert_eq!([rain.progress.steps(), rain.missing.get()], [17_245, 35]);
}

#[test]
fn the_river_has_levels_and_a_trend() {
    let river = board().river;
    assert_eq!(river.latest.get(), Reading { minute: 17_279, tenths: 3_001 });
    assert_eq!([river.highest.get(), river.lowest.get()], [Some(4_603), Some(3_000)]);
    assert_eq!((river.sum.get(), river.median.get()), ((55_174_284, 17_245), 3_001));
    assert_eq!([river.rise.get(), river.fastest_rise.get(), river.fastest_fall.get()], [1, 438, 438]);
    assert_eq!((river.high.get(), river.crests.get().len()), (1_953, 4));
    assert_eq!([river.progress.steps(), river.missing.get()], [17_245, 35]);
}

#[test]
fn warnings_are_listed_in_the_order_of_time() {
    let board = board();
    let list: Vec<_> = board.warnings.list().into_iter().collect();
    assert_eq!([board.rain.warnings.get(), board.river.warnings.get(), list.len()], [298, 4, 302]);
    assert_eq!(list[0], ((6, Kind::Cloudburst), 15));
    assert_eq!(list[61], ((3_501, Kind::HighWater), 4_005));
}

#[test]
fn a_line_is_a_day_a_time_and_an_amount() {
    let reading = |minute, tenths| Some(Reading { minute, tenths });
    assert_eq!(Reading::of("2 00:10 12.5"), reading(2_890, 125));
    assert_eq!(Reading::of("0 9:41 3"), reading(581, 30));
    for line in ["", "# 2 00:10 12.5", "2 00:10", "2 00:10 12.5 mm", "2 0010 12.5", "2 00:10 much", "x 00:10 12.5"] {
        assert_eq!(Reading::of(line), None, "{line}");
    }
}
