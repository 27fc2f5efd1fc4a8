//! The part of a stack that belongs to the program: without the frames around `main`, a thread's function or a test.

use super::symbols::Function;

/// Cuts off our own functions at the inner end and the runtime's at the outer end. If nothing
/// would remain, returns all functions.
pub(super) fn trim(functions: &[Function]) -> &[Function] {
    let start = functions.iter().take_while(|function| is_ours(function)).count();
    // The standard library and the test harness mark the place where they call the program.
    let marker = functions.iter().position(|function| function.name.contains("__rust_begin_short_backtrace"));
    let mut end = marker.unwrap_or(functions.len());
    while end > start && is_runtime(&functions[end - 1]) {
        end -= 1;
    }
    // `#[test]` puts a generated closure around the test.
    let around_test = |outer: &Function| {
        marker.is_some()
            && outer
                .name
                .strip_suffix("::{{closure}}")
                .is_some_and(|test| end >= start + 2 && functions[end - 2].name == test)
    };
    if end > start && around_test(&functions[end - 1]) {
        end -= 1;
    }
    if start < end { &functions[start..end] } else { functions }
}

/// Returns true for functions of this crate that were inlined into the toggled one. If debug information has only line
/// tables, the name has no path, but the file is known.
fn is_ours(function: &Function) -> bool {
    let file = function.place.as_deref().unwrap_or_default();
    function.name.trim_start_matches('<').starts_with("bisect_rt::") || file.contains(OUR_FOLDER)
}

/// The folder of this crate's sources, as it was passed to the compiler.
const OUR_FOLDER: &str = file!().split_at(file!().len() - "active/stack/trim.rs".len()).0;

fn is_runtime(Function { name, place }: &Function) -> bool {
    // C's `main` has no debug information. A `main` that has some is the program's own, named without its path.
    const EXACT: &[&str] = &["_start", "__libc_start_main", "clone", "clone3", "start_thread", "start", "thread_start"];
    const PREFIXES: &[&str] = &[
        "__libc_start",
        "__pthread_",
        "_pthread_",
        "__clone",
        "__rust_try",
        "__scrt_common_main",
        "BaseThreadInitThunk",
        "RtlUserThreadStart",
        "core::ops::function::",
        "std::panic::",
        "std::panicking::",
        "std::rt::",
        "std::sys::",
        "std::sys_common::",
        "std::thread::",
        "test::",
    ];
    let name = shim(name);
    EXACT.contains(&name)
        || (name == "main" && place.is_none())
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns the trait and the method of `<T as Trait>::method`, where `T` can be any type.
fn shim(name: &str) -> &str {
    match name.strip_prefix('<').and_then(|name| name.split_once(" as ")) {
        Some((_, rest)) => rest,
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trimmed(names: &[&str]) -> Vec<String> {
        let functions: Vec<_> = names.iter().map(|&name| Function { name: name.into(), place: None }).collect();
        trim(&functions).iter().map(|function| function.name.clone()).collect()
    }

    #[test]
    fn main_and_what_is_below() {
        let stack = [
            "newsort::sort",
            "newsort::main",
            "core::ops::function::FnOnce::call_once",
            "std::sys::backtrace::__rust_begin_short_backtrace",
            "std::rt::lang_start::{{closure}}",
            "main",
        ];
        assert_eq!(trimmed(&stack), ["newsort::sort", "newsort::main"]);
        assert_eq!(
            trimmed(&["newsort::sort", "newsort::main", "main", "__libc_start_call_main"]),
            ["newsort::sort", "newsort::main"]
        );
    }

    #[test]
    fn a_test_and_its_harness() {
        let stack = [
            "newsort::sort",
            "newsort::tests::it_sorts",
            "newsort::tests::it_sorts::{{closure}}",
            "core::ops::function::FnOnce::call_once",
            "<fn() as core::ops::function::FnOnce<()>>::call_once",
            "test::__rust_begin_short_backtrace",
            "test::run_test_in_process::{{closure}}",
        ];
        assert_eq!(trimmed(&stack), stack[..2]);
        // This closure is one that the program made itself.
        assert_eq!(trimmed(&["a::b", "a::main::{{closure}}", "a::main"]), ["a::b", "a::main::{{closure}}", "a::main"]);
        assert_eq!(trimmed(&["a::b", "a::b::{{closure}}"]), ["a::b", "a::b::{{closure}}"]);
    }

    #[test]
    fn a_stack_that_ends_in_the_middle() {
        let stack = ["a::b", "core::ops::function::FnOnce::call_once", "a::c"];
        assert_eq!(trimmed(&stack), stack, "what the program calls through the runtime stays");
    }

    #[test]
    fn our_own_inlined_functions() {
        assert_eq!(trimmed(&["bisect_rt::toggle::Toggle::stack", "a::b", "bisect_rt::x"]), ["a::b", "bisect_rt::x"]);
    }

    #[test]
    fn names_without_paths() {
        let function = |name: &str, place: Option<String>| Function { name: name.into(), place };
        let functions = [
            function("stack", Some(format!("/somewhere/{OUR_FOLDER}toggle.rs:1:1"))),
            function("sort", Some("/home/me/app/src/lib.rs:1:1".into())),
            function("main", Some("/home/me/app/src/main.rs:1:1".into())),
            function("main", None),
        ];
        let names: Vec<_> = trim(&functions).iter().map(|function| function.name.as_str()).collect();
        assert_eq!(names, ["sort", "main"]);
    }

    #[test]
    fn nothing_else_is_left() {
        assert_eq!(trimmed(&["main", "_start"]), ["main", "_start"]);
        assert_eq!(trimmed(&[]), [""; 0]);
    }
}
