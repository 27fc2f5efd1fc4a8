//! Paths in JSON: as text, or as bytes if they are not UTF-8, which text in JSON must be.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredPath {
    Text(String),
    Bytes(Vec<u8>),
}

#[expect(clippy::ref_option, reason = "serde calls it so")]
pub(super) fn serialize<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.clone().map(StoredPath::from).serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
    Ok(Option::<StoredPath>::deserialize(deserializer)?.map(PathBuf::from))
}

impl From<PathBuf> for StoredPath {
    fn from(path: PathBuf) -> Self {
        match path.into_os_string().into_string() {
            Ok(text) => Self::Text(text),
            #[cfg(unix)]
            Err(path) => Self::Bytes(std::os::unix::ffi::OsStringExt::into_vec(path)),
            #[cfg(not(unix))]
            Err(path) => Self::Text(path.to_string_lossy().into_owned()),
        }
    }
}

impl From<StoredPath> for PathBuf {
    fn from(path: StoredPath) -> Self {
        match path {
            StoredPath::Text(text) => text.into(),
            #[cfg(unix)]
            StoredPath::Bytes(bytes) => <std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes).into(),
            #[cfg(not(unix))]
            StoredPath::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned().into(),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    use crate::compiler::wrapper::WrapperConfig;

    #[test]
    fn paths_may_have_any_bytes() {
        for bytes in [&b"/usr/bin/sccache"[..], b"/home/caf\xe9/sccache"] {
            let path = OsStr::from_bytes(bytes);
            let config = WrapperConfig { inner: Some(path.into()), ..WrapperConfig::default() };
            let text = serde_json::to_string(&config).unwrap();
            let read: WrapperConfig = serde_json::from_str(&text).unwrap();
            assert_eq!((read.inner, read.compiled, read.keep), (config.inner, None, None), "{text}");
        }
        let old: WrapperConfig = serde_json::from_str(r#"{"inner":null,"compiled":"/x"}"#).unwrap();
        assert_eq!((old.inner, old.compiled), (None, Some("/x".into())));
    }
}
