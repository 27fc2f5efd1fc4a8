//! The board of a flood warning centre. One thread reads the rain gauge, another one reads the river gauge.
//! Both keep the figures on the board up to date, and both raise warnings.
//!
//! A release made it faster in three dozen places, behind the toggles `faster` and `brief-locks`. One place has a race.

use std::thread;

mod progress;
mod rain;
mod reading;
mod recent;
mod river;
mod shared;
mod warnings;

pub use progress::Progress;
pub use rain::Rain;
pub use reading::{Minute, Reading};
pub use river::River;
pub use shared::Shared;
pub use warnings::{Kind, Warnings};

/// The board: the figures of both gauges, and the warnings.
#[derive(Debug, Default)]
pub struct Board {
    /// The figures of the rain gauge.
    pub rain: Rain,
    /// The figures of the river gauge.
    pub river: River,
    /// The warnings of both gauges.
    pub warnings: Warnings,
}

impl Board {
    /// Reads the feeds of both gauges at the same time, to their ends.
    pub fn read(&self, rain: &str, river: &str) {
        thread::scope(|scope| {
            scope.spawn(|| self.rain.read(rain, &self.warnings));
            scope.spawn(|| self.river.read(river, &self.warnings));
        });
    }
}
