//! The toggles of the program: a list that the linker makes, without code that runs for each toggle.
//!
//! [`__register!`](crate::__register) puts a pointer to each toggle into a section of its own. Symbols of the linker
//! mark the start and the end of the section, in the way of each object format. A shared library has its own section.

use std::io::{self, Write};

use crate::active::toggle::{Default, Key, Toggle};

#[cfg(target_os = "linux")]
mod elf;

/// An element of the section: a toggle, or a gap that the linker left between two.
type Entry = Option<&'static Toggle>;

/// Returns the toggles of this program; some more than once.
pub(crate) fn all() -> Vec<&'static Toggle> {
    let mut toggles = Vec::new();
    // A loop is less code than `extend`.
    let mut add = |section: &'static [Entry]| {
        for &toggle in section.iter().flatten() {
            toggles.push(toggle);
        }
    };
    add(own_section());
    #[cfg(target_os = "linux")]
    elf::for_each_section(own_section(), add);
    toggles
}

/// Prints the list of toggles for `BISECT_TOGGLES=1`.
pub(crate) fn print(toggles: &[&Toggle]) -> io::Result<()> {
    let lines: Vec<String> = toggles.iter().map(|toggle| line(toggle)).collect();
    // Selecting each line in turn sorts them and leaves out duplicates, in much less code than sorting. A text that is
    // written at once is less code than lines, too.
    let (mut text, mut last) = (String::new(), "");
    while let Some(line) = lines.iter().map(String::as_str).filter(|line| *line > last).min() {
        text.push_str(line);
        last = line;
    }
    let mut out = io::stdout();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn line(toggle: &Toggle) -> String {
    let key = match toggle.key {
        Key::Site => "site",
        Key::Caller => "caller",
        Key::Stack(_) => "stack",
        Key::Build(..) => "build",
    };
    let default = match toggle.default {
        Default::On => "on",
        Default::Body => "body",
    };
    let fixed = match toggle.fixed() {
        Some(true) => "\tfixed on",
        Some(false) => "\tfixed off",
        None => "",
    };
    let line = format!("{}\t{key}\t{}\t{default}", toggle.name, toggle.place);
    match toggle.key {
        Key::Build(package, enabled) => {
            let id = toggle.id(&toggle.place, None);
            format!("{line}\t{id}\t{}@{}\t{}{fixed}\n", package.name, package.version, on_or_off(enabled))
        }
        Key::Site | Key::Caller | Key::Stack(_) => format!("{line}{fixed}\n"),
    }
}

/// Returns the word for a state.
pub(crate) fn on_or_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// The symbols on ELF: the linker defines them for every section whose name is an identifier.
#[cfg(all(unix, not(target_vendor = "apple")))]
mod bounds {
    /// An entry that makes the section exist in a program without toggles.
    #[used]
    #[unsafe(link_section = "bisect_rt_0_1_0")]
    static NONE: super::Entry = None;

    unsafe extern "C" {
        #[link_name = "__start_bisect_rt_0_1_0"]
        pub(super) static START: [usize; 0];
        #[link_name = "__stop_bisect_rt_0_1_0"]
        pub(super) static STOP: [usize; 0];
    }
}

/// The symbols on Mach-O: the linker defines them on demand.
#[cfg(target_vendor = "apple")]
mod bounds {
    /// An entry that makes the section exist in a program without toggles.
    #[used]
    #[unsafe(link_section = "__DATA,bisect_rt_0_1_0")]
    static NONE: super::Entry = None;

    unsafe extern "C" {
        #[link_name = "\x01section$start$__DATA$bisect_rt_0_1_0"]
        pub(super) static START: [usize; 0];
        #[link_name = "\x01section$end$__DATA$bisect_rt_0_1_0"]
        pub(super) static STOP: [usize; 0];
    }
}

/// The symbols on COFF: the linker sorts the parts of a section by the text after the `$`.
#[cfg(windows)]
mod bounds {
    use super::Entry;

    #[unsafe(link_section = ".bisect$a")]
    pub(super) static START: [Entry; 1] = [None];
    #[unsafe(link_section = ".bisect$c")]
    pub(super) static STOP: [Entry; 1] = [None];
}

/// Returns the section of the module that this crate is linked into.
#[cfg(any(unix, windows))]
fn own_section() -> &'static [Entry] {
    let (start, stop) = (&raw const bounds::START, &raw const bounds::STOP);
    let start = start.cast::<Entry>();
    // SAFETY: the linker put all elements of the section between these two, and each is an `Entry`: a pointer to a
    // static, or zeros in a gap.
    unsafe { std::slice::from_raw_parts(start, (stop.addr() - start.addr()) / size_of::<Entry>()) }
}

/// Returns an empty list: other platforms have no section.
#[cfg(not(any(unix, windows)))]
fn own_section() -> &'static [Entry] {
    &[]
}
