//! Reports read back: bytes are scanned for match markers, and text is parsed once.

pub(crate) mod content;
pub(crate) mod key_values;
pub(crate) mod kind;
pub(crate) mod scan;
mod stored;
mod stored_fields;
pub(crate) mod text;
pub(crate) mod watched;
