//! Output of a program that ran a compiler: whether that failed, so that what it should have made never ran.
//!
//! A script that compiles and then tests ends with the same status, whichever of both fails. The messages of rustc, cargo
//! and C compilers tell. What ran after the last of them, a test harness or a program that panicked, is what failed.

use std::sync::LazyLock;

use regex::Regex;

use super::{Signature, build};

/// Returns the signatures of the errors for which the compiler made nothing; `None` if nothing shows that it failed, or
/// if what it made ran afterwards.
pub(super) fn failure(text: &str) -> Option<Vec<Signature>> {
    static FAILED: LazyLock<Regex> = LazyLock::new(|| {
        regex(concat!(
            r"^error: (?:could not compile |aborting due to |the compiler unexpectedly panicked|rustc interrupted by SIG",
            r"|linking with |failed to run custom build command |build failed$",
            // Cargo's, before it compiles.
            r"|failed to (?:parse manifest at|load manifest for|read `|parse lock file at|select a version for|get `|load source for)",
            r"|no matching package |package `[^`]*` cannot be built )",
            r"|^(?:rustc-)?LLVM ERROR: ",
            // GCC's and Clang's.
            r"|^[^\s:][^:\n]*\.[A-Za-z+]+:[0-9]+:(?:[0-9]+:)? (?:fatal |internal compiler )?error: ",
            r"|^(?:collect2|ld|clang|clang\+\+|gcc|g\+\+|cc1|cc1plus|cc|c\+\+)(?:-[0-9.]+)?: (?:fatal |internal compiler )?error: ",
        ))
    });
    // Rust's harness, and a panic; panics of the compiler come before its last error.
    static RAN: LazyLock<Regex> = LazyLock::new(|| {
        regex(r"^running [0-9]+ tests?$|^test result: |^thread '[^\n]*' (?:\([0-9]+\) )?panicked at ")
    });
    let failed = FAILED.find_iter(text).last()?;
    if RAN.is_match_at(text, failed.start()) {
        return None;
    }
    let mut signatures = build::signatures_in(text);
    if signatures.is_empty() {
        signatures.extend(c_errors(text));
    }
    if signatures.is_empty() {
        let line = text[failed.start()..].lines().next().unwrap_or_default();
        signatures
            .push(Signature { place: "error".to_owned(), message: line.trim_start_matches("error: ").to_owned() });
    }
    Some(signatures)
}

/// Finds errors as GCC and Clang print them: `file:line:column: error: message`.
fn c_errors(text: &str) -> impl Iterator<Item = Signature> {
    static ERROR: LazyLock<Regex> = LazyLock::new(|| {
        regex(r"^([^\s:][^:\n]*\.[A-Za-z+]+:[0-9]+(?::[0-9]+)?): (?:fatal |internal compiler )?error: ([^\r\n]*)")
    });
    ERROR
        .captures_iter(text)
        .map(|found| Signature { place: format!("error at {}", &found[1]), message: found[2].to_owned() })
}

/// Compiles an expression in which `^` and `$` are the ends of lines.
fn regex(expression: &str) -> Regex {
    Regex::new(&format!("(?mR){expression}")).expect("the expression is valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    const E0425: &str = "error[E0425]: cannot find value `x` in this scope\n --> src/lib.rs:3:5\n\n\
                         error: could not compile `a` (lib) due to 1 previous error\n";

    #[test]
    fn what_does_not_compile_is_told_from_what_fails() {
        for text in [
            E0425,
            "error[E0425]: cannot find value `x`\n --> m.rs:1:1\n\nerror: aborting due to 1 previous error\n",
            "error: linking with `cc` failed: exit status: 1\n",
            "error: failed to parse manifest at `/w/Cargo.toml`\n\nCaused by:\n  no\n",
            "error: failed to select a version for the requirement `a = \"^2\"`\n",
            "error: no matching package named `a` found\n",
            "error: rustc interrupted by SIGSEGV, printing backtrace\n",
            "thread 'rustc' (5) panicked at compiler/rustc_middle/src/a.rs:1:2:\nno\n\nerror: the compiler unexpectedly \
             panicked. this is a bug.\n",
            "rustc-LLVM ERROR: Cannot select: x\n",
            "main.c:3:5: error: 'x' undeclared (first use in this function)\n",
            "main.c:3: error: expected ';'\n",
            "dir with blank/a.c:1:10: fatal error: no.h: No such file or directory\r\n",
            "collect2: error: ld returned 1 exit status\n",
            // The tests of another package ran before.
            &format!("running 1 test\ntest result: ok. 1 passed\n\n{E0425}"),
        ] {
            assert!(failure(text).is_some_and(|signatures| !signatures.is_empty()), "{text}");
        }
        for text in [
            "",
            "error: bad\n",
            "error: test failed, to rerun pass `--lib`\n",
            "warning: unused\n --> src/lib.rs:3:5\n",
            "main.c:3:5: warning: unused variable\n",
            "Error: 3:4: error\n",
            "12:30:11: error: late\n2026: error: no\n",
            // A test that compiles something shows these messages, and then fails.
            &format!("running 1 test\n{E0425}test result: FAILED. 0 passed; 1 failed\n"),
            &format!("{E0425}thread 'main' (1) panicked at src/main.rs:1:1:\nit should compile\n"),
            // A first build fails, and the script goes on.
            &format!("{E0425}\nrunning 1 test\n"),
        ] {
            assert!(failure(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_first_error_is_shown() {
        let shown = |text: &str| {
            let signature = failure(text).unwrap().remove(0);
            (signature.place, signature.message)
        };
        let of = |place: &str, message: &str| (place.to_owned(), message.to_owned());
        assert_eq!(shown(E0425), of("error[E0425] at src/lib.rs:3:5", "cannot find value `x` in this scope"));
        assert_eq!(shown("a.c:3:5: error: no x\r\n"), of("error at a.c:3:5", "no x"));
        assert_eq!(shown("collect2: error: ld returned 1\n"), of("error", "collect2: error: ld returned 1"));
    }
}
