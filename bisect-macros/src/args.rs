//! The grammar of the arguments: a name, then options, `option = value`.
//!
//! One mistake does not hide the next: parsing continues after the next comma.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::{
    Error, Expr, ExprPath, Ident, LitInt, LitStr, Path, Token,
    ext::IdentExt,
    parse::{ParseStream, Parser},
};

use crate::errors::Errors;

/// The depth of a stack without the option `depth`, in frames.
const DEFAULT_DEPTH: u8 = 16;
/// The maximum depth of a stack that the runtime supports, in frames.
const MAX_DEPTH: u8 = 128;

/// An option of one or several macros.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opt {
    Off,
    Key,
    By,
    Depth,
    Crate,
}

impl Opt {
    fn word(self) -> &'static str {
        match self {
            Opt::Off => "off",
            Opt::Key => "key",
            Opt::By => "by",
            Opt::Depth => "depth",
            Opt::Crate => "crate",
        }
    }

    fn example(self) -> &'static str {
        match self {
            Opt::Off => "off = old_function",
            Opt::Key => "key = expression",
            Opt::By => "by = \"caller\"",
            Opt::Depth => "depth = 16",
            Opt::Crate => "crate = path::to::bisect_rt",
        }
    }
}

/// The arguments that a macro takes after the name.
pub(crate) struct Grammar {
    /// The macro as it is written in the source.
    pub(crate) usage: &'static str,
    pub(crate) options: &'static [Opt],
}

/// The key of a toggle, which defines its changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Site,
    Caller,
    Stack,
}

/// The arguments that the user gave.
pub(crate) struct Args {
    /// The name; empty if it is missing or malformed, which is an error already.
    pub(crate) name: LitStr,
    /// The old behaviour.
    pub(crate) off: Option<ExprPath>,
    /// A value that becomes part of the ID.
    pub(crate) key: Option<Expr>,
    /// The key that the user chose, and the span of that choice.
    pub(crate) by: Option<(Key, Span)>,
    depth: Option<(u8, Span)>,
    crate_path: Option<Path>,
    /// False if there is a mistake in the arguments. Then the absence of an option is no error, because the malformed
    /// argument may have been that option.
    pub(crate) are_right: bool,
}

impl Args {
    /// Parses `tokens`, and adds mistakes to `errors`, which must be empty.
    pub(crate) fn parse(tokens: TokenStream, grammar: &Grammar, errors: &mut Errors) -> Self {
        let mut args =
            Self { name: no_name(), off: None, key: None, by: None, depth: None, crate_path: None, are_right: false };
        let parse = |input: ParseStream| {
            let mut seen = Vec::new();
            let mut name_is_next = !name_is_missing(input, errors);
            each_argument(input, errors, |input| {
                if name_is_next {
                    name_is_next = false;
                    args.name = name(input)?;
                    Ok(())
                } else {
                    args.option(input, grammar, &mut seen)
                }
            });
            Ok(())
        };
        let parsed = parse.parse2(tokens);
        errors.keep(parsed);
        args.are_right = errors.is_empty();
        args
    }

    /// Returns the key and the depth of a stack. `default` is the key if the user did not choose one.
    pub(crate) fn decided_by(&self, default: Key, errors: &mut Errors) -> (Key, u8) {
        let key = self.by.map_or(default, |(key, _)| key);
        if let Some((_, span)) = self.depth
            && key != Key::Stack
            && self.are_right
        {
            errors.push(Error::new(span, "`depth` bounds a stack: it needs `by = \"stack\"`"));
        }
        (key, self.depth.map_or(DEFAULT_DEPTH, |(depth, _)| depth))
    }

    /// Returns the path of the runtime.
    pub(crate) fn runtime(&self) -> TokenStream {
        runtime(self.crate_path.as_ref())
    }

    fn option(&mut self, input: ParseStream, grammar: &Grammar, seen: &mut Vec<Opt>) -> syn::Result<()> {
        let word = input.call(Ident::parse_any).map_err(|error| Error::new(error.span(), grammar.expected()))?;
        let Some(&option) = grammar.options.iter().find(|option| word == option.word()) else {
            return Err(Error::new(word.span(), format!("unknown option `{word}`: {}", grammar.expected())));
        };
        if seen.contains(&option) {
            return Err(Error::new(word.span(), format!("`{word}` is given twice")));
        }
        seen.push(option);
        if input.parse::<Token![=]>().is_err() || at_end(input) {
            return Err(Error::new(word.span(), format!("`{word}` needs a value: `{}`", option.example())));
        }
        match option {
            Opt::Off => self.off = Some(path_of_function(input)?),
            Opt::Key => self.key = Some(input.parse()?),
            Opt::By => self.by = Some(by(input)?),
            Opt::Depth => self.depth = Some(depth(input)?),
            Opt::Crate => self.crate_path = Some(path_of_runtime(input)?),
        }
        Ok(())
    }
}

impl Grammar {
    fn expected(&self) -> String {
        let words: Vec<_> = self.options.iter().map(|option| format!("`{}`", option.word())).collect();
        match &words[..] {
            [first @ .., last] if !first.is_empty() => {
                format!("{} takes {} and {last}", self.usage, first.join(", "))
            }
            words => format!("{} takes {}", self.usage, words.concat()),
        }
    }
}

/// Passes each argument to `parse`. After a mistake, continues with the next argument.
pub(crate) fn each_argument(
    input: ParseStream,
    errors: &mut Errors,
    mut parse: impl FnMut(ParseStream) -> syn::Result<()>,
) {
    while !input.is_empty() {
        let parsed = parse(input).and_then(|()| if at_end(input) { Ok(()) } else { Err(input.error("expected `,`")) });
        if errors.keep(parsed).is_none() {
            until_comma(input);
        }
        // The comma is optional after the last argument.
        errors.keep(input.parse::<Option<Token![,]>>());
    }
}

/// Parses the tokens before the next comma.
pub(crate) fn until_comma(input: ParseStream) -> TokenStream {
    let mut tokens = TokenStream::new();
    while !at_end(input)
        && let Ok(token) = input.parse::<TokenTree>()
    {
        tokens.extend([token]);
    }
    tokens
}

/// Returns true if an argument ends here.
fn at_end(input: ParseStream) -> bool {
    input.is_empty() || input.peek(Token![,])
}

/// Returns the placeholder for a name that is missing or malformed.
pub(crate) fn no_name() -> LitStr {
    LitStr::new("", Span::call_site())
}

const NAME_EXPECTED: &str = "expected a name first, as a string literal: \"newsort\"";

/// Returns true, and adds an error, if the input is empty or begins with an option instead of the name.
pub(crate) fn name_is_missing(input: ParseStream, errors: &mut Errors) -> bool {
    let ahead = input.fork();
    let missing = input.is_empty() || ahead.call(Ident::parse_any).is_ok() && ahead.peek(Token![=]);
    if missing {
        let span = if input.is_empty() { Span::call_site() } else { input.span() };
        errors.push(Error::new(span, NAME_EXPECTED));
    }
    missing
}

/// Parses the name of a toggle.
pub(crate) fn name(input: ParseStream) -> syn::Result<LitStr> {
    let name: LitStr = input.parse().map_err(|error| Error::new(error.span(), NAME_EXPECTED))?;
    let text = name.value();
    let is_name = !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.:/-".contains(&b));
    if is_name && name.suffix().is_empty() {
        Ok(name)
    } else {
        Err(Error::new(
            name.span(),
            "a name is one or more of the letters a-z and A-Z, digits, and `_` `.` `:` `/` `-`",
        ))
    }
}

/// Returns the path of the runtime: the value of `crate`, or `::bisect_rt`.
pub(crate) fn runtime(crate_path: Option<&Path>) -> TokenStream {
    crate_path.map_or_else(|| quote_spanned!(Span::mixed_site()=> ::bisect_rt), ToTokens::to_token_stream)
}

/// Parses the value of `crate`.
pub(crate) fn path_of_runtime(input: ParseStream) -> syn::Result<Path> {
    let text = "`crate` is the path of bisect-rt: `crate = path::to::bisect_rt`";
    input.call(Path::parse_mod_style).map_err(|error| Error::new(error.span(), text))
}

fn path_of_function(input: ParseStream) -> syn::Result<ExprPath> {
    let mut expr: Expr = input.parse()?;
    // A `macro_rules!` macro passes `$old:path` or `$old:expr` on in an invisible group.
    while let Expr::Group(group) = expr {
        expr = *group.expr;
    }
    match expr {
        Expr::Path(path) => Ok(path),
        other => Err(Error::new_spanned(other, "`off` is the path of a function: `old` or `Self::old`")),
    }
}

fn by(input: ParseStream) -> syn::Result<(Key, Span)> {
    let span = input.span();
    let wrong = || Error::new(span, "`by` is \"site\", \"caller\" or \"stack\"");
    let literal: LitStr = input.parse().map_err(|_| wrong())?;
    let key = match literal.value().as_str() {
        "site" => Key::Site,
        "caller" => Key::Caller,
        "stack" => Key::Stack,
        _ => return Err(wrong()),
    };
    Ok((key, span))
}

fn depth(input: ParseStream) -> syn::Result<(u8, Span)> {
    let span = input.span();
    let wrong = || Error::new(span, format!("`depth` is a number of frames, from 1 to {MAX_DEPTH}"));
    let literal: LitInt = input.parse().map_err(|_| wrong())?;
    match literal.base10_parse() {
        Ok(depth @ 1..=MAX_DEPTH) if literal.suffix().is_empty() => Ok((depth, span)),
        _ => Err(wrong()),
    }
}
