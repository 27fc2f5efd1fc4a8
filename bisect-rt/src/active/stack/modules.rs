//! The modules of the process (the executable and its libraries), to which addresses are relative.
//!
//! They are looked up again for every new stack. So modules that `dlopen` loads and `dlclose` unloads are known,
//! without a copy of the list to update.

use std::mem::MaybeUninit;

#[cfg(any(unix, windows))]
use bisect_core::{Field, IdHasher};

#[cfg(any(target_os = "linux", target_os = "android"))]
#[path = "modules/elf.rs"]
mod system;

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
#[path = "modules/dladdr.rs"]
mod system;

#[cfg(windows)]
#[path = "modules/windows.rs"]
mod system;

#[cfg(not(any(unix, windows)))]
mod system {
    //! Other platforms have no stacks either.

    pub(super) fn prepare() {}

    pub(super) fn locate(_: &[u64], _: &mut [super::Frame]) {}

    pub(super) fn file_name(_: u64) -> Option<String> {
        None
    }
}

/// A return address as part of an ID.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Frame {
    /// The identity of its module.
    pub(super) module: u64,
    /// The address relative to its module.
    pub(super) offset: u64,
}

impl Frame {
    /// The frame of an address that is in no module.
    pub(super) const NOWHERE: Self = Self { module: NO_MODULE, offset: 0 };

    pub(super) fn is_in_main(&self) -> bool {
        self.module == MAIN
    }

    /// Returns the frames as bytes in memory order. They name a stack of this executable only, and need not be the same
    /// on machines of another byte order.
    pub(super) fn bytes(frames: &[Self]) -> &[u8] {
        // SAFETY: a frame has no padding, and all its bytes are read.
        unsafe { std::slice::from_raw_parts(frames.as_ptr().cast(), size_of_val(frames)) }
    }
}

/// The identity of the main executable, regardless of its name.
const MAIN: u64 = 0;

/// The identity of no module. The identity of a library is a hash, and never equals this one in practice.
const NO_MODULE: u64 = u64::MAX;

/// Makes a frame of each address, and returns those up to the first one that lies in no module. That one is no return
/// address, or is in code that was made at run time and has no lasting name.
pub(super) fn locate<'a>(addresses: &[u64], frames: &'a mut [MaybeUninit<Frame>]) -> &'a [Frame] {
    let frames = &mut frames[..addresses.len()];
    for frame in &mut *frames {
        frame.write(Frame::NOWHERE);
    }
    // SAFETY: all were written just now.
    let frames = unsafe { std::slice::from_raw_parts_mut(frames.as_mut_ptr().cast::<Frame>(), frames.len()) };
    system::locate(addresses, frames);
    let located = frames.iter().position(|frame| frame.module == NO_MODULE).unwrap_or(frames.len());
    &frames[..located]
}

/// Looks up in advance the facts that cannot be found during a decision. Called before the first decision.
pub(super) fn prepare() {
    system::prepare();
}

/// Returns the file name of the module of an address.
pub(super) fn file_name(address: u64) -> Option<String> {
    system::file_name(address)
}

/// Returns the identity of a library: its file name and its contents, wherever it is installed. The addresses of its
/// code depend on its contents, too.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn identity(module: &crate::active::system::loaded::Module<'_>) -> u64 {
    let mut hasher = IdHasher::new();
    hasher.bytes(file_name_of(module.path)).bytes(module.header_bytes());
    for note in module.notes() {
        hasher.bytes(note);
    }
    hasher.field(Field::Str("module")).finish().0
}

/// Returns the identity of a library: its file name, wherever it is installed.
#[cfg(all(any(unix, windows), not(any(target_os = "linux", target_os = "android"))))]
fn identity(path: &[u8]) -> u64 {
    IdHasher::new().bytes(file_name_of(path)).field(Field::Str("module")).finish().0
}

#[cfg(any(unix, windows))]
fn file_name_of(path: &[u8]) -> &[u8] {
    let is_separator = |byte: &u8| *byte == b'/' || cfg!(windows) && *byte == b'\\';
    path.rsplit(is_separator).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn a_library_is_the_same_wherever_it_is_installed() {
        use crate::active::system::loaded::{Header, Module};

        // SAFETY: integers.
        let mut headers = [unsafe { std::mem::zeroed::<Header>() }; 2];
        let id = |path: &str, base, headers: &[Header]| {
            identity(&Module { path: path.as_bytes(), is_main: false, base, headers })
        };
        let here = id("/usr/lib/libfoo.so.1", 0x1000, &headers);
        assert_eq!(here, id("libfoo.so.1", 0x2000, &headers));
        assert_ne!(here, id("/usr/lib/libfoo.so.2", 0x1000, &headers));
        assert_ne!(here, MAIN);
        headers[1].p_filesz = 1;
        assert_ne!(here, id("/opt/lib/libfoo.so.1", 0x1000, &headers), "another library of the same name");
    }

    #[test]
    #[cfg(any(unix, windows))]
    #[cfg_attr(miri, ignore = "there are no modules")]
    fn code_is_located_and_data_is_not() {
        prepare();
        let code = prepare as fn() as usize as u64;
        let data = Box::new(0_u8);
        let mut frames = [MaybeUninit::uninit(); 8];
        let frames = locate(&[code, code + 1, &raw const *data as u64, code], &mut frames);
        assert_eq!(frames.len(), 2, "up to the heap: {frames:x?}");
        assert_eq!(frames[1].offset, frames[0].offset + 1);
        assert_eq!(frames[0].module, frames[1].module);
        assert!(file_name(code).is_some());
    }
}
