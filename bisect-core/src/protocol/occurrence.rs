//! The value of `BISECT_UNTIL` and `BISECT_STOP`: a single decision on some changes.
//!
//! In each thread, the first N decisions on the changes that the pattern of `BISECT_UNTIL` selects are as
//! `BISECT_PATTERN` requests, and later ones are the opposite. When a thread makes its decision N, the file for reports
//! gets the line `bisect-rt: decision N of thread NAME`. `BISECT_STOP` raises `SIGTRAP` in decision N. Decisions on
//! these changes are not cached.

use alloc::{borrow::ToOwned, string::String};
use core::{error, fmt};

use super::{ChangeId, Matcher, ParseError, Pattern};

/// A decision, `PATTERN:N`: the pattern selects changes, and N counts the decisions on them in one thread, from 1.
/// In `PATTERN:N:THREAD,THREAD`, the number is N + 1 for the threads with these names, and N for all others.
///
/// ```
/// use bisect_core::{ChangeId, Occurrence};
///
/// let occurrence = Occurrence::parse("x3f:7").unwrap();
/// assert!(occurrence.selects(ChangeId(0x53f)) && !occurrence.selects(ChangeId(0x530)));
/// assert_eq!(occurrence.number(|| "main"), 7);
/// ```
#[derive(Clone, Debug)]
pub struct Occurrence {
    matcher: Matcher,
    number: u64,
    /// The names of the threads for which the number is one more, with commas between them. This is one string, because
    /// a list of strings would add 3 KB to each program with a toggle.
    more_in: Option<String>,
}

/// A reason why a text is no decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OccurrenceError {
    /// The pattern is malformed.
    Pattern(ParseError),
    /// The pattern is empty.
    NoPattern,
    /// The number is missing or malformed.
    Number,
}

impl fmt::Display for OccurrenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pattern(error) => error.fmt(f),
            Self::NoPattern => f.write_str("there is no pattern"),
            Self::Number => f.write_str("there is no number of decisions after `:`"),
        }
    }
}

impl error::Error for OccurrenceError {}

impl Occurrence {
    /// Parses `PATTERN:N` or `PATTERN:N:THREAD,THREAD`.
    ///
    /// ```
    /// use bisect_core::{Occurrence, OccurrenceError};
    ///
    /// let some = Occurrence::parse("y:4:worker-1,worker-2").unwrap();
    /// assert_eq!(["main", "worker-2"].map(|thread| some.number(|| thread)), [4, 5]);
    /// assert_eq!(Occurrence::parse("y").unwrap_err(), OccurrenceError::Number);
    /// ```
    ///
    /// # Errors
    /// If the pattern or the number is missing or malformed.
    pub fn parse(text: &str) -> Result<Self, OccurrenceError> {
        let (pattern, number) = text.split_once(':').ok_or(OccurrenceError::Number)?;
        let (number, threads) =
            number.split_once(':').map_or((number, None), |(number, threads)| (number, Some(threads)));
        let pattern: Pattern = pattern.parse().map_err(OccurrenceError::Pattern)?;
        let matcher = Matcher::new(&pattern).ok_or(OccurrenceError::NoPattern)?;
        let number = number.parse().map_err(|_| OccurrenceError::Number)?;
        Ok(Self { matcher, number, more_in: threads.map(str::to_owned) })
    }

    /// Returns true if decisions on this change are counted.
    #[must_use]
    pub fn selects(&self, id: ChangeId) -> bool {
        self.matcher.should_report(id)
    }

    /// Returns the number of the decision in the thread with this name; 0 is before the first one. Only if it depends on
    /// the thread, the name is asked for.
    pub fn number<N: AsRef<str>>(&self, thread: impl FnOnce() -> N) -> u64 {
        let has_more = self.more_in.as_ref().is_some_and(|names| {
            let thread = thread();
            names.split(',').any(|name| name == thread.as_ref())
        });
        self.number.saturating_add(u64::from(has_more))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_and_a_number_are_read() {
        let one = Occurrence::parse("x3f+x41:18446744073709551615").unwrap();
        assert!(one.selects(ChangeId(0x41)) && !one.selects(ChangeId(0x42)));
        assert_eq!(one.number(|| -> &str { panic!("it does not depend on the thread") }), u64::MAX);
        assert_eq!(Occurrence::parse("y:0").unwrap().number(|| ""), 0);
    }

    #[test]
    fn some_threads_have_one_more() {
        let some = Occurrence::parse("y:4:tests::a,worker 1").unwrap();
        assert_eq!(["tests::a", "worker 1", "worker", ""].map(|thread| some.number(|| thread)), [5, 5, 4, 4]);
        assert_eq!(Occurrence::parse("y:4:").unwrap().number(|| ""), 5, "a thread without a name");
    }

    #[test]
    fn malformed_texts_are_refused() {
        for (text, error) in [
            ("", OccurrenceError::Number),
            ("y", OccurrenceError::Number),
            ("y:", OccurrenceError::Number),
            ("y:-1", OccurrenceError::Number),
            ("y:1,2", OccurrenceError::Number),
            ("y:18446744073709551616", OccurrenceError::Number),
            (":1", OccurrenceError::NoPattern),
        ] {
            assert_eq!(Occurrence::parse(text).unwrap_err(), error, "{text}");
        }
        assert!(matches!(Occurrence::parse("z:1"), Err(OccurrenceError::Pattern(_))));
    }
}
