//! The ID and the kind of a report in the journal of a search.

use bisect_core::ChangeId;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::kind::{ChangeKind, ShownSource};

/// The number of hex digits of an ID.
pub(super) const DIGITS: usize = 16;

/// An ID as hex digits.
pub(super) struct StoredId(pub(super) ChangeId);

impl Serialize for StoredId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:0DIGITS$x}", self.0.0))
    }
}

impl<'de> Deserialize<'de> for StoredId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse(String::deserialize(deserializer)?.as_bytes()).map(Self).ok_or_else(|| de::Error::custom("no ID"))
    }
}

/// Parses an ID of the full length.
pub(super) fn parse(digits: &[u8]) -> Option<ChangeId> {
    let text = std::str::from_utf8(digits).ok().filter(|text| text.len() == DIGITS)?;
    u64::from_str_radix(text, 16).ok().map(ChangeId)
}

/// The ID of a report.
pub(super) mod id {
    use super::{ChangeId, Deserialize, Deserializer, Serialize, Serializer, StoredId};

    /// Serializes an ID as hex digits.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) fn serialize<S: Serializer>(id: &ChangeId, serializer: S) -> Result<S::Ok, S::Error> {
        StoredId(*id).serialize(serializer)
    }

    /// Deserializes an ID.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ChangeId, D::Error> {
        StoredId::deserialize(deserializer).map(|StoredId(id)| id)
    }
}

/// The kind of a report. Its form in the JSON is only its name.
pub(super) mod kind {
    use super::{ChangeKind, Deserialize, Deserializer, Serialize, Serializer, ShownSource};

    /// Serializes all words of a kind.
    pub(crate) fn serialize<S: Serializer>(kind: &ChangeKind, serializer: S) -> Result<S::Ok, S::Error> {
        ([kind.name, kind.noun, kind.label], kind.source).serialize(serializer)
    }

    /// Deserializes a kind.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ChangeKind, D::Error> {
        let (words, source) = <([String; 3], ShownSource)>::deserialize(deserializer)?;
        Ok(ChangeKind::read_back(words, source))
    }
}
