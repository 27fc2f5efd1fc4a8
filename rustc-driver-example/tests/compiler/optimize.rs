//! Tests of gate `optimize`: its reports, and the code of functions whose change is off.

use std::collections::BTreeSet;

use crate::{
    harness::{Ran, all_changes, bisect_rustc, changes, compile, run, rustc, without},
    ir,
};

/// A function of each kind, and a caller of all.
const KINDS: &str = r"
use std::{future::Future, pin::Pin, task::{Context, Poll, Waker}};

pub fn plain(x: u32) -> u32 { x.wrapping_mul(7) }

pub struct Account(pub u32);
impl Account { pub fn method(&self) -> u32 { self.0 ^ 5 } }

pub trait Sum { fn required(&self) -> u32; fn default_body(&self) -> u32 { self.required() + 2 } }
impl Sum for Account { fn required(&self) -> u32 { self.0 | 64 } }

impl Drop for Account { fn drop(&mut self) { self.0 = std::hint::black_box(0) } }

pub fn generic<T: Copy + Into<u64>>(x: T) -> u64 { x.into() + 3 }

#[inline] pub fn hinted(x: u32) -> u32 { x + 9 }

pub fn closure(x: u32) -> u32 { let add = |y: u32| y.rotate_left(x); add(4) }

pub async fn coroutine(x: u32) -> u32 { x + 17 }

pub const fn constant(x: u32) -> u32 { x + 1 }

#[cold] pub fn cold(x: u32) -> u32 { x - 1 }

pub fn all(x: u32) -> u64 {
    let account = Account(x);
    let sum = plain(x) + account.method() + account.required() + account.default_body() + closure(x) + hinted(x) + cold(x);
    let mut future = Box::pin(coroutine(x));
    let Poll::Ready(y) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) else { return 0 };
    generic(x) + u64::from(sum + y + constant(x))
}
";

/// The names of the functions in reports, and their names in the machine code.
const REPORTED: [(&str, &str); 13] = [
    ("ledger::plain", "ledger::plain"),
    ("ledger::Account::method", "<ledger::Account>::method"),
    ("<ledger::Account as ledger::Sum>::required", "<ledger::Account as ledger::Sum>::required"),
    ("ledger::Sum::default_body", "<ledger::Account as ledger::Sum>::default_body"),
    ("<ledger::Account as core::ops::drop::Drop>::drop", "<ledger::Account as core::ops::drop::Drop>::drop"),
    ("ledger::generic", "ledger::generic::<u32>"),
    ("ledger::hinted", "ledger::hinted"),
    ("ledger::closure", "ledger::closure"),
    ("ledger::closure::{closure#0}", "ledger::closure::{closure#0}"),
    ("ledger::coroutine::{closure#0}", "ledger::coroutine::{closure#0}"),
    ("ledger::constant", "ledger::constant"),
    ("ledger::cold", "ledger::cold"),
    ("ledger::all", "ledger::all"),
];

fn left_alone(ir: &str) -> BTreeSet<String> {
    ir::functions(ir).into_iter().filter(|(_, function)| function.is_left_alone()).map(|(name, _)| name).collect()
}

fn is_called(ir: &str, function: &str) -> bool {
    ir::functions(ir).values().any(|caller| caller.calls.iter().any(|callee| callee == function))
}

#[test]
fn a_function_that_is_off_is_left_alone_and_no_other() {
    let changes = all_changes(KINDS, "optimize", &[]);
    let on = compile(KINDS, "llvm-ir", "y", &[]);
    assert!(left_alone(on.text()).is_empty());
    for (path, symbol) in REPORTED {
        let id = *changes.get(path).unwrap_or_else(|| panic!("{path} is not in {changes:#?}"));
        let off = compile(KINDS, "llvm-ir", &without(id), &[]);
        assert_eq!(left_alone(off.text()), [symbol.to_owned()].into());
        // A function that is off is inlined nowhere. One that is on is inlined everywhere, unless it is cold.
        if symbol != "ledger::all" {
            assert!(is_called(off.text(), symbol), "{symbol}");
            assert!(!is_called(on.text(), symbol) || symbol == "ledger::cold", "{symbol}");
        }
    }
}

#[test]
fn all_are_left_alone_if_all_are_off() {
    for args in [&[] as &[_], &["-Zthreads=2"], &["-Copt-level=s"], &["-Zmir-opt-level=4"]] {
        let off = compile(KINDS, "llvm-ir", "optimize=off", args);
        let functions = ir::functions(off.text());
        let optimized: Vec<_> = functions
            .iter()
            .filter(|(name, function)| name.trim_start_matches('<').starts_with("ledger") && !function.is_left_alone())
            .map(|(name, _)| name)
            .collect();
        assert!(optimized.is_empty(), "{args:?} {optimized:?}");
    }
}

#[test]
fn passes_over_mir_leave_it_alone_too() {
    let changes = all_changes(KINDS, "optimize", &[]);
    let body = |pattern: &str| {
        let mir = compile(KINDS, "mir", pattern, &[]);
        let (_, body) = mir.text().split_once("fn all(").unwrap();
        body.split_once("\n}").unwrap().0.to_owned()
    };
    assert!(!body("y").contains("plain(") && body("y").contains("inlined"), "{}", body("y"));
    assert!(body(&without(changes["ledger::plain"])).contains("plain("));
    let off = body(&without(changes["ledger::all"]));
    assert!(off.contains("plain(") && !off.contains("inlined"), "{off}");
}

#[test]
fn the_drop_glue_of_a_crate_is_one_change() {
    let source = "pub struct A(Vec<u8>, String); pub fn f(x: A) { std::hint::black_box(&x); } pub fn g(x: Box<String>) { drop(x) }";
    let changes = all_changes(source, "optimize", &[]);
    let off = left_alone(compile(source, "llvm-ir", &without(changes["core::ptr::drop_in_place"]), &[]).text());
    assert!(!off.is_empty());
    assert!(off.iter().all(|name| name.starts_with("core::ptr::drop_in_place::<")), "{off:?}");
}

#[test]
fn what_cannot_be_decided_is_not_reported() {
    let source = "
        #![feature(optimize_attribute, rustc_attrs, target_feature_inline_always, intrinsics)]
        #![allow(internal_features)]
        #[inline(always)] pub fn always(x: u32) -> u32 { x + 1 }
        #[optimize(none)] pub fn none(x: u32) -> u32 { x + 2 }
        #[rustc_force_inline] fn forced(x: u32) -> u32 { x + 3 }
        #[rustc_intrinsic] pub fn black_box<T>(x: T) -> T { x }
        #[rustc_std_internal_symbol] pub fn internal(x: u32) -> u32 { x + 4 }
        const fn evaluated(x: u32) -> u32 { x + 5 }
        const EVALUATED: u32 = evaluated(1);
        fn dead(x: u32) -> u32 { x + 6 }
        unsafe extern \"C\" { fn foreign(x: u32) -> u32; }
        #[derive(Clone, Copy)] pub struct Tuple(u32);
        pub fn caller(x: Option<u32>) -> Option<Tuple> {
            x.map(|x| unsafe { foreign(always(none(forced(black_box(x))))) } + EVALUATED).map(Tuple)
        }";
    #[cfg(target_arch = "x86_64")]
    let source = &format!(
        "{source}
        #[unsafe(naked)] pub extern \"C\" fn naked() {{ std::arch::naked_asm!(\"ret\") }}
        #[target_feature(enable = \"avx2\")] #[inline(always)] pub fn feature(x: u32) -> u32 {{ x + 7 }}"
    );
    let changes = all_changes(source, "optimize", &[]);
    let own: Vec<_> = changes.keys().filter(|path| path.contains("ledger")).map(String::as_str).collect();
    // The implementation of `Clone` is derived.
    assert_eq!(own, ["<ledger::Tuple as core::clone::Clone>::clone", "ledger::caller", "ledger::caller::{closure#0}"]);
    let off = left_alone(compile(source, "llvm-ir", "optimize=off", &[]).text());
    for function in ["always", "internal", "naked", "feature"] {
        assert!(!off.contains(&format!("ledger::{function}")), "{off:?}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn functions_with_target_features_are_not_inlined_either() {
    let source = "
        #[target_feature(enable = \"avx2\")] pub fn narrow(x: [u32; 8]) -> [u32; 8] { x.map(|x| x.wrapping_mul(3)) }
        #[target_feature(enable = \"avx2,fma\")] pub fn wide(x: [u32; 8]) -> [u32; 8] { narrow(narrow(x)) }";
    let narrow = all_changes(source, "optimize", &[])["ledger::narrow"];
    for args in [&[] as &[_], &["-Ctarget-feature=+avx2,+fma"]] {
        assert!(!is_called(compile(source, "llvm-ir", "y", args).text(), "ledger::narrow"));
        assert!(is_called(compile(source, "llvm-ir", &without(narrow), args).text(), "ledger::narrow"));
    }
    // rustc does not write the attribute that the verifier demands, so the function is no change if the verifier runs.
    let verified = all_changes(source, "optimize", &["-Zverify-llvm-ir"]);
    assert!(!verified.contains_key("ledger::narrow"));
    compile(source, "llvm-ir", "optimize=off", &["-Zverify-llvm-ir"]);
}

const UPSTREAM: &str = "
    pub fn generic<T: Copy + Into<u64>>(x: T) -> u64 { x.into() + 3 }
    #[inline] pub fn hinted(x: u64) -> u64 { x + 9 }
    pub fn small(x: u64) -> u64 { x ^ 5 }
    pub fn apply(f: impl Fn(u64) -> u64) -> u64 { f(1) }";
const DOWNSTREAM: &str = "
    pub fn all(x: u32) -> u64 { upstream::hinted(upstream::generic(x)) + upstream::small(3) + upstream::apply(|x| x + 1) }";

/// Compiles both crates, each with its own pattern (without one, by rustc), the second to IR.
fn two_crates(upstream: Option<&str>, downstream: Option<&str>) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let compiler = |pattern: Option<&str>| {
        let mut command = pattern.map_or_else(rustc, |_| bisect_rustc());
        command.args(["-", "--crate-type=lib", "--edition=2024", "-O"]).current_dir(&folder);
        command.env("BISECT_PATTERN", pattern.unwrap_or_default());
        command
    };
    Ran::with_input(compiler(upstream).args(["--crate-name=upstream", "-olibupstream.rlib"]), UPSTREAM).successful();
    let mut command = compiler(downstream);
    command.args(["--crate-name=ledger", "--extern=upstream=libupstream.rlib", "--emit=llvm-ir", "-o-"]);
    Ran::with_input(&mut command, DOWNSTREAM).successful()
}

#[test]
fn functions_of_dependencies_are_changes_of_the_crate_that_compiles_them() {
    let all = changes(&two_crates(None, Some("vy")).stderr);
    let compiled = ["upstream::generic", "upstream::hinted", "upstream::small", "upstream::apply"];
    for path in compiled {
        let off = two_crates(None, Some(&without(all[path])));
        let off = left_alone(off.text());
        assert!(off.len() == 1 && off.iter().all(|name| name.starts_with(path)), "{path} {off:?}");
    }
}

#[test]
fn a_function_that_is_off_is_so_in_other_crates_too() {
    for downstream in [None, Some("y")] {
        let off = two_crates(Some("optimize=off"), downstream);
        assert_eq!(
            left_alone(off.text()).iter().map(|name| name.split("::<").next().unwrap()).collect::<Vec<_>>(),
            ["upstream::apply", "upstream::generic", "upstream::hinted", "upstream::small"]
        );
        for function in ["upstream::hinted", "upstream::small"] {
            assert!(is_called(off.text(), function), "{function}");
        }
        assert!(!left_alone(two_crates(Some("y"), downstream).text()).iter().any(|name| name.contains("upstream")));
    }
}

#[test]
fn a_program_that_relies_on_undefined_behaviour_does_as_if_not_optimized() {
    const PROGRAM: &str = "
        fn is_before(x: i32) -> bool { x < unsafe { x.unchecked_add(1) } }
        fn other(x: i32) -> bool { x.wrapping_mul(3) > 1 }
        fn main() { let x = std::hint::black_box(i32::MAX); println!(\"{} {}\", is_before(x), other(x)); }";
    let run = |args: &[&str], pattern: &str| run(PROGRAM, pattern, args);
    let debug = ["-Cdebug-assertions=off", "-Coverflow-checks=off"];
    let (unoptimized, optimized) = ("false true\n", "true true\n");
    assert_eq!(run(&debug, "").0, unoptimized);
    for args in [&["-O"] as &[_], &["-O", "-Ccodegen-units=16"], &["-O", "-Clto=fat"], &["-O", "-Clto=thin"]] {
        let (output, reports) = run(args, "vy");
        assert_eq!(output, optimized, "{args:?}");
        let all = changes(&reports);
        assert_eq!(run(args, &without(all["ledger::is_before"])).0, unoptimized, "{args:?}");
        assert_eq!(run(args, &without(all["ledger::other"])).0, optimized, "{args:?}");
    }
}
