//! Times of a day.

/// A time of a day, in minutes after midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(u16);

impl Time {
    /// Returns a time, if there is one with this hour and minute.
    pub fn new(hour: u16, minute: u16) -> Option<Time> {
        if hour < 24 && minute < 60 {
            return Some(Time(hour * 60 + minute));
        }
        None
    }

    /// Reads a time such as `7:05`.
    pub fn read(text: &str) -> Option<Time> {
        let parts: Vec<&str> = text.split(':').collect();
        if parts.len() != 2 {
            return None;
        }
        let hour = match parts[0].parse() {
            Ok(hour) => hour,
            Err(_) => return None,
        };
        let minute = match parts[1].parse() {
            Ok(minute) => minute,
            Err(_) => return None,
        };
        Time::new(hour, minute)
    }

    /// Returns the hour.
    pub fn hour(self) -> u16 {
        return self.0 / 60;
    }

    /// Returns the minute of the hour.
    pub fn minute(self) -> u16 {
        return self.0 % 60;
    }

    /// Returns the time some minutes later, on the same or the next day.
    pub fn after(self, minutes: u16) -> Time {
        Time((self.0 + minutes) % (24 * 60))
    }
}
