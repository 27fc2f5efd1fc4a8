//! Advice on the next steps, after the search has found the code whose compilation breaks the target.
//!
//! Each piece rests on something that was seen: an option, or code that may be compiled in the culprit. The compiler is
//! suspected only where no unsafe code was seen, in the culprit and in all that may be compiled there.

use std::path::Path;

use super::{
    contributors::{Contributors, first_names},
    sources, unsafe_code,
};
use crate::{
    axes::compared_options::ComparedOptions,
    cargo::{Subcommand, graph::Package},
    units,
};

/// The address for reports about the compiler.
const REPORT_TO: &str = "https://github.com/rust-lang/rust/issues/new";

/// The facts about a culprit that the advice depends on.
#[derive(Debug)]
pub(crate) struct Known<'a> {
    /// The packages whose code may be compiled in the culprit.
    pub(crate) contributors: &'a Contributors<'a>,
    /// The source files of the functions, if known.
    pub(crate) files: Vec<&'a Path>,
    /// The tests that fail.
    pub(crate) tests: &'a [String],
    /// The target triple.
    pub(crate) triple: &'a str,
    /// The options that are compared.
    pub(crate) contrast: &'a ComparedOptions,
    /// The directory of the workspace.
    pub(crate) root: &'a Path,
    /// The subcommand of cargo. If it only builds, the build fails, else the compiled program.
    pub(crate) subcommand: Subcommand,
}

impl Known<'_> {
    /// Returns the advice, one piece per item.
    pub(crate) fn advice(&self) -> Vec<String> {
        if self.subcommand.is_build() {
            return self.of_build();
        }
        let processor = self.contrast.processor_flags();
        let mut advice = Vec::new();
        let places = if processor.is_empty() { Vec::new() } else { self.places_for_features() };
        if !processor.is_empty() {
            advice.push(of_processor(&processor, &places));
        }
        let own = self.contributors.with_unsafe_code();
        if !own.is_empty() {
            advice.extend(self.of_unsafe_code(&own, !processor.is_empty()));
            return advice;
        }
        let dependencies = self.contributors.dependencies_with_unsafe_code();
        let names = names(&self.contributors.own);
        let others =
            "what depends on how it is compiled is then floating point, the order or address of things, a race";
        if dependencies.is_empty() {
            let nor = if self.contributors.dependencies.is_empty() { "" } else { ", nor in a dependency" };
            advice.push(format!("there is no unsafe code in {names}{nor}: {others}, or the compiler's mistake"));
            if places.is_empty() {
                advice.push(format!(
                    "if it is none of the others, report it with the command after `fails:`: {REPORT_TO}"
                ));
            }
        } else {
            advice.push(format!(
                "there is no unsafe code in {names}: {others}, or undefined behaviour in a dependency whose code is \
                 compiled there: there is unsafe code in {}",
                first_names(&dependencies)
            ));
            advice.push(format!("Miri detects most undefined behaviour: {}", self.miri()));
        }
        advice
    }

    /// Returns the advice if unsafe code was seen. `is_second` is set if something else is more likely.
    fn of_unsafe_code(&self, packages: &[&Package], is_second: bool) -> [String; 2] {
        let names = names(packages);
        let in_functions = self.files.iter().any(|file| unsafe_code::is_in_file(file));
        let also = if in_functions { ", and in the file of the function" } else { "" };
        let likely = if is_second {
            "if it is none of these, undefined behaviour is possible"
        } else {
            "undefined behaviour is the likely cause"
        };
        [
            format!("there is unsafe code in {names}{also}: {likely}. Miri detects most cases: {}", self.miri()),
            format!(
                "if Miri cannot run it, a sanitizer may: RUSTFLAGS=-Zsanitizer=address cargo +nightly {} -Zbuild-std \
                 --target {}{}",
                self.run(),
                self.triple,
                self.of_tests()
            ),
        ]
    }

    /// Returns the first places that name features of processors: in the culprit's own packages, or else in dependencies.
    fn places_for_features(&self) -> Vec<String> {
        let Contributors { own, dependencies } = self.contributors;
        let places = |packages: &[&Package]| sources::places(packages, self.root, &["target_feature"]);
        Some(places(own)).filter(|places| !places.is_empty()).unwrap_or_else(|| places(dependencies))
    }

    /// Returns the command that runs the target in Miri.
    pub(super) fn miri(&self) -> String {
        format!("cargo +nightly miri {}{}", self.run(), self.of_tests())
    }

    /// Returns the subcommand of cargo that runs the target.
    fn run(&self) -> &'static str {
        match self.subcommand {
            Subcommand::Run => "run",
            Subcommand::Nextest => "nextest run",
            Subcommand::Test | Subcommand::Build | Subcommand::Check => "test",
        }
    }

    /// Returns the words of a command line that select the test, if one fails.
    fn of_tests(&self) -> String {
        if let [test] = self.tests { format!(" -- --exact {test}") } else { String::new() }
    }

    fn of_build(&self) -> Vec<String> {
        let names = names(&self.contributors.own);
        vec![
            format!(
                "the command above shows what the compiler says. An error, or a panic of a build script, is about what {names} \
                 does where it is compiled so: by constants, assertions, or the build script's environment"
            ),
            format!(
                "an internal compiler error, a crash or a hang of the compiler is its own mistake, whatever the code is: \
                 report it with the flags above: {REPORT_TO}"
            ),
        ]
    }
}

/// Returns the advice if a build is for another processor, or for other features of one.
fn of_processor(flags: &[String], places: &[String]) -> String {
    let differ = format!("the builds differ in {}", flags.join(" "));
    if places.is_empty() {
        return format!(
            "{differ}. No source of the culprit and its dependencies names `target_feature`, so they compile the same code, to \
             other instructions: fused multiply-add (FMA) rounds once, not twice, and vectors of another width add in \
             another order. Compare floating-point results with a tolerance"
        );
    }
    format!(
        "{differ}: look for code under `cfg(target_feature)`, which differs before it is optimized. Fused multiply-add \
         (FMA) rounds once, not twice, and vectors of another width add in another order: {}",
        units::listed(places.iter().cloned())
    )
}

fn names(packages: &[&Package]) -> String {
    packages.iter().map(|package| package.name.as_str()).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::{super::contributors::tests::package, *};
    use crate::cargo::profiles::Profiles;

    /// Compares the advice for a crate with this source, which has a dependency with that source.
    fn expect_advice(source: &str, dependency: &str, bad: &[&str], expected: &Expect) {
        let dir = tempfile::tempdir().unwrap();
        let dependency = package(dir.path(), "beans", dependency, &[]);
        let package = package(dir.path(), "menu", source, &[&dependency]);
        let contributors = Contributors { own: vec![&package], dependencies: vec![&dependency] };
        let bad: Vec<_> = bad.iter().map(|&bad| bad.to_owned()).collect();
        let known = Known {
            contributors: &contributors,
            files: Vec::new(),
            tests: &["it_pours".to_owned()],
            triple: "t",
            contrast: &ComparedOptions::parse(&[], &bad, &Profiles::read(dir.path(), dir.path(), &[]))
                .unwrap()
                .contrast,
            root: dir.path(),
            subcommand: Subcommand::Test,
        };
        expected.assert_eq(&(known.advice().join("\n") + "\n"));
    }

    #[test]
    fn unsafe_code_is_suspected_before_the_compiler() {
        expect_advice(
            "fn f() { unsafe {} }",
            "",
            &[],
            &expect![[r"
            there is unsafe code in menu: undefined behaviour is the likely cause. Miri detects most cases: cargo +nightly miri test -- --exact it_pours
            if Miri cannot run it, a sanitizer may: RUSTFLAGS=-Zsanitizer=address cargo +nightly test -Zbuild-std --target t -- --exact it_pours
        "]],
        );
    }

    #[test]
    fn an_unsafe_attribute_is_not_suspected() {
        expect_advice(
            "#[unsafe(no_mangle)] pub extern \"C\" fn f() {}",
            "#![forbid(unsafe_code)]",
            &[],
            &expect![[r"
            there is no unsafe code in menu, nor in a dependency: what depends on how it is compiled is then floating point, the order or address of things, a race, or the compiler's mistake
            if it is none of the others, report it with the command after `fails:`: https://github.com/rust-lang/rust/issues/new
        "]],
        );
    }

    #[test]
    fn unsafe_code_of_a_dependency_is_suspected_before_the_compiler() {
        expect_advice(
            "",
            "unsafe impl Send for X {}",
            &[],
            &expect![[r"
            there is no unsafe code in menu: what depends on how it is compiled is then floating point, the order or address of things, a race, or undefined behaviour in a dependency whose code is compiled there: there is unsafe code in beans
            Miri detects most undefined behaviour: cargo +nightly miri test -- --exact it_pours
        "]],
        );
    }

    #[test]
    fn code_for_another_processor_is_suspected_first() {
        let wide = "\n#[cfg(target_feature = \"fma\")]\nfn f() { unsafe {} }";
        expect_advice(
            wide,
            "",
            &["-Ctarget-cpu=x86-64-v3"],
            &expect![[r"
            the builds differ in -Ctarget-cpu=x86-64-v3: look for code under `cfg(target_feature)`, which differs before it is optimized. Fused multiply-add (FMA) rounds once, not twice, and vectors of another width add in another order: menu/src/lib.rs:2
            there is unsafe code in menu: if it is none of these, undefined behaviour is possible. Miri detects most cases: cargo +nightly miri test -- --exact it_pours
            if Miri cannot run it, a sanitizer may: RUSTFLAGS=-Zsanitizer=address cargo +nightly test -Zbuild-std --target t -- --exact it_pours
        "]],
        );
        expect_advice(
            "",
            wide,
            &["-C target-feature=+fma -Cllvm-args=-x"],
            &expect![[r"
            the builds differ in -Ctarget-feature=+fma: look for code under `cfg(target_feature)`, which differs before it is optimized. Fused multiply-add (FMA) rounds once, not twice, and vectors of another width add in another order: beans/src/lib.rs:2
            there is no unsafe code in menu: what depends on how it is compiled is then floating point, the order or address of things, a race, or undefined behaviour in a dependency whose code is compiled there: there is unsafe code in beans
            Miri detects most undefined behaviour: cargo +nightly miri test -- --exact it_pours
        "]],
        );
        expect_advice(
            "",
            "",
            &["-Ctarget-cpu=x86-64-v3"],
            &expect![[r"
            the builds differ in -Ctarget-cpu=x86-64-v3. No source of the culprit and its dependencies names `target_feature`, so they compile the same code, to other instructions: fused multiply-add (FMA) rounds once, not twice, and vectors of another width add in another order. Compare floating-point results with a tolerance
            there is no unsafe code in menu, nor in a dependency: what depends on how it is compiled is then floating point, the order or address of things, a race, or the compiler's mistake
            if it is none of the others, report it with the command after `fails:`: https://github.com/rust-lang/rust/issues/new
        "]],
        );
    }

    #[test]
    fn miri_does_what_the_user_did() {
        let contributors = Contributors::default();
        for (subcommand, tests, expected) in [
            (Subcommand::Run, &[][..], "cargo +nightly miri run"),
            (Subcommand::Test, &["a::b".to_owned()][..], "cargo +nightly miri test -- --exact a::b"),
            (Subcommand::Nextest, &["a".to_owned(), "b".to_owned()][..], "cargo +nightly miri nextest run"),
        ] {
            let known = Known {
                contributors: &contributors,
                files: Vec::new(),
                tests,
                triple: "t",
                contrast: &ComparedOptions::default(),
                root: Path::new("/"),
                subcommand,
            };
            assert_eq!(known.miri(), expected);
        }
    }
}
