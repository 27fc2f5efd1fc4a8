//! The macros of [`bisect-rt`](https://docs.rs/bisect-rt), which re-exports them: use that crate, not this one.
//!
//! Expansions are tokens that call hidden macros of `bisect-rt` and nothing else. Hashing, patterns, the registry and
//! the switch that compiles everything out are there; this crate knows grammar.
//!
//! All macros take a name first. Toggles that belong together may share one: a search selects by name. A name is one or
//! more of the letters a-z and A-Z, digits and `_` `.` `:` `/` `-`.
//!
//! All are fixed by `BISECT_FIX=name=off;other=on` in the environment of the build: the expansion is a constant then. A
//! malformed value is an error of each macro, which names the byte.
//!
//! All take `crate = path`, the path of `bisect-rt` where it is not `::bisect_rt`: because the dependency is renamed,
//! or because a macro of your own expands to one of these in a crate that does not depend on `bisect-rt`.

mod args;
#[cfg(test)]
mod args_tests;
mod attr;
mod build;
mod decide;
mod errors;
mod fixes;
mod function;
mod item;
mod params;
mod point;
mod toggle;
mod variable;

use proc_macro::{Span, TokenStream};

/// Gives a function two behaviours that `cargo bisect-opt` can switch between.
///
/// # Old and new
/// With `off = path`, the function's body is the new behaviour, and the default. Where the toggle is disabled, the
/// arguments go to the function that `off` names. It has the same signature; an `async fn` is awaited.
/// ```
/// use bisect_rt::bisect_toggle;
///
/// #[derive(Clone, Copy)]
/// pub struct Row {
///     score: u32,
/// }
///
/// fn stable_sort(rows: &mut [Row]) {
///     rows.sort_by_key(|row| row.score);
/// }
///
/// #[bisect_toggle("newsort", off = stable_sort)]
/// pub fn sort(rows: &mut [Row]) {
///     rows.sort_unstable_by_key(|row| row.score);
/// }
/// ```
/// In a method `off` is a path from `Self`, or any function that takes `self` as its first argument:
/// ```
/// # use bisect_rt::bisect_toggle;
/// pub struct Cache(Vec<u64>);
///
/// impl Cache {
///     fn linear(&self, key: u64) -> bool {
///         self.0.contains(&key)
///     }
///
///     #[bisect_toggle("binary-search", off = Self::linear, by = "caller")]
///     pub fn contains(&self, key: u64) -> bool {
///         self.0.binary_search(&key).is_ok()
///     }
/// }
/// ```
///
/// The path is that of a function as it would be called: of a const generic or a type that the arguments do not tell,
/// it is `off = old::<T, N>`, and of a method of a trait `off = <Self as Trait>::old`.
/// ```
/// # use bisect_rt::bisect_toggle;
/// fn zeros_one_by_one<const N: usize>() -> [u8; N] {
///     std::array::from_fn(|_| 0)
/// }
///
/// #[bisect_toggle("zeros", off = zeros_one_by_one::<N>)]
/// pub fn zeros<const N: usize>() -> [u8; N] {
///     [0; N]
/// }
/// ```
///
/// # A gate
/// Without `off`, the function returns a `bool`: the decision, or the body's value without a search.
/// ```
/// # use bisect_rt::bisect_toggle;
/// #[bisect_toggle("newtimer")]
/// fn use_new_timer() -> bool {
///     std::env::var_os("NEW_TIMER").is_some()
/// }
/// ```
///
/// # Options
/// - `off = path`: the old behaviour, as above.
/// - `by = "stack"` (the default), `"caller"` or `"site"`: what tells one decision from another, and so what the answer
///   names. A stack is the most exact, and needs the feature `stacks` of `bisect-rt`, which is on by default: without it, a
///   toggle by stack is a compile error. A caller is the place that called this function (which becomes `#[track_caller]`),
///   costs no unwinding and works on every platform. A site is the function itself.
/// - `depth = N`: how many frames of the stack count, 1 to 128; 16 if not given.
/// - `crate = path`: the path of `bisect-rt`.
///
/// # What it works on
/// Free functions, methods, functions of a trait that have a body and of its implementations; generic, `async`,
/// `unsafe` and `extern` ones, with any patterns for parameters and with arguments that are `impl Trait`. In an `async fn`
/// the decision is made when it is first polled, so a stack is that of the poll.
///
/// What cannot work is a compile error: a `const fn` (see [`bisect_build!`]), a C-variadic function, `off` for a function
/// that returns `impl Trait` (the other function's is another type: name it, or return a `Box<dyn Trait>`), and `by = "caller"` where Rust has no `#[track_caller]`, on an `async fn` or a foreign ABI.
#[proc_macro_attribute]
pub fn bisect_toggle(args: TokenStream, item: TokenStream) -> TokenStream {
    or_item(toggle::expand(args.into(), item.clone().into()), item)
}

/// Returns whether the change at this very place is on: a `bool`, and `true` without a search.
///
/// ```
/// use bisect_rt::bisect_point;
///
/// pub fn axpy(a: f64, x: f64, y: f64) -> f64 {
///     if bisect_point!("fma") { a.mul_add(x, y) } else { a * x + y }
/// }
/// ```
///
/// # Options
/// - `key = expression`: a value of a type that is [`Hash`], so that there is one change for each value at each place.
///   It is borrowed, and evaluated only while the program is bisected. Its hash must be the same in every run.
/// - `by = "site"` (the default), `"caller"` or `"stack"`: what tells one decision from another. `"caller"` is for
///   functions that are `#[track_caller]`; in others the caller it finds is this place itself.
/// - `depth = N`, with `by = "stack"`: how many frames of the stack count, 1 to 128; 16 if not given.
/// - `crate = path`: the path of `bisect-rt`.
///
/// ```
/// # use bisect_rt::bisect_point;
/// # fn simplify(_pass: &str) {}
/// # fn keep(_pass: &str) {}
/// for pass in ["fold", "inline", "hoist"] {
///     if bisect_point!("passes", key = pass) { simplify(pass) } else { keep(pass) }
/// }
/// ```
///
/// In a constant it is a compile error, because constants are evaluated before the program can be asked:
/// use [`bisect_build!`].
#[proc_macro]
pub fn bisect_point(args: TokenStream) -> TokenStream {
    point::expand(args.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Returns whether the change at this place is compiled in: a constant `bool`, `true` without a search.
///
/// A search rebuilds the crate to change it, so use [`bisect_point!`] where the program can decide while it runs.
/// ```
/// use bisect_rt::bisect_build;
///
/// const LANES: usize = if bisect_build!("wide-lanes") { 8 } else { 4 };
///
/// pub struct Block {
///     pub lanes: [f32; LANES],
/// }
/// ```
///
/// # Options
/// - `crate = path`: the path of `bisect-rt`.
#[proc_macro]
pub fn bisect_build(args: TokenStream) -> TokenStream {
    build::expand(args.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Applies attributes to an item, unless the search has them left out.
///
/// Like [`bisect_build!`] it is decided when the crate is built, and the attributes are there without a search.
/// ```
/// use bisect_rt::bisect_attr;
///
/// #[bisect_attr("inline-hash", inline(always))]
/// pub fn hash(x: u64) -> u64 {
///     x.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
/// }
///
/// #[bisect_attr("packed", repr(C, packed), derive(Clone, Copy))]
/// pub struct Header {
///     pub kind: u8,
///     pub length: u64,
/// }
/// ```
/// Behind the name stand one or more attributes, each as between `#[` and `]`, and `crate = path`, the path of
/// `bisect-rt`.
///
/// # Limits
/// - It works on functions with a body, on constants and statics with a value, and on all other items but type aliases.
/// - `cfg`, and attributes that remove the item in some other way, would take the record of the decision away too, on
///   which cargo's rebuilding depends.
/// - Within a macro by example the change is at the place in the macro's definition: one for all its uses.
#[proc_macro_attribute]
pub fn bisect_attr(args: TokenStream, item: TokenStream) -> TokenStream {
    let here = Span::call_site();
    let place = variable::Place { file: here.file(), line: here.line(), column: here.column() };
    let expanded = attr::expand(args.into(), item.clone().into(), &place, variable::Decisions::of_this_package());
    or_item(expanded, item)
}

/// The expansion; or its errors and the item as it was, so that these are the only errors.
fn or_item(expanded: syn::Result<proc_macro2::TokenStream>, item: TokenStream) -> TokenStream {
    match expanded {
        Ok(expanded) => expanded.into(),
        Err(errors) => {
            let mut tokens = TokenStream::from(errors.into_compile_error());
            tokens.extend(item);
            tokens
        }
    }
}
