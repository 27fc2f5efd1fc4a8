//! `--codegen` where no pass is the cause, or where passes cannot be counted. A wrapper behaves like such a compiler.
#![cfg(unix)]

use std::fs;

use bisect_tests::harness::{Finished, Scratch, run};

const MANIFEST: &str = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
const SOURCE: &str = "pub fn first(bytes: &[u8]) -> u8 { unsafe { *bytes.as_ptr() } }\n#[test]\nfn is_right() { assert!(!cfg!(wrong)); }\n";

/// Searches a package whose test fails where the wrapper adds its variable `wrong` to the compiler's arguments. `cases`
/// sets this variable.
fn search(cases: &str) -> Finished {
    let scratch = Scratch::new();
    fs::create_dir(scratch.dir().join("src")).unwrap();
    for (name, text) in [("Cargo.toml", MANIFEST), ("src/lib.rs", SOURCE)] {
        scratch.write(name, text);
    }
    let script = format!("#!/bin/sh\nwrong=\ncase \" $* \" in {cases} esac\nexec \"$@\" $wrong\n");
    let wrapper = scratch.script("wrapper", &script);
    let mut command = scratch.driver(["test", "--codegen", "--json"]);
    command.env("CARGO_TARGET_DIR", scratch.dir().join("target")).env("RUSTC_WRAPPER", wrapper);
    let finished = run(&mut command).expect_status(0);
    assert_eq!(finished.culprits(), [["shop 0.1.0"]], "{finished}");
    assert!(finished.stdout.contains("if Miri cannot run it, a sanitizer may: "), "{finished}");
    // The code is not known to be right.
    assert!(!finished.stdout.contains("rust-lang/rust"), "{finished}");
    finished
}

#[test]
#[ignore = "slow: CI runs it"]
fn a_failure_that_needs_several_codegen_units_has_no_pass() {
    let finished = search("*codegen-units=1\\ *) ;; *opt-level=3*) wrong='--cfg wrong' ;;");
    finished.expect_message(&[
        "no LLVM pass was found: the target passes when built for a search of passes",
        "with one codegen unit, which counting LLVM's passes requires, the target passes",
        "no MIR pass was found: it fails even without any MIR pass in shop, while LLVM passes still run",
    ]);
}

#[test]
#[ignore = "slow: CI runs it"]
fn passes_that_break_it_without_the_other_kind_have_one_note() {
    for (cases, note) in [
        (
            "*mir-opt-level=0*) ;; *opt-level=3*) wrong='--cfg wrong' ;;",
            "in shop, the LLVM passes alone break it, and so do the MIR passes alone; without any of them the target passes",
        ),
        (
            "*opt-level=3*) wrong='--cfg wrong' ;;",
            "no pass was found: it fails without any LLVM or MIR pass in shop, so another option breaks it",
        ),
        (
            "*mir-opt-level=0*) exit 1 ;; *opt-level=3*) wrong='--cfg wrong' ;;",
            "and it fails without any MIR pass; the run without both kinds has no result",
        ),
    ] {
        let finished = search(cases);
        finished.expect_message(&[note]);
        assert!(!finished.stderr.contains("passes still run"), "{finished}");
    }
}

#[test]
fn a_compiler_that_does_not_count_passes_is_named() {
    let refused = "*-Zmir-opt-bisect-limit*) echo 'error: unknown option: `mir-opt-bisect-limit`' >&2; exit 1 ;;";
    let finished = search(&format!("{refused} *opt-level=3*) wrong='--cfg wrong' ;;"));
    finished.expect_message(&[
        "MIR passes cannot be counted: ",
        "unknown option: `mir-opt-bisect-limit`",
        "no LLVM pass was found: it fails even without any LLVM pass in shop, while MIR passes still run",
    ]);
}
