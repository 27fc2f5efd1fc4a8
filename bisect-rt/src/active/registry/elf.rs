//! The sections of the other modules of the process.
//!
//! A program and its libraries may share one copy of this crate or have several. Each module has a section, but the
//! linker's symbols lead a copy only to its own one. The dynamic loader does not know sections, so they are read from
//! the modules' files.

use std::{
    ffi::OsStr,
    fs::File,
    mem::MaybeUninit,
    ops::{ControlFlow, Range},
    os::unix::{ffi::OsStrExt as _, fs::FileExt as _},
    path::PathBuf,
    slice,
};

use super::Entry;
use crate::active::system::loaded::{self, Module};

/// The name of the section, with its final zero, so that a longer name differs.
const NAME: &[u8] = b"bisect_rt_0_1_0\0";

#[cfg(target_pointer_width = "64")]
type FileHeader = libc::Elf64_Ehdr;
#[cfg(target_pointer_width = "32")]
type FileHeader = libc::Elf32_Ehdr;

/// A section header; `libc` has no definition.
#[repr(C)]
struct Section {
    name: u32,
    kind: u32,
    flags: usize,
    address: usize,
    offset: usize,
    size: usize,
    link: u32,
    info: u32,
    alignment: usize,
    entry_size: usize,
}

/// Calls `f` for the sections of all modules except that of `own`.
pub(super) fn for_each_section(own: &[Entry], mut f: impl FnMut(&'static [Entry])) {
    let own = own.as_ptr().addr() as u64;
    let mut candidates = Vec::new();
    // The files are read only afterwards, because the loader is locked while it lists modules.
    loaded::for_each(|module| {
        if !module.segments(libc::PF_R).any(|segment| segment.contains(&own)) {
            candidates.push(Candidate::from(module));
        }
        ControlFlow::Continue(())
    });
    for section in candidates.iter().filter_map(Candidate::section) {
        f(section);
    }
}

/// A module that may have a section.
struct Candidate {
    file: PathBuf,
    base: u64,
    /// The program headers in memory.
    headers: Vec<u8>,
    segments: Vec<Range<u64>>,
}

impl From<&Module<'_>> for Candidate {
    fn from(module: &Module<'_>) -> Self {
        let path = if module.is_main { b"/proc/self/exe" } else { module.path };
        Self {
            file: OsStr::from_bytes(path).into(),
            base: module.base,
            headers: module.header_bytes().to_vec(),
            segments: module.segments(libc::PF_R).collect(),
        }
    }
}

impl Candidate {
    /// Returns the section in memory. Returns `None` if there is no section of this name, no file (as for the kernel's
    /// own module), or another file by now.
    #[allow(clippy::useless_conversion, reason = "the fields of 32-bit headers are narrower")]
    fn section(&self) -> Option<&'static [Entry]> {
        let file = File::open(&self.file).ok()?;
        let header: FileHeader = read(&file, 0)?;
        let mut headers = vec![0; self.headers.len()];
        file.read_exact_at(&mut headers, header.e_phoff.into()).ok()?;
        if headers != self.headers {
            return None;
        }
        let section = |index: u16| -> Option<Section> {
            let offset = usize::from(index) * usize::from(header.e_shentsize);
            read(&file, u64::from(header.e_shoff) + offset as u64)
        };
        let names = section(header.e_shstrndx)?;
        let is_ours = |section: &Section| {
            let mut name = [0; NAME.len()];
            let offset = names.offset as u64 + u64::from(section.name);
            file.read_exact_at(&mut name, offset).is_ok() && name == NAME
        };
        let section = (0..header.e_shnum).filter_map(section).find(is_ours)?;
        let start = self.base.wrapping_add(section.address as u64);
        let range = start..start.checked_add(section.size as u64)?;
        let is_loaded = |segment: &Range<u64>| segment.start <= range.start && range.end <= segment.end;
        let start = std::ptr::with_exposed_provenance::<Entry>(usize::try_from(start).ok()?);
        if !start.is_aligned() || !self.segments.iter().any(is_loaded) {
            return None;
        }
        // SAFETY: readable and aligned. By its name, which contains our version, it consists of entries that the linker
        // put one after the other. They refer to statics of a module that was loaded before `main` and stays.
        Some(unsafe { slice::from_raw_parts(start, section.size / size_of::<Entry>()) })
    }
}

/// A type whose values are read from files byte by byte.
///
/// # Safety
/// Any bytes are a valid value.
unsafe trait Plain: Sized {}

// SAFETY: integers only.
unsafe impl Plain for FileHeader {}
// SAFETY: integers only.
unsafe impl Plain for Section {}

fn read<T: Plain>(file: &File, offset: u64) -> Option<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: initialized, by zeros, and as many bytes as are borrowed here.
    let bytes = unsafe { slice::from_raw_parts_mut(value.as_mut_ptr().cast(), size_of::<T>()) };
    file.read_exact_at(bytes, offset).ok()?;
    // SAFETY: any bytes are a value.
    Some(unsafe { value.assume_init() })
}
