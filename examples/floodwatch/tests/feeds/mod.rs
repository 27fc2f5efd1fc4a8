//! Artificial feeds of the gauges, always the same.

use std::fmt::Write;

/// The length of the feeds, in days.
const DAYS: u32 = 12;

/// Makes a feed of rain: a shower about every hour, with gusts.
pub(crate) fn rain() -> String {
    feed("# rain, mm", |minute| {
        let shower = minute % 58;
        if shower < 24 { shower * (24 - shower) / 7 + minute * minute % 3 } else { 0 }
    })
}

/// Makes a feed of a river: a flood every three days, with waves.
pub(crate) fn river() -> String {
    feed("# river, cm", |minute| {
        let flood = ((minute + 975) % 4_320).min(800);
        3_000 + flood * (800 - flood) / 100 + minute * minute % 5
    })
}

/// Makes a feed of a line a minute. Some minutes are missing, as if the gauge had not answered.
fn feed(title: &str, tenths: impl Fn(u32) -> u32) -> String {
    let mut feed = format!("{title}\n");
    for minute in (0..DAYS * 24 * 60).filter(|minute| minute % 499 != 7) {
        let (day, hour, minute, tenths) = (minute / 1_440, minute / 60 % 24, minute % 60, tenths(minute));
        writeln!(feed, "{day} {hour:02}:{minute:02} {}.{}", tenths / 10, tenths % 10).unwrap();
    }
    feed
}
