//! Advice on the next steps, after the search has found the code whose compilation breaks the target.

use std::path::Path;

use super::unsafe_code;
use crate::cargo::graph::Package;

/// The facts about a culprit that the advice depends on.
#[derive(Debug)]
pub(crate) struct Known<'a> {
    /// The packages of the culprit.
    pub(crate) packages: Vec<&'a Package>,
    /// The source files of the functions, if known.
    pub(crate) files: Vec<&'a Path>,
    /// The tests that fail.
    pub(crate) tests: &'a [String],
    /// The target triple.
    pub(crate) triple: &'a str,
    /// Set if the build fails. Otherwise the compiled program fails.
    pub(crate) is_build: bool,
}

impl Known<'_> {
    /// Returns the advice, one piece per item.
    pub(crate) fn advice(&self) -> Vec<String> {
        if self.is_build {
            return self.of_build();
        }
        let unsafe_code: Vec<_> = self.packages.iter().filter(|package| unsafe_code::is_in_package(package)).collect();
        let names = |packages: &[&&Package]| packages.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(" and ");
        let in_functions = self.files.iter().any(|file| unsafe_code::is_in_file(file));
        let tests = if let [test] = self.tests { format!(" -- --exact {test}") } else { String::new() };
        let mut advice = Vec::new();
        if unsafe_code.is_empty() {
            advice.push(
                "there is no unsafe code in it: what depends on how it is compiled is then floating point, the \
                 order or address of things, a race, unsafe code of others that is inlined here, or the compiler's mistake"
                    .to_owned(),
            );
        } else {
            let also = if in_functions { ", and in the file of the function" } else { "" };
            advice.push(format!(
                "there is unsafe code in {}{also}: undefined behaviour is the likely cause. Miri detects most cases: \
                 cargo +nightly miri test{tests}",
                names(&unsafe_code)
            ));
            advice.push(format!(
                "if Miri cannot run it, a sanitizer may: RUSTFLAGS=-Zsanitizer=address cargo +nightly test -Zbuild-std \
                 --target {}{tests}",
                self.triple
            ));
        }
        advice.push(
            "if the code is right, report it with the flags above: https://github.com/rust-lang/rust/issues/new"
                .to_owned(),
        );
        advice
    }

    fn of_build(&self) -> Vec<String> {
        let names = self.packages.iter().map(|package| package.name.as_str()).collect::<Vec<_>>().join(" and ");
        vec![
            format!(
                "the command above shows what the compiler says. An error, or a panic of a build script, is about what {names} \
                 does where it is compiled so: by constants, assertions, or the build script's environment"
            ),
            "an internal compiler error, a crash or a hang of the compiler is its own mistake, whatever the code is: \
             report it with the flags above: https://github.com/rust-lang/rust/issues/new"
                .to_owned(),
        ]
    }
}
