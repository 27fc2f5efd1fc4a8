//! Parsers of the values of options.

use std::{num::NonZeroUsize, time::Duration};

/// Parses a number of parallel runs.
pub(super) fn jobs(text: &str) -> Result<NonZeroUsize, std::num::ParseIntError> {
    let all = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    Ok(NonZeroUsize::new(text.parse()?).unwrap_or_else(all))
}

/// Parses the probability that an answer is right.
pub(super) fn confidence(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.5..1.0).contains(number));
    number.ok_or_else(|| "a confidence is a number from 0.5 to 1, and less than 1, such as 0.99".to_owned())
}

/// Parses a duration like `90s` or `2m 30s`. A plain number means seconds.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse() {
        return Ok(Duration::from_secs(seconds));
    }
    humantime::parse_duration(text)
        .map_err(|error| format!("it is no duration ({error}): write `90s`, `1500ms` or `2m 30s`"))
}
