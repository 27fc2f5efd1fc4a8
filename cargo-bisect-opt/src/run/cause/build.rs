//! The signatures of a failed build: errors and panics of the compiler, with their locations, and crashes.

use std::sync::LazyLock;

use regex::Regex;

use super::{Signature, panics};
use crate::process::plain_text;

/// The beginnings of messages that only repeat that there was an error.
const REPEATED: [&str; 3] = ["could not compile ", "aborting due to ", "build failed"];

/// Returns the signatures in the messages of cargo, the compiler and build scripts, each once: panics first, then
/// crashes, then errors.
pub(super) fn signatures(output: &[u8]) -> Vec<Signature> {
    signatures_in(&plain_text(output))
}

/// Returns the same for messages without control sequences.
pub(super) fn signatures_in(text: &str) -> Vec<Signature> {
    let mut signatures = panics(text.as_bytes());
    for signature in crashes(text).into_iter().chain(errors(text)) {
        if !signatures.contains(&signature) {
            signatures.push(signature);
        }
    }
    signatures
}

/// Finds errors as rustc prints them: `error[E0080]: message`, and on one of the next lines ` --> file:line:column`.
fn errors(text: &str) -> Vec<Signature> {
    let mut signatures: Vec<Signature> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        if let Some((code, message)) = line.strip_prefix("error").and_then(|rest| rest.split_once(": ")) {
            is_open = (code.is_empty() || code.starts_with('[')) && !REPEATED.iter().any(|r| message.starts_with(r));
            if is_open {
                signatures.push(Signature { place: format!("error{code}"), message: message.to_owned() });
            }
        } else if let (true, Some(place), Some(signature)) =
            (is_open, line.trim_start().strip_prefix("--> "), signatures.last_mut())
        {
            signature.place = format!("{} at {place}", signature.place);
            is_open = false;
        } else if line.is_empty() {
            is_open = false;
        }
    }
    signatures
}

/// Finds crashes of the compiler.
fn crashes(text: &str) -> Vec<Signature> {
    static LLVM: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m)^(?:rustc-)?(LLVM ERROR): (.*)$").expect("the expression is valid"));
    // Cargo's wording. A shell, and our wrapper, report a signal as a status above 128.
    static ENDED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?m)^ *process didn't exit successfully: .*\((?:(signal): ([0-9]+)|exit status: ([0-9]+))[^()]*\)$",
        )
        .expect("the expression is valid")
    });
    let llvm = LLVM.captures_iter(text).map(|found| (found[1].to_owned(), found[2].trim_end().to_owned()));
    let ended = ENDED.captures_iter(text).filter_map(|found| {
        let number = |i| found.get(i).and_then(|number| number.as_str().parse::<u32>().ok());
        let signal = number(2).or_else(|| number(3)?.checked_sub(128).filter(|&signal| signal > 0))?;
        Some((format!("signal {signal}"), String::new()))
    });
    llvm.chain(ended).map(|(place, message)| Signature { place, message }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, String)> {
        signatures(text.as_bytes()).into_iter().map(|signature| (signature.place, signature.message)).collect()
    }

    fn owned(signatures: &[(&str, &str)]) -> Vec<(String, String)> {
        signatures.iter().map(|&(place, message)| (place.to_owned(), message.to_owned())).collect()
    }

    #[test]
    fn errors_have_locations() {
        let text = "   Compiling a v0.1.0 (/w/a)\nwarning: unused\n --> a/src/lib.rs:1:1\n\n\
                    error[E0080]: evaluation panicked: too long\n --> a/src/lib.rs:3:15\n  |\n3 | x\n\n\
                    error: it is not so\n\nFor more information about this error, try `rustc --explain E0080`.\n\
                    error: could not compile `a` (lib) due to 2 previous errors; 1 warning emitted\n";
        let expected =
            [("error[E0080] at a/src/lib.rs:3:15", "evaluation panicked: too long"), ("error", "it is not so")];
        assert_eq!(found(text), owned(&expected));
        let coloured =
            text.replace("error[E0080]", "\x1b[1m\x1b[91merror[E0080]\x1b[0m").replace("-->", "\x1b[94m-->\x1b[0m");
        assert_eq!(found(&coloured), owned(&expected));
        assert_eq!(found("errors: many\nerror-prone: yes\n"), []);
    }

    #[test]
    fn panics_of_compilers_and_build_scripts_have_locations() {
        let text = "error: failed to run custom build command for `picky v0.1.0 (/w/picky)`\n\nCaused by:\n  \
                    process didn't exit successfully: `/t/build-script-build` (exit status: 101)\n  --- stderr\n\n  \
                    thread 'main' (77) panicked at picky/build.rs:4:9:\n  no\n";
        let command = ("error", "failed to run custom build command for `picky v0.1.0 (/w/picky)`");
        assert_eq!(found(text), owned(&[("picky/build.rs:4:9", "  no"), command]));
    }

    #[test]
    fn crashes_have_signals() {
        let ended = |how| {
            format!(
                "error: could not compile `a` (lib)\n\nCaused by:\n  process didn't exit successfully: \
                 `rustc --cfg 'feature=\"(x)\"'` ({how})\n"
            )
        };
        for (how, expected) in [
            ("signal: 11, SIGSEGV: invalid memory reference", &[("signal 11", "")] as &[_]),
            ("exit status: 139", &[("signal 11", "")]),
            ("exit status: 101", &[]),
        ] {
            assert_eq!(found(&ended(how)), owned(expected), "{how}");
        }
        assert_eq!(found("rustc-LLVM ERROR: Cannot select: x\n"), owned(&[("LLVM ERROR", "Cannot select: x")]));
    }
}
