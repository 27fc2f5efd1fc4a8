//! A reader of LLVM's assembly language, for the attributes and calls of functions.

use std::collections::BTreeMap;

/// Returns the functions that a module defines, by demangled name.
pub(crate) fn functions(ir: &str) -> BTreeMap<String, Function> {
    let groups: BTreeMap<&str, &str> =
        ir.lines().filter_map(|line| line.strip_prefix("attributes ")?.split_once(" = ")).collect();
    let mut functions = BTreeMap::new();
    let mut lines = ir.lines();
    while let Some(line) = lines.next() {
        let Some(signature) = line.strip_prefix("define ") else { continue };
        let (_, rest) = signature.split_once('@').unwrap();
        let attributes = rest.split_whitespace().filter_map(|word| groups.get(word)).copied().collect();
        let calls = lines.by_ref().take_while(|line| *line != "}").filter_map(called).collect();
        functions.insert(demangle(name(rest)), Function { attributes, calls });
    }
    functions
}

#[derive(Debug)]
pub(crate) struct Function {
    attributes: String,
    /// The demangled names of the called functions.
    pub(crate) calls: Vec<String>,
}

impl Function {
    /// Returns true if LLVM leaves the function alone: it neither optimizes nor inlines the function.
    pub(crate) fn is_left_alone(&self) -> bool {
        let has = |attribute| self.attributes.split_whitespace().any(|word| word == attribute);
        assert_eq!(has("optnone"), has("optnone") && has("noinline"));
        has("optnone")
    }
}

fn called(line: &str) -> Option<String> {
    let (before, rest) = line.split_once('@')?;
    (before.contains("call ") || before.contains("invoke ")).then(|| demangle(name(rest)))
}

fn name(text: &str) -> &str {
    text.split(['(', '"', ' ']).find(|part| !part.is_empty()).unwrap()
}

fn demangle(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}
