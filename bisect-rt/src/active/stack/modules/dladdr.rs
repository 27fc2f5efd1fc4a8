//! Modules by `dladdr`, address by address.

use std::{
    ffi::{CStr, c_int},
    mem::MaybeUninit,
    path::Path,
};

use super::{Frame, MAIN, identity};

pub(super) fn prepare() {}

pub(super) fn locate(addresses: &[u64], frames: &mut [Frame]) {
    let main = module_of(start_of_main()).map(|module| module.base);
    for (frame, &address) in frames.iter_mut().zip(addresses) {
        let Some(module) = module_of(address) else { return };
        let id = if Some(module.base) == main { MAIN } else { identity(module.path.to_bytes()) };
        *frame = Frame { module: id, offset: address.wrapping_sub(module.base) };
    }
}

pub(super) fn file_name(address: u64) -> Option<String> {
    let path = module_of(address)?.path.to_string_lossy();
    Some(Path::new(&*path).file_name()?.to_string_lossy().into_owned())
}

struct Module {
    base: u64,
    /// The path, which lives as long as the module: it has a function of this call's stack and is not unloaded.
    path: &'static CStr,
}

fn module_of(address: u64) -> Option<Module> {
    let mut info = MaybeUninit::<libc::Dl_info>::uninit();
    let address = std::ptr::without_provenance(usize::try_from(address).ok()?);
    // SAFETY: `dladdr` accepts any address, and has filled in the information if it does not return 0; the name is then
    // a C string.
    unsafe {
        if libc::dladdr(address, info.as_mut_ptr()) == 0 {
            return None;
        }
        let info = info.assume_init();
        let path = if info.dli_fname.is_null() { c"" } else { CStr::from_ptr(info.dli_fname) };
        Some(Module { base: info.dli_fbase.addr() as u64, path })
    }
}

/// Returns an address in the main executable.
fn start_of_main() -> u64 {
    unsafe extern "C" {
        fn main() -> c_int;
    }
    main as unsafe extern "C" fn() -> c_int as usize as u64
}
