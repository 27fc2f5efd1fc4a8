//! The modules in this process, as the dynamic loader of an ELF system lists them.

use std::{
    ffi::{CStr, c_int, c_void},
    ops::{ControlFlow, Range},
    slice,
};

/// The main executable or a shared library, in memory.
pub(crate) struct Module<'a> {
    /// Where a library was loaded from; of the main executable it may be empty.
    pub(crate) path: &'a [u8],
    pub(crate) is_main: bool,
    /// What is added to the addresses of its file.
    pub(crate) base: u64,
    /// As in its file.
    pub(crate) headers: &'a [Header],
}

#[cfg(target_pointer_width = "64")]
type Header = libc::Elf64_Phdr;
#[cfg(target_pointer_width = "32")]
type Header = libc::Elf32_Phdr;

impl Module<'_> {
    /// The address ranges that were loaded with all of these permissions.
    #[allow(clippy::useless_conversion, reason = "the fields of 32-bit headers are narrower")]
    pub(crate) fn segments(&self, permissions: u32) -> impl Iterator<Item = Range<u64>> {
        self.headers
            .iter()
            .filter(move |header| header.p_type == libc::PT_LOAD && header.p_flags & permissions == permissions)
            .map(|header| {
                let start = self.base.wrapping_add(header.p_vaddr.into());
                start..start.saturating_add(header.p_memsz.into())
            })
    }

    /// Whether this address is in its code.
    pub(crate) fn has_code_at(&self, address: u64) -> bool {
        self.segments(libc::PF_X).any(|segment| segment.contains(&address))
    }
}

/// Calls `f` for one module after the other, the main executable first, until it breaks. It must not panic.
pub(crate) fn for_each<F: FnMut(&Module<'_>) -> ControlFlow<()>>(f: F) {
    let mut walk = Walk { is_first: true, f };
    // SAFETY: `visit::<F>` takes the data for what it is here, and for no longer than this call.
    unsafe { libc::dl_iterate_phdr(Some(visit::<F>), (&raw mut walk).cast()) };
}

struct Walk<F> {
    is_first: bool,
    f: F,
}

unsafe extern "C" fn visit<F: FnMut(&Module<'_>) -> ControlFlow<()>>(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    data: *mut c_void,
) -> c_int {
    // SAFETY: `for_each` passes a `Walk<F>`, which nothing else uses meanwhile; the loader passes a valid module.
    let (walk, info) = unsafe { (&mut *data.cast::<Walk<F>>(), &*info) };
    let path = if info.dlpi_name.is_null() {
        &[]
    } else {
        // SAFETY: it is not null, so it is a C string that lives as long as the module.
        unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes()
    };
    let headers = if info.dlpi_phdr.is_null() {
        &[]
    } else {
        // SAFETY: it is not null, so it is as many headers as the loader says.
        unsafe { slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) }
    };
    #[allow(clippy::useless_conversion, reason = "the addresses of a 32-bit loader are narrower")]
    let module = Module { path, is_main: walk.is_first, base: info.dlpi_addr.into(), headers };
    walk.is_first = false;
    c_int::from((walk.f)(&module).is_break())
}
