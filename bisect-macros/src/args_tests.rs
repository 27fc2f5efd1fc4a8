//! The grammar of arguments: what is accepted, and the error for each mistake.

use proc_macro2::TokenStream;
use quote::ToTokens;

use crate::{
    args::{Args, Grammar, Key, Opt},
    errors::Errors,
};

const ALL: Grammar = Grammar { usage: "`it!`", options: &[Opt::Off, Opt::Key, Opt::By, Opt::Depth, Opt::Crate] };

/// Returns the arguments, or all errors.
fn parse(text: &str, grammar: &Grammar) -> Result<(Args, Key, u8), Vec<String>> {
    let mut errors = Errors::default();
    let tokens: TokenStream = text.parse().expect("the texts of these tests are tokens");
    let args = Args::parse(tokens, grammar, &mut errors);
    let (key, depth) = args.decided_by(Key::Site, &mut errors);
    match errors.finish() {
        Ok(()) => Ok((args, key, depth)),
        Err(error) => Err(error.into_iter().map(|error| error.to_string()).collect()),
    }
}

fn accepted(text: &str) -> (Args, Key, u8) {
    parse(text, &ALL).unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
}

fn rejected(text: &str) -> Vec<String> {
    match parse(text, &ALL) {
        Ok(_) => panic!("{text} is accepted"),
        Err(errors) => errors,
    }
}

#[test]
fn names() {
    for name in ["a", "newsort", "new_sort", "a.b", "std::sort", "lib/pass-3", "0", "-"] {
        assert_eq!(accepted(&format!("{name:?}")).0.name.value(), name);
    }
    for text in ["\"\"", "\"a b\"", "\"a=b\"", "\"a;b\"", "\"größe\"", "\"a\\n\"", "\"a\"x"] {
        assert_eq!(rejected(text).len(), 1, "{text}");
        assert!(rejected(text)[0].starts_with("a name is one or more"), "{text}");
    }
    for text in
        ["", "newsort", "3", "b\"newsort\"", "NAME", "concat!(\"a\")", "off = f", ", \"newsort\"", "\"a\" \"b\""]
    {
        let errors = rejected(text);
        assert!(errors[0].starts_with("expected a name first") || errors[0] == "expected `,`", "{text}: {errors:?}");
    }
    assert!(accepted("r\"raw\"").0.name.value() == "raw");
}

#[test]
fn options_in_any_order_with_a_trailing_comma() {
    let (args, key, depth) = accepted(
        r#""n", depth = 3, crate = crate::rt, key = (a + b, c), by = "stack", off = <Self as Old<T>>::old::<u8, u8>,"#,
    );
    assert_eq!((key, depth), (Key::Stack, 3));
    assert_eq!(args.off.unwrap().to_token_stream().to_string(), "< Self as Old < T > > :: old :: < u8 , u8 >");
    assert_eq!(args.key.unwrap().to_token_stream().to_string(), "(a + b , c)");
    let (args, key, depth) = accepted("\"n\"");
    assert_eq!((key, depth), (Key::Site, 16), "the defaults");
    assert_eq!(args.runtime().to_string(), ":: bisect_rt");
}

#[test]
fn paths_of_the_runtime() {
    for path in ["rt", "::rt", "crate::rt", "self::rt", "super::a::rt"] {
        let expected = path.parse::<TokenStream>().unwrap().to_string();
        assert_eq!(accepted(&format!("\"n\", crate = {path}")).0.runtime().to_string(), expected);
    }
}

#[test]
fn keys_and_depths() {
    for (text, key) in [("site", Key::Site), ("caller", Key::Caller), ("stack", Key::Stack)] {
        assert_eq!(accepted(&format!("\"n\", by = {text:?}")).1, key);
    }
    for depth in [1, 16, 128] {
        assert_eq!(accepted(&format!("\"n\", by = \"stack\", depth = {depth}")).2, depth);
    }
    for depth in ["0", "129", "256", "99999999999", "-1", "1.5", "\"3\"", "N", "3u8"] {
        let errors = rejected(&format!("\"n\", by = \"stack\", depth = {depth}"));
        assert_eq!(errors, ["`depth` is a number of frames, from 1 to 128"], "{depth}");
    }
    for by in ["\"stacks\"", "\"\"", "stack", "3"] {
        assert_eq!(rejected(&format!("\"n\", by = {by}")), ["`by` is \"site\", \"caller\" or \"stack\""], "{by}");
    }
    for by in ["", ", by = \"site\"", ", by = \"caller\""] {
        let errors = rejected(&format!("\"n\", depth = 3{by}"));
        assert_eq!(errors, ["`depth` bounds a stack: it needs `by = \"stack\"`"], "{by}");
    }
}

#[test]
fn each_mistake_has_its_message() {
    for (text, error) in [
        ("off = \"old\"", "`off` is the path of a function: `old` or `Self::old`"),
        ("off = old()", "`off` is the path of a function: `old` or `Self::old`"),
        ("off = |x| x", "`off` is the path of a function: `old` or `Self::old`"),
        ("off", "`off` needs a value: `off = old_function`"),
        ("off =", "`off` needs a value: `off = old_function`"),
        ("off(old)", "`off` needs a value: `off = old_function`"),
        ("by", "`by` needs a value: `by = \"caller\"`"),
        ("key", "`key` needs a value: `key = expression`"),
        ("depth: 3", "`depth` needs a value: `depth = 16`"),
        ("crate", "`crate` needs a value: `crate = path::to::bisect_rt`"),
        ("on = new", "unknown option `on`: `it!` takes `off`, `key`, `by`, `depth` and `crate`"),
        ("\"again\"", "`it!` takes `off`, `key`, `by`, `depth` and `crate`"),
        ("off = a, off = b", "`off` is given twice"),
        ("crate = a, crate = b", "`crate` is given twice"),
        ("crate = \"rt\"", "`crate` is the path of bisect-rt: `crate = path::to::bisect_rt`"),
        ("off = a b", "expected `,`"),
        ("crate = a<b>", "expected `,`"),
    ] {
        assert_eq!(rejected(&format!("\"n\", {text}")), [error], "{text}");
    }
}

#[test]
fn one_mistake_does_not_hide_the_next() {
    let errors = rejected(r#"off = 3, by = "me", depth = 0, what = f(1, 2), off = f"#);
    assert_eq!(errors.len(), 6, "{errors:?}");
    for (error, start) in
        errors.iter().zip(["expected a name", "`off` is", "`by` is", "`depth` is", "unknown", "`off` is given"])
    {
        assert!(error.starts_with(start), "{error}");
    }
}

#[test]
fn a_macro_takes_its_own_options_only() {
    let build = Grammar { usage: "`bisect_build!`", options: &[Opt::Crate] };
    let errors = parse("\"n\", by = \"site\"", &build).err().unwrap();
    assert_eq!(errors, ["unknown option `by`: `bisect_build!` takes `crate`"]);
}
