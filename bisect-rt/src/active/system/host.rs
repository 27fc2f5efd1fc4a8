//! The time at which this copy of the crate was loaded: with the program, or later.
//!
//! In the second case the host is already at work, and we must not end it.

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use self::elf::was_loaded_with_the_program;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod elf {
    use std::{ffi::CStr, ops::ControlFlow};

    use crate::active::system::loaded::{self, Module};

    /// Returns true if the main executable or a library that it needs contains this crate.
    pub(crate) fn was_loaded_with_the_program() -> bool {
        let here = was_loaded_with_the_program as fn() -> bool as usize as u64;
        let mut is_in_main = false;
        let (mut needed, mut own) = (Vec::new(), Vec::new());
        let mut first = Vec::new();
        loaded::for_each(|module| {
            let (name, is_own) = (file_name(module.path).to_vec(), module.has_code_at(here));
            if module.is_main {
                is_in_main = is_own;
                first = needed_by(module);
            } else {
                needed.push((name.clone(), needed_by(module)));
            }
            if is_own {
                own = name;
            }
            if is_in_main { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        is_in_main || is_reached(&own, first, &mut needed)
    }

    /// Returns true if one of these libraries, or one that they need, has this name.
    fn is_reached(name: &[u8], mut from: Vec<Vec<u8>>, needed: &mut Vec<(Vec<u8>, Vec<Vec<u8>>)>) -> bool {
        while let Some(next) = from.pop() {
            if next == name {
                return true;
            }
            if let Some(at) = needed.iter().position(|(library, _)| *library == next) {
                from.extend(needed.swap_remove(at).1);
            }
        }
        false
    }

    /// Returns the file names of the libraries that a module needs.
    fn needed_by(module: &Module<'_>) -> Vec<Vec<u8>> {
        let value_of = |tag| module.dynamic().iter().find(|entry| entry.tag == tag).map(|entry| entry.value);
        let Some(strings) = value_of(DT_STRTAB) else { return Vec::new() };
        // Some loaders turn the offset into an address, others leave the value from the file.
        let strings = if (strings as u64) < module.base { strings as u64 + module.base } else { strings as u64 };
        if !module.segments(libc::PF_R).any(|segment| segment.contains(&strings)) {
            return Vec::new();
        }
        let needed = module.dynamic().iter().filter(|entry| entry.tag == DT_NEEDED).filter_map(|entry| {
            let name = std::ptr::with_exposed_provenance(usize::try_from(strings).ok()? + entry.value);
            // SAFETY: the module's table of strings is loaded, and its own entries lead to C strings in the table.
            let name = unsafe { CStr::from_ptr(name) };
            Some(file_name(name.to_bytes()).to_vec())
        });
        needed.collect()
    }

    const DT_NEEDED: usize = 1;
    const DT_STRTAB: usize = 5;

    fn file_name(path: &[u8]) -> &[u8] {
        path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn libraries_are_reached_through_others() {
            let names = |names: &[&str]| names.iter().map(|name| name.as_bytes().to_vec()).collect::<Vec<_>>();
            let needed = || {
                let of = |name: &str, needs: &[&str]| (name.as_bytes().to_vec(), names(needs));
                vec![of("a", &["b", "c"]), of("b", &["a"]), of("c", &["d"]), of("plugin", &["a"])]
            };
            for (name, expected) in [("a", true), ("d", true), ("plugin", false)] {
                assert_eq!(is_reached(name.as_bytes(), names(&["a"]), &mut needed()), expected, "{name}");
            }
        }

        #[test]
        #[cfg_attr(miri, ignore = "there are no modules")]
        fn what_the_program_needs_is_found() {
            assert!(was_loaded_with_the_program());
            let mut needed = Vec::new();
            loaded::for_each(|module| {
                needed = needed_by(module);
                ControlFlow::Break(())
            });
            let is_static = cfg!(target_feature = "crt-static");
            assert_eq!(needed.iter().any(|name| name.starts_with(b"libc.")), !is_static, "{needed:?}");
        }
    }
}

/// Returns true if the main executable contains this crate.
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
pub(crate) fn was_loaded_with_the_program() -> bool {
    use std::{ffi::c_int, mem::MaybeUninit, ptr};

    unsafe extern "C" {
        fn main() -> c_int;
    }
    let start_of_module_of = |address: usize| {
        let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: it accepts any address, and fields that it has not filled in are zero.
        unsafe {
            libc::dladdr(ptr::without_provenance(address), info.as_mut_ptr());
            info.assume_init().dli_fbase.addr()
        }
    };
    start_of_module_of(was_loaded_with_the_program as fn() -> bool as usize)
        == start_of_module_of(main as unsafe extern "C" fn() -> c_int as usize)
}

/// Returns true if the main executable contains this crate.
#[cfg(windows)]
pub(crate) fn was_loaded_with_the_program() -> bool {
    use std::{ffi::c_void, ptr};

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetModuleHandleExW(flags: u32, name_or_address: *const u16, module: *mut *mut c_void) -> i32;
    }
    const FROM_ADDRESS: u32 = 4;
    const UNCHANGED_REFCOUNT: u32 = 2;
    let handle = |flags, address: usize| {
        let mut module = ptr::null_mut();
        // SAFETY: with these flags the second argument is an address that is only looked up, or null for the
        // executable.
        unsafe { GetModuleHandleExW(flags | UNCHANGED_REFCOUNT, ptr::without_provenance(address), &raw mut module) };
        module
    };
    handle(FROM_ADDRESS, was_loaded_with_the_program as fn() -> bool as usize) == handle(0, 0)
}

/// Returns true: other platforms have no libraries.
#[cfg(not(any(unix, windows)))]
pub(crate) fn was_loaded_with_the_program() -> bool {
    true
}
