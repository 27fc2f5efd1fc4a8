//! Free functions with an old version.

use std::{
    fmt::{Debug, Display},
    future::Future,
    iter,
    pin::pin,
    task::{Context, Poll, Waker},
};

use bisect_rt::bisect_toggle;

use crate::{Case, either};

pub(crate) const CASES: &[Case] = &[
    either("slice", || slice_case(sort), "[3, 2, 1]", "[1, 2, 3]"),
    either("arguments", || arguments(1, "two", 3.5), "new 1 two 3.5", "old 1 two 3.5"),
    either(
        "patterns",
        || patterns(1, (2, 3), 4, 5, [6, 7, 8], &9, (10, 11), (12, 13)),
        "new 2 15 6-8 9 10 (12, 13) 13",
        "old 1 (2, 3) 4 5 [6, 7, 8] 9 (10, 11) (12, 13)",
    ),
    either("wildcards", || wildcards(1, 2, 3), "new 3", "old 1 2 3"),
    either("mutable", || mutable(vec![1], 2), "new [1, 2]", "old [1] 2"),
    either("borrowed in the tail", || borrowed_in_the_tail((vec![1, 2].into(), 3)).to_string(), "1", "3"),
    either("moved", || moved(vec![String::from("a")], Box::new(1)), "new [\"a\"] 1", "old [\"a\"] 1"),
    either("generic", || generic::<u8, _, 2>(&[1, 2], "x"), "new [1, 2] x", "old [1, 2] x 2"),
    either("only a turbofish can tell", || size::<u64>().to_string(), "8", "64"),
    either("lifetimes", || longest("long", "x").into(), "long", "x"),
    either("early return", || format!("{} {}", early(1), early(2)), "new: 1 is odd new", "old old"),
    either(
        "question mark",
        || format!("{:?} {:?}", question("7"), question("x").is_err()),
        "Ok(8) true",
        "Ok(0) false",
    ),
    either("impl Trait", || total(vec![1, 2].into_iter()).to_string(), "3", "-3"),
    either("closure", || called(|n| n + 1).to_string(), "2", "101"),
    either("never", || std::panic::catch_unwind(|| -> String { never() }).unwrap_or_else(text), "new", "old"),
    either("extern", || c_function(20).to_string(), "40", "10"),
    either("unsafe", || unsafe_case(read), "new 5", "old 5"),
    either("unsafe with a safe old one", || unsafe_case(read_or_not), "new 5", "old"),
    either("async", || block_on(doubled("ab")).unwrap(), "abab", "ab?"),
    either("async early return", || block_on(doubled("")).unwrap_err(), "empty", "nothing"),
    // SAFETY: it has no preconditions.
    either("async unsafe", || block_on(unsafe { async_unsafe(3) }).to_string(), "4", "2"),
    either("recursive", || countdown(3), "3210", "3."),
    either("from a macro", || format!("{} {}", from_macro(2), from_macro_mut(2, 3)), "5 6", "20 23"),
    either("raw identifiers", || raw(1, 2, (3, 4)), "new 1 3 3 4", "old 1 2 (3, 4)"),
    either("inner attributes", || inner_attributes().to_string(), "1", "2"),
];

fn slice_case(sort: fn(&mut [u8])) -> String {
    let mut values = [2, 1, 3];
    sort(&mut values);
    format!("{values:?}")
}

fn old_sort(values: &mut [u8]) {
    values.sort_unstable();
}

#[bisect_toggle("t", off = old_sort)]
fn sort(values: &mut [u8]) {
    values.sort_unstable();
    values.reverse();
}

fn old_arguments(a: u8, b: &str, c: f64) -> String {
    format!("old {a} {b} {c}")
}

#[bisect_toggle("t", off = old_arguments, by = "site")]
fn arguments(a: u8, b: &str, c: f64) -> String {
    format!("new {a} {b} {c}")
}

type Pair = (u8, u8);

#[allow(clippy::too_many_arguments)]
fn old_patterns(a: u8, b: Pair, c: u8, d: u8, e: [u8; 3], f: &u8, g: Pair, h: Pair) -> String {
    format!("old {a} {b:?} {c} {d} {e:?} {f} {g:?} {h:?}")
}

#[bisect_toggle("t", off = old_patterns)]
#[allow(clippy::too_many_arguments)]
fn patterns(
    _: u8,
    (a, _): Pair,
    mut b: u8,
    _unused: u8,
    [first, .., last]: [u8; 3],
    &c: &u8,
    (ref d, _): Pair,
    whole @ (_, e): Pair,
) -> String {
    b += 11;
    format!("new {a} {b} {first}-{last} {c} {d} {whole:?} {e}")
}

fn old_wildcards(a: u8, b: u8, c: u8) -> String {
    format!("old {a} {b} {c}")
}

#[bisect_toggle("t", off = old_wildcards)]
fn wildcards(_: u8, _: u8, c: u8) -> String {
    format!("new {c}")
}

fn old_mutable(values: Vec<u8>, next: u8) -> String {
    format!("old {values:?} {next}")
}

#[bisect_toggle("t", off = old_mutable)]
fn mutable(mut values: Vec<u8>, next: u8) -> String {
    values.push(next);
    format!("new {values:?}")
}

type Shared = std::sync::Arc<[u8]>;

fn old_borrowed((_, n): (Shared, u8)) -> u8 {
    n
}

/// Has a last expression with a temporary that borrows from a binding of the pattern.
#[bisect_toggle("t", off = old_borrowed)]
fn borrowed_in_the_tail((values, _): (Shared, u8)) -> u8 {
    *std::cell::RefCell::new(&values).borrow().iter().min().unwrap()
}

fn old_moved(values: Vec<String>, n: Box<u8>) -> String {
    format!("old {values:?} {n}")
}

#[bisect_toggle("t", off = old_moved)]
fn moved(values: Vec<String>, n: Box<u8>) -> String {
    let (values, n) = (values, *n);
    format!("new {values:?} {n}")
}

fn old_generic<T: Debug, U: Display, const N: usize>(values: &[T; N], last: U) -> String {
    format!("old {values:?} {last} {N}")
}

#[bisect_toggle("t", off = old_generic)]
fn generic<T, U, const N: usize>(values: &[T; N], last: U) -> String
where
    T: Debug,
    U: Display,
{
    format!("new {values:?} {last}")
}

fn bits<T>() -> usize {
    size_of::<T>() * 8
}

#[bisect_toggle("t", off = bits::<T>)]
fn size<T>() -> usize {
    size_of::<T>()
}

fn shortest<'a>(a: &'a str, b: &'a str) -> &'a str {
    if a.len() < b.len() { a } else { b }
}

#[bisect_toggle("t", off = shortest)]
fn longest<'a>(a: &'a str, b: &'a str) -> &'a str {
    if a.len() < b.len() { b } else { a }
}

fn old_early(_: u8) -> String {
    "old".into()
}

#[bisect_toggle("t", off = old_early)]
fn early(n: u8) -> String {
    if n % 2 == 1 {
        return format!("new: {n} is odd");
    }
    "new".into()
}

fn old_question(_: &str) -> Result<u8, std::num::ParseIntError> {
    Ok(0)
}

#[bisect_toggle("t", off = old_question)]
fn question(text: &str) -> Result<u8, std::num::ParseIntError> {
    Ok(text.parse::<u8>()? + 1)
}

fn old_total(values: impl Iterator<Item = i32>) -> i32 {
    values.map(|value| -value).sum()
}

#[bisect_toggle("t", off = old_total)]
fn total(values: impl Iterator<Item = i32>) -> i32 {
    values.sum()
}

fn old_called<F: FnOnce(u8) -> u8>(f: F) -> u8 {
    f(100)
}

#[bisect_toggle("t", off = old_called)]
fn called<F: FnOnce(u8) -> u8>(f: F) -> u8 {
    f(1)
}

/// Returns the message of a panic.
fn text(panic: Box<dyn std::any::Any + Send>) -> String {
    panic.downcast_ref::<&str>().unwrap().to_string()
}

fn old_never() -> ! {
    panic!("old")
}

#[bisect_toggle("t", off = old_never)]
fn never() -> ! {
    panic!("new")
}

extern "C" fn old_c_function(n: u32) -> u32 {
    n / 2
}

#[bisect_toggle("t", off = old_c_function)]
extern "C" fn c_function(n: u32) -> u32 {
    n * 2
}

fn unsafe_case(read: unsafe fn(*const u8) -> String) -> String {
    let value = 5;
    // SAFETY: the pointer is that of the value.
    unsafe { read(&raw const value) }
}

unsafe fn old_read(at: *const u8) -> String {
    // SAFETY: as for `read`.
    format!("old {}", unsafe { *at })
}

/// # Safety
/// `at` is valid for reads.
#[bisect_toggle("t", off = old_read)]
unsafe fn read(at: *const u8) -> String {
    // SAFETY: guaranteed by the caller.
    format!("new {}", unsafe { *at })
}

fn do_not_read(_: *const u8) -> String {
    "old".into()
}

/// # Safety
/// `at` is valid for reads.
#[bisect_toggle("t", off = do_not_read)]
unsafe fn read_or_not(at: *const u8) -> String {
    // SAFETY: guaranteed by the caller.
    format!("new {}", unsafe { *at })
}

/// Runs a future that is ready after a few polls.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    iter::repeat_with(|| future.as_mut().poll(&mut Context::from_waker(Waker::noop())))
        .find_map(|poll| if let Poll::Ready(value) = poll { Some(value) } else { None })
        .expect("the iterator has no end")
}

/// Returns after one pending poll.
async fn pause() {
    let mut paused = false;
    std::future::poll_fn(|_| if std::mem::replace(&mut paused, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

async fn not_empty(text: &str) -> Result<&str, String> {
    pause().await;
    if text.is_empty() { Err("empty".into()) } else { Ok(text) }
}

async fn old_doubled(text: &str) -> Result<String, String> {
    pause().await;
    if text.is_empty() { Err("nothing".into()) } else { Ok(format!("{text}?")) }
}

#[bisect_toggle("t", off = old_doubled)]
async fn doubled(text: &str) -> Result<String, String> {
    let text = not_empty(text).await?;
    pause().await;
    Ok(text.repeat(2))
}

async unsafe fn old_async_unsafe(n: u8) -> u8 {
    pause().await;
    n - 1
}

/// # Safety
/// No preconditions.
#[bisect_toggle("t", off = old_async_unsafe)]
async unsafe fn async_unsafe(n: u8) -> u8 {
    pause().await;
    n + 1
}

fn old_countdown(n: u8) -> String {
    format!("{n}.")
}

#[bisect_toggle("t", off = old_countdown)]
fn countdown(n: u8) -> String {
    if n == 0 { "0".into() } else { format!("{n}{}", countdown(n - 1)) }
}

/// Defines functions whose signatures and bodies mix names of the macro and of its caller.
macro_rules! toggled {
    ($name:literal, $function:ident, $function_mut:ident, $a:ident, $old:path, $new:expr) => {
        #[bisect_toggle($name, off = $old)]
        fn $function($a: u8) -> u8 {
            let a = 2;
            $new + a
        }

        #[bisect_toggle($name, off = $crate::functions::sum)]
        fn $function_mut($a: u8, mut a: u8) -> u8 {
            a += 1;
            $new + a - 1
        }
    };
}

fn tenfold(a: u8) -> u8 {
    a * 10
}

fn sum(a: u8, b: u8) -> u8 {
    a * 10 + b
}

toggled!("t", from_macro, from_macro_mut, a, tenfold, a + 1);

fn r#match(a: u8, b: u8, c: Pair) -> String {
    format!("old {a} {b} {c:?}")
}

#[bisect_toggle("t", off = r#match)]
fn raw(r#type: u8, mut r#in: u8, (r#fn, last): Pair) -> String {
    r#in += 1;
    format!("new {type} {in} {fn} {last}")
}

fn two() -> u8 {
    2
}

#[bisect_toggle("t", off = two)]
fn inner_attributes() -> u8 {
    #![allow(clippy::let_and_return)]
    let one = 1;
    one
}
