//! What holds with every change and with none: one gauge after the other.

mod feeds;

use floodwatch::{Board, Kind, Reading, Warning};

fn board() -> Board {
    let board = Board::default();
    board.read(&feeds::rain(), "");
    board.read("", &feeds::river());
    board
}

#[test]
fn rain_is_summed_by_the_hour_and_by_the_day() {
    let rain = board().rain;
    assert_eq!(rain.latest.get(), Reading { minute: 5_759, tenths: 0 });
    assert_eq!([rain.total.get(), rain.today.get(), rain.hour.get()], [35_146, 9_246, 163]);
    assert_eq!([rain.wettest_day.get(), rain.wettest_hour.get()], [9_246, 1_202]);
    assert_eq!(rain.heaviest.get(), Reading { minute: 371, tenths: 27 });
}

#[test]
fn minutes_with_rain_and_without_are_counted() {
    let rain = board().rain;
    assert_eq!([rain.rainy.get(), rain.dry.get(), rain.longest_dry.get()], [2_270, 42, 192]);
    assert_eq!([rain.progress.steps(), rain.missing.get()], [5_748, 12]);
}

#[test]
fn the_river_has_levels_and_a_trend() {
    let river = board().river;
    assert_eq!(river.latest.get(), Reading { minute: 5_759, tenths: 4_258 });
    assert_eq!([river.highest.get(), river.lowest.get()], [Some(4_648), Some(3_000)]);
    assert_eq!((river.sum.get(), river.median.get()), ((23_460_759, 5_748), 4_019));
    assert_eq!([river.rise.get(), river.fastest_rise.get(), river.fastest_fall.get()], [370, 582, 585]);
    assert_eq!((river.high.get(), river.crests.get().len()), (3_539, 36));
    assert_eq!([river.progress.steps(), river.missing.get()], [5_748, 12]);
}

#[test]
fn warnings_are_listed_as_they_are_raised() {
    let board = board();
    let list = board.warnings.list();
    assert_eq!((board.rain.warnings.get(), board.river.warnings.get(), list.len()), (204, 58, 262));
    let warning = |minute, kind, amount: &str| Warning { minute, kind, amount: amount.to_owned() };
    assert_eq!(list[0], warning(36, Kind::Cloudburst, "2.4 mm"));
    assert_eq!(list[261], warning(5_714, Kind::HighWater, "401.2 cm"));
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
