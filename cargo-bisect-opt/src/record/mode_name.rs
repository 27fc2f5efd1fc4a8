//! Names of directions in the JSON: the operation that breaks the target.

use bisect_core::search::Mode;
use serde::{Deserialize, Deserializer, Serializer, de::Error};

const ENABLE: &str = "enable";
const DISABLE: &str = "disable";

/// Returns the name of a direction.
pub(crate) fn of(mode: Mode) -> &'static str {
    match mode {
        Mode::Enable => ENABLE,
        Mode::Disable => DISABLE,
    }
}

/// Serializes a direction as its name.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
pub(crate) fn serialize<S: Serializer>(mode: &Mode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(of(*mode))
}

/// Deserializes a direction from its name.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Mode, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        ENABLE => Ok(Mode::Enable),
        DISABLE => Ok(Mode::Disable),
        other => Err(D::Error::unknown_variant(other, &[ENABLE, DISABLE])),
    }
}
