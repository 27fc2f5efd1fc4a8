//! The packages that are compiled for a program with toggles: only those that they need.

use crate::fixture::{Flavour, Program};

/// Returns the packages that are compiled for a program, without itself but with those that run at compile time.
fn packages(flavour: Flavour, package: &str) -> Vec<String> {
    let arguments = [
        "tree",
        "--package",
        package,
        "--edges",
        "normal,build",
        "--prefix",
        "none",
        "--no-dedupe",
        "--format",
        "{lib}",
    ];
    let output = flavour.cargo(&arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut packages: Vec<_> = String::from_utf8(output.stdout).unwrap().lines().skip(1).map(str::to_owned).collect();
    packages.sort();
    packages.dedup();
    packages
}

/// Returns these packages with the macros and their dependencies.
fn with_macros(packages: &[&str]) -> Vec<String> {
    let macros = ["bisect_macros", "proc_macro2", "quote", "syn", "unicode_ident"];
    let mut packages: Vec<_> = packages.iter().chain(&macros).map(|&package| package.to_owned()).collect();
    packages.sort();
    packages
}

#[test]
fn a_toggle_brings_ten_packages_and_more_with_stacks() {
    let without_stacks = ["bisect_core", "bisect_rt", "ctor", "libc", "xxhash_rust"];
    let expected = with_macros(&without_stacks);
    assert!(expected.len() <= 11);
    assert_eq!(packages(Flavour::Plain, "lean"), expected, "without stacks");
    let for_stacks = [
        "addr2line",
        "adler2",
        "backtrace",
        "cfg_if",
        "gimli",
        "memchr",
        "miniz_oxide",
        "object",
        "once_cell",
        "rustc_demangle",
    ];
    let expected = with_macros(&[without_stacks.as_slice(), &for_stacks].concat());
    assert!(expected.len() <= 21);
    assert_eq!(packages(Flavour::Plain, "cost"), expected, "with stacks");
}

#[test]
fn without_stacks_sites_and_callers_are_reported() {
    let run = Program::new(&Flavour::Plain.program("lean", "lean")).pattern("n").run();
    assert_eq!((run.stdout.as_str(), run.reports.lines().count()), ("false false\n", 2));
}

#[test]
fn without_stacks_a_toggle_by_stack_is_refused() {
    let arguments = ["check", "--package", "lean", "--features", "by-stack"];
    let output = Flavour::Plain.cargo(&arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(errors.contains("error: a toggle by call stack needs the feature `stacks` of bisect-rt"), "{errors}");
    assert!(errors.contains("could not compile `lean` (bin \"by-stack\") due to 1 previous error"), "{errors}");
}

#[test]
#[ignore = "slow: CI runs it"]
fn compiled_out_only_the_macros_are_compiled() {
    assert_eq!(packages(Flavour::Off, "lean"), with_macros(&["bisect_rt"]));
    assert_eq!(packages(Flavour::Off, "cost"), with_macros(&["bisect_rt"]));
}
