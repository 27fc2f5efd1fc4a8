//! The modules in this process, as the dynamic loader of an ELF system lists them, and as they are in memory.

use std::{
    ffi::{CStr, c_int, c_void},
    ops::{ControlFlow, Range},
    slice,
};

/// The main executable or a shared library, in memory.
pub(crate) struct Module<'a> {
    /// The path from which a library was loaded; for the main executable it may be empty.
    pub(crate) path: &'a [u8],
    pub(crate) is_main: bool,
    /// The difference between addresses in memory and in the file.
    pub(crate) base: u64,
    /// The program headers, as in the file.
    pub(crate) headers: &'a [Header],
}

#[cfg(target_pointer_width = "64")]
pub(crate) type Header = libc::Elf64_Phdr;
#[cfg(all(feature = "stacks", target_pointer_width = "64"))]
type FileHeader = libc::Elf64_Ehdr;
#[cfg(target_pointer_width = "32")]
pub(crate) type Header = libc::Elf32_Phdr;
#[cfg(all(feature = "stacks", target_pointer_width = "32"))]
type FileHeader = libc::Elf32_Ehdr;

/// An entry in a module's dynamic section; `libc` has no definition.
#[repr(C)]
pub(crate) struct Dynamic {
    pub(crate) tag: usize,
    pub(crate) value: usize,
}

/// The size of the smallest page: the first page of a file is always mapped as a whole.
#[cfg(feature = "stacks")]
pub(crate) const PAGE: u64 = 4096;

/// The size of the longest note that is read; a longer one is no build ID.
#[cfg(feature = "stacks")]
const LONGEST_NOTE: u64 = PAGE;

#[cfg_attr(not(feature = "stacks"), allow(clippy::elidable_lifetime_names, reason = "needed with it"))]
impl<'a> Module<'a> {
    /// Returns the module whose file is mapped to this range, from its first byte on; `None` if the file cannot be
    /// loaded as a module. `is_main` is false in the result, also for the main executable.
    ///
    /// # Safety
    /// At the start of the range a readable page is mapped, and it stays mapped as long as the path lives.
    #[cfg(feature = "stacks")]
    #[allow(clippy::useless_conversion, reason = "the fields of 32-bit headers are narrower")]
    pub(crate) unsafe fn mapped_at(range: Range<u64>, path: &'a [u8]) -> Option<Self> {
        let start = std::ptr::with_exposed_provenance::<FileHeader>(usize::try_from(range.start).ok()?);
        // SAFETY: the page is mapped, and its start is aligned for the header.
        let header = unsafe { &*start };
        let (offset, count) = (u64::from(header.e_phoff), u64::from(header.e_phnum));
        let end = offset.checked_add(count.checked_mul(size_of::<Header>() as u64)?)?;
        let is_usable = header.e_ident.starts_with(b"\x7fELF")
            && usize::from(header.e_phentsize) == size_of::<Header>()
            && offset.is_multiple_of(align_of::<Header>() as u64)
            && end <= PAGE.min(range.end - range.start);
        if !is_usable {
            return None;
        }
        // SAFETY: on the same page, and aligned.
        let headers = unsafe {
            slice::from_raw_parts(
                start.byte_add(usize::try_from(offset).ok()?).cast::<Header>(),
                count.try_into().ok()?,
            )
        };
        let first = headers.iter().find(|header| header.p_type == libc::PT_LOAD)?;
        let base = range.start.wrapping_sub(u64::from(first.p_vaddr).wrapping_sub(first.p_offset.into()));
        Some(Self { path, is_main: false, base, headers })
    }

    /// Returns the program headers as bytes.
    pub(crate) fn header_bytes(&self) -> &[u8] {
        // SAFETY: headers are plain integers without padding, and all their bytes are read here.
        unsafe { slice::from_raw_parts(self.headers.as_ptr().cast(), size_of_val(self.headers)) }
    }

    /// Returns the dynamic section of the module, as it is in memory.
    #[allow(clippy::useless_conversion, reason = "the fields of 32-bit headers are narrower")]
    pub(crate) fn dynamic(&self) -> &[Dynamic] {
        let Some(header) = self.headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC) else { return &[] };
        let start = self.base.wrapping_add(header.p_vaddr.into());
        let (Ok(start), Ok(size)) = (usize::try_from(start), usize::try_from(header.p_memsz)) else { return &[] };
        let start = std::ptr::with_exposed_provenance(start);
        // SAFETY: the loader has read the section, and it has the stated size.
        unsafe { slice::from_raw_parts(start, size / size_of::<Dynamic>()) }
    }

    /// Returns the contents of its notes, including a build ID, as far as they are loaded.
    #[cfg(feature = "stacks")]
    #[allow(clippy::useless_conversion, reason = "the fields of 32-bit headers are narrower")]
    pub(crate) fn notes(&self) -> impl Iterator<Item = &[u8]> {
        self.headers.iter().filter(|header| header.p_type == libc::PT_NOTE).filter_map(|header| {
            let start = self.base.wrapping_add(header.p_vaddr.into());
            let size = u64::from(header.p_memsz);
            let end = start.checked_add(size).filter(|_| size <= LONGEST_NOTE)?;
            let is_loaded = |segment: Range<u64>| segment.start <= start && end <= segment.end;
            if !self.segments(libc::PF_R).any(is_loaded) {
                return None;
            }
            let start = std::ptr::with_exposed_provenance(usize::try_from(start).ok()?);
            // SAFETY: within a segment that is loaded and can be read.
            Some(unsafe { slice::from_raw_parts(start, usize::try_from(size).ok()?) })
        })
    }

    /// Returns the address ranges that were loaded with all of these permissions.
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

    /// Returns true if this address is in its code.
    pub(crate) fn has_code_at(&self, address: u64) -> bool {
        self.segments(libc::PF_X).any(|segment| segment.contains(&address))
    }
}

/// Calls `f` for one module after the other, the main executable first, until `f` breaks. `f` must not panic.
pub(crate) fn for_each<F: FnMut(&Module<'_>) -> ControlFlow<()>>(f: F) {
    let mut walk = Walk { is_first: true, f };
    // SAFETY: `visit::<F>` uses the data as the type that it has here, and only during this call.
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
        // SAFETY: a path that is not null is a C string that lives as long as the module.
        unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes()
    };
    let headers = if info.dlpi_phdr.is_null() {
        &[]
    } else {
        // SAFETY: a pointer that is not null leads to the stated number of headers.
        unsafe { slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) }
    };
    #[allow(clippy::useless_conversion, reason = "the addresses of a 32-bit loader are narrower")]
    let module = Module { path, is_main: walk.is_first, base: info.dlpi_addr.into(), headers };
    walk.is_first = false;
    c_int::from((walk.f)(&module).is_break())
}
