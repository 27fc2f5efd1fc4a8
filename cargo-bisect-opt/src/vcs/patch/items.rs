//! Items of Rust files, and the lines on which they stand.

use std::ops::Range;

use proc_macro2::Span;
use syn::{ImplItem, Item, TraitItem, spanned::Spanned};

/// The items of a source file, also those inside of modules, traits and implementations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Items {
    /// In order of their lines; an item comes before those that it contains.
    items: Vec<RustItem>,
}

/// An item.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RustItem {
    /// Its lines with its attributes and documentation, from 0.
    lines: Range<usize>,
    /// A name for people, such as `fn Parser::next`.
    name: String,
}

impl Items {
    /// Reads the items of a file; none if it is not valid Rust.
    pub(crate) fn of(text: &[u8]) -> Self {
        let Some(file) = str::from_utf8(text).ok().and_then(|text| syn::parse_file(text).ok()) else {
            return Self::default();
        };
        let mut items = Self::default();
        file.items.iter().for_each(|item| items.add(item, ""));
        items
    }

    /// Returns the name of the innermost item that has the line.
    pub(crate) fn name_at(&self, line: usize) -> Option<&str> {
        let innermost = self.items.iter().rfind(|item| item.lines.contains(&line));
        innermost.map(|item| item.name.as_str()).filter(|name| !name.is_empty())
    }

    /// Iterates over the names and lines of the items; the name of some is empty.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Range<usize>)> {
        self.items.iter().map(|item| (item.name.as_str(), &item.lines))
    }

    /// Returns the name of the innermost item of each line of a Rust file; empty for a line without a named item.
    pub(crate) fn names_of_lines(content: &[u8]) -> Vec<String> {
        let count = content.split(|&byte| byte == b'\n').count();
        let mut names = vec![String::new(); count];
        for item in &Self::of(content).items {
            let lines = item.lines.start.min(count)..item.lines.end.min(count);
            names[lines].fill(item.name.clone());
        }
        names
    }

    /// Returns the items that begin inside of these lines, but neither in the first one nor inside of such an item:
    /// their first lines and their names.
    pub(crate) fn starts_in(&self, lines: &Range<usize>) -> Vec<(usize, &str)> {
        let mut starts = Vec::new();
        let mut end = lines.start;
        for item in &self.items {
            if item.lines.start >= end && item.lines.start < lines.end {
                starts.push((item.lines.start, item.name.as_str()));
                end = item.lines.end;
            }
        }
        starts.retain(|&(start, _)| start > lines.start);
        starts
    }

    fn add(&mut self, item: &Item, path: &str) {
        let named = |kind: &str, name: &dyn ToString| (format!("{kind} {path}{}", name.to_string()), String::new());
        let (name, inside) = match item {
            Item::Const(item) => named("const", &item.ident),
            Item::Enum(item) => named("enum", &item.ident),
            Item::Fn(item) => named("fn", &item.sig.ident),
            Item::Macro(item) => match &item.ident {
                Some(ident) => named("macro", ident),
                None => (String::new(), String::new()),
            },
            Item::Mod(item) => (format!("mod {path}{}", item.ident), format!("{path}{}::", item.ident)),
            Item::Static(item) => named("static", &item.ident),
            Item::Struct(item) => named("struct", &item.ident),
            Item::Trait(item) => (format!("trait {path}{}", item.ident), format!("{path}{}::", item.ident)),
            Item::TraitAlias(item) => named("trait", &item.ident),
            Item::Type(item) => named("type", &item.ident),
            Item::Union(item) => named("union", &item.ident),
            Item::Impl(item) => {
                let of = type_name(&item.self_ty);
                (format!("impl {path}{of}"), format!("{path}{of}::"))
            }
            _ => (String::new(), String::new()),
        };
        self.push(item.span(), name);
        match item {
            Item::Mod(item) => {
                item.content.iter().flat_map(|(_, items)| items).for_each(|item| self.add(item, &inside));
            }
            Item::Impl(item) => item.items.iter().for_each(|item| {
                let name = match item {
                    ImplItem::Fn(item) => format!("fn {inside}{}", item.sig.ident),
                    ImplItem::Const(item) => format!("const {inside}{}", item.ident),
                    ImplItem::Type(item) => format!("type {inside}{}", item.ident),
                    _ => String::new(),
                };
                self.push(item.span(), name);
            }),
            Item::Trait(item) => item.items.iter().for_each(|item| {
                let name = match item {
                    TraitItem::Fn(item) => format!("fn {inside}{}", item.sig.ident),
                    TraitItem::Const(item) => format!("const {inside}{}", item.ident),
                    TraitItem::Type(item) => format!("type {inside}{}", item.ident),
                    _ => String::new(),
                };
                self.push(item.span(), name);
            }),
            _ => {}
        }
    }

    fn push(&mut self, span: Span, name: String) {
        self.items.push(RustItem { lines: span.start().line.saturating_sub(1)..span.end().line, name });
    }
}

/// Returns a short name of a type: the last name of its path, or `[T]` for slices and arrays.
fn type_name(of: &syn::Type) -> String {
    match of {
        syn::Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default(),
        syn::Type::Reference(reference) => type_name(&reference.elem),
        syn::Type::Slice(slice) => format!("[{}]", type_name(&slice.elem)),
        syn::Type::Array(array) => format!("[{}]", type_name(&array.elem)),
        _ => "_".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
use std::fmt;

/// Documentation.
#[derive(Debug)]
struct A;

impl A {
    fn one() {
        two();
    }

    const C: u8 = 1;
}

mod inner {
    fn two() {}
    trait T { fn three(); }
}
";

    #[test]
    fn each_line_is_in_its_innermost_item() {
        let items = Items::of(SOURCE.as_bytes());
        for (line, name) in [
            (1, None),
            (2, None),
            (3, Some("struct A")),
            (5, Some("struct A")),
            (7, Some("impl A")),
            (9, Some("fn A::one")),
            (12, Some("const A::C")),
            (16, Some("fn inner::two")),
            (17, Some("fn inner::T::three")),
            (99, None),
        ] {
            assert_eq!(items.name_at(line - 1), name, "line {line}");
        }
    }

    #[test]
    fn each_line_has_the_name_of_its_innermost_item() {
        let names = Items::names_of_lines(SOURCE.as_bytes())[..14].join(",");
        assert_eq!(
            names,
            ",,struct A,struct A,struct A,,impl A,fn A::one,fn A::one,fn A::one,impl A,const A::C,impl A,"
        );
    }

    #[test]
    fn several_items_are_told_apart_by_their_first_lines() {
        let items = Items::of(SOURCE.as_bytes());
        assert_eq!(items.starts_in(&(0..18)), [(2, "struct A"), (6, "impl A"), (14, "mod inner")]);
        assert_eq!(items.starts_in(&(7..12)), [(11, "const A::C")]);
        assert_eq!(items.starts_in(&(2..5)), []);
    }

    #[test]
    fn a_type_without_a_path_has_a_name() {
        for (of, name) in [("a::B<C>", "B"), ("&mut D", "D"), ("&[u8]", "[u8]"), ("[E; 2]", "[E]"), ("(F, G)", "_")] {
            let source = format!("impl T for {of} {{ fn f() {{}} }}");
            assert_eq!(Items::of(source.as_bytes()).name_at(0), Some(format!("fn {name}::f").as_str()), "{of}");
        }
    }

    #[test]
    fn a_file_that_is_not_rust_has_no_items() {
        assert_eq!(Items::of(b"fn {").name_at(0), None);
        assert_eq!(Items::of(b"\xff").name_at(0), None);
    }
}
