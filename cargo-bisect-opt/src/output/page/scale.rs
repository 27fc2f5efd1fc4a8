//! Positions of changes as coordinates, and intervals as the outline of rectangles.

use std::fmt::Write;

/// The width of the labels at the left.
pub(super) const LEFT: usize = 130;
/// The width of the bars.
pub(super) const WIDTH: usize = 1000;
/// The width of a chart.
pub(super) const TOTAL: usize = LEFT + WIDTH + 20;
/// The number of intervals on an axis.
const TICKS: usize = 4;

/// A scale from 0 to a largest value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    max: usize,
}

impl Scale {
    /// Creates a scale whose largest value is at the right.
    pub(super) fn new(max: usize) -> Self {
        Self { max: max.max(1) }
    }

    /// Returns the coordinate of a value, from 0 to [`WIDTH`].
    pub(super) fn x(self, value: usize) -> usize {
        let x = value.min(self.max) as u128 * WIDTH as u128 / self.max as u128;
        usize::try_from(x).unwrap_or(WIDTH)
    }

    /// Returns intervals as coordinates. Each interval and each gap is at least 1 wide, as far as there is room, so that
    /// a single change of many is visible whether it is the only one that is enabled or that is not.
    pub(super) fn bars(self, intervals: &[(usize, usize)]) -> Vec<(usize, usize)> {
        let mut bars: Vec<(usize, usize)> = Vec::new();
        let mut before = 0;
        for &(start, end) in intervals.iter().filter(|(start, end)| start < end) {
            let from = self.x(start).min(WIDTH - 1);
            let to = self.x(end).max(from + 1);
            match bars.last_mut() {
                Some(last) if from <= last.1 => {
                    let is_room_for_gap = start > before && from > last.0 + 1;
                    if is_room_for_gap {
                        last.1 = from - 1;
                        bars.push((from, to));
                    } else {
                        last.1 = last.1.max(to);
                    }
                }
                _ => bars.push((from, to)),
            }
            before = before.max(end);
        }
        bars
    }

    /// Returns a few values to write below an axis: the value and its coordinate.
    pub(super) fn ticks(self) -> Vec<(usize, usize)> {
        let mut ticks: Vec<_> = (0..=TICKS).map(|i| self.max / TICKS * i + self.max % TICKS * i / TICKS).collect();
        ticks.dedup();
        ticks.into_iter().map(|value| (value, self.x(value))).collect()
    }
}

/// Returns the outline of rectangles of the same height, as the data of a path.
pub(super) fn outline(bars: &[(usize, usize)], top: usize, height: usize) -> String {
    let mut path = String::new();
    for (from, to) in bars {
        let width = to - from;
        write!(path, "M{from} {top}h{width}v{height}h-{width}z").expect("a string takes everything");
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_change_of_many_is_visible() {
        let scale = Scale::new(100_000);
        assert_eq!(scale.bars(&[(50_000, 50_001)]), [(500, 501)]);
        assert_eq!(scale.bars(&[(99_999, 100_000)]), [(999, 1000)]);
        assert_eq!(scale.bars(&[(0, 50_000), (50_001, 100_000)]), [(0, 499), (500, 1000)]);
        assert_eq!(scale.bars(&[(0, 10), (20, 30)]), [(0, 1)], "there is no room for a gap");
        assert_eq!(scale.bars(&[(0, 0), (7, 3)]), []);
        assert_eq!(scale.bars(&[(0, usize::MAX)]), [(0, 1000)]);
    }

    #[test]
    fn few_changes_fill_the_width() {
        let scale = Scale::new(4);
        assert_eq!(scale.bars(&[(0, 1), (2, 4)]), [(0, 250), (500, 1000)]);
        assert_eq!(scale.bars(&[(0, 2), (2, 4)]), [(0, 1000)], "no gap where there is none");
        assert_eq!(scale.ticks(), [(0, 0), (1, 250), (2, 500), (3, 750), (4, 1000)]);
        assert_eq!(Scale::new(1).ticks(), [(0, 0), (1, 1000)]);
        assert_eq!(Scale::new(0).bars(&[]), []);
    }

    #[test]
    fn an_outline_is_a_rectangle_for_each_bar() {
        assert_eq!(outline(&[(1, 4), (9, 10)], 2, 8), "M1 2h3v8h-3zM9 2h1v8h-1z");
    }
}
