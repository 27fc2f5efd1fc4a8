//! `bisect_build!`: a decision as a constant.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

use crate::{
    args::{Args, Grammar, Opt},
    errors::Errors,
    fixes::Fix,
    variable::{self, FIX},
};

const GRAMMAR: Grammar = Grammar { usage: "`bisect_build!`", options: &[Opt::Crate] };

pub(crate) fn expand(args: TokenStream) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let args = Args::parse(args, &GRAMMAR, &mut errors);
    let fixed = Fix::of(&args.name, &mut errors).word();
    errors.finish()?;

    let (runtime, name, variable) = (args.runtime(), &args.name, variable::name());
    Ok(quote_spanned!(Span::mixed_site()=>
        #runtime::__build!(variable: #variable, name: #name, fix: #FIX, fixed: #fixed)
    ))
}
