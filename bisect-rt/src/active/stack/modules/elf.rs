//! Modules by `_dl_find_object`, or by the kernel's list of mappings if the C library lacks this function.
//!
//! `_dl_find_object` (glibc 2.35) takes no lock. The list of the dynamic loader is not usable: a thread that does not
//! exist after a `fork`, or the code that a signal interrupted, may hold its lock.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    mem::{MaybeUninit, transmute},
    num::NonZeroUsize,
    ops::{ControlFlow, Range},
    path::Path,
    ptr,
};

use once_cell::race::{OnceBox, OnceNonZeroUsize};

use super::{Frame, MAIN, NO_MODULE, identity};
use crate::active::system::{
    loaded::{self, Module, PAGE},
    mappings::{self, Mapping},
};

/// Looks up in advance the facts whose lookup takes a lock. Called before the first decision.
pub(super) fn prepare() {
    MAIN_CODE.get_or_init(|| Box::new(MainCode::find()));
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: a C string, looked for in all modules.
        let find = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_dl_find_object".as_ptr()) };
        if let Some(find) = NonZeroUsize::new(find.expose_provenance()) {
            // Another thread may have set it, to the same value.
            let _ = FIND_OBJECT.set(find);
        }
    }
}

pub(super) fn locate(addresses: &[u64], frames: &mut [Frame]) {
    let main = MainCode::get();
    let mut missing = frames.len();
    for (frame, &address) in frames.iter_mut().zip(addresses) {
        if main.code.contains(&address) {
            *frame = Frame { module: MAIN, offset: address.wrapping_sub(main.base) };
            missing -= 1;
        }
    }
    if missing > 0 {
        each_module_of(addresses, |module| locate_in(module, addresses, frames));
    }
}

fn locate_in(module: &Module<'_>, addresses: &[u64], frames: &mut [Frame]) {
    let mut id = None;
    for (frame, &address) in frames.iter_mut().zip(addresses) {
        if frame.module == NO_MODULE && module.has_code_at(address) {
            let module_id = *id.get_or_insert_with(|| if module.is_main { MAIN } else { identity(module) });
            *frame = Frame { module: module_id, offset: address.wrapping_sub(module.base) };
        }
    }
}

/// Calls `each` for the modules of these addresses; for some more than once.
fn each_module_of(addresses: &[u64], mut each: impl FnMut(&Module<'_>)) {
    let Some(find) = FindObject::of_the_c_library() else { return each_mapped_module_of(addresses, each) };
    let mut known = 0..0;
    for &address in addresses {
        if known.contains(&address) {
            continue;
        }
        let Some((range, path)) = MainCode::get().module_of(address).or_else(|| find.module_of(address)) else {
            continue;
        };
        if let Some(module) = module_at(range.clone(), path) {
            each(&module);
        }
        // Neighbours on a stack are usually in one module.
        known = range;
    }
}

/// Calls `each` for the modules of these addresses, by the kernel's list of mappings.
fn each_mapped_module_of(addresses: &[u64], mut each: impl FnMut(&Module<'_>)) {
    // The inode of the current file, and the address to which its start is mapped.
    let mut file = (0, None);
    mappings::for_each(|mapping| {
        if mapping.inode == 0 {
            return ControlFlow::Continue(());
        }
        if mapping.inode != file.0 || mapping.offset == 0 {
            file = (mapping.inode, has_header(mapping).then_some(mapping.range.start));
        }
        if let Some(start) = file.1
            && mapping.is_executable
            && addresses.iter().any(|address| mapping.range.contains(address))
            && let Some(module) = module_at(start..mapping.range.end, mapping.path)
        {
            each(&module);
        }
        ControlFlow::Continue(())
    });
}

fn has_header(mapping: &Mapping<'_>) -> bool {
    mapping.offset == 0 && mapping.is_readable
}

/// Returns the module that is mapped to this range; `None` if it is no module.
fn module_at(range: Range<u64>, path: &[u8]) -> Option<Module<'_>> {
    // SAFETY: callers found a module's file mapped there, from its start. It stays, because one of its functions is on
    // the stack.
    let mut module = unsafe { Module::mapped_at(range, path) }?;
    // Only a main executable that is not relocatable is at the addresses of its file; libraries are elsewhere.
    module.is_main = module.base == MainCode::get().base;
    Some(module)
}

/// The address of `_dl_find_object`, if there is one.
static FIND_OBJECT: OnceNonZeroUsize = OnceNonZeroUsize::new();

/// The beginning of `struct dl_find_object`.
#[repr(C)]
struct Found {
    flags: u64,
    start: *const c_void,
    end: *const c_void,
    link_map: *const LinkMap,
    /// Space for more fields than the structure has on any architecture.
    rest: [u64; 16],
}

/// The beginning of `struct link_map`.
#[repr(C)]
struct LinkMap {
    base: usize,
    name: *const c_char,
}

/// The function `_dl_find_object`.
struct FindObject(unsafe extern "C" fn(*const c_void, *mut Found) -> c_int);

impl FindObject {
    fn of_the_c_library() -> Option<Self> {
        let find = ptr::with_exposed_provenance::<c_void>(FIND_OBJECT.get()?.get());
        // SAFETY: it is the C library's function of this name, which has this signature.
        Some(Self(unsafe { transmute::<*const c_void, unsafe extern "C" fn(_, _) -> _>(find) }))
    }

    /// Returns the range of the module of an address, and its path. The path is empty for the main executable, and
    /// lives as long as the module.
    fn module_of(&self, address: u64) -> Option<(Range<u64>, &'static [u8])> {
        let address = ptr::without_provenance(usize::try_from(address).ok()?);
        let mut found = MaybeUninit::<Found>::zeroed();
        // SAFETY: the function accepts any address, and fills in the fields that are read here if it returns 0.
        let found = unsafe { (self.0(address, found.as_mut_ptr()) == 0).then(|| found.assume_init())? };
        // SAFETY: the loader's description of the module, whose name is a C string if it is not null.
        let path = unsafe {
            let name = if found.link_map.is_null() { ptr::null() } else { (*found.link_map).name };
            if name.is_null() { c"" } else { CStr::from_ptr(name) }
        };
        Some((found.start.addr() as u64..found.end.addr() as u64, path.to_bytes()))
    }
}

/// The addresses of the main executable, found before the first decision.
static MAIN_CODE: OnceBox<MainCode> = OnceBox::new();

struct MainCode {
    base: u64,
    /// The first range of code. Other ranges are found in the same way as libraries.
    code: Range<u64>,
    /// The addresses of the whole executable.
    map: Range<u64>,
}

impl MainCode {
    /// Returns the addresses; empty ranges if they have not been found.
    fn get() -> &'static Self {
        static UNKNOWN: MainCode = MainCode { base: 0, code: 0..0, map: 0..0 };
        MAIN_CODE.get().unwrap_or(&UNKNOWN)
    }

    /// Returns the range of the main executable, and its path, which is empty, if an address is there.
    ///
    /// `_dl_find_object` of glibc (2.36) does not return the start of a main executable whose segments have a gap
    /// between them. The linker leaves one by chance, or where its largest page is larger than the page of the system.
    fn module_of(&self, address: u64) -> Option<(Range<u64>, &'static [u8])> {
        self.map.contains(&address).then(|| (self.map.clone(), [].as_slice()))
    }

    fn find() -> Self {
        let mut found = Self { base: 0, code: 0..0, map: 0..0 };
        loaded::for_each(|module| {
            // The loader requires segments to be in the order of their addresses.
            let mut segments = module.segments(0);
            if let Some(first) = segments.next() {
                // Its file is mapped from the page of the first segment on.
                let start = first.start - first.start % PAGE;
                found.map = start..segments.last().unwrap_or(first).end;
            }
            if let Some(segment) = module.segments(libc::PF_X).next() {
                found.base = module.base;
                found.code = segment;
            }
            ControlFlow::Break(())
        });
        found
    }
}

pub(super) fn file_name(address: u64) -> Option<String> {
    let mut name = None;
    each_module_of(&[address], |module| {
        if module.has_code_at(address) {
            let path = String::from_utf8_lossy(module.path).into_owned();
            name = Some(if path.is_empty() && module.is_main { main_executable() } else { path });
        }
    });
    name.map(|path| Path::new(&path).file_name().map_or(path.clone(), |name| name.to_string_lossy().into_owned()))
}

fn main_executable() -> String {
    std::env::current_exe().map_or_else(|_| "main".into(), |path| path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Returns an address in this executable, and one in a library.
    fn addresses() -> [u64; 2] {
        [addresses as fn() -> _ as usize as u64, libc::getpid as unsafe extern "C" fn() -> _ as usize as u64]
    }

    /// Returns the base and the identity of the modules that are found for these addresses.
    fn modules(each_module: impl Fn(&[u64], &mut dyn FnMut(&Module<'_>))) -> BTreeSet<(u64, u64)> {
        let mut modules = BTreeSet::new();
        each_module(&addresses(), &mut |module| {
            modules.insert((module.base, if module.is_main { MAIN } else { identity(module) }));
        });
        modules
    }

    #[test]
    #[cfg_attr(miri, ignore = "there are no modules")]
    fn both_ways_find_the_same_modules() {
        prepare();
        let by_mappings = modules(|addresses, each| each_mapped_module_of(addresses, each));
        assert_eq!(modules(|addresses, each| each_module_of(addresses, each)), by_mappings);
        let is_static = cfg!(target_feature = "crt-static");
        assert_eq!(by_mappings.len(), if is_static { 1 } else { 2 }, "{by_mappings:x?}");
        let by_loader = modules(|addresses, each| {
            loaded::for_each(|module| {
                if addresses.iter().any(|&address| module.has_code_at(address)) {
                    each(module);
                }
                ControlFlow::Continue(())
            });
        });
        assert_eq!(by_loader, by_mappings);
    }
}
