//! LLVM's assembly language, as far as attributes and calls of functions go.

use std::collections::BTreeMap;

/// The functions that a module defines, by demangled name.
pub(crate) fn functions(ir: &str) -> BTreeMap<String, Function> {
    let groups: BTreeMap<&str, &str> =
        ir.lines().filter_map(|line| line.strip_prefix("attributes ")?.split_once(" = ")).collect();
    let mut functions = BTreeMap::new();
    let mut lines = ir.lines();
    while let Some(line) = lines.next() {
        let Some(signature) = line.strip_prefix("define ") else { continue };
        let (_, behind) = signature.split_once('@').unwrap();
        let attributes = behind.split_whitespace().filter_map(|word| groups.get(word)).copied().collect();
        let calls = lines.by_ref().take_while(|line| *line != "}").filter_map(called).collect();
        functions.insert(demangle(name(behind)), Function { attributes, calls });
    }
    functions
}

#[derive(Debug)]
pub(crate) struct Function {
    attributes: String,
    /// Demangled names.
    pub(crate) calls: Vec<String>,
}

impl Function {
    /// Whether LLVM leaves it alone: neither optimized nor inlined.
    pub(crate) fn is_left_alone(&self) -> bool {
        let has = |attribute| self.attributes.split_whitespace().any(|word| word == attribute);
        assert_eq!(has("optnone"), has("optnone") && has("noinline"));
        has("optnone")
    }
}

fn called(line: &str) -> Option<String> {
    let (before, behind) = line.split_once('@')?;
    (before.contains("call ") || before.contains("invoke ")).then(|| demangle(name(behind)))
}

fn name(text: &str) -> &str {
    text.split(['(', '"', ' ']).find(|part| !part.is_empty()).unwrap()
}

fn demangle(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}
