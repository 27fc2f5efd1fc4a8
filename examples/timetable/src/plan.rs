//! The plan of a day.

use crate::clock::Time;

/// A departure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The time.
    pub time: Time,
    /// The name of the line.
    pub line: String,
    /// The terminus.
    pub terminus: String,
    /// The platform.
    pub platform: u8,
}

/// The departures of a day, in the order of their times.
#[derive(Debug, Default)]
pub struct Plan {
    departures: Vec<Departure>,
}

impl Plan {
    /// Reads a plan, one departure a line: time, line, platform, terminus. Other lines are ignored.
    pub fn read(text: &str) -> Plan {
        let mut departures = Vec::new();
        for line in text.lines() {
            match read_departure(line) {
                Some(departure) => departures.push(departure),
                None => {}
            }
        }
        departures.sort_by(|a: &Departure, b| a.time.cmp(&b.time));
        Plan { departures }
    }

    /// Returns the first departures at or after a time.
    pub fn next(&self, now: Time, count: usize) -> &[Departure] {
        let mut first = 0;
        while first < self.departures.len() && self.departures[first].time < now {
            first += 1;
        }
        let mut end = first + count;
        if end > self.departures.len() {
            end = self.departures.len();
        }
        &self.departures[first..end]
    }

    /// Returns the departures of a line.
    pub fn of_line(&self, line: &str) -> Vec<&Departure> {
        let mut found = Vec::new();
        for departure in self.departures.iter() {
            if departure.line == line {
                found.push(departure);
            }
        }
        found
    }

    /// Returns the longest wait between two departures of a line, in minutes.
    pub fn longest_wait(&self, line: &str) -> Option<u16> {
        let departures = self.of_line(line);
        let mut longest = None;
        for index in 1..departures.len() {
            let wait = minutes(departures[index].time) - minutes(departures[index - 1].time);
            if longest.is_none() || Some(wait) > longest {
                longest = Some(wait);
            }
        }
        longest
    }

    /// Returns true if nothing departs.
    pub fn is_empty(&self) -> bool {
        self.departures.len() == 0
    }
}

fn read_departure(line: &str) -> Option<Departure> {
    let mut words = line.split_whitespace();
    let time = Time::read(words.next()?)?;
    let name = words.next()?;
    let platform = words.next()?.parse().ok()?;
    let terminus = words.collect::<Vec<&str>>().join(" ");
    if terminus.len() == 0 {
        return None;
    }
    Some(Departure { time: time, line: name.to_string(), terminus: terminus, platform: platform })
}

fn minutes(time: Time) -> u16 {
    time.hour() * 60 + time.minute()
}
