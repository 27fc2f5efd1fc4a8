//! The river gauge: its level in each minute, in tenths of a centimetre.

use bisect_rt::bisect_point;

use crate::{Kind, Progress, Reading, Shared, Warnings, recent::Recent};

/// The level at which a warning is raised.
const MARK: u32 = 4_000;

/// The figures of the river gauge, in tenths of a centimetre and in minutes.
#[derive(Debug, Default)]
pub struct River {
    /// The number of readings so far.
    pub progress: Progress,
    /// The last reading.
    pub latest: Shared<Reading>,
    /// The highest level.
    pub highest: Shared<Option<u32>>,
    /// The lowest level.
    pub lowest: Shared<Option<u32>>,
    /// The sum and the number of all readings.
    pub sum: Shared<(u64, u32)>,
    /// The median level of the hour before the last full quarter of an hour.
    pub median: Shared<u32>,
    /// The rise within the last hour.
    pub rise: Shared<i32>,
    /// The largest rise within an hour.
    pub fastest_rise: Shared<i32>,
    /// The largest fall within an hour.
    pub fastest_fall: Shared<i32>,
    /// The number of readings at the mark or above.
    pub high: Shared<u32>,
    /// The readings at which the level turned from rising to falling, at the mark or above.
    pub crests: Shared<Vec<Reading>>,
    /// Minutes without a reading.
    pub missing: Shared<u32>,
    /// The number of warnings that this gauge has raised.
    pub warnings: Shared<usize>,
}

impl River {
    /// Reads the feed of the gauge to its end.
    pub(crate) fn read(&self, feed: &str, warnings: &Warnings) {
        let mut recent = Recent::new();
        for reading in feed.lines().filter_map(Reading::of) {
            recent.push(reading);
            self.progress.step();
            self.warn(reading, recent.rise(), warnings);
            self.clock(reading);
            self.levels(reading);
            self.trend(recent.rise());
            if reading.minute.is_multiple_of(15) {
                self.median.update(|median| *median = recent.median());
            }
        }
    }

    /// Raises a warning at the mark, and records crests. This is called first: it compares with the previous reading.
    fn warn(&self, reading: Reading, rise: i32, warnings: &Warnings) {
        if self.latest.get().tenths < MARK && reading.tenths >= MARK {
            warnings.raise(Kind::HighWater, reading);
            self.warnings.update(|warnings| *warnings += 1);
        }
        if self.rise.get() > 0 && rise <= 0 && reading.tenths >= MARK {
            self.crests.update(|crests| crests.push(reading));
        }
    }

    fn clock(&self, reading: Reading) {
        let last = self.latest.get().minute;
        if reading.minute > last + 1 {
            self.missing.update(|missing| *missing += reading.minute - last - 1);
        }
        if reading.tenths >= MARK {
            self.high.update(|high| *high += 1);
        }
        self.latest.update(|latest| *latest = reading);
    }

    fn levels(&self, Reading { tenths: level, .. }: Reading) {
        self.sum.update(|(sum, count)| {
            *sum += u64::from(level);
            *count += 1;
        });
        if !bisect_point!("faster") || self.highest.get().is_none_or(|highest| level > highest) {
            self.highest.update(|highest| *highest = Some(highest.map_or(level, |highest| highest.max(level))));
        }
        if !bisect_point!("faster") || self.lowest.get().is_none_or(|lowest| level < lowest) {
            self.lowest.update(|lowest| *lowest = Some(lowest.map_or(level, |lowest| lowest.min(level))));
        }
    }

    fn trend(&self, rise: i32) {
        self.rise.update(|last| *last = rise);
        self.fastest_rise.update(|most| *most = rise.max(*most));
        self.fastest_fall.update(|most| *most = (-rise).max(*most));
    }
}
