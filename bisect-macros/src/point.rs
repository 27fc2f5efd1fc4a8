//! `bisect_point!`: a decision as an expression.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

use crate::{
    args::{Args, Grammar, Key, Opt},
    decide::Decision,
    errors::Errors,
    fixes::Fix,
};

const GRAMMAR: Grammar = Grammar { usage: "`bisect_point!`", options: &[Opt::Key, Opt::By, Opt::Depth, Opt::Crate] };

pub(crate) fn expand(args: TokenStream) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let args = Args::parse(args, &GRAMMAR, &mut errors);
    let (key, depth) = args.decided_by(Key::Site, &mut errors);
    let fix = Fix::of(&args.name, &mut errors);
    errors.finish()?;

    let decision = Decision { runtime: args.runtime(), name: &args.name, key, depth, value: args.key.as_ref(), fix };
    Ok(decision.or(&quote_spanned!(Span::mixed_site()=> true)))
}
