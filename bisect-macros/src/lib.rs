//! The macros of [`bisect-rt`](https://docs.rs/bisect-rt), which re-exports them: use that crate, not this one.
//!
//! An expansion calls hidden macros of `bisect-rt` and contains no other logic. That crate has the hashing, the
//! patterns, the registry and the `cfg` that compiles toggles out; this one parses arguments and generates tokens.
//!
//! The first argument of each macro is a name. Several toggles may have the same name: a search selects toggles by
//! name. A name consists of one or more of the letters a-z and A-Z, digits and `_` `.` `:` `/` `-`.
//!
//! `BISECT_FIX=name=off;other=on` in the environment of the build fixes the toggles with these names, of all macros:
//! each expands to a constant. A malformed value is a compile error at each macro call, and names the byte offset.
//!
//! All macros take `crate = path`, the path of `bisect-rt` if it is not `::bisect_rt`. It is needed if the dependency
//! is renamed, or if a macro of your own expands to one of these in a crate that does not depend on `bisect-rt`.

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
/// With `off = path`, the function's body is the new behaviour, which is the default. If the change is disabled, the
/// arguments are passed to the function that `off` names. It must have the same signature; an `async fn` is awaited.
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
/// In a method, `off` is a path that begins with `Self`, or any function that takes `self` as its first argument:
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
/// The path is written as in a call. It contains the generic arguments that cannot be inferred from the function's
/// arguments (`off = old::<T, N>`), and the trait of a trait's method (`off = <Self as Trait>::old`).
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
/// Without `off`, the function must return `bool`. It returns the decision, or the value of its body if the toggle is
/// neither bisected nor set (`name=on`, `name=off`).
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
/// - `by = "stack"` (the default), `"caller"` or `"site"`: the key, which defines the changes of this toggle, and so
///   what a search can name. A stack is the most precise key. It needs the feature `stacks` of `bisect-rt`, which is on
///   by default; without the feature, a toggle by stack is a compile error. A caller is the place that calls this
///   function, which becomes `#[track_caller]`; this key needs no unwinding and works on every platform. A site is the
///   function itself.
/// - `depth = N`, with `by = "stack"`: the maximum number of frames that identify a stack, from 1 to 128. The default
///   is 16.
/// - `crate = path`: the path of `bisect-rt`.
///
/// # Supported functions
/// Free functions, methods, functions of a trait that have a body, and functions of trait implementations. They may be
/// generic, `async`, `unsafe` or `extern`; parameters may be any patterns, and their types may be `impl Trait`. An
/// `async fn` decides when its future is first polled, so its stack is the stack of the poll.
///
/// Compile errors are:
/// - a `const fn` (see [`bisect_build!`]), and a C-variadic function;
/// - `off` for a function that returns `impl Trait`, because the two functions would return different types: name the
///   type, or return a `Box<dyn Trait>`;
/// - `by = "caller"` for an `async fn` or a foreign ABI, where Rust has no `#[track_caller]`;
/// - with `off`, a parameter that has `#[cfg(…)]`.
#[proc_macro_attribute]
pub fn bisect_toggle(args: TokenStream, item: TokenStream) -> TokenStream {
    or_item(toggle::expand(args.into(), item.clone().into()), item)
}

/// Evaluates to a `bool`: true if the change at this place is on. The default is `true`.
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
/// - `key = expression`: a value whose type implements [`Hash`]. Each value has a change of its own at each place. The
///   value is borrowed, and evaluated only while the program is bisected. Its hash must be the same in every run.
/// - `by = "site"` (the default), `"caller"` or `"stack"`: the key, as for [`macro@bisect_toggle`]. `"caller"` is for
///   functions that are `#[track_caller]`; in other functions, the caller is this place itself.
/// - `depth = N`, with `by = "stack"`: the maximum number of frames that identify a stack, from 1 to 128. The default
///   is 16.
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
/// In a constant, this macro is a compile error, because the compiler evaluates constants before the program runs: use
/// [`bisect_build!`].
#[proc_macro]
pub fn bisect_point(args: TokenStream) -> TokenStream {
    point::expand(args.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Evaluates to a constant `bool`: true if the change at this place is compiled in. The default is `true`.
///
/// A search rebuilds the crate to change the value, so use [`bisect_point!`] where the program can decide at run time.
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

/// Applies attributes to an item if the change at this place is on, which is the default.
///
/// Like [`bisect_build!`], this is decided when the crate is built.
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
/// The arguments after the name are one or more attributes, each as between `#[` and `]`. The option `crate = path` is
/// the path of `bisect-rt`.
///
/// # Limits
/// - It works on functions with a body, on constants and statics with a value, and on all other items except type
///   aliases.
/// - `cfg` is refused: with the item, it may remove the record of the decision, by which cargo knows when to rebuild
///   the crate. Other attributes that remove the item are not detected.
/// - In a `macro_rules!` macro, the place of the change is in the macro's definition: all uses of the macro are one
///   change.
#[proc_macro_attribute]
pub fn bisect_attr(args: TokenStream, item: TokenStream) -> TokenStream {
    let here = Span::call_site();
    let place = variable::Place { file: here.file(), line: here.line(), column: here.column() };
    let expanded = attr::expand(args.into(), item.clone().into(), &place, variable::Decisions::of_this_package());
    or_item(expanded, item)
}

/// Returns the expansion. If it failed, returns the errors and the unchanged item: without the item, the compiler would
/// report more errors at its uses.
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
