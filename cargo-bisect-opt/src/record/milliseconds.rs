//! Durations in the JSON: whole milliseconds.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer};

/// Returns a duration in whole milliseconds.
pub(crate) fn in_milliseconds(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}

/// Rounds a duration down to whole milliseconds, as files have it: an answer reads the same when it is shown again.
pub(crate) fn to_whole_milliseconds(duration: Duration) -> Duration {
    Duration::from_millis(in_milliseconds(duration))
}

/// Serializes a duration as its milliseconds.
pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(in_milliseconds(*duration))
}

/// Deserializes a duration from its milliseconds.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}
