//! What is compiled into a program: no more than its toggles need.

use crate::fixture::{Flavour, Program};

/// The packages that are compiled for a program, without those that run while compiling.
fn packages(flavour: Flavour, package: &str) -> Vec<String> {
    let arguments =
        ["tree", "--package", package, "--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{lib}"];
    let output = flavour.cargo(&arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut packages: Vec<_> = String::from_utf8(output.stdout).unwrap().lines().skip(1).map(str::to_owned).collect();
    packages.sort();
    packages.dedup();
    packages
}

#[test]
fn without_stacks_nothing_is_compiled_that_reads_them() {
    let packages = packages(Flavour::Plain, "lean");
    assert_eq!(packages, ["bisect_core", "bisect_rt", "ctor", "libc", "link_section", "xxhash_rust"]);
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
fn compiled_out_nothing_is_compiled() {
    assert_eq!(packages(Flavour::Off, "lean"), ["bisect_rt"]);
    assert_eq!(packages(Flavour::Off, "cost"), ["bisect_rt"]);
}
