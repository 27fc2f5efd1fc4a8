//! The start of a watched program, before `main`: reads the request.

use std::{env, ffi::OsStr, fmt};

use bisect_core::protocol::names::WATCH;

use super::{course, record, request::WatchRequest};
use crate::active::report;

/// A reason why a program cannot be watched.
#[derive(Debug)]
pub(crate) struct Refusal(String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Begins to watch the condition that the variable names. The programs that this one starts are not watched: the
/// variable is removed. On Linux, this returns in a child; this process supervises it, and ends as the child ends.
pub(crate) fn start(value: &OsStr) -> Result<(), Refusal> {
    let request = WatchRequest::parse(value.as_encoded_bytes()).map_err(|malformed| {
        Refusal(format!(
            "{WATCH}={:?}: {malformed}; set it to NAME or NAME@MOMENT, or unset it",
            value.to_string_lossy()
        ))
    })?;
    // SAFETY: this is before `main`, so no other thread reads the environment.
    unsafe { env::remove_var(WATCH) };
    record::name_process();
    report::keep_stderr();
    if request.stops {
        course::begin(request);
        return Ok(());
    }
    #[cfg(target_os = "linux")]
    super::supervisor::supervise(request.at.is_none())
        .map_err(|error| Refusal(format!("{WATCH}: the program cannot be watched: {error}")))?;
    #[cfg(not(target_os = "linux"))]
    super::direct::begin();
    course::begin(request);
    #[cfg(unix)]
    crate::active::system::forks::in_each_child(course::cease);
    Ok(())
}
