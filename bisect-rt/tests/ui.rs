//! The compiler's messages about misused macros, and its silence about correct uses.
//!
//! The texts in `ui/*.stderr` are those of one compiler. To write them anew: `TRYBUILD=overwrite cargo test --test ui`.

mod pinned;

#[test]
#[cfg_attr(bisect_off, ignore = "the runtime's part of the messages is compiled out")]
fn ui() {
    if !pinned::is_compiler("tests/ui") {
        return;
    }
    for (name, value) in pinned::variables() {
        // SAFETY: no other thread runs a test.
        unsafe { std::env::set_var(name, value) };
    }
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/*.rs");
}
