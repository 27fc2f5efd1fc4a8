//! The end of a function, estimated without a parser: the brace that closes its body.

/// Returns the length of the function at the beginning of a text, up to the end of its body. `None` if there is no such
/// end: a closure may have no braces, and a declaration in a trait has no body.
pub(crate) fn extent(text: &str) -> Option<usize> {
    let first = text.lines().next().unwrap_or_default();
    let is_closure = !first.split_whitespace().any(|word| word == "fn");
    let mut open = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if let Some(length) = quoted(&text[at..]) {
            at += length;
            continue;
        }
        at += c.len_utf8();
        match c {
            '(' | '[' | '{' => open.push(c),
            ')' | ']' | '}' => {
                let opening = open.pop()?;
                if open.is_empty() && opening == '{' {
                    return Some(at);
                }
            }
            ';' if open.is_empty() => return None,
            ',' if open.is_empty() && is_closure => return None,
            _ => {}
        }
    }
    None
}

/// Returns the length of the comment, string or character literal at the beginning of a text. Its brackets do not
/// count.
fn quoted(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    match bytes {
        [b'/', b'/', ..] => Some(text.find('\n').unwrap_or(text.len())),
        [b'/', b'*', ..] => Some(text.find("*/").map_or(text.len(), |end| end + 2)),
        [b'"', ..] => Some(string(text)),
        [b'r', b'"' | b'#', ..] => {
            let hashes = text[1..].bytes().take_while(|&byte| byte == b'#').count();
            // Or it is a raw identifier.
            let content = text[1 + hashes..].strip_prefix('"')?;
            let end = format!("\"{}", "#".repeat(hashes));
            let length = content.find(&end).map_or(content.len(), |at| at + end.len());
            Some(2 + hashes + length)
        }
        // A lifetime has no closing quote.
        [b'\'', b'\\', ..] => text[2..].chars().next().and_then(|escaped| {
            let from = 2 + escaped.len_utf8();
            Some(from + text[from..].find('\'')? + 1)
        }),
        [b'\'', ..] => {
            let c = text[1..].chars().next()?;
            text[1 + c.len_utf8()..].starts_with('\'').then_some(2 + c.len_utf8())
        }
        _ => None,
    }
}

/// Returns the length of the string literal at the beginning of a text.
fn string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_ends_with_its_body() {
        for function in [
            "fn f() {}",
            "pub fn f<const N: usize>(x: [u8; { N }]) -> [u8; { N }]\nwhere\n    [(); N]:,\n{\n    if x { y() } else { z[0] }\n}",
            "fn f() -> char { '}' }",
            "fn f<'a>(x: &'a str) -> &'a str { x }",
            "fn f() -> char { '\\'' }",
            "fn f() { \"}\\\"}\"; }",
            "fn f() { r#\"}\"}\"#; r\"}\"; r#type; }",
            "fn f() { // }\n}",
            "fn f() { /* } */ }",
            "|x| { x }",
        ] {
            let found = extent(&format!("{function}\nfn g() {{}}")).map(|end| &function[..end]);
            assert_eq!(found, Some(function));
        }
    }

    #[test]
    fn what_has_no_body_has_no_end() {
        for text in ["fn f();", "|x| x + 1)", "|x| x, 2", "fn f() {", "", "fn f() -> [u8; 2"] {
            assert_eq!(extent(text), None, "{text}");
        }
    }
}
