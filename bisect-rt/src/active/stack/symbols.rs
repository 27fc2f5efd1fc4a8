//! Functions of a stack, from the debug information of their modules.

use std::ptr;

use backtrace::Symbol;

/// A function on a stack; a frame has several where calls were inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    /// The place `file:line:column`, as far as it is known.
    pub(super) place: Option<String>,
}

impl Function {
    /// Returns `None` for a function without a name.
    fn new(symbol: &Symbol) -> Option<Self> {
        // The alternate form is without the hash at the end.
        let name = format!("{:#}", symbol.name()?);
        let place = symbol.filename().zip(symbol.lineno()).map(|(file, line)| match symbol.colno() {
            Some(column) => format!("{}:{line}:{column}", file.display()),
            None => format!("{}:{line}", file.display()),
        });
        Some(Self { name, place })
    }
}

/// Returns the functions of the frame with this return address, the innermost inlined one first; empty if they are not
/// known.
///
/// Debug information that was read once is kept for the whole process, under a lock. The lock does not keep out another
/// call of the same thread. So this must not be called while this thread is in it, for example by its allocator.
pub(super) fn of_frame(address: u64) -> Vec<Function> {
    let mut functions = Vec::new();
    if let Ok(address) = usize::try_from(address) {
        backtrace::resolve(ptr::without_provenance_mut(address), |symbol| functions.extend(Function::new(symbol)));
    }
    functions
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;
    use crate::active::stack::unwinder;

    /// Returns the return addresses of the callers of this function.
    #[inline(never)]
    fn addresses() -> Vec<u64> {
        let marker = 0_u8;
        unwinder::addresses_beyond(black_box(&raw const marker).addr())
    }

    #[inline(always)]
    fn inlined(levels: u32) -> Vec<u64> {
        black_box(deep(levels))
    }

    #[inline(never)]
    fn deep(levels: u32) -> Vec<u64> {
        if levels == 0 { addresses() } else { black_box(inlined(levels - 1)) }
    }

    fn name(function: &str) -> String {
        format!("{}::{function}", module_path!())
    }

    #[test]
    #[cfg(any(unix, windows))]
    #[cfg_attr(miri, ignore = "there is no unwinder")]
    fn each_frame_of_a_recursion_has_its_functions() {
        let addresses = deep(3);
        assert_eq!(addresses[1], addresses[2], "the same call");
        for &address in &addresses[1..4] {
            let names: Vec<_> = of_frame(address).into_iter().map(|function| function.name).collect();
            assert_eq!(names, [name("inlined"), name("deep")]);
        }
    }

    #[test]
    #[cfg(any(unix, windows))]
    #[cfg_attr(miri, ignore = "there is no unwinder")]
    fn debug_information_names_the_functions_of_this_stack() {
        let (line, addresses) = (line!(), addresses());
        let here = &of_frame(addresses[0])[0];
        assert_eq!(here.name, name("debug_information_names_the_functions_of_this_stack"));
        let place = here.place.as_deref().expect("tests have debug information");
        assert!(place.contains(&format!("symbols.rs:{line}:")), "{place}");
    }

    #[test]
    #[cfg_attr(miri, ignore = "there is no debug information")]
    fn an_address_without_code_has_no_functions() {
        assert_eq!(of_frame(0), []);
        assert_eq!(of_frame(&raw const *Box::new(0_u8) as u64), []);
    }
}
