//! The readings of the last hour.

use std::collections::VecDeque;

use bisect_rt::bisect_point;

use crate::Reading;

const HOUR: u32 = 60;

/// Readings that are less than an hour apart, oldest first.
#[derive(Debug)]
pub(crate) struct Recent {
    readings: VecDeque<Reading>,
    sum: u32,
}

impl Recent {
    pub(crate) fn new() -> Self {
        let capacity = if bisect_point!("faster") { HOUR as usize } else { 0 };
        Self { readings: VecDeque::with_capacity(capacity), sum: 0 }
    }

    /// Adds the newest reading, and drops those that are at least an hour older.
    pub(crate) fn push(&mut self, reading: Reading) {
        while let Some(oldest) = self.readings.front()
            && oldest.minute + HOUR <= reading.minute
        {
            self.sum -= oldest.tenths;
            self.readings.pop_front();
        }
        self.sum += reading.tenths;
        self.readings.push_back(reading);
    }

    pub(crate) fn sum(&self) -> u32 {
        if bisect_point!("faster") { self.sum } else { self.readings.iter().map(|reading| reading.tenths).sum() }
    }

    /// Returns the difference between the newest reading and the oldest one.
    pub(crate) fn rise(&self) -> i32 {
        let ends = self.readings.front().zip(self.readings.back());
        ends.map_or(0, |(oldest, newest)| newest.tenths.cast_signed() - oldest.tenths.cast_signed())
    }

    /// Returns the median amount: the larger of two middle ones, and 0 if there are no readings.
    pub(crate) fn median(&self) -> u32 {
        let mut amounts: Vec<_> = self.readings.iter().map(|reading| reading.tenths).collect();
        let middle = amounts.len() / 2;
        if amounts.is_empty() {
            0
        } else if bisect_point!("faster") {
            *amounts.select_nth_unstable(middle).1
        } else {
            amounts.sort_unstable();
            amounts[middle]
        }
    }
}
