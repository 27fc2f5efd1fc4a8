//! Call stacks: the user's own frames in full, runs of other frames on one line.

use std::{
    io::{self, Write},
    path::Path,
};

use super::style::{BOLD, DIM};
use crate::{record::change::StackFrame, report::content::Location, units::plural};

/// The maximum number of frames that are shown of a stack without any frame of the user.
const MAX_OTHERS: usize = 4;

/// The maximum number of crates that are named for frames that are left out.
const MAX_CRATES: usize = 4;

/// Shows a call stack, innermost frame first, with paths relative to `root`. `is_whole`: with all frames.
///
/// # Errors
/// If it cannot be written.
pub(super) fn show(out: &mut impl Write, root: &Path, frames: &[StackFrame], is_whole: bool) -> io::Result<()> {
    if is_whole {
        return frames.iter().try_for_each(|frame| show_frame(out, root, frame));
    }
    if !frames.iter().any(|frame| frame.own) {
        let shown = if frames.len() > MAX_OTHERS { MAX_OTHERS - 1 } else { frames.len() };
        frames[..shown].iter().try_for_each(|frame| show_frame(out, root, frame))?;
        return fold(out, &frames[shown..]);
    }
    frames.chunk_by(|a, b| a.own == b.own).try_for_each(|frames| {
        if frames[0].own { frames.iter().try_for_each(|frame| show_frame(out, root, frame)) } else { fold(out, frames) }
    })
}

/// Shows how many frames are left out, and their crates.
fn fold(out: &mut impl Write, frames: &[StackFrame]) -> io::Result<()> {
    if frames.is_empty() {
        return Ok(());
    }
    let mut crates: Vec<&str> = Vec::new();
    for name in frames.iter().filter_map(|frame| crate_of(&frame.function)) {
        if !crates.contains(&name) {
            crates.push(name);
        }
    }
    let more = if crates.len() > MAX_CRATES { ", …" } else { "" };
    crates.truncate(MAX_CRATES);
    let of = if crates.is_empty() { String::new() } else { format!(" of {}{more}", crates.join(", ")) };
    writeln!(out, "    {DIM}… {}{of}{DIM:#}", plural(frames.len(), "frame"))
}

/// Returns the crate of a Rust function, as its path names it. The parts of the standard library count as one crate.
fn crate_of(function: &str) -> Option<&str> {
    // `<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend`, `<&mut T as …>`.
    let path = function.trim_start_matches(['<', '&', '*', '(', '[']);
    let path = path.strip_prefix("mut ").or(path.strip_prefix("dyn ")).or(path.strip_prefix("const ")).unwrap_or(path);
    let (name, _) = path.split_once("::")?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let name = if matches!(name, "core" | "alloc") { "std" } else { name };
    is_name.then_some(name)
}

fn show_frame(out: &mut impl Write, root: &Path, frame: &StackFrame) -> io::Result<()> {
    let (mark, style) = if frame.own { ("➜", BOLD) } else { (" ", DIM) };
    writeln!(out, "  {mark} {style}{}{style:#}", frame.function)?;
    let Some(location) = frame.location() else { return Ok(()) };
    let path = Path::new(&location.file);
    let file = path.strip_prefix(root).unwrap_or(path).display().to_string();
    writeln!(out, "        {DIM}{}{DIM:#}", Location { file, ..location })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::terminal;

    fn shown(frames: &[(&str, Option<&str>)], is_whole: bool) -> String {
        let frame = |&(function, file): &(&str, Option<&str>)| StackFrame {
            function: function.to_owned(),
            file: file.map(str::to_owned),
            line: file.map(|_| 1),
            column: None,
            own: file.is_some_and(|file| file.starts_with("src/")),
        };
        let frames: Vec<_> = frames.iter().map(frame).collect();
        let mut out = Vec::new();
        show(&mut out, Path::new("/none"), &frames, is_whole).unwrap();
        terminal::without_colors(std::str::from_utf8(&out).unwrap())
    }

    const MIXED: [(&str, Option<&str>); 6] = [
        ("app::sort", Some("src/lib.rs")),
        ("<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend", Some("/rustc/x/vec.rs")),
        ("core::ops::function::FnOnce::call_once", None),
        ("rayon_core::join", Some("/registry/rayon-core-1.0.0/src/lib.rs")),
        ("app::main", Some("src/main.rs")),
        ("_start", None),
    ];

    #[test]
    fn frames_of_others_are_one_line() {
        let folded = "  ➜ app::sort\n        src/lib.rs:1\n    … 3 frames of std, rayon_core\n  ➜ app::main\n        \
                      src/main.rs:1\n    … 1 frame\n";
        assert_eq!(shown(&MIXED, false), folded);
        let whole = shown(&MIXED, true);
        assert!(MIXED.iter().all(|(function, _)| whole.contains(function)) && !whole.contains('…'), "{whole}");
    }

    #[test]
    fn a_stack_of_others_only_shows_its_innermost_frames() {
        let others = [("a::x", None), ("b::x", None), ("c::x", None), ("d::x", None), ("e::x", None)];
        assert_eq!(shown(&others, false), "    a::x\n    b::x\n    c::x\n    … 2 frames of d, e\n");
        assert_eq!(shown(&others[..4], false), "    a::x\n    b::x\n    c::x\n    d::x\n");
    }

    #[test]
    fn the_crate_of_a_function_is_the_first_part_of_its_path() {
        for (function, name) in [
            ("std::rt::lang_start", Some("std")),
            ("<dyn core::ops::Fn() as x::Y>::call", Some("std")),
            ("<&mut serde_json::Value as T>::f", Some("serde_json")),
            ("test::run_test::{{closure}}", Some("test")),
            ("main.walk", None),
            ("{closure#0}::call", None),
            ("_start", None),
        ] {
            assert_eq!(crate_of(function), name, "{function}");
        }
    }
}
