//! Unsafe code in the sources of packages, found by tokens. Attributes, comments and names do not count.

use std::{fs, path::Path};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::sources;
use crate::cargo::graph::Package;

/// Directories and files of a package that are not compiled where it is a dependency.
const NOT_IN_LIBRARIES: [&str; 4] = ["tests", "benches", "examples", "build.rs"];

/// Returns true if a package has unsafe code in the files that are compiled into the target.
pub(super) fn is_in_package(package: &Package) -> bool {
    let is_beside = |file: &Path| {
        let first = file.strip_prefix(&package.directory).ok().and_then(|below| below.iter().next());
        first.is_some_and(|first| NOT_IN_LIBRARIES.iter().any(|name| first == *name))
    };
    sources::source_files(&package.directory).any(|file| (package.is_root || !is_beside(&file)) && is_in_file(&file))
}

/// Returns true if a source file has unsafe code.
pub(super) fn is_in_file(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| is_in_text(&text))
}

/// Returns true if Rust code is unsafe: a block, a function, an implementation, foreign items or a mutable static. An
/// attribute such as `#[unsafe(no_mangle)]` is a promise about names, and the type `unsafe fn()` calls nothing.
///
/// Code that is not valid Rust is searched for the word.
fn is_in_text(text: &str) -> bool {
    // Most files have none of these words, and need not be read as tokens.
    if !["unsafe", "static", "extern"].iter().any(|word| text.contains(word)) {
        return false;
    }
    match text.parse::<TokenStream>() {
        Ok(tokens) => is_in_tokens(tokens),
        Err(_) => text.lines().any(|line| sources::code_words(line).any(|word| word == "unsafe")),
    }
}

fn is_in_tokens(tokens: TokenStream) -> bool {
    let mut rest: &[TokenTree] = &tokens.into_iter().collect::<Vec<_>>();
    while let [first, after @ ..] = rest {
        rest = match (first, after) {
            // A lifetime is two tokens: `&'static mut T` has no mutable static.
            (TokenTree::Punct(quote), [_, after @ ..]) if quote.as_char() == '\'' => after,
            (TokenTree::Punct(hash), _) if hash.as_char() == '#' => after_attribute(after),
            (TokenTree::Group(group), _) if is_in_tokens(group.stream()) => return true,
            (TokenTree::Ident(word), _) if begins_unsafe_code(&word.to_string(), after) => return true,
            _ => after,
        };
    }
    false
}

/// Returns the tokens after an attribute, of which `tokens` follow the `#`.
fn after_attribute(tokens: &[TokenTree]) -> &[TokenTree] {
    let inner = match tokens {
        [TokenTree::Punct(mark), after @ ..] if mark.as_char() == '!' => after,
        _ => tokens,
    };
    match inner {
        [TokenTree::Group(group), after @ ..] if group.delimiter() == Delimiter::Bracket => after,
        _ => tokens,
    }
}

/// Returns true if a word and the tokens after it begin unsafe code.
fn begins_unsafe_code(word: &str, after: &[TokenTree]) -> bool {
    let is_group = |token: Option<&TokenTree>, delimiter| matches!(token, Some(TokenTree::Group(group)) if group.delimiter() == delimiter);
    let is_word = |token: &TokenTree, word: &str| matches!(token, TokenTree::Ident(found) if found == word);
    // The name of an ABI may follow `extern`.
    let after_abi = |tokens: &[TokenTree]| usize::from(matches!(tokens.first(), Some(TokenTree::Literal(_))));
    match word {
        "unsafe" => {
            let after_extern = match after {
                [first, rest @ ..] if is_word(first, "extern") => &rest[after_abi(rest)..],
                _ => after,
            };
            match after_extern {
                // The type of a function has no name.
                [function, rest @ ..] if is_word(function, "fn") => !is_group(rest.first(), Delimiter::Parenthesis),
                [first, ..] if is_word(first, "impl") => true,
                // A block; in a macro, `unsafe $block`.
                [TokenTree::Punct(mark), ..] => mark.as_char() == '$',
                tokens => is_group(tokens.first(), Delimiter::Brace),
            }
        }
        "extern" => is_group(after.get(after_abi(after)), Delimiter::Brace),
        "static" => after.first().is_some_and(|next| is_word(next, "mut")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_code_is_found_by_its_tokens() {
        for text in [
            "let x = unsafe { *p };",
            "let x = f(|p| unsafe { *p });",
            "unsafe\n// why\n{ f() }",
            "unsafe fn f() {}",
            "pub(crate) const unsafe fn f() {}",
            "pub unsafe extern \"C\" fn f() {}",
            "trait T { unsafe fn f(&self); }",
            "unsafe impl Send for X {}",
            "unsafe impl<T: Send> Send for X<T> {}",
            "unsafe extern \"C\" { fn f(); }",
            "unsafe extern { fn f(); }",
            "extern \"C\" { fn f(); }",
            "extern { fn f(); }",
            "static mut COUNT: u32 = 0;",
            "macro_rules! read { ($p:expr) => { unsafe { *$p } } }",
            "macro_rules! read { ($b:block) => { unsafe $b } }",
            "macro_rules! send { ($t:ty) => { unsafe impl Send for $t {} } }",
            "macro_rules! raw { ($n:ident) => { unsafe fn $n() {} } }",
            "#[unsafe(no_mangle)] pub extern \"C\" fn f(p: *const u8) -> u8 { unsafe { *p } }",
            "#![allow(unsafe_code)]\nfn f() { unsafe {} }",
            "fn f() { /* unsafe */ unsafe {} }",
            // Tokens that cannot be read are searched for the word.
            "fn f() { unsafe { } ",
        ] {
            assert!(is_in_text(text), "{text}");
        }
    }

    #[test]
    fn what_only_names_unsafe_is_no_unsafe_code() {
        for text in [
            "#[unsafe(no_mangle)] pub extern \"C\" fn f() -> u32 { 1 }",
            "#[unsafe(export_name = \"f\")] pub fn f() {}",
            "#[unsafe(link_section = \".data\")] static X: u8 = 1;",
            "#[cfg_attr(unix, unsafe(no_mangle))] pub fn f() {}",
            "#![forbid(unsafe_code)]",
            "#![deny(unsafe_op_in_unsafe_fn)]\nfn f() {}",
            "#[doc = \"unsafe { }\"] fn f() {}",
            "// unsafe { }",
            "let x = 1; // not unsafe { }",
            "/* unsafe { f() }\n unsafe { g() } */",
            "/// ```\n/// unsafe { f() }\n/// ```\nfn f() {}",
            "//! unsafe { f() }",
            "let x = \"unsafe { f() }\";",
            "let x = r#\"\nunsafe { f() }\n\"#;",
            "let unsafe_code = is_unsafe(r#unsafe);",
            "fn f(x: &'static mut u8) {}",
            "static COUNT: AtomicU32 = AtomicU32::new(0);",
            "extern crate alloc;",
            "pub extern \"C\" fn f() {}",
            "type F = unsafe fn(u8) -> u8;",
            "type F = unsafe extern \"C\" fn(u8) -> u8;",
            "type F = extern \"C\" fn(u8);",
            "unsafe trait T {}",
        ] {
            assert!(!is_in_text(text), "{text}");
        }
    }
}
