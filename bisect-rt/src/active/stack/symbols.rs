//! Functions of a stack, as the standard library names them.
//!
//! Every program contains the standard library's reader of debug information, for panics. That has no interface to
//! frames, so its text is parsed. If the form of the text changes one day, frames have no names.

use std::backtrace::Backtrace;

use super::unwinder;

/// A function on a stack; a frame has several where calls were inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    /// The place `file:line:column`, as far as it is known.
    pub(super) place: Option<String>,
}

/// The stack of a thread, before debug information is read.
pub(super) struct Captured {
    backtrace: Backtrace,
    addresses: Vec<u64>,
}

impl Captured {
    /// Captures the stack of this thread, as far as it can be unwound.
    pub(super) fn new() -> Self {
        Self { backtrace: Backtrace::force_capture(), addresses: unwinder::all_addresses() }
    }

    /// Returns, for each address, the functions of its frame, the innermost inlined one first; empty if they are not
    /// known.
    pub(super) fn functions(&self, of: &[u64]) -> Vec<Vec<Function>> {
        let (full, short) = (format!("{:#}", self.backtrace), self.backtrace.to_string());
        let named = named(&entries(&full), &entries(&short));
        of.iter().map(|&address| functions(address, &named, &self.addresses)).collect()
    }
}

/// A function in the text of a backtrace.
#[derive(Debug, PartialEq, Eq)]
struct Entry<'a> {
    /// The return address, if the text has addresses.
    address: Option<u64>,
    name: &'a str,
    place: Option<&'a str>,
}

/// Parses `NUMBER: NAME` or `NUMBER: ADDRESS - NAME`, each followed by `at PLACE` on the next line if that is known.
fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for line in text.lines().map(str::trim_start) {
        if let Some(place) = line.strip_prefix("at ") {
            if let Some(last) = entries.last_mut() {
                last.place = Some(place);
            }
        } else if let Some((number, function)) = line.split_once(": ")
            && number.bytes().all(|byte| byte.is_ascii_digit())
        {
            let with_address = function.split_once(" - ").and_then(|(address, name)| {
                let address = u64::from_str_radix(address.trim_start().strip_prefix("0x")?, 16).ok()?;
                Some((address, name))
            });
            let (address, name) = with_address.map_or((None, function), |(address, name)| (Some(address), name));
            entries.push(Entry { address, name, place: None });
        }
    }
    entries
}

/// Joins addresses and full paths from `full` with names without hashes from `short`, which lacks the innermost frames.
fn named(full: &[Entry<'_>], short: &[Entry<'_>]) -> Vec<(u64, Function)> {
    // The short text also lacks frames at 0, which are beyond the outermost one.
    let end = full.iter().rposition(|entry| entry.address != Some(0)).map_or(0, |last| last + 1);
    let start = end.saturating_sub(short.len());
    let both = full[start..end].iter().zip(short).filter(|(_, short)| short.name != "<unknown>");
    let named = both.filter_map(|(full, short)| {
        let function = Function { name: short.name.to_owned(), place: full.place.map(str::to_owned) };
        Some((full.address?, function))
    });
    named.collect()
}

/// Returns the functions of one frame with this address. In a recursion, several frames have it, each with all of its
/// functions; `addresses` has one address a frame.
fn functions(address: u64, named: &[(u64, Function)], addresses: &[u64]) -> Vec<Function> {
    let frames = addresses.iter().filter(|other| **other == address).count().max(1);
    let mut functions: Vec<_> =
        named.iter().filter(|(other, _)| *other == address).map(|(_, function)| function.clone()).collect();
    functions.truncate(functions.len() / frames);
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = "\
   0:     0x55d1c2a3b400 - std::backtrace::Backtrace::force_capture::h0123456789abcdef
                               at /rustc/0/library/std/src/backtrace.rs:312:13
   1:     0x55d1c2a3b4c5 - app::inlined[f00]
                               at /home/me/app/src/lib.rs:3:5
   2:     0x55d1c2a3b4c5 - app::deep[f00]
                               at /home/me/app/src/lib.rs:9:5
   3:     0x55d1c2a3b4c5 - app::inlined[f00]
                               at /home/me/app/src/lib.rs:3:5
   4:     0x55d1c2a3b4c5 - app::deep[f00]
                               at /home/me/app/src/lib.rs:9:5
   5:     0x7f00c2a3b4c5 - <unknown>
   6:     0x55d1c2a3b7c5 - main
   7:                0x0 - <unknown>
";

    const SHORT: &str = "\
   1: app::inlined
             at ./src/lib.rs:3:5
   2: app::deep
             at ./src/lib.rs:9:5
   3: app::inlined
             at ./src/lib.rs:3:5
   4: app::deep
             at ./src/lib.rs:9:5
   5: <unknown>
   6: main
";

    #[test]
    fn each_frame_of_a_recursion_has_its_functions() {
        let (deep, unknown, main) = (0x55d1_c2a3_b4c5, 0x7f00_c2a3_b4c5, 0x55d1_c2a3_b7c5);
        let named = named(&entries(FULL), &entries(SHORT));
        let functions = |address| functions(address, &named, &[deep, deep, unknown, main]);
        let function =
            |name: &str, place: Option<&str>| Function { name: name.into(), place: place.map(str::to_owned) };
        let of_deep = [
            function("app::inlined", Some("/home/me/app/src/lib.rs:3:5")),
            function("app::deep", Some("/home/me/app/src/lib.rs:9:5")),
        ];
        assert_eq!(functions(deep), of_deep);
        assert_eq!(functions(main), [function("main", None)]);
        assert_eq!(functions(unknown), []);
    }

    #[test]
    fn text_of_another_form_has_no_functions() {
        for text in ["", "unsupported backtrace", "disabled backtrace", "at nowhere", "x: y", SHORT] {
            assert_eq!(named(&entries(text), &entries(text)), [], "{text}");
        }
    }

    #[test]
    #[cfg(any(unix, windows))]
    #[cfg_attr(miri, ignore = "there is no unwinder")]
    fn the_standard_library_names_the_functions_of_this_stack() {
        let (line, captured) = (line!(), Captured::new());
        // The first addresses are in `Captured::new`, which the two captures leave at different places.
        let functions = captured.functions(&captured.addresses);
        let here = functions.iter().find_map(|functions| functions.first()).expect("a frame with a name");
        let name = concat!(module_path!(), "::the_standard_library_names_the_functions_of_this_stack");
        assert_eq!(here.name, name);
        let place = here.place.as_deref().expect("tests have debug information");
        assert!(place.contains(&format!("symbols.rs:{line}:")), "{place}");
    }
}
