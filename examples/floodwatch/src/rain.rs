//! The rain gauge: the amount of rain in each minute, in tenths of a millimetre.

use bisect_rt::bisect_point;

use crate::{Kind, Progress, Reading, Shared, Warnings, reading::DAY, recent::Recent};

/// The amount of rain in a minute at which a warning is raised.
const CLOUDBURST: u32 = 15;

/// The figures of the rain gauge, in tenths of a millimetre and in minutes.
#[derive(Debug, Default)]
pub struct Rain {
    /// The number of readings so far.
    pub progress: Progress,
    /// The last reading.
    pub latest: Shared<Reading>,
    /// The rain since the watch began.
    pub total: Shared<u32>,
    /// The rain within the last hour.
    pub hour: Shared<u32>,
    /// The rain since midnight.
    pub today: Shared<u32>,
    /// The reading with the most rain.
    pub heaviest: Shared<Reading>,
    /// The most rain within an hour.
    pub wettest_hour: Shared<u32>,
    /// The most rain within a day.
    pub wettest_day: Shared<u32>,
    /// Minutes with rain.
    pub rainy: Shared<u32>,
    /// Minutes since it last rained.
    pub dry: Shared<u32>,
    /// The most minutes in a row without rain.
    pub longest_dry: Shared<u32>,
    /// Minutes without a reading.
    pub missing: Shared<u32>,
    /// The number of warnings that this gauge has raised.
    pub warnings: Shared<usize>,
}

impl Rain {
    /// Reads the feed of the gauge to its end.
    pub(crate) fn read(&self, feed: &str, warnings: &Warnings) {
        let mut recent = Recent::new();
        for reading in feed.lines().filter_map(Reading::of) {
            recent.push(reading);
            let hour = recent.sum();
            self.progress.step();
            self.warn(reading, warnings);
            self.clock(reading);
            self.amounts(reading, hour);
            self.spells(reading);
        }
    }

    /// Raises a warning if a cloudburst begins. This is called first: it compares with the previous reading.
    fn warn(&self, reading: Reading, warnings: &Warnings) {
        if self.latest.get().tenths < CLOUDBURST && reading.tenths >= CLOUDBURST {
            warnings.raise(Kind::Cloudburst, reading);
            self.warnings.update(|warnings| *warnings += 1);
        }
    }

    fn clock(&self, reading: Reading) {
        let last = self.latest.get().minute;
        if reading.minute > last + 1 {
            self.missing.update(|missing| *missing += reading.minute - last - 1);
        }
        if reading.minute / DAY != last / DAY {
            self.today.update(|today| *today = 0);
        }
        self.latest.update(|latest| *latest = reading);
    }

    fn amounts(&self, reading: Reading, hour: u32) {
        self.hour.update(|sum| *sum = hour);
        self.wettest_hour.update(|most| *most = hour.max(*most));
        if bisect_point!("faster") && reading.tenths == 0 {
            return;
        }
        self.total.update(|total| *total += reading.tenths);
        self.today.update(|today| *today += reading.tenths);
        let today = self.today.get();
        self.wettest_day.update(|most| *most = today.max(*most));
        self.heaviest.update(|heaviest| {
            if reading.tenths > heaviest.tenths {
                *heaviest = reading;
            }
        });
    }

    fn spells(&self, reading: Reading) {
        if reading.tenths > 0 {
            self.rainy.update(|rainy| *rainy += 1);
            self.dry.update(|dry| *dry = 0);
        } else {
            self.dry.update(|dry| *dry += 1);
            let dry = self.dry.get();
            self.longest_dry.update(|most| *most = dry.max(*most));
        }
    }
}
