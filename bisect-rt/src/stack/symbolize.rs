//! Stacks for people: functions, files and lines.

use std::{ffi::c_void, path::Path};

use super::{modules, modules::Frame, trim};
use crate::{decision::Nesting, report::Text, toggle::Place};

/// A function on a stack; a frame has several where calls were inlined.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    /// `file:line:column`, as far as it is known.
    pub(super) place: Option<String>,
}

/// Adds a line for each function of a stack, innermost first.
///
/// Debug information names files by their full path. The toggle's own file is in the first frame and known as the
/// compiler was given it: what comes before that in the full path is the folder in which the compiler ran, and is cut
/// off from the other files too.
pub(super) fn describe(nesting: &Nesting, toggle: &Place, addresses: &[u64], frames: &[Frame], text: &mut Text) {
    let frames = || addresses.iter().zip(frames).map(|(&address, frame)| (address, frame.offset));
    let mut functions = Vec::new();
    // Debug information is read into a cache that a nested call would find half-changed.
    if !nesting.is_inner() {
        with_room(|| functions = frames().flat_map(|(address, offset)| resolve(address, offset)).collect());
    }
    if functions.is_empty() {
        functions = frames().map(|(address, offset)| unknown(address, offset)).collect();
    }
    let functions = trim::trim(&functions);
    let folder = functions.iter().find_map(|function| folder(function.place.as_deref()?, toggle.file));
    for Function { name, place } in functions {
        match place {
            Some(place) => text.line(format_args!("  {name} at {}", relative(place, folder))),
            None => text.line(format_args!("  {name}")),
        }
    }
}

/// Runs what takes more stack than there may be.
#[cfg(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")))]
fn with_room(work: impl FnOnce()) {
    super::roomy::run(work);
}

/// Elsewhere the thread's own has to do.
#[cfg(not(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn with_room(work: impl FnOnce()) {
    work();
}

/// The functions of a frame, the innermost inlined one first.
fn resolve(address: u64, offset: u64) -> Vec<Function> {
    let mut functions = Vec::new();
    let pointer = std::ptr::without_provenance_mut::<c_void>(usize::try_from(address).expect("it was an address"));
    // The address is that behind the call, which may belong to another line; `resolve` steps back by itself.
    backtrace::resolve(pointer, |symbol| {
        // `#` leaves the hash away.
        let Some(name) = symbol.name().map(|name| format!("{name:#}")) else { return };
        functions
            .push(Function { name, place: symbol.filename().map(|file| place(file, symbol.lineno(), symbol.colno())) });
    });
    if functions.is_empty() {
        functions.push(unknown(address, offset));
    }
    functions
}

/// What can be said without debug information.
fn unknown(address: u64, offset: u64) -> Function {
    let module = modules::file_name(address).unwrap_or_else(|| "an unknown module".into());
    Function { name: format!("{offset:#x} in {module}"), place: None }
}

fn place(file: &Path, line: Option<u32>, column: Option<u32>) -> String {
    let mut place = file.display().to_string();
    for number in [line, column].into_iter().map_while(|number| number) {
        place.push(':');
        place.push_str(&number.to_string());
    }
    place
}

/// What stands before `file` in a place whose full path ends in it.
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

    #[test]
    fn places_have_what_is_known() {
        assert_eq!(place(Path::new("a.rs"), Some(3), Some(5)), "a.rs:3:5");
        assert_eq!(place(Path::new("a.rs"), Some(3), None), "a.rs:3");
        assert_eq!(place(Path::new("a.rs"), None, Some(5)), "a.rs");
    }
}
