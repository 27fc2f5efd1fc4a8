//! The reasons why a default cannot be used.

use crate::cargo::CargoError;

/// A reason why a default cannot be used. Each names the default.
#[derive(Debug, thiserror::Error)]
pub(super) enum DefaultsError {
    /// No option has this name.
    #[error("{origin}: there is no option `{key}`{}", help.as_ref().map(|help| format!("; {help}")).unwrap_or_default())]
    Unknown {
        origin: String,
        key: String,
        /// A hint.
        help: Option<String>,
    },
    /// The option belongs to a single command line.
    #[error("{origin}: this option cannot have a default, because {reason}")]
    Refused { origin: String, reason: &'static str },
    /// The value has another type.
    #[error("{origin}: the value must be {expected}")]
    Type { origin: String, expected: String },
    /// The parser of the option refuses the value.
    #[error("{origin}: {message}; the value must be {expected}")]
    Value { origin: String, message: String, expected: String },
    /// Two defaults of the same source exclude each other.
    #[error("{origin} excludes {other}: remove one of them")]
    Exclusive { origin: String, other: String },
    /// Cargo cannot read the manifests.
    #[error("the defaults in Cargo.toml cannot be read: {0}")]
    Manifest(#[from] CargoError),
}
