//! What the gauges said: made up, always the same.

use std::fmt::Write;

/// So many days.
const DAYS: u32 = 4;

/// A shower every few hours, with gusts in it.
pub(crate) fn rain() -> String {
    feed("# rain, mm", |minute| {
        let shower = minute % 311;
        if shower < 120 { shower * (120 - shower) / 200 + minute * minute % 11 } else { 0 }
    })
}

/// Waves on a river that follows the showers.
pub(crate) fn river() -> String {
    feed("# river, cm", |minute| {
        let swell = minute % 622;
        3_000 + swell * (622 - swell) / 60 + minute * minute % 37
    })
}

/// A line a minute; but for some, when the gauge did not answer.
fn feed(title: &str, tenths: impl Fn(u32) -> u32) -> String {
    let mut feed = format!("{title}\n");
    for minute in (0..DAYS * 24 * 60).filter(|minute| minute % 499 != 7) {
        let (day, hour, minute, tenths) = (minute / 1_440, minute / 60 % 24, minute % 60, tenths(minute));
        writeln!(feed, "{day} {hour:02}:{minute:02} {}.{}", tenths / 10, tenths % 10).unwrap();
    }
    feed
}
