//! `#[bisect_attr]`: attributes that are applied if a change is on.
//!
//! An attribute cannot depend on a constant. So the macro decides while it is expanded, and its expansion registers the
//! decision.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{
    Error, LitStr, Path, Token,
    ext::IdentExt,
    parse::{ParseStream, Parser},
};

use crate::{
    args::{each_argument, name, name_is_missing, no_name, path_of_runtime, runtime, until_comma},
    errors::Errors,
    fixes::Fix,
    item::Item,
    variable::{self, Decisions, FIX, Place},
};

/// Expands the attribute at `place`.
pub(crate) fn expand(
    args: TokenStream,
    item: TokenStream,
    place: &Place,
    decisions: Result<Decisions, String>,
) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let args = AttrArgs::parse(args, &mut errors);
    let enabled = match (Fix::of(&args.name, &mut errors), decisions) {
        (Fix::On, Ok(_)) => true,
        (Fix::Off, Ok(_)) => false,
        (Fix::No, Ok(decisions)) => decisions.is_on(&args.name.value(), place),
        (_, Err(text)) => {
            errors.push(Error::new(Span::call_site(), text));
            true
        }
    };
    let item = errors.and(syn::parse2::<Item>(item))?;

    let attrs = args.attrs.iter().filter(|_| enabled);
    let item = item.with(&args.registration(place, enabled));
    Ok(quote!(#(#[#attrs])* #item))
}

struct AttrArgs {
    name: LitStr,
    /// The attributes to apply, each as between `#[` and `]`.
    attrs: Vec<TokenStream>,
    crate_path: Option<Path>,
}

impl AttrArgs {
    fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut args = Self { name: no_name(), attrs: Vec::new(), crate_path: None };
        let parse = |input: ParseStream| {
            let mut name_is_next = !name_is_missing(input, errors);
            each_argument(input, errors, |input| {
                if name_is_next {
                    name_is_next = false;
                    args.name = name(input)?;
                } else if input.peek(Token![crate]) && input.peek2(Token![=]) {
                    args.crate_path(input)?;
                } else {
                    args.attrs.push(attribute(input)?);
                }
                Ok(())
            });
            Ok(())
        };
        let parsed = parse.parse2(tokens);
        errors.keep(parsed);
        if args.attrs.is_empty() && errors.is_empty() {
            let text = "expected an attribute behind the name: `\"name\", inline(always)`";
            errors.push(Error::new(args.name.span(), text));
        }
        args
    }

    fn crate_path(&mut self, input: ParseStream) -> syn::Result<()> {
        let word: Token![crate] = input.parse()?;
        if self.crate_path.is_some() {
            return Err(Error::new(word.span, "`crate` is given twice"));
        }
        input.parse::<Token![=]>()?;
        self.crate_path = Some(path_of_runtime(input)?);
        Ok(())
    }

    /// Returns items that register the decision, and make cargo watch the variables.
    fn registration(&self, place: &Place, enabled: bool) -> TokenStream {
        let (runtime, variable, name) = (runtime(self.crate_path.as_ref()), variable::name(), &self.name);
        let file = &place.file;
        let [line, column] = [place.line, place.column].map(Literal::usize_unsuffixed);
        quote_spanned!(Span::mixed_site()=>
            #runtime::__build_attr! {
                variable: #variable, name: #name, file: #file, line: #line, column: #column, enabled: #enabled,
                fix: #FIX
            }
        )
    }
}

fn attribute(input: ParseStream) -> syn::Result<TokenStream> {
    let start = input.fork();
    start.parse::<Option<Token![::]>>()?;
    let word = start.call(Ident::parse_any).map_err(|error| Error::new(error.span(), "expected an attribute"))?;
    if word == "cfg" {
        let text = "`cfg` would take the record of its own decision away: use `bisect_build!`";
        return Err(Error::new(word.span(), text));
    }
    Ok(until_comma(input))
}
