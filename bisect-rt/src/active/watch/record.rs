//! Lines for the driver: `bisect-watch 1 PROCESS KIND …`, in the file for reports. A text is the rest of its line.

use std::{
    fmt::{self, Write as _},
    panic::{self, AssertUnwindSafe},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use bisect_core::moments::MomentVerdict;

use super::evaluate::Value;
use crate::active::{report, toggle::Place};

/// The version of the lines.
const VERSION: u32 = 1;
/// The maximum number of bytes of the user's values.
const LONGEST_VALUES: usize = 1 << 16;

/// The ID of the process that the user started: the same for all its copies.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Makes this process the one that lines name. Its copies keep the ID.
pub(super) fn name_process() {
    PROCESS.store(std::process::id(), Relaxed);
}

/// The reason for an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The search asked for it.
    Probe,
    /// It repeats the one that decided the search.
    Confirm,
}

/// Records an evaluation.
pub(super) fn value(purpose: Purpose, moment: u64, value: &Value) {
    let verdict = match value.verdict {
        MomentVerdict::Good => "good",
        MomentVerdict::Bad => "bad",
    };
    match &value.panic {
        Some(panic) => lines(|out| line(out, format_args!("{} {moment} bad panicked {}", purpose.name(), flat(panic)))),
        None => lines(|out| line(out, format_args!("{} {moment} {verdict}", purpose.name()))),
    }
}

/// Records that an evaluation ended the process.
#[cfg(target_os = "linux")]
pub(super) fn crash(purpose: Purpose, moment: u64, how: &str) {
    lines(|out| line(out, format_args!("{} {moment} bad crashed {how}", purpose.name())));
}

/// Records that the program ended by itself after this number of moments.
pub(super) fn ended(count: u64) {
    lines(|out| line(out, format_args!("ended {count}")));
}

/// Records that the program was ended by SIGTERM after this number of moments.
#[cfg(target_os = "linux")]
pub(super) fn cut_short(count: u64) {
    lines(|out| line(out, format_args!("cut-short {count}")));
}

/// Records the reason why no copy of the process is made at a moment.
#[cfg(target_os = "linux")]
pub(super) fn no_checkpoint(moment: u64, why: fmt::Arguments<'_>) {
    lines(|out| line(out, format_args!("rerun {moment} {why}")));
}

/// Records that a copy of the process did not reach a moment that the program has reached.
#[cfg(target_os = "linux")]
pub(super) fn diverged(moment: u64, how: &str) {
    lines(|out| line(out, format_args!("diverged {moment} {how}")));
}

/// Records the name of a condition that is not watched, for the driver.
pub(super) fn other_name(name: &str) {
    if !report::has_named_file() {
        return;
    }
    lines(|out| line(out, format_args!("other {}", flat(name))));
}

/// Records the place, the call stack and the values of a moment. `marker` is an address in the frame of the function
/// that the user's function called.
pub(super) fn describe(marker: usize, moment: u64, name: &str, place: &Place, values: fmt::Arguments<'_>) {
    lines(|out| {
        line(out, format_args!("at {moment} {place} {}", flat(name)));
        #[cfg(feature = "stacks")]
        crate::active::stack::describe_beyond(marker, place, |frame| {
            line(out, format_args!("frame {moment} {}", flat(&frame.to_string())));
        });
        #[cfg(not(feature = "stacks"))]
        let _ = marker;
    });
    // The user's code may end the process here.
    let values = formatted(values);
    lines(|out| values.lines().for_each(|value| line(out, format_args!("value {moment} {value}"))));
}

/// Formats the user's values, which run the user's code.
fn formatted(values: fmt::Arguments<'_>) -> String {
    let mut text = String::new();
    let result = panic::catch_unwind(AssertUnwindSafe(|| text.write_fmt(values)));
    if !matches!(result, Ok(Ok(()))) {
        text.push_str(" … (formatting this failed)");
    }
    if text.len() > LONGEST_VALUES {
        let end = (0..=LONGEST_VALUES).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Writes lines at once.
fn lines(add: impl FnOnce(&mut String)) {
    let mut text = String::new();
    add(&mut text);
    report::write_lines(&text);
}

fn line(out: &mut String, text: fmt::Arguments<'_>) {
    let process = PROCESS.load(Relaxed);
    writeln!(out, "bisect-watch {VERSION} {process} {text}").expect("a `String` takes everything");
}

/// Returns the text on one line.
fn flat(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

impl Purpose {
    fn name(self) -> &'static str {
        match self {
            Self::Probe => "probe",
            Self::Confirm => "confirm",
        }
    }
}
