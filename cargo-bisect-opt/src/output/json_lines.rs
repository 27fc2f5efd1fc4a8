//! Files of JSON, one value a line, to which a search adds lines. A kill or a full disk may cut the last line short.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
};

use serde::{Serialize, de::DeserializeOwned};

use crate::{hidden::escaped_in_json, process::own_file};

/// Opens a file to add lines. Returns it with the values of its lines and their positions. A line that is not complete
/// or not of this type is removed, and so are all after it.
///
/// # Errors
/// If the file does not exist, or cannot be read or written.
pub(crate) fn open<T: DeserializeOwned>(path: &Path) -> io::Result<(File, Vec<(u64, T)>)> {
    let (mut values, mut at) = (Vec::new(), 0);
    for line in own_file::read(path)?.split_inclusive(|&byte| byte == b'\n') {
        let Some(Ok(value)) = line.strip_suffix(b"\n").map(serde_json::from_slice) else { break };
        values.push((at, value));
        at += line.len() as u64;
    }
    let file = own_file::append(path)?.into_parts().0;
    file.set_len(at)?;
    Ok((file, values))
}

/// Adds a line. With one write, neither a reader nor a kill finds half a line.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn add(mut file: impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(value)?;
    line.push('\n');
    file.write_all(escaped_in_json(&line).as_bytes())
}
