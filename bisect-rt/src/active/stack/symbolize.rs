//! Stacks for people: functions, files and lines.

use std::fmt;

use super::{
    modules,
    modules::Frame,
    symbols::{self, Function},
    trim,
};
use crate::active::{nesting::Nesting, toggle::Place};

/// Passes each function of a stack to `each`, innermost first.
///
/// Debug information names files by their full path. The first frame is in the toggle's own file, whose path is also
/// known as it was passed to the compiler. The rest of the full path, before that, is the folder in which the compiler
/// ran. It is cut off from the other files too.
pub(super) fn describe(
    nesting: &Nesting,
    toggle: &Place,
    addresses: &[u64],
    frames: &[Frame],
    mut each: impl FnMut(fmt::Arguments<'_>),
) {
    let located = &addresses[..frames.len()];
    let mut known = Vec::new();
    // A nested call would use debug information that this thread is just reading.
    if !nesting.is_inner() {
        with_room(|| known = located.iter().map(|address| symbols::of_frame(*address)).collect());
    }
    known.resize(frames.len(), Vec::new());
    let mut functions = Vec::new();
    for ((&address, frame), known) in located.iter().zip(frames).zip(known) {
        if known.is_empty() {
            functions.push(unknown(address, frame.offset));
        } else {
            functions.extend(known);
        }
    }
    let functions = trim::trim(&functions);
    let folder = functions.iter().find_map(|function| folder(function.place.as_deref()?, toggle.file));
    for Function { name, place } in functions {
        match place {
            Some(place) => each(format_args!("{name} at {}", relative(place, folder))),
            None => each(format_args!("{name}")),
        }
    }
}

/// Runs work that may take more stack than the thread has.
#[cfg(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")))]
fn with_room(work: impl FnOnce()) {
    super::roomy::run(work);
}

/// Runs work on the thread's own stack, because this platform has no other.
#[cfg(not(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn with_room(work: impl FnOnce()) {
    work();
}

/// Returns the module and the offset, which are known without debug information.
fn unknown(address: u64, offset: u64) -> Function {
    let module = modules::file_name(address).unwrap_or_else(|| "an unknown module".into());
    Function { name: format!("{offset:#x} in {module}"), place: None }
}

/// Returns the text before `file` in a place whose full path ends in `file`.
fn folder<'a>(place: &'a str, file: &str) -> Option<&'a str> {
    let at = place.find(file)?;
    let (folder, rest) = place.split_at(at);
    (folder.ends_with(['/', '\\']) && rest[file.len()..].starts_with(':')).then_some(folder)
}

fn relative<'a>(place: &'a str, folder: Option<&str>) -> &'a str {
    folder.and_then(|folder| place.strip_prefix(folder)).unwrap_or(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_as_the_compiler_was_given_them() {
        let folder = folder("/home/me/app/src/lib.rs:3:1", "src/lib.rs");
        assert_eq!(folder, Some("/home/me/app/"));
        assert_eq!(relative("/home/me/app/src/board.rs:31:5", folder), "src/board.rs:31:5");
        assert_eq!(
            relative("/rustc/0/library/core/src/ops.rs:250:5", folder),
            "/rustc/0/library/core/src/ops.rs:250:5"
        );
    }

    #[test]
    fn a_folder_is_taken_from_the_whole_file_only() {
        assert_eq!(folder("/home/me/app/other-src/lib.rs:3:1", "src/lib.rs"), None);
        assert_eq!(folder("/home/me/app/src/lib.rs.in:3:1", "src/lib.rs"), None);
        assert_eq!(folder("/home/me/app/src/lib.rs:3:1", "/home/me/app/src/lib.rs"), None);
        assert_eq!(folder("src/lib.rs:3:1", "src/lib.rs"), None);
    }
}
