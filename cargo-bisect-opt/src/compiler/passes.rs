//! Passes of the compiler, in the order in which it counts them.
//!
//! rustc and LLVM both count their optimizing passes, and stop at a limit: `-Zmir-opt-bisect-limit`,
//! `-opt-bisect-limit`. So only prefixes of the passes can be enabled: each pass works on the results of those before
//! it.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use bisect_core::ChangeId;

use super::plan::{self, CounterKind};
use crate::run::numbering::position;

/// The beginning of the compiler's messages about its counters.
pub(crate) const PREFIX: &[u8] = b"BISECT: ";

/// Returns the flags that set a limit, or list the passes. LLVM reads its limit from `file`, if given: flags are part
/// of the hash of a crate, and the contents of files that they name are not.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn flags(of: CounterKind, limit: Option<u64>, file: Option<&Path>) -> std::io::Result<Vec<String>> {
    if of == CounterKind::Mir {
        return Ok(vec![format!("-Zmir-opt-bisect-limit={}", limit.unwrap_or(u32::MAX.into()))]);
    }
    let limit = limit.map_or("-1".to_owned(), |limit| limit.to_string());
    for_llvm(&format!("-opt-bisect-limit={limit}"), file)
}

/// Returns the flags that pass an argument to LLVM, with one codegen unit: several threads would count in parallel.
fn for_llvm(argument: &str, file: Option<&Path>) -> std::io::Result<Vec<String>> {
    let mut flags = vec!["-Ccodegen-units=1".to_owned()];
    // rustc splits the arguments at spaces.
    match file.and_then(Path::to_str).filter(|file| !file.contains(char::is_whitespace)) {
        Some(file) => {
            fs_err::write(file, argument)?;
            flags.push(format!("-Cllvm-args=@{file}"));
        }
        None => flags.push(format!("-Cllvm-args={argument}")),
    }
    Ok(flags)
}

/// Returns the flags that disable passes of LLVM. Like a limit, the names are read from `file`.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn leave_out(names: &[String], file: &Path) -> std::io::Result<Vec<String>> {
    for_llvm(&format!("-opt-disable={}", names.join(",")), Some(file))
}

/// Returns the flags that disable passes everywhere, as far as possible.
pub(crate) fn without(of: CounterKind, names: &[String]) -> Vec<String> {
    match of {
        CounterKind::Mir => {
            let names = names.iter().map(|name| format!("-{}", name.trim_end_matches("-initial")));
            vec![format!("-Zmir-enable-passes={}", names.collect::<Vec<_>>().join(","))]
        }
        CounterKind::Llvm => {
            vec!["-Ccodegen-units=1".to_owned(), format!("-Cllvm-args=-opt-disable={}", names.join(","))]
        }
    }
}

/// One pass on one function or module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pass {
    /// The crate that is compiled.
    pub(crate) unit: String,
    /// Its number in that crate, from 1.
    pub(crate) number: u64,
    /// The name of the pass.
    pub(crate) name: String,
    /// The demangled function that it works on, or the whole module.
    pub(crate) on: String,
}

impl Pass {
    /// Parses a message of the compiler.
    fn parse(unit: &str, line: &str) -> Option<Self> {
        let (number, rest) = line.strip_prefix("BISECT: running pass (")?.split_once(") ")?;
        let (name, on) = rest.split_once(" on ")?;
        // LLVM: `[module]`, `function (f)`, `loop %bb in function f`, `SCC (f, g)`, or the symbol; rustc: the path.
        let on = on.strip_prefix("function (").and_then(|on| on.strip_suffix(')')).unwrap_or(on);
        Some(Self { unit: unit.to_owned(), number: number.parse().ok()?, name: name.to_owned(), on: demangle(on) })
    }

    /// Returns the function that it works on, or in; else the name of the module.
    pub(crate) fn function(&self) -> &str {
        let within = self.on.rsplit_once(" in function ").map_or(self.on.as_str(), |(_, function)| function);
        within.strip_prefix('(').and_then(|one| one.strip_suffix(')')).unwrap_or(within)
    }

    /// Returns the crates that the name of its function contains: the one that defines the function, and those of its
    /// types.
    pub(crate) fn crates(&self) -> BTreeSet<String> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let name = self.function();
        // A crate is the first part of a path, so no `::` precedes it.
        let paths = name.match_indices("::").filter_map(|(end, _)| {
            let start = name[..end].rfind(|c| !is_word(c)).map_or(0, |at| at + 1);
            let is_first = !name[..start].ends_with("::") && start < end;
            is_first.then(|| name[start..end].to_owned())
        });
        paths.collect()
    }

    /// Describes it for the answer.
    pub(crate) fn describe(&self, of: CounterKind) -> String {
        // LLVM names a function without saying that it is one; rustc's passes also work on constants.
        let is_function = of == CounterKind::Llvm && self.function() == self.on && !self.on.starts_with('[');
        format!("{} pass {} on {}{}", of.owner(), self.name, if is_function { "function " } else { "" }, self.on)
    }
}

/// Demangles the symbols in a text.
fn demangle(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let (before, from) = rest.split_at(start);
        let (symbol, after) = from.split_at(from.find(|c| !is_part(c)).unwrap_or(from.len()));
        out += before;
        let name = rustc_demangle::try_demangle(symbol).map(|name| format!("{name:#}"));
        out += name.as_deref().unwrap_or(symbol);
        rest = after;
    }
    without_hashes(&(out + rest))
}

/// Removes the hashes of crates from rustc's paths: `ledger[1a2b]::sum`.
fn without_hashes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once('[') {
        out += before;
        match inside.split_once(']') {
            Some((hash, after)) if !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                rest = after;
            }
            _ => {
                out.push('[');
                rest = inside;
            }
        }
    }
    out + rest
}

/// The passes of a package, crate by crate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passes {
    all: Vec<Pass>,
}

impl Passes {
    /// Reads the lists that the wrapper has stored, a file for each crate. See [`plan::latest_per_unit`].
    ///
    /// # Errors
    /// If a file cannot be read.
    pub(crate) fn read(reports_dir: &Path, built: &BTreeSet<String>) -> std::io::Result<Self> {
        let mut all = Vec::new();
        for (unit, file) in plan::latest_per_unit(reports_dir, built)? {
            let text = fs_err::read(file)?;
            all.extend(String::from_utf8_lossy(&text).lines().filter_map(|line| Pass::parse(&unit, line)));
        }
        Ok(Self { all })
    }

    /// Returns all passes in order.
    pub(crate) fn all(&self) -> &[Pass] {
        &self.all
    }

    /// Returns whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the number of passes.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the pass of a change.
    pub(crate) fn get(&self, id: ChangeId) -> Option<&Pass> {
        self.all.get(position(id)?)
    }

    /// Returns the limit of each crate, for a total limit.
    pub(crate) fn limits(&self, limit: usize) -> BTreeMap<String, u64> {
        let mut limits = BTreeMap::new();
        for pass in &self.all[..limit] {
            limits.insert(pass.unit.clone(), pass.number);
        }
        limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_are_the_first_parts_of_paths() {
        for (on, expected) in [
            ("poll_promise::promise::PromiseImpl<T>::poll", "poll_promise"),
            ("<alloc::vec::Vec<menu::Tea> as core::ops::drop::Drop>::drop", "alloc core menu"),
            ("loop %bb1 in function ledger::book::{closure#0}", "ledger"),
            ("(a::f, b::g)", "a b"),
            ("[module]", ""),
            ("main", ""),
        ] {
            let pass = Pass { unit: "u".to_owned(), number: 1, name: "gvn".to_owned(), on: on.to_owned() };
            assert_eq!(pass.crates().into_iter().collect::<Vec<_>>().join(" "), expected, "{on}");
        }
    }

    #[test]
    fn lines_are_read() {
        for (line, expected) in [
            ("BISECT: running pass (3) forceattrs on [module]", Some((3, "forceattrs", "[module]"))),
            ("BISECT: running pass (12) sroa on _ZN1a3sum17h820d16e45d1844a9E", Some((12, "sroa", "a::sum"))),
            (
                "BISECT: running pass (9) machine-cse on function (_RNvXsZ_NtCsjrHSEGnQ3l9_3std7processuNtB5_11Termination6report)",
                Some((9, "machine-cse", "<() as std::process::Termination>::report")),
            ),
            (
                "BISECT: running pass (7) inline on (_ZN1a3sum17h820d16e45d1844a9E, _ZN1a4main17h1854dee5fd9945b4E)",
                Some((7, "inline", "(a::sum, a::main)")),
            ),
            (
                "BISECT: running pass (99) PreCodegen on a[9c87]::sum::{closure#0}",
                Some((99, "PreCodegen", "a::sum::{closure#0}")),
            ),
            ("BISECT: NOT running pass (100) GVN on a[9c87]::main", None),
            ("BISECT: running pass (x) GVN on a", None),
            ("warning: x", None),
        ] {
            let pass = Pass::parse("u", line);
            let found = pass.as_ref().map(|pass| (pass.number, pass.name.as_str(), pass.on.as_str()));
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn an_answer_says_what_a_pass_works_on() {
        for (line, of, expected) in [
            (
                "instcombine on _ZN1a1b1c17h820d16e45d1844a9E",
                CounterKind::Llvm,
                "LLVM pass instcombine on function a::b::c",
            ),
            ("machine-cse on function (main)", CounterKind::Llvm, "LLVM pass machine-cse on function main"),
            ("licm on loop %bb1 in function main", CounterKind::Llvm, "LLVM pass licm on loop %bb1 in function main"),
            ("forceattrs on [module]", CounterKind::Llvm, "LLVM pass forceattrs on [module]"),
            ("inline on (main)", CounterKind::Llvm, "LLVM pass inline on (main)"),
            ("GVN on a[9c87]::SIZE", CounterKind::Mir, "MIR pass GVN on a::SIZE"),
        ] {
            let pass = Pass::parse("u", &format!("BISECT: running pass (1) {line}")).unwrap();
            assert_eq!(pass.describe(of), expected);
        }
    }

    fn passes(units: &[(&str, u64)]) -> Passes {
        let of_unit = |&(unit, count): &(&str, u64)| {
            let pass = move |number| Pass { unit: unit.to_owned(), number, name: "p".to_owned(), on: "f".to_owned() };
            (1..=count).map(pass).collect::<Vec<_>>()
        };
        Passes { all: units.iter().flat_map(of_unit).collect() }
    }

    #[test]
    fn a_limit_of_all_crates_is_one_of_each() {
        let passes = passes(&[("a", 5), ("b", 4)]);
        assert_eq!(passes.limits(7), [("a".to_owned(), 5), ("b".to_owned(), 2)].into());
        assert_eq!(passes.limits(4), [("a".to_owned(), 4)].into());
        assert_eq!(passes.limits(0), BTreeMap::new());
    }
}
