//! Outcomes in the journal of a search: the engine's type has no serialized form of its own.

use bisect_core::search::{Outcome, Reason};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

/// Every outcome and its name in the journal.
const NAMES: [(Outcome, &str); 7] = [
    (Outcome::Pass, "pass"),
    (Outcome::Fail, "fail"),
    (Outcome::Unresolved(Reason::Build), "build"),
    (Outcome::Unresolved(Reason::Spawn), "spawn"),
    (Outcome::Unresolved(Reason::Timeout), "timeout"),
    (Outcome::Unresolved(Reason::Environment), "environment"),
    (Outcome::Unresolved(Reason::Skip), "skip"),
];

/// Serializes an outcome as its name.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn serialize<S: Serializer>(outcome: &Outcome, serializer: S) -> Result<S::Ok, S::Error> {
    let name = NAMES.iter().find(|(known, _)| known == outcome).map(|(_, name)| *name);
    name.ok_or_else(|| ser::Error::custom("an outcome without a name"))?.serialize(serializer)
}

/// Deserializes an outcome from its name.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Outcome, D::Error> {
    let name = String::deserialize(deserializer)?;
    let outcome = NAMES.iter().find(|(_, known)| *known == name).map(|(outcome, _)| *outcome);
    outcome.ok_or_else(|| de::Error::custom(format!("`{name}` is no outcome")))
}

/// Lists of outcomes, each with further data.
pub(crate) mod list {
    use super::{Deserialize, Deserializer, Outcome, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct NamedOutcome<T>(#[serde(with = "super")] Outcome, T);

    /// Serializes a list of outcomes.
    pub(crate) fn serialize<T: Serialize, S: Serializer>(
        list: &[(Outcome, T)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(list.iter().map(|(outcome, data)| NamedOutcome(*outcome, data)))
    }

    /// Deserializes a list of outcomes.
    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(Outcome, T)>, D::Error> {
        let entries = Vec::<NamedOutcome<T>>::deserialize(deserializer)?;
        Ok(entries.into_iter().map(|NamedOutcome(outcome, data)| (outcome, data)).collect())
    }
}
