//! The board of a flood warning centre. One thread reads the rain gauge, another the river gauge; both keep the figures
//! on the board up to date, and both raise warnings.
//!
//! A release made it faster in three dozen places, behind the toggles `faster` and `brief-locks`. One of them is a race.

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

/// All that is known.
#[derive(Debug, Default)]
pub struct Board {
    /// What the rain gauge says.
    pub rain: Rain,
    /// What the river gauge says.
    pub river: River,
    /// What people should know, from either.
    pub warnings: Warnings,
}

impl Board {
    /// Reads both gauges at the same time, to their ends.
    pub fn read(&self, rain: &str, river: &str) {
        thread::scope(|scope| {
            scope.spawn(|| self.rain.read(rain, &self.warnings));
            scope.spawn(|| self.river.read(river, &self.warnings));
        });
    }
}
