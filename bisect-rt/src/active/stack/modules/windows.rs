//! Modules by `GetModuleHandleEx`, address by address.

use std::{
    ffi::{OsString, c_void},
    os::windows::ffi::OsStringExt as _,
    path::{Path, PathBuf},
    ptr,
};

use super::{Frame, MAIN, identity};

#[link(name = "kernel32")]
unsafe extern "system" {
    fn GetModuleHandleExW(flags: u32, name_or_address: *const u16, module: *mut *mut c_void) -> i32;
    fn GetModuleFileNameW(module: *mut c_void, path: *mut u16, size: u32) -> u32;
}

const FROM_ADDRESS: u32 = 4;
const UNCHANGED_REFCOUNT: u32 = 2;

pub(super) fn prepare() {}

pub(super) fn locate(addresses: &[u64], frames: &mut [Frame]) {
    let main = handle(0, ptr::null());
    for (frame, &address) in frames.iter_mut().zip(addresses) {
        let Some(module) = module_of(address) else { return };
        let id = if Some(module) == main {
            MAIN
        } else {
            let path = path(module).unwrap_or_default();
            identity(path.as_os_str().as_encoded_bytes())
        };
        // The handle of a module is its base address.
        *frame = Frame { module: id, offset: address.wrapping_sub(module.addr() as u64) };
    }
}

pub(super) fn file_name(address: u64) -> Option<String> {
    Some(path(module_of(address)?)?.file_name()?.to_string_lossy().into_owned())
}

fn module_of(address: u64) -> Option<*mut c_void> {
    handle(FROM_ADDRESS, ptr::without_provenance(usize::try_from(address).ok()?))
}

fn handle(flags: u32, name_or_address: *const u16) -> Option<*mut c_void> {
    let mut module = ptr::null_mut();
    // SAFETY: with these flags the second argument is an address that is only looked up, or null for the executable.
    let found = unsafe { GetModuleHandleExW(flags | UNCHANGED_REFCOUNT, name_or_address, &raw mut module) };
    (found != 0).then_some(module)
}

fn path(module: *mut c_void) -> Option<PathBuf> {
    let mut buffer = [0; 1024];
    let size = u32::try_from(buffer.len()).ok()?;
    // SAFETY: the buffer has as many elements as the argument states.
    let len = unsafe { GetModuleFileNameW(module, buffer.as_mut_ptr(), size) };
    let text = buffer.get(..usize::try_from(len).ok()?)?;
    (len > 0).then(|| Path::new(&OsString::from_wide(text)).to_path_buf())
}
