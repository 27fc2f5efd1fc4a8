//! The value of `BISECT_OCCURRENCE`: single decisions on some changes.

use core::{error, fmt};

use super::{ChangeId, Matcher, ParseError, Pattern};

/// The parsed value of `BISECT_OCCURRENCE`: `PATTERN`, then `:until=N`, `:stop=N`, both or none.
///
/// The pattern selects changes, and all decisions on them are counted together, from 1. After the first N decisions of
/// `until`, they are the other way round. At decision N of `stop`, the process stops in the debugger.
///
/// ```
/// use bisect_core::{ChangeId, Occurrence};
///
/// let occurrence = Occurrence::parse("x3f:until=7").unwrap();
/// assert!(occurrence.selects(ChangeId(0x53f)) && !occurrence.selects(ChangeId(0x530)));
/// assert!(occurrence.is_within(7) && !occurrence.is_within(8));
/// ```
#[derive(Clone, Debug)]
pub struct Occurrence {
    matcher: Matcher,
    until: Option<u64>,
    stop: Option<u64>,
}

/// A reason why a value of `BISECT_OCCURRENCE` is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OccurrenceError {
    /// The pattern is malformed.
    Pattern(ParseError),
    /// The pattern is empty.
    NoPattern,
    /// A part after the pattern is neither `until=N` nor `stop=N`, or comes twice.
    Part,
}

impl fmt::Display for OccurrenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pattern(error) => error.fmt(f),
            Self::NoPattern => f.write_str("there is no pattern"),
            Self::Part => f.write_str("after the pattern, only `:until=N` and `:stop=N` are allowed, each once"),
        }
    }
}

impl error::Error for OccurrenceError {}

impl Occurrence {
    /// Parses a value of `BISECT_OCCURRENCE`.
    ///
    /// # Errors
    /// If the value is not valid.
    pub fn parse(value: &str) -> Result<Self, OccurrenceError> {
        let mut parts = value.split(':');
        let pattern: Pattern = parts.next().unwrap_or_default().parse().map_err(OccurrenceError::Pattern)?;
        let matcher = Matcher::new(&pattern).ok_or(OccurrenceError::NoPattern)?;
        let (mut until, mut stop) = (None, None);
        for part in parts {
            let (name, number) = part.split_once('=').ok_or(OccurrenceError::Part)?;
            let number = Some(number.parse().map_err(|_| OccurrenceError::Part)?);
            let previous = match name {
                "until" => core::mem::replace(&mut until, number),
                "stop" => core::mem::replace(&mut stop, number),
                _ => return Err(OccurrenceError::Part),
            };
            if previous.is_some() {
                return Err(OccurrenceError::Part);
            }
        }
        Ok(Self { matcher, until, stop })
    }

    /// Returns true if decisions on this change are counted.
    #[must_use]
    pub fn selects(&self, id: ChangeId) -> bool {
        self.matcher.should_report(id)
    }

    /// Returns true if the decision with this number, from 1, is among the first ones, which are not reversed.
    #[must_use]
    pub fn is_within(&self, number: u64) -> bool {
        self.until.is_none_or(|until| number <= until)
    }

    /// Returns true if the process is to stop at the decision with this number, from 1.
    #[must_use]
    pub fn stops_at(&self, number: u64) -> bool {
        self.stop == Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_in_any_order() {
        let both = Occurrence::parse("x3f+x41:stop=2:until=1").unwrap();
        assert!(both.stops_at(2) && !both.stops_at(1) && both.is_within(1) && !both.is_within(2));
        assert!(both.selects(ChangeId(0x41)));
        let neither = Occurrence::parse("y").unwrap();
        assert!(!neither.stops_at(1) && neither.is_within(u64::MAX));
        assert!(!Occurrence::parse("y:until=0").unwrap().is_within(1));
    }

    #[test]
    fn malformed_values_are_refused() {
        for (value, error) in [
            ("", OccurrenceError::NoPattern),
            (":stop=1", OccurrenceError::NoPattern),
            ("y:", OccurrenceError::Part),
            ("y:stop", OccurrenceError::Part),
            ("y:stop=", OccurrenceError::Part),
            ("y:stop=-1", OccurrenceError::Part),
            ("y:stop=1:stop=2", OccurrenceError::Part),
            ("y:until=18446744073709551616", OccurrenceError::Part),
            ("y:after=1", OccurrenceError::Part),
        ] {
            assert_eq!(Occurrence::parse(value).unwrap_err(), error, "{value}");
        }
        assert!(matches!(Occurrence::parse("z:stop=1"), Err(OccurrenceError::Pattern(_))));
    }
}
